// count_heap_calls.cpp: a plain program, linked with the counter over each subject: every way into
// the heap counts exactly once. Prints what does not, exits with 1 then.
// Not a GoogleTest: that would allocate between the readings.
// SPDX-License-Identifier: MIT
#include <drey/base/active_allocator.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include <malloc.h>

extern "C" unsigned long long drey_heap_call_count() noexcept;

namespace {
int failures = 0;
void* volatile kept = nullptr;  // keeps every block observable

template <typename Act>
void expect_one_call(const char* what, Act act) {
  const unsigned long long before = drey_heap_call_count();
  act();
  const unsigned long long calls = drey_heap_call_count() - before;
  if (calls == 1) return;
  std::fprintf(stderr, "%s: expected 1 heap call, found %llu\n", what, calls);
  ++failures;
}

void expect_free_counts_once() {
  void* const block = kept;
  expect_one_call("free", [block] { std::free(block); });
}

template <typename Act>
void expect_pair(const char* what, Act act) {
  expect_one_call(what, act);
  expect_free_counts_once();
}

void check_c_functions() {
  expect_pair("malloc", [] { kept = std::malloc(900); });
  expect_pair("calloc", [] { kept = std::calloc(3, 300); });
  expect_pair("realloc of null", [] { kept = std::realloc(nullptr, 64); });
  expect_pair("reallocarray", [] { kept = reallocarray(nullptr, 8, 8); });
  expect_pair("memalign", [] { kept = memalign(256, 100); });
  expect_pair("aligned_alloc", [] { kept = std::aligned_alloc(64, 128); });
  expect_pair("valloc", [] { kept = valloc(100); });
  expect_pair("strdup", [] { kept = strdup("twenty characters and a few"); });
  expect_pair("strndup", [] { kept = strndup("twenty characters and a few", 20); });
  expect_pair("posix_memalign", [] {
    void* block = nullptr;
    if (posix_memalign(&block, 64, 100) != 0) ++failures;
    kept = block;
  });
  kept = std::malloc(16);
  expect_pair("realloc", [] { kept = std::realloc(kept, 100'000); });
  expect_one_call("free of null", [] { std::free(nullptr); });
}

struct alignas(128) Wide {
  char bytes[128];
};

void check_cpp_operators() {
  expect_one_call("new", [] { kept = new int(1); });
  expect_one_call("delete", [] { delete static_cast<int*>(kept); });
  expect_one_call("new[]", [] { kept = new char[1000]; });
  expect_one_call("delete[]", [] { delete[] static_cast<char*>(kept); });
  expect_one_call("aligned new", [] { kept = new Wide(); });
  expect_one_call("aligned delete", [] { delete static_cast<Wide*>(kept); });
  expect_one_call("nothrow new", [] { kept = ::operator new(64, std::nothrow); });
  expect_one_call("plain delete", [] { ::operator delete(kept); });
}
}  // namespace

int main(int argc, char** argv) {
  check_c_functions();
  check_cpp_operators();
  const drey::ActiveAllocator active = drey::active_allocator();
  std::printf("%s, %s, failures: %d\n", active.name, active.how.c_str(), failures);
  if (argc < 2 || std::strcmp(active.name, argv[1]) != 0) {
    std::fprintf(stderr, "expected the active allocator to be %s\n", argc < 2 ? "?" : argv[1]);
    ++failures;
  }
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
