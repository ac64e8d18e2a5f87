// nccl_fixture.hpp: the library that stands in for NCCL, opened as NCCL is.
// Read next: fake_nccl.hpp. SPDX-License-Identifier: MIT
#pragma once

#include "trainer/parallel/fake_nccl.hpp"
#include "trainer/parallel/nccl_library.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace drey::test {
/// Names a library in DREY_NCCL_LIBRARY for as long as it lives.
class NcclPath {
 public:
  explicit NcclPath(const std::string& path) { ::setenv("DREY_NCCL_LIBRARY", path.c_str(), 1); }
  NcclPath(const NcclPath&) = delete;
  NcclPath& operator=(const NcclPath&) = delete;
  ~NcclPath() { ::unsetenv("DREY_NCCL_LIBRARY"); }
};

/// The stand-in's state, as new. Stays open as long as the program runs.
inline FakeNccl& fresh_fake_nccl() {
  static void* const library = ::dlopen(DREY_FAKE_NCCL, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  FakeNccl& fake = *reinterpret_cast<FakeNcclState>(::dlsym(library, kFakeNcclState))();
  fake = {};
  return fake;
}

/// The message of what `body` throws; empty if it throws nothing.
template <class Body>
std::string complaint_of(Body body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}
}  // namespace drey::test
