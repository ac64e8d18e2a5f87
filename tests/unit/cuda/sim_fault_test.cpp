// sim_fault_test.cpp: every driver call can be made to fail, and has then done nothing.
// SPDX-License-Identifier: MIT
#include "unit/cuda/simulated_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include <unistd.h>

namespace drey::cuda::sim {
namespace {
constexpr std::size_t kPage = std::size_t{2} << 20;

TEST(Faults, HitTheNthCallOnce) {
  SimulatedDevice device;
  device.simulator.faults().fail_nth(2, Result::kUnknown);
  Event event = nullptr;
  EXPECT_EQ(device.driver.event_create(&event, 0), Result::kSuccess);
  EXPECT_EQ(device.driver.event_query(event), Result::kUnknown);
  EXPECT_EQ(device.driver.event_query(event), Result::kSuccess);
  EXPECT_EQ(device.simulator.faults().failed(), 1U);
}

TEST(Faults, HitTheNthCallOfAName) {
  SimulatedDevice device;
  Faults& faults = device.simulator.faults();
  faults.fail_nth("cuMemAlloc", 2, Result::kOutOfMemory);
  DevicePointer memory = 0;
  EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kSuccess);
  Event event = device.new_event();
  EXPECT_EQ(device.driver.event_query(event), Result::kSuccess);
  EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kOutOfMemory);
  EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kSuccess);
  EXPECT_EQ(faults.calls("cuMemAlloc"), 3U);
  EXPECT_EQ(faults.calls("cuEventQuery"), 1U);
  EXPECT_EQ(faults.calls("cuNobody"), 0U);
}

TEST(Faults, HitWhatAPredicateSays) {
  SimulatedDevice device;
  device.simulator.faults().fail_if(
      [](const CallInfo& call) {
        return call.name == "cuMemAlloc" && call.bytes > 1000 && call.device == 0;
      },
      Result::kOutOfMemory);
  DevicePointer memory = 0;
  EXPECT_EQ(device.driver.mem_alloc(&memory, 1000), Result::kSuccess);
  EXPECT_EQ(device.driver.mem_alloc(&memory, 1001), Result::kOutOfMemory);
  device.simulator.faults().clear();
  EXPECT_EQ(device.driver.mem_alloc(&memory, 1001), Result::kSuccess);
}

TEST(Faults, ABrokenContextStaysBroken) {
  SimulatedDevice device;
  device.simulator.faults().break_context(Result::kIllegalAddress);
  DevicePointer memory = 0;
  Event event = nullptr;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kIllegalAddress);
    EXPECT_EQ(device.driver.event_create(&event, 0), Result::kIllegalAddress);
    EXPECT_EQ(device.driver.ctx_synchronize(), Result::kIllegalAddress);
  }
  device.simulator.faults().clear();
  EXPECT_EQ(device.driver.mem_alloc(&memory, 512), Result::kSuccess);
}

// A scenario of every call there is. Each call's result, in order.
class EveryCall {
 public:
  explicit EveryCall(SimulatedDevice& device) : device_(device) {
    of_contexts();
    of_streams_and_events();
    of_memory();
    of_virtual_memory();
    of_pools();
    of_sharing();
    of_captures();
  }

  [[nodiscard]] std::ptrdiff_t count(Result result) const {
    return std::count(results_.begin(), results_.end(), result);
  }
  [[nodiscard]] const std::vector<Result>& results() const { return results_; }

 private:
  void add(Result result) { results_.push_back(result); }

  void of_contexts() {
    int number = 0;
    std::size_t bytes = 0;
    Context context = nullptr;
    const DriverTable& driver = device_.driver;
    add(driver.device_get_count(&number));
    add(driver.device_get(&number, 0));
    add(driver.device_get_attribute(&number, DeviceAttribute::kVirtualMemory, 0));
    add(driver.device_total_mem(&bytes, 0));
    add(driver.device_can_access_peer(&number, 0, 0));
    add(driver.ctx_get_current(&context));
    add(driver.ctx_push_current(device_.context));
    add(driver.ctx_pop_current(&context));
    add(driver.ctx_set_current(device_.context));
    add(driver.ctx_get_device(&number));
    add(driver.ctx_synchronize());
  }

  void of_streams_and_events() {
    unsigned long long id = 0;
    Context context = nullptr;
    Event event = nullptr;
    const DriverTable& driver = device_.driver;
    add(driver.stream_create_with_priority(&stream_, kStreamNonBlocking, 0));
    add(driver.stream_get_id(stream_, &id));
    add(driver.stream_get_ctx(stream_, &context));
    add(driver.event_create(&event, 0));
    add(driver.event_record(event, stream_));
    add(driver.stream_wait_event(stream_, event, 0));
    add(driver.event_synchronize(event));
    add(driver.event_query(event));
    add(driver.stream_synchronize(stream_));
    add(driver.stream_query(stream_));
    add(driver.event_destroy(event));
  }

  void of_memory() {
    std::size_t bytes[2] = {};
    DevicePointer memory = 0;
    void* host = nullptr;
    char own[8] = {};
    const DriverTable& driver = device_.driver;
    add(driver.mem_get_info(&bytes[0], &bytes[1]));
    add(driver.mem_alloc(&memory, 512));
    add(driver.memset_d8_async(memory, 0, 512, stream_));
    add(driver.memcpy_async(memory, memory + 256, 256, stream_));
    add(driver.mem_free(memory));
    add(driver.mem_host_alloc(&host, 512, 0));
    add(driver.mem_free_host(host));
    add(driver.mem_host_register(own, sizeof(own), 0));
    add(driver.mem_host_unregister(own));
  }

  void of_virtual_memory() {
    DevicePointer base = 0;
    MemoryHandle handle = 0;
    MemoryHandle again = 0;
    std::size_t bytes = 0;
    unsigned long long flags = 0;
    const MemoryProperties properties;
    const MemoryAccess access;
    const DriverTable& driver = device_.driver;
    add(driver.mem_get_allocation_granularity(&bytes, &properties, Granularity::kMinimum));
    add(driver.mem_address_reserve(&base, kPage, 0, 0, 0));
    add(driver.mem_create(&handle, kPage, &properties, 0));
    add(driver.mem_map(base, kPage, 0, handle, 0));
    add(driver.mem_retain_allocation_handle(&again, reinterpret_cast<void*>(base)));
    add(driver.mem_release(handle));
    add(driver.mem_release(handle));
    add(driver.mem_set_access(base, kPage, &access, 1));
    add(driver.mem_get_access(&flags, &access.location, base));
    add(driver.mem_unmap(base, kPage));
    add(driver.mem_address_free(base, kPage));
  }

  void of_pools() {
    const DriverTable& driver = device_.driver;
    const PoolProperties properties;
    MemoryPool pool = nullptr;
    MemoryPool standard = nullptr;
    DevicePointer blocks[2] = {};
    std::uint64_t number = 0;
    add(driver.device_get_default_mem_pool(&standard, 0));
    add(driver.mem_pool_create(&pool, &properties));
    add(driver.mem_pool_set_attribute(pool, PoolAttribute::kReleaseThreshold, &number));
    add(driver.mem_alloc_from_pool_async(&blocks[0], 512, pool, stream_));
    add(driver.mem_alloc_async(&blocks[1], 512, stream_));
    add(driver.mem_free_async(blocks[0], stream_));
    add(driver.mem_free_async(blocks[1], stream_));
    add(driver.stream_synchronize(stream_));
    add(driver.mem_pool_get_attribute(pool, PoolAttribute::kReservedCurrent, &number));
    add(driver.mem_pool_trim_to(pool, 0));
    add(driver.mem_pool_destroy(pool));
  }

  void of_sharing() {
    const DriverTable& driver = device_.driver;
    MemoryProperties properties;
    properties.exported_as = kPosixFileDescriptor;
    MemoryHandle handle = 0;
    MemoryHandle again = 0;
    int file = -1;
    add(driver.mem_create(&handle, kPage, &properties, 0));
    add(driver.mem_export_to_shareable_handle(&file, handle, kPosixFileDescriptor, 0));
    add(driver.mem_import_from_shareable_handle(
        &again, reinterpret_cast<void*>(static_cast<std::uintptr_t>(file)), kPosixFileDescriptor));
    add(driver.mem_release(handle));
    add(driver.mem_release(again));
    if (file >= 0) ::close(file);
  }

  void of_captures() {
    Graph graph = nullptr;
    GraphExec exec = nullptr;
    GraphNode node = nullptr;
    const GraphNode* tail = nullptr;
    std::size_t count = 0;
    CaptureStatus status = CaptureStatus::kNone;
    CaptureMode mode = CaptureMode::kGlobal;
    const DriverTable& driver = device_.driver;
    add(driver.thread_exchange_stream_capture_mode(&mode));
    add(driver.stream_begin_capture(stream_, CaptureMode::kRelaxed));
    add(driver.stream_is_capturing(stream_, &status));
    add(driver.stream_get_capture_info(stream_, &status, nullptr, &graph, &tail, nullptr, &count));
    add(driver.graph_add_empty_node(&node, graph, tail, count));
    add(driver.stream_update_capture_dependencies(stream_, &node, nullptr, 1,
                                                  kSetCaptureDependencies));
    add(driver.graph_node_get_dependencies(node, nullptr, &count));
    add(driver.stream_end_capture(stream_, &graph));
    add(driver.graph_instantiate_with_flags(&exec, graph, 0));
    add(driver.graph_launch(exec, stream_));
    add(driver.graph_exec_destroy(exec));
    add(driver.graph_destroy(graph));
    add(driver.stream_destroy(stream_));
  }

  SimulatedDevice& device_;
  Stream stream_ = nullptr;
  std::vector<Result> results_;
};

TEST(Faults, AScenarioOfEveryCallSucceedsAndLeavesNothing) {
  SimulatedDevice device({.has_file_descriptors = true});
  const EveryCall calls(device);
  EXPECT_EQ(calls.count(Result::kSuccess), static_cast<std::ptrdiff_t>(calls.results().size()));
  EXPECT_EQ(device.simulator.counts(), Counts{});
  device.expect_none();
}

// Whichever call fails: it is the first that does, and its neighbours before it are as ever.
TEST(Faults, CanHitEveryCall) {
  std::size_t total = 0;
  {
    SimulatedDevice device({.has_file_descriptors = true});
    total = EveryCall(device).results().size();
  }
  // All of the table but the start, the version, error names, the context's retain and release, and the
  // four calls of modules (sim_module_test.cpp).
  EXPECT_GE(total, kEntryPointCount - 9);
  for (std::size_t n = 1; n <= total; ++n) {
    SimulatedDevice device({.has_file_descriptors = true});
    device.simulator.faults().fail_nth(n, Result::kNotPermitted);
    const EveryCall calls(device);
    EXPECT_EQ(calls.count(Result::kNotPermitted), 1) << "call " << n;
    const auto first_failed =
        std::find_if(calls.results().begin(), calls.results().end(),
                     [](Result result) { return result != Result::kSuccess; });
    EXPECT_EQ(first_failed - calls.results().begin(), static_cast<std::ptrdiff_t>(n) - 1);
  }
}

TEST(Faults, LeaveNothingBehind) {
  SimulatedDevice device;
  const Counts before = device.simulator.counts();
  device.simulator.faults().break_context(Result::kOutOfMemory);
  const EveryCall calls(device);
  EXPECT_EQ(calls.count(Result::kOutOfMemory), static_cast<std::ptrdiff_t>(calls.results().size()));
  device.simulator.faults().clear();
  EXPECT_EQ(device.simulator.counts(), before);
  EXPECT_EQ(device.simulator.pending(), 0U);
  CaptureStatus status = CaptureStatus::kActive;
  SimulatedDevice::expect(device.driver.stream_is_capturing(per_thread_stream(), &status));
  EXPECT_EQ(status, CaptureStatus::kNone);
}
}  // namespace
}  // namespace drey::cuda::sim
