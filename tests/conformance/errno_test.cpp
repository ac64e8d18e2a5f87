// errno_test.cpp: free keeps errno, whatever the allocator does meanwhile.
// POSIX.1-2024 free: "shall not modify errno if ptr is a null pointer or a pointer previously
// returned as if by malloc()" and not yet freed; error paths of programs rely on it.
// Read next: free_forms_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <cstring>
#include <new>
#include <thread>

namespace drey::test {
namespace {
using FreeKeepsErrno = ConformanceTest;
constexpr int kMarker = 1234;

TEST_F(FreeKeepsErrno, ForEverySize) {
  for (std::size_t size : sizes_of_every_class()) {
    void* const block = escape(std::malloc(size));
    std::memset(block, 1, size);
    errno = kMarker;
    std::free(block);
    ASSERT_EQ(errno, kMarker) << size;
  }
  errno = kMarker;
  std::free(nullptr);
  ASSERT_EQ(errno, kMarker);
}

TEST_F(FreeKeepsErrno, ForManyBlocksOfEachSizeAtOnce) {
  for (std::size_t size : {100, 900, 5000, 60000, 500000}) {
    std::vector<void*> live;
    for (std::size_t i = 0; i < (size > 10000 ? 50 : 5000); ++i) {
      live.push_back(escape(std::malloc(size)));
      std::memset(live.back(), 1, size);
    }
    for (void* block : live) {
      errno = kMarker;
      std::free(block);
      ASSERT_EQ(errno, kMarker) << size;
    }
  }
}

TEST_F(FreeKeepsErrno, ForHugeBlocks) {
  for (std::size_t size = 16 * kMiB; size <= 256 * kMiB; size *= 2) {
    void* const block = escape(std::malloc(size));
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, 4096);
    errno = kMarker;
    std::free(block);
    ASSERT_EQ(errno, kMarker) << size;
  }
}

TEST_F(FreeKeepsErrno, ForAlignedBlocks) {
  for (std::size_t alignment = 16; alignment <= 64 * kMiB; alignment *= 4) {
    for (std::size_t size : {std::size_t{1}, std::size_t{5000}, 3 * kMiB}) {
      void* block = nullptr;
      ASSERT_EQ(posix_memalign(&block, alignment, size), 0);
      errno = kMarker;
      std::free(block);
      ASSERT_EQ(errno, kMarker) << alignment << " " << size;
    }
  }
}

TEST_F(FreeKeepsErrno, ForBlocksOfAnotherThread) {
  for (std::size_t size : {16, 900, 5000, 300000, 5000000}) {
    std::vector<void*> live;
    for (int i = 0; i < 100; ++i) live.push_back(escape(std::malloc(size)));
    bool kept = true;
    std::thread([&] {
      for (void* block : live) {
        errno = kMarker;
        std::free(block);
        kept = kept && errno == kMarker;
      }
    }).join();
    ASSERT_TRUE(kept) << size;
  }
}

TEST_F(FreeKeepsErrno, ForTheDeleteForms) {
  for (std::size_t size : {std::size_t{16}, std::size_t{5000}, 3 * kMiB}) {
    void* const plain = escape(::operator new(size));
    void* const sized = escape(::operator new(size));
    void* const aligned = escape(::operator new (size, std::align_val_t{256}));
    errno = kMarker;
    ::operator delete(plain);
    ASSERT_EQ(errno, kMarker);
    ::operator delete(sized, size);
    ASSERT_EQ(errno, kMarker);
    ::operator delete (aligned, std::align_val_t{256});
    ASSERT_EQ(errno, kMarker);
  }
}

TEST_F(FreeKeepsErrno, InAFreshThreadWhoseFirstActIsFree) {
  void* const block = escape(std::malloc(100));
  int after = 0;
  std::thread([&] {
    errno = kMarker;
    std::free(block);
    after = errno;
  }).join();
  EXPECT_EQ(after, kMarker);
}
}  // namespace
}  // namespace drey::test
