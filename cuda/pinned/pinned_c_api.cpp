// pinned_c_api.cpp: the pinned cache's part of drey/cuda.h.
// SPDX-License-Identifier: MIT
#include <drey/cuda.h>
#include <drey/cuda/pinned_cache.hpp>

#include <cstdio>
#include <new>

#include <sys/mman.h>

// The one thing that the header does not show.
struct drey_cuda_pinned {
  drey::cuda::LoadedDriver driver;
  drey::cuda::PinnedCache cache;
};

namespace {
using drey::cuda::Allocation;
using drey::cuda::Outcome;
using drey::cuda::Status;
using drey::cuda::Stream;

int code_of(Outcome outcome) noexcept {
  return static_cast<int>(outcome.status);
}
Stream to_stream(drey_cuda_stream stream) noexcept {
  return static_cast<Stream>(stream);
}
constexpr int kClosedCode = static_cast<int>(Status::kClosed);

void give_back(drey_cuda_pinned* handle) noexcept {
  handle->~drey_cuda_pinned();
  ::munmap(handle, sizeof(drey_cuda_pinned));
}
}  // namespace

int drey_cuda_pinned_open(int device, uint64_t bytes_max, drey_cuda_pinned** cache, char* message,
                          size_t size) {
  *cache = nullptr;
  void* const memory = ::mmap(nullptr, sizeof(drey_cuda_pinned), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Outcome outcome{Status::kNoMetadata};
  const char* text = text_of(outcome.status);
  drey_cuda_pinned* made = nullptr;
  if (memory != MAP_FAILED) {
    made = ::new (memory) drey_cuda_pinned{drey::cuda::load_driver(), {}};
    outcome = {Status::kDriver, drey::cuda::Result::kNotInitialized};
    text = made->driver.reason.c_str();
    if (made->driver.reason.length() == 0) {
      outcome = made->cache.open(made->driver.table, {.device = device, .bytes_max = bytes_max});
      text = text_of(outcome.status);
    }
  }
  if (outcome.is_ok()) {
    *cache = made;
    return 0;
  }
  if (message != nullptr && size != 0)
    static_cast<void>(std::snprintf(message, size, "%s", text));  // cut where it is too long
  if (made != nullptr) give_back(made);
  return code_of(outcome);
}

int drey_cuda_pinned_close(drey_cuda_pinned* cache) {
  if (cache == nullptr) return kClosedCode;
  const Outcome outcome = cache->cache.close();
  if (outcome.is_ok()) give_back(cache);
  return code_of(outcome);
}

int drey_cuda_pinned_allocate(drey_cuda_pinned* cache, size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (cache == nullptr) return kClosedCode;
  const Allocation made = cache->cache.try_allocate(bytes);
  *pointer = made.pointer;
  return code_of(made.outcome);
}
int drey_cuda_pinned_allocate_in(drey_cuda_pinned* cache, size_t bytes, drey_cuda_stream stream,
                                 void** pointer) {
  *pointer = nullptr;
  if (cache == nullptr) return kClosedCode;
  const Allocation made = cache->cache.try_allocate(
      bytes, drey::cuda::DeviceAllocator::kGranuleBytes, to_stream(stream));
  *pointer = made.pointer;
  return code_of(made.outcome);
}

int drey_cuda_pinned_deallocate(drey_cuda_pinned* cache, void* pointer) {
  return cache == nullptr ? kClosedCode : code_of(cache->cache.try_deallocate(pointer));
}
int drey_cuda_pinned_deallocate_in(drey_cuda_pinned* cache, void* pointer,
                                   drey_cuda_stream stream) {
  if (cache == nullptr) return kClosedCode;
  return code_of(cache->cache.try_deallocate(pointer, to_stream(stream)));
}
int drey_cuda_pinned_record_use(drey_cuda_pinned* cache, void* pointer, drey_cuda_stream stream) {
  if (cache == nullptr) return kClosedCode;
  return code_of(cache->cache.record_use(pointer, to_stream(stream)));
}
int drey_cuda_pinned_stream_retired(drey_cuda_pinned* cache, drey_cuda_stream stream) {
  return cache == nullptr ? kClosedCode : code_of(cache->cache.stream_retired(to_stream(stream)));
}
int drey_cuda_pinned_trim(drey_cuda_pinned* cache, uint64_t bytes_kept, uint64_t* released) {
  return cache == nullptr ? kClosedCode : code_of(cache->cache.trim_to(bytes_kept, released));
}
