// secure_child.cpp: commits the one crime its argument names; only a secure build finds these. What
// survives says "survived" and exits 0; what is wrong with the blocks of a correct program aborts.
// Built twice, as misuse_child.cpp is.
// Read next: secure_test.cpp.
// SPDX-License-Identifier: MIT
#include "support/pattern.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <malloc.h>

namespace drey::test {
namespace {
char* take(std::size_t bytes) {
  return static_cast<char*>(escape(std::malloc(bytes)));
}

void give_back(void* block) {
  std::free(escape(block));
}

/// Enough frees that what was freed before them has left the quarantine.
void pass_time(std::size_t bytes, int count = 3000) {
  for (int i = 0; i < count; ++i) give_back(take(bytes));
}

void free_p_q_p(std::size_t bytes) {
  char* const p = take(bytes);
  char* const q = take(bytes);
  give_back(p);
  give_back(q);
  give_back(p);
}

void free_again_later(std::size_t bytes) {
  char* const block = take(bytes);
  give_back(block);
  pass_time(bytes);
  give_back(block);
}

/// The other thread lives on, so that the block is still on its way home.
void free_twice_in_another_thread(std::size_t bytes) {
  char* const block = take(bytes);
  std::thread([block] {
    give_back(block);
    give_back(block);
  }).join();
}

void free_here_and_in_another_thread(std::size_t bytes) {
  char* const block = take(bytes);
  give_back(block);
  std::thread([block] { give_back(block); }).join();
}

void free_in_another_thread_and_here(std::size_t bytes) {
  char* const block = take(bytes);
  std::thread([block] { give_back(block); }).join();
  give_back(block);
}

void free_inside(std::size_t bytes, std::size_t offset) {
  give_back(take(bytes) + offset);
}

void overflow(std::size_t bytes, std::size_t distance = 0, char mask = 'A') {
  char* const block = take(bytes);
  block[bytes + distance] = static_cast<char>(block[bytes + distance] ^ mask);
  give_back(block);
}

void underflow(std::size_t bytes) {
  char* const block = take(bytes);
  block[-1] = static_cast<char>(block[-1] ^ 'A');
  give_back(block);
}

void overflow_after_realloc(std::size_t from, std::size_t to) {
  char* const block = static_cast<char*>(escape(std::realloc(take(from), to)));
  block[to] = 'A';
  give_back(block);
}

void write_after_free(std::size_t bytes, std::size_t offset = 0) {
  char* const block = take(bytes);
  give_back(block);
  block[offset] = 'A';
  pass_time(bytes);
}

/// Blocks that have left the quarantine are in lists: their first words are links.
void write_over_links() {
  std::vector<char*> blocks(2000);
  for (char*& block : blocks) block = take(100);
  for (char* block : blocks) give_back(block);
  for (std::size_t i = 0; i < 1000; ++i) std::memset(escape(blocks[i]), 'A', sizeof(void*));
  for (char*& block : blocks) block = take(100);
}

void delete_with_wrong_size(std::size_t bytes, std::size_t wrong) {
  ::operator delete(escape(::operator new(bytes)), wrong);
}

void expect(bool fact) {
  if (!fact) std::abort();
}

bool is_zero(const char* block, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (block[i] != 0) return false;
  }
  return true;
}

/// Fresh, used and freed memory all read as zero.
void expect_zeros() {
  for (const std::size_t bytes : {1U, 24U, 100U, 1000U, 5000U, 60000U, 300000U}) {
    std::vector<char*> blocks(100);
    for (int round = 0; round < 3; ++round) {
      for (char*& block : blocks) {
        block = take(bytes);
        expect(is_zero(block, bytes));
        std::memset(block, 'A', bytes);
      }
      for (char* block : blocks) give_back(block);
    }
    char* const last = take(bytes);
    std::memset(last, 'A', bytes);
    give_back(last);
    if (bytes < 65536) expect(is_zero(static_cast<char*>(escape(last)), bytes));
  }
}

/// A freed block does not come back while fewer blocks were freed than the quarantine holds.
void expect_quarantine() {
  for (const std::size_t bytes : {16U, 100U, 1000U, 5000U, 60000U, 300000U}) {
    const int frees = bytes <= 1000 ? 32 : 8;
    char* const block = take(bytes);
    give_back(block);
    for (int i = 0; i < frees; ++i) {
      char* const other = take(bytes);
      expect(other != block);
      give_back(other);
    }
  }
}

/// malloc(0): addresses of their own, that can be given back and come again.
void expect_empty_blocks() {
  std::vector<void*> blocks(10000);
  for (int round = 0; round < 3; ++round) {
    for (void*& block : blocks) {
      block = take(0);
      expect(block != nullptr && malloc_usable_size(block) == 0);
    }
    for (std::size_t i = 1; i < blocks.size(); ++i) expect(blocks[i] != blocks[i - 1]);
    for (void* block : blocks) give_back(block);
  }
  ::operator delete (escape(::operator new(0)), std::size_t{0});
  give_back(escape(std::realloc(take(0), 100)));
}

/// Sizes and alignments told right are no crime; all of a block may be used, before and after it is
/// resized; blocks of other threads come home.
void expect_no_false_alarm() {
  std::vector<char*> blocks(3000);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t bytes = i * 7 + 1;
    blocks[i] = static_cast<char*>(escape(std::malloc(bytes)));
    std::memset(blocks[i], 'A', bytes);
    expect(malloc_usable_size(blocks[i]) == bytes);
    const std::size_t longer = bytes + i % 90;
    blocks[i] = static_cast<char*>(escape(std::realloc(blocks[i], longer)));
    std::memset(blocks[i], 'A', longer);
  }
  std::thread([&blocks] {
    for (char* block : blocks) give_back(block);
  }).join();
  for (std::size_t bytes = 1; bytes < 200000; bytes += bytes / 3 + 1) {
    for (std::size_t alignment = 8; alignment <= 1U << 21; alignment *= 8) {
      void* const block = escape(::operator new (bytes, std::align_val_t{alignment}));
      std::memset(block, 'A', bytes);
      ::operator delete (block, bytes, std::align_val_t{alignment});
    }
  }
}

/// Grows step by step, in its room and out of it, and keeps what it holds.
void expect_growth() {
  std::size_t bytes = 1000;
  char* block = take(bytes);
  std::memset(block, 'A', bytes);
  for (; bytes < std::size_t{20} << 20; bytes += bytes / 5) {
    block = static_cast<char*>(escape(std::realloc(block, bytes + bytes / 5)));
    expect(block[0] == 'A' && block[bytes / 2] == 'A' && block[bytes - 1] == 'A');
    std::memset(block + bytes, 'A', bytes / 5);
  }
  give_back(block);
}

/// Where blocks lie, seen from the first one.
void print_order() {
  const char* const first = take(48);
  for (int i = 0; i < 12; ++i) std::printf("%td ", take(48) - first);
}

struct Crime {
  const char* name;
  void (*commit)();
};

constexpr Crime kCrimes[] = {
    {"p_q_p_small", [] { free_p_q_p(100); }},
    {"p_q_p_medium", [] { free_p_q_p(5000); }},
    {"p_q_p_large", [] { free_p_q_p(300000); }},
    {"again_later_small", [] { free_again_later(100); }},
    {"again_later_medium", [] { free_again_later(5000); }},
    {"again_later_large", [] { free_again_later(300000); }},
    {"twice_elsewhere_small", [] { free_twice_in_another_thread(100); }},
    {"twice_elsewhere_medium", [] { free_twice_in_another_thread(5000); }},
    {"here_and_elsewhere", [] { free_here_and_in_another_thread(100); }},
    {"elsewhere_and_here", [] { free_in_another_thread_and_here(100); }},
    {"inside_1", [] { free_inside(100, 1); }},
    {"inside_8", [] { free_inside(100, 8); }},
    {"inside_16", [] { free_inside(100, 16); }},
    {"inside_medium", [] { free_inside(5000, 4096); }},
    {"inside_large", [] { free_inside(300000, 65536); }},
    {"overflow_1", [] { overflow(1); }},
    {"overflow_8", [] { overflow(8); }},
    {"overflow_20", [] { overflow(20); }},
    {"overflow_24", [] { overflow(24); }},
    {"overflow_100", [] { overflow(100); }},
    {"overflow_1000", [] { overflow(1000); }},
    {"overflow_5000", [] { overflow(5000); }},
    {"overflow_60000", [] { overflow(60000); }},
    {"overflow_300001", [] { overflow(300001); }},
    {"overflow_by_32", [] { overflow(4096, 31); }},
    {"overflow_at_page", [] { overflow(1 << 20); }},
    {"overflow_after_growth", [] { overflow_after_realloc(70, 85); }},
    {"overflow_after_large_growth", [] { overflow_after_realloc(100000, 300001); }},
    {"overflow_after_growth_twice",
     [] {
       char* const block = static_cast<char*>(escape(std::realloc(take(100000), 300001)));
       char* const grown = static_cast<char*>(escape(std::realloc(block, 400001)));
       std::memset(grown, 'A', 400002);
       give_back(grown);
     }},
    {"overflow_after_shrinking", [] { overflow_after_realloc(85, 70); }},
    {"underflow_8", [] { underflow(8); }},
    {"underflow_100", [] { underflow(100); }},
    {"underflow_5000", [] { underflow(5000); }},
    {"write_after_free_8", [] { write_after_free(8); }},
    {"write_after_free_100", [] { write_after_free(100); }},
    {"write_after_free_5000", [] { write_after_free(5000); }},
    {"write_after_free_large", [] { write_after_free(300000); }},
    {"write_after_free_large_end", [] { write_after_free(300000, 299999); }},
    {"write_after_free_huge", [] { write_after_free(3000000); }},
    {"write_over_links", write_over_links},
    {"delete_wrong_size_small", [] { delete_with_wrong_size(100, 101); }},
    {"delete_wrong_size_large", [] { delete_with_wrong_size(300000, 299999); }},
    {"realloc_after_free",
     [] {
       char* const block = take(100);
       give_back(block);
       escape(std::realloc(escape(block), 200));
     }},
    {"realloc_inside", [] { escape(std::realloc(take(100) + 16, 200)); }},
    {"usable_size_after_free",
     [] {
       char* const block = take(100);
       give_back(block);
       std::printf("%zu", malloc_usable_size(escape(block)));
     }},
    {"read_empty", [] { std::printf("%d", *take(0)); }},
    {"free_empty_twice",
     [] {
       char* const block = take(0);
       give_back(block);
       give_back(block);
     }},
    {"zeros", expect_zeros},
    {"quarantine", expect_quarantine},
    {"empty_blocks", expect_empty_blocks},
    {"no_false_alarm", expect_no_false_alarm},
    {"growth", expect_growth},
    {"order", print_order},
};
}  // namespace
}  // namespace drey::test

int main(int argument_count, char** arguments) {
  if (argument_count < 2) return 64;
  for (const drey::test::Crime& crime : drey::test::kCrimes) {
    if (std::strcmp(crime.name, arguments[1]) != 0) continue;
    crime.commit();
    std::puts("survived");
    return 0;
  }
  return 64;
}
