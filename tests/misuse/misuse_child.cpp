// misuse_child.cpp: commits the one crime its argument names, then says "survived" and exits 0.
// It is built twice: with drey linked in, and plain, to be run with libdrey.so preloaded.
// Invariant: before the crime everything is correct, so what is reported is the crime.
// Read next: misuse_test.cpp.
// SPDX-License-Identifier: MIT
#include "support/pattern.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>

namespace drey::test {
namespace {
void double_free(std::size_t bytes) {
  void* const block = escape(std::malloc(bytes));
  std::memset(block, 1, bytes);
  std::free(block);
  std::free(escape(block));
}

/// The second free comes when the slab has gone through the slow path meanwhile.
void double_free_later(std::size_t bytes) {
  std::vector<void*> blocks(3000);
  for (void*& block : blocks) block = escape(std::malloc(bytes));
  void* const twice = blocks[1500];
  for (void* block : blocks) std::free(block);
  std::free(escape(twice));
  // Whoever hands memory out again must not hand this block out twice unnoticed.
  for (void*& block : blocks) {
    block = escape(std::malloc(bytes));
    std::memset(block, 2, bytes);
  }
  for (void* block : blocks) std::free(block);
}

void interior(std::size_t bytes, std::size_t offset) {
  char* const block = static_cast<char*>(escape(std::malloc(bytes)));
  std::memset(block, 1, bytes);
  std::free(escape(block + offset));
}

void free_stack() {
  alignas(64) char place[256] = {};
  std::free(escape(place + 64));
}

void free_static() {
  alignas(64) static char place[256] = {};
  std::free(escape(place + 64));
}

char* foreign_mapping() {
  void* const place =
      mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memset(place, 0, 1 << 20);
  return static_cast<char*>(place);
}

void* number_as_pointer(std::size_t number) {
  return reinterpret_cast<void*>(number);
}

void free_from_another_thread_twice() {
  void* const block = escape(std::malloc(200000));
  std::thread([block] { std::free(block); }).join();
  std::thread([block] { std::free(escape(block)); }).join();
}

void wrong_sized_deletes() {
  for (std::size_t bytes : {std::size_t{16}, std::size_t{900}, std::size_t{70000}}) {
    for (std::size_t wrong : {std::size_t{1}, bytes / 2, bytes * 3, std::size_t{5000000}}) {
      ::operator delete(escape(::operator new(bytes)), wrong);
      ::operator delete[](escape(::operator new[](bytes)), wrong);
      ::operator delete (escape(::operator new (bytes, std::align_val_t{256})), wrong,
                         std::align_val_t{256});
    }
    // What went back wrongly sized must come out right again.
    std::vector<char*> blocks;
    for (int i = 0; i < 200; ++i) {
      blocks.push_back(static_cast<char*>(escape(std::malloc(bytes))));
      fill_pattern(blocks.back(), bytes, static_cast<std::uint64_t>(i));
    }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!check_pattern(blocks[i], bytes, i)) std::abort();
      std::free(blocks[i]);
    }
  }
}

/// Memory of the C library's own malloc, which a plugin opened with RTLD_DEEPBIND brings.
void blocks_of_the_c_library(const char* plugin) {
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_DEEPBIND);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    std::exit(3);
  }
  const auto make =
      reinterpret_cast<char* (*)(const char*, std::size_t)>(dlsym(library, "make_text"));
  const auto release = reinterpret_cast<void (*)(void*)>(dlsym(library, "release_text"));
  for (std::size_t bytes = 10; bytes <= 1000000; bytes *= 10) {
    std::free(make("of the C library", bytes));
    char* const grown =
        static_cast<char*>(std::realloc(make("of the C library", bytes), bytes * 2));
    if (std::strcmp(grown, "of the C library") != 0) std::abort();
    std::free(grown);
    if (malloc_usable_size(make("x", bytes)) < bytes) std::abort();
    release(make("back where it came from", bytes));
  }
}

struct Crime {
  const char* name;
  void (*commit)(const char* plugin);
};

void realloc_after_free(std::size_t bytes) {
  void* const block = escape(std::malloc(bytes));
  std::free(block);
  escape(std::realloc(escape(block), bytes * 2));
}

constexpr Crime kCrimes[] = {
    {"nothing", [](const char*) { std::free(escape(std::malloc(100))); }},
    {"double_free_small", [](const char*) { double_free(100); }},
    {"double_free_small_later", [](const char*) { double_free_later(100); }},
    {"double_free_medium", [](const char*) { double_free(30000); }},
    {"double_free_large", [](const char*) { double_free(3000000); }},
    {"double_free_huge", [](const char*) { double_free(std::size_t{100} << 20); }},
    {"double_free_by_threads", [](const char*) { free_from_another_thread_twice(); }},
    {"interior_of_large", [](const char*) { interior(3000000, 64); }},
    {"interior_slice_of_large", [](const char*) { interior(3000000, 131072); }},
    {"interior_slice_of_single", [](const char*) { interior(300000, 131072); }},
    {"interior_of_huge", [](const char*) { interior(std::size_t{100} << 20, 1 << 20); }},
    {"interior_of_small", [](const char*) { interior(1000, 16); }},
    {"interior_unaligned", [](const char*) { interior(1000, 3); }},
    {"free_stack", [](const char*) { free_stack(); }},
    {"free_static", [](const char*) { free_static(); }},
    {"free_foreign_mapping", [](const char*) { std::free(escape(foreign_mapping() + 4096)); }},
    {"free_small_number", [](const char*) { std::free(escape(number_as_pointer(48))); }},
    {"free_wild", [](const char*) { std::free(escape(number_as_pointer(SIZE_MAX << 47))); }},
    {"realloc_foreign_mapping",
     [](const char*) { escape(std::realloc(escape(foreign_mapping() + 64), 100)); }},
    {"realloc_stack",
     [](const char*) {
       alignas(64) char place[256] = {};
       escape(std::realloc(escape(place + 64), 100));
     }},
    {"realloc_after_free_large", [](const char*) { realloc_after_free(3000000); }},
    {"write_behind_large",
     [](const char*) {
       char* const block = static_cast<char*>(escape(std::malloc(3000000)));
       block[3000000] = 'A';
       std::free(block);
     }},
    {"wrong_sized_deletes", [](const char*) { wrong_sized_deletes(); }},
    {"blocks_of_the_c_library", blocks_of_the_c_library},
};

int commit(const char* name, const char* plugin) {
  for (const Crime& crime : kCrimes) {
    if (std::strcmp(crime.name, name) != 0) continue;
    crime.commit(plugin);
    std::puts("survived");
    return 0;
  }
  return 64;
}
}  // namespace
}  // namespace drey::test

int main(int argument_count, char** arguments) {
  if (argument_count < 2) return 64;
  return drey::test::commit(arguments[1], argument_count > 2 ? arguments[2] : "");
}
