// operator_new_test.cpp: the replaceable allocation functions of C++.
// [new.delete.single] and [new.delete.array]: every form of new with every form of delete that may
// go with it; failure calls the new_handler again and again, then throws bad_alloc; the nothrow
// forms return null instead; delete of null does nothing.
// Read next: operator_new_aligned_test.cpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <memory>
#include <new>
#include <string>
#include <vector>

namespace drey::test {
namespace {
using OperatorNew = ConformanceTest;
using NewHandler = ConformanceTest;

TEST_F(OperatorNew, PlainFormsGiveDistinctWritableBlocks) {
  for (std::size_t size : some_sizes()) {
    void* const one = escape(::operator new(size));
    void* const other = escape(::operator new[](size));
    ASSERT_NE(one, other);
    fill_sparse(one, size, 1);
    fill_sparse(other, size, 2);
    ASSERT_TRUE(check_sparse(one, size, 1));
    ::operator delete(one);
    ::operator delete[](other);
  }
}

TEST_F(OperatorNew, OfSizeZeroIsUniqueAndNotNull) {
  // [basic.stc.dynamic.allocation] p2.
  void* const one = escape(::operator new(opaque(0)));
  void* const other = escape(::operator new(opaque(0)));
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, other);
  ::operator delete(one);
  ::operator delete(other);
}

TEST_F(OperatorNew, SizedDeleteTakesTheSizeOfNew) {
  for (std::size_t size : sizes_of_every_class()) {
    ::operator delete(escape(::operator new(size)), size);
    ::operator delete[](escape(::operator new[](size)), size);
  }
}

TEST_F(OperatorNew, NothrowFormsPairWithPlainAndNothrowDelete) {
  for (std::size_t size : some_sizes()) {
    void* block = escape(::operator new(size, std::nothrow));
    ASSERT_NE(block, nullptr);
    ::operator delete(block);
    block = escape(::operator new(size, std::nothrow));
    ::operator delete(block, std::nothrow);
    block = escape(::operator new[](size, std::nothrow));
    ::operator delete[](block);
    block = escape(::operator new[](size, std::nothrow));
    ::operator delete[](block, std::nothrow);
  }
}

TEST_F(OperatorNew, DeleteOfNullDoesNothing) {
  void* const null = escape(static_cast<void*>(nullptr));
  ::operator delete(null);
  ::operator delete[](null);
  ::operator delete(null, 10);
  ::operator delete[](null, 10);
  ::operator delete(null, std::nothrow);
  ::operator delete[](null, std::nothrow);
  ::operator delete (null, std::align_val_t{64});
  ::operator delete[](null, std::align_val_t{64});
  ::operator delete (null, 10, std::align_val_t{64});
  ::operator delete[](null, 10, std::align_val_t{64});
}

TEST_F(OperatorNew, ThrowsBadAllocWhenThereIsNoMemory) {
  for (std::size_t size : {kObjectBytesMax / 2, kObjectBytesMax, SIZE_MAX - 4096, SIZE_MAX}) {
    EXPECT_THROW(escape(::operator new(opaque(size))), std::bad_alloc);
    EXPECT_THROW(escape(::operator new[](opaque(size))), std::bad_alloc);
    EXPECT_THROW(escape(::operator new (opaque(size), std::align_val_t{64})), std::bad_alloc);
    EXPECT_THROW(escape(::operator new[](opaque(size), std::align_val_t{64})), std::bad_alloc);
  }
}

TEST_F(OperatorNew, ContainersOfTheStandardLibraryLiveOnIt) {
  std::vector<std::string> words;
  for (int i = 0; i < 10000; ++i)
    words.push_back(std::string(static_cast<std::size_t>(i % 300), 'w'));
  std::size_t letters = 0;
  for (const std::string& word : words) letters += word.size();
  EXPECT_EQ(letters, 33U * (299 * 300 / 2) + 99U * 100 / 2);
  EXPECT_THROW(words.reserve(words.max_size()), std::bad_alloc);
  const auto shared = std::make_shared<std::vector<int>>(1000, 5);
  EXPECT_EQ(shared->at(999), 5);
}

int handler_calls = 0;

void handler_that_gives_up_after_three() {
  if (++handler_calls == 3) std::set_new_handler(nullptr);
}

struct HandlerError {};

void handler_that_throws() {
  throw HandlerError{};
}

TEST_F(NewHandler, IsCalledUntilItGivesUpThenBadAlloc) {
  // [new.delete.single] p4: loop: try, call the handler if there is one, else throw.
  handler_calls = 0;
  std::set_new_handler(handler_that_gives_up_after_three);
  EXPECT_THROW(escape(::operator new(opaque(SIZE_MAX / 2 - 1))), std::bad_alloc);
  EXPECT_EQ(handler_calls, 3);
  EXPECT_EQ(std::get_new_handler(), nullptr);
}

TEST_F(NewHandler, IsCalledByTheNothrowAndAlignedForms) {
  for (int form = 0; form < 4; ++form) {
    handler_calls = 0;
    std::set_new_handler(handler_that_gives_up_after_three);
    const std::size_t size = opaque(SIZE_MAX / 2 - 1);
    void* block = nullptr;
    if (form == 0) block = ::operator new(size, std::nothrow);
    if (form == 1) block = ::operator new[](size, std::nothrow);
    if (form == 2) block = ::operator new (size, std::align_val_t{128}, std::nothrow);
    if (form == 3) block = ::operator new[](size, std::align_val_t{128}, std::nothrow);
    EXPECT_EQ(escape(block), nullptr) << form;
    EXPECT_EQ(handler_calls, 3) << form;
    std::set_new_handler(nullptr);
  }
}

TEST_F(NewHandler, MayThrowItsOwnException) {
  std::set_new_handler(handler_that_throws);
  EXPECT_THROW(escape(::operator new(opaque(SIZE_MAX / 2 - 1))), HandlerError);
  std::set_new_handler(nullptr);
}

TEST_F(NewHandler, MayFreeMemoryAndAllocate) {
  static void* reserve = nullptr;
  reserve = escape(std::malloc(100000));
  std::set_new_handler([] {
    std::free(reserve);
    reserve = nullptr;
    std::free(escape(std::malloc(64)));
    std::set_new_handler(nullptr);
  });
  EXPECT_THROW(escape(::operator new(opaque(SIZE_MAX / 2 - 1))), std::bad_alloc);
  EXPECT_EQ(reserve, nullptr);
}

TEST_F(NewHandler, IsNotCalledByMalloc) {
  handler_calls = 0;
  std::set_new_handler(handler_that_gives_up_after_three);
  EXPECT_EQ(escape(std::malloc(opaque(SIZE_MAX / 2 - 1))), nullptr);
  EXPECT_EQ(handler_calls, 0);
  std::set_new_handler(nullptr);
}
}  // namespace
}  // namespace drey::test
