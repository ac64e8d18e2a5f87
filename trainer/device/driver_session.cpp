// driver_session.cpp: see driver_session.hpp. Read next: driver_queue.hpp. SPDX-License-Identifier: MIT
#include "trainer/device/driver_session.hpp"

#include <cstdint>
#include <string>

namespace drey::trainer {
namespace {
[[nodiscard]] cuda::DevicePointer pointer_of(const void* place) {
  return reinterpret_cast<std::uintptr_t>(place);
}

[[nodiscard]] std::string option_of(int device) {
  std::string text = "--device cuda";
  if (device != 0) text.append(":").append(std::to_string(device));
  return text.append(": ");
}

void check_loaded(const cuda::LoadedDriver& loaded, int device) {
  if (loaded.reason.length() != 0) throw DeviceError(option_of(device) + loaded.reason.c_str());
}

void check_call(const cuda::DriverTable& driver, int device, const char* call,
                cuda::Result result) {
  if (result == cuda::Result::kSuccess) return;
  throw DeviceError(option_of(device) + call + ": " + cuda::name_of(driver, result));
}

/// Starts the driver. Fails: DeviceError unless it has a device of that number.
void start_driver(const cuda::DriverTable& driver, int device) {
  check_call(driver, device, "cuInit", driver.init(0));
  int count = 0;
  check_call(driver, device, "cuDeviceGetCount", driver.device_get_count(&count));
  if (count == 0) throw DeviceError(option_of(device) + "the driver shows no device");
  if (device < count) return;
  throw DeviceError(option_of(device) + "expected a number below " + std::to_string(count) +
                    ", the driver's count of devices, found " + std::to_string(device));
}
}  // namespace

void require_device(int device) {
  const cuda::LoadedDriver loaded = cuda::load_driver();
  check_loaded(loaded, device);
  start_driver(loaded.table, device);
}

DriverSession::DriverSession(int device)
    : loaded_(std::make_unique<cuda::LoadedDriver>(cuda::load_driver())),
      driver_(&loaded_->table),
      number_(device) {
  check_loaded(*loaded_, device);
  start();
}

DriverSession::DriverSession(const cuda::DriverTable& driver, int device)
    : driver_(&driver), number_(device) {
  start();
}

std::string DriverSession::option() const {
  return option_of(number_);
}

void DriverSession::start() {
  try {
    open();
  } catch (...) {
    stop();
    throw;
  }
}

void DriverSession::open() {
  start_driver(*driver_, number_);
  check("cuDeviceGet", driver_->device_get(&device_, number_));
  cuda::AllocatorConfig config;
  config.device = device_;
  const cuda::Outcome opened = allocator_.open(*driver_, config);
  if (!opened.is_ok()) {
    throw DeviceError(option() + "the device allocator does not start: " +
                      cuda::name_of(*driver_, opened.driver));
  }
  cuda::Context context = nullptr;
  check("cuDevicePrimaryCtxRetain", driver_->device_primary_ctx_retain(&context, device_));
  holds_context_ = true;
  check("cuCtxSetCurrent", driver_->ctx_set_current(context));
  check("cuStreamCreateWithPriority",
        driver_->stream_create_with_priority(&stream_, cuda::kStreamNonBlocking, 0));
}

DriverSession::~DriverSession() {
  stop();
}

void DriverSession::stop() noexcept {
  // What fails here cannot be mended: the process is about to drop the device anyway.
  if (stream_ != nullptr) {
    static_cast<void>(driver_->stream_synchronize(stream_));
    static_cast<void>(allocator_.stream_retired(stream_));
    static_cast<void>(driver_->stream_destroy(stream_));
  }
  if (allocator_.is_open()) static_cast<void>(allocator_.close());
  if (holds_context_) static_cast<void>(driver_->device_primary_ctx_release(device_));
}

void DriverSession::check(const char* call, cuda::Result result) const {
  check_call(*driver_, number_, call, result);
}

void* DriverSession::take(std::size_t bytes) {
  cuda::OomReport report;
  const cuda::Allocation taken = allocator_.try_allocate(bytes, 256, stream_, &report);
  if (!taken.outcome.is_ok()) {
    throw DeviceError(option() + "no device memory for " + std::to_string(bytes) + " bytes");
  }
  const cuda::Result cleared =
      driver_->memset_d8_async(pointer_of(taken.pointer), 0, bytes, stream_);
  if (cleared != cuda::Result::kSuccess) give(taken.pointer);
  check("cuMemsetD8Async", cleared);
  return taken.pointer;
}

void DriverSession::give(void* place) noexcept {
  static_cast<void>(allocator_.try_deallocate(place, stream_));
}

void* DriverSession::take_staging(std::size_t bytes) {
  void* place = nullptr;
  check("cuMemHostAlloc", driver_->mem_host_alloc(&place, bytes, cuda::kHostAllocPortable));
  return place;
}

void DriverSession::give_staging(void* place) noexcept {
  if (place == nullptr) return;
  static_cast<void>(driver_->stream_synchronize(stream_));
  static_cast<void>(driver_->mem_free_host(place));
}

void DriverSession::copy(void* place, const void* source, std::size_t bytes) {
  check("cuMemcpyAsync",
        driver_->memcpy_async(pointer_of(place), pointer_of(source), bytes, stream_));
}

void DriverSession::wait() {
  check("cuStreamSynchronize", driver_->stream_synchronize(stream_));
}

void DriverSession::begin_capture() {
  check("cuStreamBeginCapture",
        driver_->stream_begin_capture(stream_, cuda::CaptureMode::kThreadLocal));
}

cuda::GraphExec DriverSession::end_capture() {
  cuda::Graph graph = nullptr;
  check("cuStreamEndCapture", driver_->stream_end_capture(stream_, &graph));
  cuda::GraphExec ready = nullptr;
  const cuda::Result result = driver_->graph_instantiate_with_flags(&ready, graph, 0);
  static_cast<void>(driver_->graph_destroy(graph));
  check("cuGraphInstantiateWithFlags", result);
  return ready;
}

void DriverSession::launch(cuda::GraphExec graph) {
  check("cuGraphLaunch", driver_->graph_launch(graph, stream_));
}

void DriverSession::destroy(cuda::GraphExec graph) noexcept {
  static_cast<void>(driver_->graph_exec_destroy(graph));
}
}  // namespace drey::trainer
