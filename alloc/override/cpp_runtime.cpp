// cpp_runtime.cpp: weak references to the C++ runtime, and a search for one that came later.
//
// A weak reference is bound when this library is loaded: right for C++ programs, which have their
// runtime from the start. A C program that opens a C++ library later (Python and its modules) gets
// its runtime by name, at the first failure.
// SPDX-License-Identifier: MIT
#include "override/cpp_runtime.hpp"

#include <drey/base/assert.hpp>

#include <dlfcn.h>
#include <cstdlib>

// std::__throw_bad_alloc and std::get_new_handler, by the names all runtimes export them under.
extern "C" [[gnu::weak, noreturn]] void runtime_throw_bad_alloc() asm("_ZSt17__throw_bad_allocv");
extern "C" [[gnu::weak]] std::new_handler runtime_new_handler() noexcept
    asm("_ZSt15get_new_handlerv");

// Weak: statically linked programs have no dynamic loader.
extern "C" [[gnu::weak]] void* dlsym(void* handle, const char* name) noexcept;
extern "C" [[gnu::weak]] void* dlopen(const char* name, int mode) noexcept;
extern "C" [[gnu::weak]] int dlclose(void* handle) noexcept;

namespace drey::override::cpp_runtime {
namespace {
constexpr const char* kThrowName = "_ZSt17__throw_bad_allocv";
constexpr const char* kHandlerName = "_ZSt15get_new_handlerv";
constexpr const char* kRuntimes[] = {"libstdc++.so.6", "libc++.so.1", "libc++abi.so.1"};

/// A function of a C++ runtime that is loaded already. Fails: null.
[[nodiscard]] void* find_loaded(const char* name) noexcept {
  if (&::dlsym == nullptr || &::dlopen == nullptr || &::dlclose == nullptr) return nullptr;
  if (void* const found = ::dlsym(RTLD_DEFAULT, name)) return found;
  for (const char* const runtime : kRuntimes) {
    void* const library = ::dlopen(runtime, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = ::dlsym(library, name);
    ::dlclose(library);  // it stays: others hold it
    if (found != nullptr) return found;
  }
  return nullptr;
}
}  // namespace

std::new_handler new_handler() noexcept {
  std::new_handler (*get)() noexcept = &runtime_new_handler;
  if (get == nullptr) get = reinterpret_cast<decltype(get)>(find_loaded(kHandlerName));
  return get == nullptr ? nullptr : get();
}

void throw_bad_alloc() {
  void (*raise)() = &runtime_throw_bad_alloc;
  if (raise == nullptr) raise = reinterpret_cast<void (*)()>(find_loaded(kThrowName));
  if (raise != nullptr) raise();
  write_line_to_stderr("drey: out of memory in operator new, and no C++ runtime to say so");
  std::abort();
}
}  // namespace drey::override::cpp_runtime
