// device_buffer_test.cpp: owners of device memory, on the simulated device: what is freed, when and in which stream.
// SPDX-License-Identifier: MIT
#include <drey/cuda/device_buffer.hpp>
#include <drey/cuda/temporary_storage.hpp>

#include "unit/cuda/allocator_fixture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace drey::cuda {
namespace {
using Buffer = DeviceBuffer<std::uint64_t>;
static_assert(!std::is_copy_constructible_v<Buffer> && !std::is_copy_assignable_v<Buffer>);
static_assert(std::is_nothrow_move_constructible_v<Buffer> &&
              std::is_nothrow_move_assignable_v<Buffer>);
static_assert(std::is_nothrow_destructible_v<Buffer>);

class DeviceBuffers : public ::testing::Test {
 protected:
  [[nodiscard]] std::uint64_t live() {
    return fixture_.allocator.statistics().allocation.all.current;
  }
  /// Tells the simulator of the buffer, and lets work of its stream write all of it.
  void use(Buffer& buffer) {
    const DevicePointer base = AllocatorFixture::number_of(buffer.data());
    fixture_.device.simulator.block_allocated(base, buffer.bytes(), buffer.stream());
    fixture_.device.launch(buffer.stream(), base, buffer.bytes(), "use");
  }
  void tell_freed(const Buffer& buffer) {
    fixture_.device.simulator.block_freed(AllocatorFixture::number_of(buffer.data()),
                                          buffer.stream());
  }
  AllocatorFixture fixture_;
};

TEST_F(DeviceBuffers, FreeTheirMemoryInTheirStreamAtTheEndOfTheScope) {
  Stream stream = fixture_.device.new_stream();
  const std::uint64_t* first = nullptr;
  {
    Buffer buffer(fixture_.allocator, 1000, stream);
    EXPECT_EQ(buffer.size(), 1000U);
    EXPECT_EQ(buffer.bytes(), 8000U);
    EXPECT_EQ(buffer.span().data(), buffer.data());
    EXPECT_EQ(buffer.span().size(), 1000U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);
    use(buffer);
    first = buffer.data();
    tell_freed(buffer);
    EXPECT_EQ(live(), 1U);
  }
  EXPECT_EQ(live(), 0U);
  const std::uint64_t calls = fixture_.calls();
  Buffer again(fixture_.allocator, 1000, stream);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(fixture_.calls(), calls);
  use(again);
  tell_freed(again);
}

TEST_F(DeviceBuffers, MoveTheirMemoryAndFreeWhatTheyHadBefore) {
  Buffer one(fixture_.allocator, 10, nullptr);
  Buffer two(fixture_.allocator, 20, nullptr);
  std::uint64_t* const memory = two.data();
  one = std::move(two);
  EXPECT_EQ(live(), 1U);
  EXPECT_EQ(one.data(), memory);
  EXPECT_EQ(one.size(), 20U);
  EXPECT_TRUE(
      two.is_empty());  // NOLINT(bugprone-use-after-move): empty is what it is promised to be
  EXPECT_EQ(two.data(), nullptr);
  Buffer& same = one;
  one = std::move(same);
  EXPECT_EQ(one.data(), memory);
  Buffer three(std::move(one));
  three.reset();
  three.reset();
  EXPECT_EQ(live(), 0U);
}

TEST_F(DeviceBuffers, GiveTheirMemoryAwayAndTakeItOver) {
  Buffer buffer(fixture_.allocator, 7, nullptr);
  std::uint64_t* const memory = buffer.release();
  EXPECT_TRUE(buffer.is_empty());
  buffer.reset();
  EXPECT_EQ(live(), 1U);
  Buffer owner(fixture_.allocator, memory, 7, nullptr);
  owner.reset();
  EXPECT_EQ(live(), 0U);
}

// The free is where the last use is, though the block was allocated for another stream.
TEST_F(DeviceBuffers, AreFreedInTheStreamThatTheyWereMovedTo) {
  Stream other = fixture_.device.new_stream();
  Event event = fixture_.device.new_event();
  Buffer buffer(fixture_.allocator, 100, nullptr);
  use(buffer);
  fixture_.device.record(event, nullptr);
  fixture_.device.wait(other, event);
  const DevicePointer base = AllocatorFixture::number_of(buffer.data());
  fixture_.device.launch(other, base, buffer.bytes(), "last use");
  buffer.set_stream(other);
  tell_freed(buffer);
  const std::uint64_t* const memory = buffer.data();
  buffer.reset();
  Buffer next(fixture_.allocator, 100, other);
  EXPECT_EQ(next.data(), memory);
  use(next);
  tell_freed(next);
}

TEST_F(DeviceBuffers, AreNotReusedBeforeARecordedUse) {
  Stream other = fixture_.device.new_stream();
  Event event = fixture_.device.new_event();
  Buffer buffer(fixture_.allocator, 100, nullptr);
  use(buffer);
  fixture_.device.record(event, nullptr);
  fixture_.device.wait(other, event);
  const DevicePointer base = AllocatorFixture::number_of(buffer.data());
  fixture_.device.simulator.block_used(base, other, true);
  fixture_.device.launch(other, base, buffer.bytes(), "used elsewhere");
  AllocatorFixture::expect_ok(buffer.record_use(other));
  fixture_.device.simulator.block_freed(base);
  buffer.reset();
  Buffer next(fixture_.allocator, 100, nullptr);
  use(next);
  tell_freed(next);
}

TEST_F(DeviceBuffers, ThrowAndLeaveNothingBehindIfThereIsNoMemory) {
  EXPECT_THROW(Buffer(fixture_.allocator, std::size_t{1} << 40, nullptr), AllocatorError);
  EXPECT_THROW(Buffer(fixture_.allocator, SIZE_MAX / 2, nullptr), MisuseError);
  EXPECT_THROW(Buffer(fixture_.allocator, (2048 * kMiB) / 8, nullptr), OutOfDeviceMemory);
  EXPECT_EQ(live(), 0U);
  Buffer nothing(fixture_.allocator, 0, nullptr);
  EXPECT_EQ(nothing.data(), nullptr);
  EXPECT_TRUE(Buffer().is_empty());
}

TEST_F(DeviceBuffers, OfADestroyedStreamAreFreedInTheStreamTheyWereAllocatedFor) {
  Stream other = fixture_.device.new_stream();
  Buffer buffer(fixture_.allocator, 100, nullptr);
  buffer.set_stream(other);
  sim::SimulatedDevice::expect(fixture_.device.driver.stream_destroy(other));
  buffer.reset();
  EXPECT_EQ(live(), 0U);
}

TEST_F(DeviceBuffers, ServeThrustsTemporariesOfOneStream) {
  static_assert(std::is_same_v<TemporaryStorage::value_type, char>);
  Stream stream = fixture_.device.new_stream();
  TemporaryStorage storage(fixture_.allocator, stream);
  char* const first = storage.allocate(3000);
  EXPECT_EQ(live(), 1U);
  EXPECT_THROW(storage.deallocate(first, 3001), MisuseError);
  storage.deallocate(first, 3000);
  EXPECT_THROW(storage.deallocate(first, 3000), MisuseError);
  char* const second = storage.allocate(3000);
  EXPECT_EQ(second, first);
  storage.deallocate(second, 3000);
  EXPECT_THROW(static_cast<void>(storage.allocate(-1)), MisuseError);
  EXPECT_EQ(live(), 0U);
}
}  // namespace
}  // namespace drey::cuda
