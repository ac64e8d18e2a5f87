// fake_runtime.cpp: see fake_runtime.hpp. Built where the toolkit's headers are.
//
// Since CUDA 10.1 the runtime's error numbers are the driver's for everything that can happen here.
// What it leaves out of the real one's duty: launches, textures, graphs, memory pools, managed memory.
// SPDX-License-Identifier: MIT
#include <drey/cuda/fake_runtime.hpp>

#include <atomic>
#include <cstdint>

#include <cuda_runtime_api.h>

namespace drey::cuda {
namespace {
constexpr int kDevicesMax = 16;

const DriverTable* driver = nullptr;
Context contexts[kDevicesMax] = {};
std::uint64_t generation = 0;
void (*before_record)(void* context) = nullptr;
void* before_record_context = nullptr;

struct ThreadState {
  std::uint64_t generation = 0;
  int device = 0;
  cudaError_t last_error = cudaSuccess;
};
thread_local ThreadState this_thread;

cudaError_t keep(Result result) noexcept {
  const auto error = static_cast<cudaError_t>(result);
  // "Not ready" is an answer, not an error.
  if (error != cudaSuccess && error != cudaErrorNotReady) this_thread.last_error = error;
  return error;
}

Result make_current(int device) noexcept {
  if (device < 0 || device >= kDevicesMax) return Result::kInvalidDevice;
  if (contexts[device] == nullptr) {
    const Result retained = driver->device_primary_ctx_retain(&contexts[device], device);
    if (retained != Result::kSuccess) return retained;
  }
  const Result set = driver->ctx_set_current(contexts[device]);
  if (set != Result::kSuccess) return set;
  this_thread.device = device;
  this_thread.generation = generation;
  return Result::kSuccess;
}

/// Runs a call of the driver with the thread's device current.
template <typename Call>
cudaError_t run(Call&& call) noexcept {
  if (driver == nullptr) return cudaErrorInitializationError;
  if (this_thread.generation != generation) [[unlikely]] {
    const Result current = make_current(0);
    if (current != Result::kSuccess) return keep(current);
  }
  return keep(call());
}

DevicePointer address_of(const void* pointer) noexcept {
  return reinterpret_cast<DevicePointer>(pointer);
}
}  // namespace

Result use_fake_runtime(const DriverTable& table) noexcept {
  driver = &table;
  for (Context& context : contexts) context = nullptr;
  ++generation;
  const Result started = driver->init(0);
  return started == Result::kSuccess ? make_current(0) : started;
}

void set_before_event_record(void (*function)(void* context), void* context) noexcept {
  before_record = function;
  before_record_context = context;
}
}  // namespace drey::cuda

using namespace drey::cuda;  // NOLINT(google-build-using-namespace): the runtime's calls, below

// NOLINTBEGIN(readability-identifier-naming): the runtime's own names.
extern "C" {
cudaError_t cudaGetDevice(int* device) {
  return run([&] {
    *device = this_thread.device;
    return Result::kSuccess;
  });
}
cudaError_t cudaSetDevice(int device) {
  return run([&] { return make_current(device); });
}
cudaError_t cudaGetDeviceCount(int* count) {
  return run([&] { return driver->device_get_count(count); });
}
cudaError_t cudaDeviceSynchronize() {
  return run([&] { return driver->ctx_synchronize(); });
}
cudaError_t cudaDriverGetVersion(int* version) {
  return run([&] { return driver->driver_get_version(version); });
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = this_thread.last_error;
  this_thread.last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() {
  return this_thread.last_error;
}
const char* cudaGetErrorName(cudaError_t error) {
  return driver == nullptr ? "error" : name_of(*driver, static_cast<Result>(error));
}
const char* cudaGetErrorString(cudaError_t error) {
  return cudaGetErrorName(error);
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  return run([&] { return driver->mem_alloc(reinterpret_cast<DevicePointer*>(pointer), bytes); });
}
cudaError_t cudaFree(void* pointer) {
  return run([&] { return driver->mem_free(address_of(pointer)); });
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return run([&] { return driver->mem_host_alloc(pointer, bytes, flags); });
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}
cudaError_t cudaFreeHost(void* pointer) {
  return run([&] { return driver->mem_free_host(pointer); });
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return run([&] { return driver->mem_get_info(free_bytes, total_bytes); });
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  return run([&] { return driver->memcpy_async(address_of(to), address_of(from), bytes, stream); });
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  return run([&] {
    return driver->memset_d8_async(address_of(to), static_cast<unsigned char>(value), bytes,
                                   stream);
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return run([&] { return driver->stream_create_with_priority(stream, flags, priority); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return run([&] { return driver->stream_destroy(stream); });
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return run([&] { return driver->stream_query(stream); });
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return run([&] { return driver->stream_synchronize(stream); });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return run([&] { return driver->stream_wait_event(stream, event, flags); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return run([&] { return driver->event_create(event, flags); });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, 0);
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (before_record != nullptr) [[unlikely]]
    before_record(before_record_context);
  return run([&] { return driver->event_record(event, stream); });
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return run([&] { return driver->event_query(event); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return run([&] { return driver->event_synchronize(event); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return run([&] { return driver->event_destroy(event); });
}
}
// NOLINTEND(readability-identifier-naming)
