// status.hpp: what a call of the device allocator came to.
// Invariant: anything but kOk has changed nothing that a caller can see, unless the name says otherwise.
// Read next: device_allocator.hpp; allocator_error.hpp for the same as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace drey::cuda {
enum class Status : std::uint8_t {
  kOk = 0,
  kOutOfMemory,        ///< the ladder of cuda/README.md ended; the report says why
  kInvalidSize,        ///< more bytes than the arena has addresses, as sizes near 2^64
  kInvalidAlignment,   ///< not a power of two, or larger than the arena
  kInvalidStream,      ///< the driver does not know the stream
  kTooManyStreams,     ///< 256 streams exist, or are destroyed and not past
  kDoubleFree,         ///< the block is free already
  kForeignPointer,     ///< not this allocator's memory
  kInteriorPointer,    ///< this allocator's memory, but no block begins there
  kWrongSize,          ///< not the size that was asked for
  kAsleep,             ///< between sleep() and wake() nothing can be allocated
  kForkedChild,        ///< the process was forked from the one that opened the allocator
  kClosed,             ///< not opened, or closed
  kInvalidConfig,      ///< open(): a value that makes no sense, or no virtual memory
  kTooManyAllocators,  ///< 16 are open in this process
  kNoMetadata,         ///< no host memory, or no more records
  kCaptureForbids,     ///< would break a capture that is under way
  kDriver,             ///< the driver refused; its result is in the Outcome
  kInvalidPool,        ///< no pool or capture of this allocator, or not the innermost scope
  kTooManyPools,       ///< 63 pools exist, 16 captures are under way, or 16 scopes are open
  kOutOfPinnedMemory,  ///< the limit, or the driver, has no more pinned host memory
};

/// One line in plain words, without the pointer. Never null. Threads: any.
[[nodiscard]] const char* text_of(Status status) noexcept;
}  // namespace drey::cuda
