// c_api.cpp: see drey/cuda.h.
// SPDX-License-Identifier: MIT
#include <drey/cuda.h>
#include <drey/cuda/device_allocator.hpp>

#include <drey/base/text.hpp>

#include <algorithm>
#include <new>

#include <sys/mman.h>

// The one thing that the header does not show.
struct drey_cuda_allocator {
  drey::cuda::LoadedDriver driver;
  drey::cuda::DeviceAllocator allocator;
};

namespace {
using drey::cuda::AllocatorConfig;
using drey::cuda::OomReport;
using drey::cuda::Outcome;
using drey::cuda::Status;
using drey::cuda::Stream;

// Small enough for the stack of static thread-local memory a late library gets: a pointer to a page.
constinit thread_local OomReport* last_report = nullptr;

int code_of(Status status) noexcept {
  return static_cast<int>(status);
}
int code_of(Outcome outcome) noexcept {
  return code_of(outcome.status);
}
Stream to_stream(drey_cuda_stream stream) noexcept {
  return static_cast<Stream>(stream);
}

void* new_page(std::size_t bytes) noexcept {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void keep(const OomReport& report) noexcept {
  if (last_report == nullptr) {
    void* const memory = new_page(sizeof(OomReport));
    if (memory == nullptr) return;
    last_report = ::new (memory) OomReport;
  }
  *last_report = report;
}

void say(const char* text, char* message, std::size_t size) noexcept {
  if (message == nullptr || size == 0) return;
  std::size_t length = 0;
  while (text[length] != '\0' && length + 1 < size) {
    message[length] = text[length];
    ++length;
  }
  message[length] = '\0';
}
}  // namespace

int drey_cuda_open(int device, drey_cuda_allocator** allocator, char* message, size_t size) {
  *allocator = nullptr;
  void* const memory = new_page(sizeof(drey_cuda_allocator));
  if (memory == nullptr) {
    say(text_of(Status::kNoMetadata), message, size);
    return code_of(Status::kNoMetadata);
  }
  auto* const made = ::new (memory) drey_cuda_allocator{drey::cuda::load_driver(), {}};
  Outcome outcome{Status::kDriver, drey::cuda::Result::kNotInitialized};
  if (made->driver.reason.length() != 0) {
    say(made->driver.reason.c_str(), message, size);
  } else {
    AllocatorConfig config;
    config.device = device;
    outcome = made->allocator.open(made->driver.table, config);
    if (!outcome.is_ok()) say(text_of(outcome.status), message, size);
  }
  if (outcome.is_ok()) {
    *allocator = made;
  } else {
    made->~drey_cuda_allocator();
    ::munmap(memory, sizeof(drey_cuda_allocator));
  }
  return code_of(outcome);
}

int drey_cuda_close(drey_cuda_allocator* allocator) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  const Outcome outcome = allocator->allocator.close();
  if (!outcome.is_ok()) return code_of(outcome);
  allocator->~drey_cuda_allocator();
  ::munmap(allocator, sizeof(drey_cuda_allocator));
  return 0;
}

int drey_cuda_allocate(drey_cuda_allocator* allocator, size_t bytes, size_t alignment,
                       drey_cuda_stream stream, void** pointer) {
  *pointer = nullptr;
  if (allocator == nullptr) return code_of(Status::kClosed);
  OomReport report;
  const auto made = allocator->allocator.try_allocate(bytes, alignment, to_stream(stream), &report);
  if (made.outcome.status == Status::kOutOfMemory) keep(report);
  *pointer = made.pointer;
  return code_of(made.outcome);
}

int drey_cuda_deallocate(drey_cuda_allocator* allocator, void* pointer) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.try_deallocate(pointer));
}
int drey_cuda_deallocate_in(drey_cuda_allocator* allocator, void* pointer,
                            drey_cuda_stream stream) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.try_deallocate(pointer, to_stream(stream)));
}
int drey_cuda_record_stream(drey_cuda_allocator* allocator, void* pointer,
                            drey_cuda_stream stream) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.record_stream(pointer, to_stream(stream)));
}
int drey_cuda_record_use(drey_cuda_allocator* allocator, void* pointer, drey_cuda_stream stream) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.record_use(pointer, to_stream(stream)));
}
int drey_cuda_stream_retired(drey_cuda_allocator* allocator, drey_cuda_stream stream) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.stream_retired(to_stream(stream)));
}
int drey_cuda_pool_create(drey_cuda_allocator* allocator, int is_for_oom, uint64_t* pool) {
  *pool = 0;
  if (allocator == nullptr) return code_of(Status::kClosed);
  drey::cuda::PoolId made;
  const Outcome outcome = allocator->allocator.create_pool(&made, is_for_oom != 0);
  *pool = made.value;
  return code_of(outcome);
}
int drey_cuda_pool_retain(drey_cuda_allocator* allocator, uint64_t pool) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.retain_pool({pool}));
}
int drey_cuda_pool_release(drey_cuda_allocator* allocator, uint64_t pool) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.release_pool({pool}));
}
int drey_cuda_pool_release_after(drey_cuda_allocator* allocator, uint64_t pool,
                                 drey_cuda_stream after) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.release_pool({pool}, to_stream(after)));
}
int drey_cuda_pool_begin(drey_cuda_allocator* allocator, uint64_t pool) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.begin_pool({pool}));
}
int drey_cuda_pool_end(drey_cuda_allocator* allocator, uint64_t pool) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.end_pool({pool}));
}
int drey_cuda_capture_begin(drey_cuda_allocator* allocator, uint64_t pool, uint64_t* capture) {
  *capture = 0;
  if (allocator == nullptr) return code_of(Status::kClosed);
  drey::cuda::CaptureId begun;
  const Outcome outcome = allocator->allocator.begin_capture({pool}, &begun);
  *capture = begun.value;
  return code_of(outcome);
}
int drey_cuda_capture_bind(drey_cuda_allocator* allocator, uint64_t capture,
                           drey_cuda_stream stream) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.bind_capture({capture}, to_stream(stream)));
}
int drey_cuda_capture_end(drey_cuda_allocator* allocator, uint64_t capture, int is_kept) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.end_capture({capture}, is_kept != 0));
}
int drey_cuda_trim(drey_cuda_allocator* allocator, uint64_t bytes_kept, uint64_t* released) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.trim_to(bytes_kept, released));
}
int drey_cuda_set_limits(drey_cuda_allocator* allocator, uint64_t hard, uint64_t soft,
                         uint64_t headroom) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.set_limits({hard, soft, headroom}));
}
int drey_cuda_sleep(drey_cuda_allocator* allocator) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.sleep());
}
int drey_cuda_wake(drey_cuda_allocator* allocator) {
  if (allocator == nullptr) return code_of(Status::kClosed);
  return code_of(allocator->allocator.wake());
}

const char* drey_cuda_message(int code) {
  return drey::cuda::text_of(static_cast<Status>(code));
}
size_t drey_cuda_last_report(char* text, size_t size) {
  if (last_report == nullptr) {
    if (size != 0) text[0] = '\0';
    return 0;
  }
  return drey::cuda::text_of(*last_report, text, size);
}
