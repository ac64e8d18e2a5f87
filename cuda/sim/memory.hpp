// memory.hpp: addresses and physical memory of the simulated devices, with the driver's rules for
// both. Addresses and counts only, unless contents are asked for (contents.hpp).
//
// Invariants: reservations and allocations do not overlap; the lowest hole that fits is used, so
// that addresses return as soon as they can, unless another placement is asked for. A mapping lies in one reservation, maps the whole of
// one handle, and has no access until it is given. Physical memory lives while a handle is held or a
// mapping stands; its bytes are counted once.
// Source: the rules of each call as <cuda.h> of CUDA 13.0 documents them; where it leaves a choice,
// the stricter one is taken.
// Read next: memory.cpp, virtual_memory.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/contents.hpp"
#include "sim/handle_table.hpp"

#include <drey/cuda/sim/simulator.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <vector>

namespace drey::cuda::sim {
struct Physical {
  std::size_t bytes = 0;
  Device device = 0;
  MemoryHandle handle = 0;
  std::size_t held = 0;  // references by handle
  std::size_t mapped = 0;
  bool is_exportable = false;
  bool is_foreign = false;  // another process has the bytes
  int file = -1;            // what contents and other processes have of it
};

/// What an access meets.
enum class Reach { kMemory, kNoMemory, kNoAccess };

class Memory {
 public:
  explicit Memory(const Config& config);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  Result allocate(DevicePointer* pointer, std::size_t bytes, Device device);
  /// `bytes`: what it had.
  Result deallocate(DevicePointer pointer, std::size_t* bytes);
  [[nodiscard]] bool is_allocation(DevicePointer pointer) const;

  Result allocate_host(void** pointer, std::size_t bytes);
  Result deallocate_host(void* pointer, std::size_t* bytes);
  Result register_host(void* pointer, std::size_t bytes);
  Result unregister_host(void* pointer, std::size_t* bytes);

  Result reserve(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                 DevicePointer wish);
  Result unreserve(DevicePointer pointer, std::size_t bytes);
  Result create(MemoryHandle* handle, std::size_t bytes, const MemoryProperties& properties);
  Result release(MemoryHandle handle);
  Result retain(MemoryHandle* handle, DevicePointer address);
  /// A descriptor of the caller's own.
  Result export_to(int* file, MemoryHandle handle);
  /// Another handle of the same memory, or the first one of another process's.
  Result import_from(MemoryHandle* handle, int file, Device device);
  Result map(DevicePointer pointer, std::size_t bytes, std::size_t offset, MemoryHandle handle);
  Result unmap(DevicePointer pointer, std::size_t bytes);
  /// What unmap() would say, without doing it.
  [[nodiscard]] Result can_unmap(DevicePointer pointer, std::size_t bytes) const;
  /// Of whole mappings. Requires of set_access(): can_set_access() said yes.
  [[nodiscard]] Result can_set_access(DevicePointer pointer, std::size_t bytes,
                                      const MemoryAccess& access) const;
  void set_access(DevicePointer pointer, std::size_t bytes, const MemoryAccess& access);
  Result get_access(unsigned long long* flags, const MemoryLocation& location,
                    DevicePointer pointer) const;

  /// The device's context ends, and all allocations in it.
  void forget_allocations(Device device);
  [[nodiscard]] Reach reach(const Access& access, Device device) const;
  /// Whether the address may be one of a simulated device: the rest belongs to the process.
  /// What a fill and a copy do to contents, where there are any and all of it can be reached.
  void fill_contents(DevicePointer to, unsigned char value, std::size_t bytes, Device device) const;
  void copy_contents(DevicePointer to, DevicePointer from, std::size_t bytes, Device device) const;
  [[nodiscard]] bool is_device_address(DevicePointer address) const;
  [[nodiscard]] std::uint64_t free_bytes(Device device) const;
  void set_other_processes(Device device, std::uint64_t bytes);
  void add_to(Counts& counts) const;

 private:
  struct Range {
    std::size_t bytes = 0;
    Device device = -1;  // of an allocation; -1: a reservation
    std::size_t physical_bytes = 0;
  };
  struct Mapping {
    std::size_t bytes = 0;
    std::shared_ptr<Physical> physical;
    std::map<Device, unsigned> access;
  };
  struct HostRange {
    std::size_t bytes = 0;
    bool is_registered = false;
  };
  struct DeviceUse {
    std::uint64_t used = 0;
    std::uint64_t other_processes = 0;
  };

  [[nodiscard]] bool is_granular(std::uint64_t value) const {
    return value % granularity_bytes_ == 0;
  }
  [[nodiscard]] bool is_device(Device device) const {
    return device >= 0 && static_cast<std::size_t>(device) < devices_.size();
  }
  [[nodiscard]] bool is_free_range(DevicePointer base, std::size_t bytes) const;
  [[nodiscard]] DevicePointer find_hole(std::size_t bytes, std::size_t alignment);
  [[nodiscard]] DevicePointer lowest_hole(std::size_t bytes, std::size_t alignment) const;
  void forget_range(DevicePointer base, std::size_t bytes) const;
  Result take_physical(Device device, std::size_t bytes);
  void drop_if_unused(const std::shared_ptr<Physical>& physical);
  [[nodiscard]] const HostRange* host_range_around(DevicePointer address,
                                                   DevicePointer* base) const;

  Contents contents_;
  bool has_contents_;
  bool has_file_descriptors_;
  Placement placement_;
  std::mt19937_64 random_;
  DevicePointer first_address_;
  std::uint64_t memory_bytes_;
  std::uint64_t address_space_bytes_;
  std::uint64_t granularity_bytes_;
  std::vector<DeviceUse> devices_;
  std::map<DevicePointer, Range> ranges_;
  std::map<DevicePointer, Mapping> mappings_;
  std::map<DevicePointer, HostRange> host_;
  HandleTable<MemoryHandle, Physical> handles_{0x5100'0000'0000};
  std::size_t physicals_ = 0;
};
}  // namespace drey::cuda::sim
