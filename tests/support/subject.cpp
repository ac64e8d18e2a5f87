// subject.cpp: asks the process which allocator it runs on.
// Read next: known_deviations.cpp.
// SPDX-License-Identifier: MIT
#include "support/subject.hpp"

#include "support/pattern.hpp"

#include <cerrno>
#include <cstdlib>

#include <dlfcn.h>

// Present when drey is linked in; a preloaded libdrey.so is found by name instead.
extern "C" [[gnu::weak]] bool drey_owns(const void* pointer);

namespace drey::test {
namespace {
using OwnsFunction = bool (*)(const void*);

OwnsFunction find_drey_owns() {
  if (drey_owns != nullptr) return drey_owns;
  return reinterpret_cast<OwnsFunction>(dlsym(RTLD_DEFAULT, "drey_owns"));
}

bool drey_owns_a_block() {
  const OwnsFunction owns = find_drey_owns();
  if (owns == nullptr) return false;
  void* const block = escape(std::malloc(100));
  const bool owned = owns(block);
  std::free(block);
  return owned;
}
}  // namespace

std::string intended_subject() {
  const char* const text = std::getenv("DREY_TEST_SUBJECT");
  return text != nullptr ? text : DREY_TEST_SUBJECT;
}

std::string active_subject() {
  if (drey_owns_a_block()) return "drey";
  Dl_info place;
  void* const address = dlsym(RTLD_DEFAULT, "malloc");
  if (address == nullptr || dladdr(address, &place) == 0) return "unknown";
  const std::string file = place.dli_fname;
  if (file.find("mimalloc") != std::string::npos) return "mimalloc";
  if (file.find("/libc.so") != std::string::npos) return "system";
  return file;
}

bool subject_is_drey() {
  return intended_subject() == "drey";
}

void SubjectTest::SetUp() {
  // "api" tests drey by its own names, whoever is malloc.
  if (intended_subject() != "api") {
    ASSERT_EQ(active_subject(), intended_subject());
  }
  const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string reason =
      known_deviation(std::string(info->test_suite_name()) + "." + info->name());
  if (!reason.empty()) GTEST_SKIP() << "known deviation: " << reason;
  errno = 0;
}
}  // namespace drey::test
