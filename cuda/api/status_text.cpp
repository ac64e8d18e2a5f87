// status_text.cpp: what each Status says.
// SPDX-License-Identifier: MIT
#include <drey/cuda/status.hpp>

namespace drey::cuda {
const char* text_of(Status status) noexcept {
  switch (status) {
    case Status::kOk:
      return "success";
    case Status::kOutOfMemory:
      return "out of device memory";
    case Status::kInvalidSize:
      return "the size is larger than the allocator's addresses";
    case Status::kInvalidAlignment:
      return "the alignment is no power of two, or larger than the allocator's addresses";
    case Status::kInvalidStream:
      return "the stream does not exist";
    case Status::kTooManyStreams:
      return "more than 256 streams exist or are not past";
    case Status::kDoubleFree:
      return "the block is free already";
    case Status::kForeignPointer:
      return "the pointer is not of this allocator";
    case Status::kInteriorPointer:
      return "the pointer is into a block, not to its beginning";
    case Status::kWrongSize:
      return "the size is not the one that was asked for";
    case Status::kAsleep:
      return "the allocator is asleep";
    case Status::kForkedChild:
      return "a process that was forked cannot use its parent's device memory";
    case Status::kClosed:
      return "the allocator is closed";
    case Status::kInvalidConfig:
      return "the configuration makes no sense, or the device has no virtual memory";
    case Status::kTooManyAllocators:
      return "16 allocators are open";
    case Status::kNoMetadata:
      return "no host memory for the allocator's records";
    case Status::kCaptureForbids:
      return "a capture that is under way forbids it";
    case Status::kDriver:
      return "the driver refused";
    case Status::kInvalidPool:
      return "no pool or capture of this allocator, or not the innermost one";
    case Status::kTooManyPools:
      return "too many pools, captures or scopes of pools";
    case Status::kOutOfPinnedMemory:
      return "out of pinned host memory";
  }
  return "unknown status";
}
}  // namespace drey::cuda
