// driver_table.hpp: every driver call drey makes, as one struct of function pointers. Whoever fills
// it is the driver: libcuda.so.1, a library of the same interface, or the simulator in process.
//
// Invariants: a table that load_driver() filled has every required entry; optional ones are null
// where the driver is too old. Each entry has the signature of the version in entry_points(), so a
// newer driver hands out the same function.
// Read next: driver.hpp, sim/simulator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/text.hpp>
#include <drey/cuda/driver_types.hpp>

#include <cstddef>
#include <span>

namespace drey::cuda {
/// Named as in <cuda.h>, without "cu". Threads: as the driver, any. All null until filled.
struct DriverTable {
  Result (*init)(unsigned flags);
  Result (*driver_get_version)(int* version);
  Result (*get_error_name)(Result result, const char** name);
  Result (*device_get_count)(int* count);
  Result (*device_get)(Device* device, int ordinal);
  Result (*device_get_attribute)(int* value, DeviceAttribute attribute, Device device);
  Result (*device_total_mem)(std::size_t* bytes, Device device);
  Result (*device_can_access_peer)(int* can, Device device, Device peer);
  Result (*device_primary_ctx_retain)(Context* context, Device device);
  Result (*device_primary_ctx_release)(Device device);
  Result (*ctx_get_current)(Context* context);
  Result (*ctx_set_current)(Context context);
  Result (*ctx_push_current)(Context context);
  Result (*ctx_pop_current)(Context* context);
  Result (*ctx_get_device)(Device* device);
  Result (*ctx_synchronize)();

  Result (*stream_create_with_priority)(Stream* stream, unsigned flags, int priority);
  Result (*stream_destroy)(Stream stream);
  Result (*stream_query)(Stream stream);
  Result (*stream_synchronize)(Stream stream);
  Result (*stream_wait_event)(Stream stream, Event event, unsigned flags);
  Result (*stream_get_id)(Stream stream, unsigned long long* id);
  Result (*stream_get_ctx)(Stream stream, Context* context);
  Result (*event_create)(Event* event, unsigned flags);
  Result (*event_record)(Event event, Stream stream);
  Result (*event_query)(Event event);
  Result (*event_synchronize)(Event event);
  Result (*event_destroy)(Event event);

  Result (*stream_begin_capture)(Stream stream, CaptureMode mode);
  Result (*stream_end_capture)(Stream stream, Graph* graph);
  Result (*stream_is_capturing)(Stream stream, CaptureStatus* status);
  Result (*thread_exchange_stream_capture_mode)(CaptureMode* mode);
  Result (*graph_add_empty_node)(GraphNode* node, Graph graph, const GraphNode* dependencies,
                                 std::size_t count);
  Result (*graph_node_get_dependencies)(GraphNode node, GraphNode* dependencies,
                                        std::size_t* count);
  Result (*graph_instantiate_with_flags)(GraphExec* exec, Graph graph, unsigned long long flags);
  Result (*graph_launch)(GraphExec exec, Stream stream);
  Result (*graph_exec_destroy)(GraphExec exec);
  Result (*graph_destroy)(Graph graph);

  Result (*mem_get_info)(std::size_t* free_bytes, std::size_t* total_bytes);
  Result (*mem_alloc)(DevicePointer* pointer, std::size_t bytes);
  Result (*mem_free)(DevicePointer pointer);
  Result (*mem_host_alloc)(void** pointer, std::size_t bytes, unsigned flags);
  Result (*mem_free_host)(void* pointer);
  Result (*mem_host_register)(void* pointer, std::size_t bytes, unsigned flags);
  Result (*mem_host_unregister)(void* pointer);
  Result (*memcpy_async)(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream);
  Result (*memset_d8_async)(DevicePointer to, unsigned char value, std::size_t bytes,
                            Stream stream);

  Result (*mem_get_allocation_granularity)(std::size_t* bytes, const MemoryProperties* properties,
                                           Granularity which);
  Result (*mem_address_reserve)(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                                DevicePointer wish, unsigned long long flags);
  Result (*mem_address_free)(DevicePointer pointer, std::size_t bytes);
  Result (*mem_create)(MemoryHandle* handle, std::size_t bytes, const MemoryProperties* properties,
                       unsigned long long flags);
  Result (*mem_release)(MemoryHandle handle);
  Result (*mem_retain_allocation_handle)(MemoryHandle* handle, void* address);
  Result (*mem_map)(DevicePointer pointer, std::size_t bytes, std::size_t offset,
                    MemoryHandle handle, unsigned long long flags);
  Result (*mem_unmap)(DevicePointer pointer, std::size_t bytes);
  Result (*mem_set_access)(DevicePointer pointer, std::size_t bytes, const MemoryAccess* accesses,
                           std::size_t count);
  Result (*mem_get_access)(unsigned long long* flags, const MemoryLocation* location,
                           DevicePointer pointer);

  // Null with drivers before 12.3: without these, nothing is cached while a stream captures.
  Result (*stream_get_capture_info)(Stream stream, CaptureStatus* status, unsigned long long* id,
                                    Graph* graph, const GraphNode** dependencies,
                                    const GraphEdge** edges, std::size_t* count);
  Result (*stream_update_capture_dependencies)(Stream stream, GraphNode* dependencies,
                                               const GraphEdge* edges, std::size_t count,
                                               unsigned flags);

  // Null with drivers before 11.2: sharing by file descriptor, and the driver's own memory pools. Nothing
  // of the allocator needs them; benchmarks and tests do.
  Result (*mem_export_to_shareable_handle)(void* shared, MemoryHandle handle, unsigned type,
                                           unsigned long long flags);
  Result (*mem_import_from_shareable_handle)(MemoryHandle* handle, void* shared, unsigned type);
  Result (*mem_alloc_async)(DevicePointer* pointer, std::size_t bytes, Stream stream);
  Result (*mem_alloc_from_pool_async)(DevicePointer* pointer, std::size_t bytes, MemoryPool pool,
                                      Stream stream);
  Result (*mem_free_async)(DevicePointer pointer, Stream stream);
  Result (*device_get_default_mem_pool)(MemoryPool* pool, Device device);
  Result (*mem_pool_create)(MemoryPool* pool, const PoolProperties* properties);
  Result (*mem_pool_destroy)(MemoryPool pool);
  Result (*mem_pool_trim_to)(MemoryPool pool, std::size_t bytes);
  Result (*mem_pool_set_attribute)(MemoryPool pool, PoolAttribute attribute, void* value);
  Result (*mem_pool_get_attribute)(MemoryPool pool, PoolAttribute attribute, void* value);

  // Kernels: nothing of the allocator needs them; the trainer does.
  Result (*module_load_data)(Module* module, const void* image);
  Result (*module_unload)(Module module);
  Result (*module_get_function)(Function* function, Module module, const char* name);
  Result (*launch_kernel)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, Stream stream, void** parameters, void** extra);
};

/// One call as cuGetProcAddress knows it.
struct EntryPoint {
  const char* name;    ///< "cuMemAlloc"
  int version;         ///< of CUDA that brought this signature: 3020 for 3.2
  std::size_t offset;  ///< of the pointer in DriverTable
  bool is_required;
};

inline constexpr std::size_t kEntryPointCount = sizeof(DriverTable) / sizeof(void (*)());

/// All of them, in the order of the table.
[[nodiscard]] std::span<const EntryPoint, kEntryPointCount> entry_points() noexcept;

/// The pointer that the table holds for an entry, as cuGetProcAddress hands it out; null if unset.
[[nodiscard]] void* function_of(const DriverTable& table, const EntryPoint& entry) noexcept;

/// What came of load_driver().
struct LoadedDriver {
  DriverTable table = {};
  int version = 0;   ///< 13000 for 13.0
  Text<160> reason;  ///< why there is no driver; empty if there is one
};

/// Loads the library that DREY_CUDA_LIBRARY names, else libcuda.so.1, and fills a table. Does not
/// start it: the caller calls init.
/// Fails: reason says why in one line; the table is then all null. Threads: any.
/// Cost: dlopen and sixty look-ups. The library is never unloaded: a driver must not be.
[[nodiscard]] LoadedDriver load_driver() noexcept;

/// As load_driver(), by the name of the library.
[[nodiscard]] LoadedDriver load_driver(const char* library) noexcept;

/// "CUDA_ERROR_OUT_OF_MEMORY" as the driver says it; "error" where it does not know the number.
[[nodiscard]] const char* name_of(const DriverTable& table, Result result) noexcept;
}  // namespace drey::cuda
