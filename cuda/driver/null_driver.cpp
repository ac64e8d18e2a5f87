// null_driver.cpp: see null_driver.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/null_driver.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sys/mman.h>

namespace drey::cuda {
namespace {
constexpr std::size_t kGranularity = std::size_t{2} << 20;
constexpr std::size_t kTotalBytes = std::size_t{1} << 40;
// Where no process has anything.
std::atomic<DevicePointer> next_address{0x0500'0000'0000};
std::atomic<std::uintptr_t> next_handle{0x1000};

// Relaxed in both: only that numbers differ matters; nothing is published by them.
DevicePointer take_addresses(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t step = alignment > kGranularity ? alignment : kGranularity;
  const DevicePointer base = next_address.fetch_add(bytes + 2 * step, std::memory_order_relaxed);
  return (base + step - 1) / step * step;
}
template <typename Handle>
Result give_handle(Handle* handle) noexcept {
  const std::uintptr_t number = next_handle.fetch_add(16, std::memory_order_relaxed);
  if constexpr (std::is_pointer_v<Handle>) {
    *handle = reinterpret_cast<Handle>(number);
  } else {
    *handle = number;
  }
  return Result::kSuccess;
}

template <typename... Arguments>
Result succeed(Arguments... /*arguments*/) noexcept {
  return Result::kSuccess;
}

/// For a call whose first argument takes one number.
template <auto kValue, typename Value, typename... Arguments>
Result give(Value* value, Arguments... /*arguments*/) noexcept {
  *value = static_cast<Value>(kValue);
  return Result::kSuccess;
}

/// For a call whose first argument takes a handle.
template <typename Handle, typename... Arguments>
Result create(Handle* handle, Arguments... /*arguments*/) noexcept {
  return give_handle(handle);
}

Context the_context() noexcept {
  return reinterpret_cast<Context>(std::uintptr_t{0x100});
}

Result get_error_name(Result /*result*/, const char** name) noexcept {
  *name = "error";
  return Result::kSuccess;
}
Result give_context(Context* context, Device /*device*/) noexcept {
  *context = the_context();
  return Result::kSuccess;
}
Result ctx_get_current(Context* context) noexcept {
  *context = the_context();
  return Result::kSuccess;
}
Result device_get_attribute(int* value, DeviceAttribute attribute, Device /*device*/) noexcept {
  *value = attribute == DeviceAttribute::kComputeCapabilityMajor ? 9 : 0;
  if (attribute == DeviceAttribute::kVirtualMemory ||
      attribute == DeviceAttribute::kUnifiedAddressing)
    *value = 1;
  return Result::kSuccess;
}
// Streams have the numbers of their handles.
Result stream_get_id(Stream stream, unsigned long long* id) noexcept {
  *id = stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(stream);
  return Result::kSuccess;
}
Result stream_get_ctx(Stream /*stream*/, Context* context) noexcept {
  return ctx_get_current(context);
}
Result stream_end_capture(Stream /*stream*/, Graph* graph) noexcept {
  return give_handle(graph);
}
Result stream_is_capturing(Stream /*stream*/, CaptureStatus* status) noexcept {
  *status = CaptureStatus::kNone;
  return Result::kSuccess;
}
Result stream_get_capture_info(Stream /*stream*/, CaptureStatus* status, unsigned long long* /*id*/,
                               Graph* /*graph*/, const GraphNode** /*dependencies*/,
                               const GraphEdge** /*edges*/, std::size_t* /*count*/) noexcept {
  *status = CaptureStatus::kNone;
  return Result::kSuccess;
}
Result graph_node_get_dependencies(GraphNode /*node*/, GraphNode* /*dependencies*/,
                                   std::size_t* count) noexcept {
  *count = 0;
  return Result::kSuccess;
}
Result mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) noexcept {
  *free_bytes = *total_bytes = kTotalBytes;
  return Result::kSuccess;
}
Result mem_alloc(DevicePointer* pointer, std::size_t bytes) noexcept {
  *pointer = take_addresses(bytes, kGranularity);
  return Result::kSuccess;
}
// The size is kept in a page of its own before the memory, for the free.
constexpr std::size_t kHostHead = 4096;
Result mem_host_alloc(void** pointer, std::size_t bytes, unsigned /*flags*/) noexcept {
  if (bytes > SIZE_MAX - kHostHead) return Result::kOutOfMemory;
  void* const memory = ::mmap(nullptr, bytes + kHostHead, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Result::kOutOfMemory;
  *static_cast<std::size_t*>(memory) = bytes + kHostHead;
  *pointer = static_cast<char*>(memory) + kHostHead;
  return Result::kSuccess;
}
Result mem_free_host(void* pointer) noexcept {
  void* const memory = static_cast<char*>(pointer) - kHostHead;
  return ::munmap(memory, *static_cast<const std::size_t*>(memory)) == 0 ? Result::kSuccess
                                                                         : Result::kInvalidValue;
}
Result mem_address_reserve(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                           DevicePointer /*wish*/, unsigned long long /*flags*/) noexcept {
  *pointer = take_addresses(bytes, alignment);
  return Result::kSuccess;
}
Result mem_get_access(unsigned long long* flags, const MemoryLocation* /*location*/,
                      DevicePointer /*pointer*/) noexcept {
  *flags = MemoryAccess::kReadWrite;
  return Result::kSuccess;
}

Result mem_alloc_async(DevicePointer* pointer, std::size_t bytes, Stream /*stream*/) noexcept {
  return mem_alloc(pointer, bytes);
}
Result mem_alloc_from_pool_async(DevicePointer* pointer, std::size_t bytes, MemoryPool /*pool*/,
                                 Stream /*stream*/) noexcept {
  return mem_alloc(pointer, bytes);
}
Result mem_export(void* shared, MemoryHandle /*handle*/, unsigned /*type*/,
                  unsigned long long /*flags*/) noexcept {
  *static_cast<int*>(shared) = -1;
  return Result::kSuccess;
}
Result mem_pool_get_attribute(MemoryPool /*pool*/, PoolAttribute attribute, void* value) noexcept {
  if (attribute <= PoolAttribute::kReuseInternalDependencies) {
    *static_cast<int*>(value) = 1;
  } else {
    *static_cast<std::uint64_t*>(value) = 0;
  }
  return Result::kSuccess;
}

void set_calls_of_pools(DriverTable& table) noexcept {
  table.mem_export_to_shareable_handle = mem_export;
  table.mem_import_from_shareable_handle = create;
  table.mem_alloc_async = mem_alloc_async;
  table.mem_alloc_from_pool_async = mem_alloc_from_pool_async;
  table.mem_free_async = succeed;
  table.device_get_default_mem_pool = create;
  table.mem_pool_create = create;
  table.mem_pool_destroy = succeed;
  table.mem_pool_trim_to = succeed;
  table.mem_pool_set_attribute = succeed;
  table.mem_pool_get_attribute = mem_pool_get_attribute;
}

void set_calls_of_modules(DriverTable& table) noexcept {
  table.module_load_data = create;
  table.module_unload = succeed;
  table.module_get_function = create;
  table.launch_kernel = succeed;
}

void set_calls_of_contexts(DriverTable& table) noexcept {
  table.init = succeed;
  table.driver_get_version = give<13000>;
  table.get_error_name = get_error_name;
  table.device_get_count = give<1>;
  table.device_get = give<0>;
  table.device_get_attribute = device_get_attribute;
  table.device_total_mem = give<kTotalBytes>;
  table.device_can_access_peer = give<0>;
  table.device_primary_ctx_retain = give_context;
  table.device_primary_ctx_release = succeed;
  table.ctx_get_current = ctx_get_current;
  table.ctx_set_current = succeed;
  table.ctx_push_current = succeed;
  table.ctx_pop_current = ctx_get_current;
  table.ctx_get_device = give<0>;
  table.ctx_synchronize = succeed;
}

void set_calls_of_streams(DriverTable& table) noexcept {
  table.stream_create_with_priority = create;
  table.stream_destroy = succeed;
  table.stream_query = succeed;
  table.stream_synchronize = succeed;
  table.stream_wait_event = succeed;
  table.stream_get_id = stream_get_id;
  table.stream_get_ctx = stream_get_ctx;
  table.event_create = create;
  table.event_record = succeed;
  table.event_query = succeed;
  table.event_synchronize = succeed;
  table.event_destroy = succeed;
  table.stream_begin_capture = succeed;
  table.stream_end_capture = stream_end_capture;
  table.stream_is_capturing = stream_is_capturing;
  table.stream_get_capture_info = stream_get_capture_info;
  table.stream_update_capture_dependencies = succeed;
  table.thread_exchange_stream_capture_mode = succeed;
  table.graph_add_empty_node = create;
  table.graph_node_get_dependencies = graph_node_get_dependencies;
  table.graph_instantiate_with_flags = create;
  table.graph_launch = succeed;
  table.graph_exec_destroy = succeed;
  table.graph_destroy = succeed;
}

void set_calls_of_memory(DriverTable& table) noexcept {
  table.mem_get_info = mem_get_info;
  table.mem_alloc = mem_alloc;
  table.mem_free = succeed;
  table.mem_host_alloc = mem_host_alloc;
  table.mem_free_host = mem_free_host;
  table.mem_host_register = succeed;
  table.mem_host_unregister = succeed;
  table.memcpy_async = succeed;
  table.memset_d8_async = succeed;
  table.mem_get_allocation_granularity = give<kGranularity>;
  table.mem_address_reserve = mem_address_reserve;
  table.mem_address_free = succeed;
  table.mem_create = create;
  table.mem_release = succeed;
  table.mem_retain_allocation_handle = create;
  table.mem_map = succeed;
  table.mem_unmap = succeed;
  table.mem_set_access = succeed;
  table.mem_get_access = mem_get_access;
}
}  // namespace

const DriverTable& null_driver() noexcept {
  static const DriverTable filled = [] {
    DriverTable table = {};
    set_calls_of_contexts(table);
    set_calls_of_streams(table);
    set_calls_of_memory(table);
    set_calls_of_pools(table);
    set_calls_of_modules(table);
    return table;
  }();
  return filled;
}
}  // namespace drey::cuda
