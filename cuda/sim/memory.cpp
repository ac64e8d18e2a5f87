// memory.cpp: allocations, host memory, and what an access meets; see memory.hpp.
// Read next: virtual_memory.cpp.
// SPDX-License-Identifier: MIT
#include "sim/memory.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace drey::cuda::sim {
namespace {
// Where no process has anything, sanitizers included; no byte of it is ever mapped.
constexpr DevicePointer kFirstAddress = 0x0300'0000'0000;
constexpr std::size_t kAllocationAlignment = 512;
constexpr std::size_t kHostAlignment = 4096;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}
}  // namespace

Memory::Memory(const Config& config)
    : has_contents_(config.has_contents),
      has_file_descriptors_(config.has_file_descriptors),
      placement_(config.placement),
      random_(config.seed),
      first_address_(config.has_contents
                         ? contents_.reserve(config.address_space_bytes, config.granularity_bytes)
                         : kFirstAddress),
      memory_bytes_(config.memory_bytes),
      address_space_bytes_(config.address_space_bytes),
      granularity_bytes_(config.granularity_bytes),
      devices_(static_cast<std::size_t>(config.device_count)) {
  DREY_CHECK(first_address_ != 0, "no addresses for the contents of a simulated device");
}

Memory::~Memory() {
  for (const auto& [base, range] : host_) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): it was a pointer.
    if (!range.is_registered) std::free(reinterpret_cast<void*>(base));
  }
  handles_.for_each([](const Physical& physical) { close_file(physical.file); });
  for (const auto& [base, mapping] : mappings_) {
    if (mapping.physical->held == 0 && --mapping.physical->mapped == 0)
      close_file(mapping.physical->file);
  }
}

bool Memory::is_device_address(DevicePointer address) const {
  return address >= first_address_ && address - first_address_ < address_space_bytes_;
}

std::uint64_t Memory::free_bytes(Device device) const {
  const DeviceUse& use = devices_[static_cast<std::size_t>(device)];
  const std::uint64_t taken = use.used + use.other_processes;
  return taken < memory_bytes_ ? memory_bytes_ - taken : 0;
}

void Memory::set_other_processes(Device device, std::uint64_t bytes) {
  devices_[static_cast<std::size_t>(device)].other_processes = bytes;
}

Result Memory::take_physical(Device device, std::size_t bytes) {
  if (bytes > free_bytes(device)) return Result::kOutOfMemory;
  devices_[static_cast<std::size_t>(device)].used += bytes;
  return Result::kSuccess;
}

bool Memory::is_free_range(DevicePointer base, std::size_t bytes) const {
  if (!is_device_address(base) || bytes > address_space_bytes_ - (base - first_address_))
    return false;
  const auto next = ranges_.lower_bound(base);
  if (next != ranges_.end() && next->first < base + bytes) return false;
  return next == ranges_.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= base;
}

DevicePointer Memory::lowest_hole(std::size_t bytes, std::size_t alignment) const {
  const std::uint64_t gap = placement_ == Placement::kScattered ? granularity_bytes_ : 0;
  DevicePointer candidate = round_up(first_address_ + gap, alignment);
  for (const auto& [base, range] : ranges_) {
    if (candidate + bytes + gap <= base) break;
    candidate = std::max<DevicePointer>(candidate, round_up(base + range.bytes + gap, alignment));
  }
  return is_free_range(candidate, bytes) ? candidate : 0;
}

DevicePointer Memory::find_hole(std::size_t bytes, std::size_t alignment) {
  if (bytes > address_space_bytes_ || alignment > address_space_bytes_) return 0;
  // By chance, while chance does it; a full space needs a search.
  constexpr int kTries = 64;
  for (int tries = 0; placement_ == Placement::kRandom && tries < kTries; ++tries) {
    const DevicePointer wish =
        round_up(first_address_ + random_() % address_space_bytes_, alignment);
    if (is_free_range(wish, bytes)) return wish;
  }
  return lowest_hole(bytes, alignment);
}

void Memory::forget_range(DevicePointer base, std::size_t bytes) const {
  if (has_contents_) contents_.unmap(base, round_up(bytes, kHostAlignment));
}

Result Memory::allocate(DevicePointer* pointer, std::size_t bytes, Device device) {
  if (bytes == 0) return Result::kInvalidValue;
  if (bytes > memory_bytes_) return Result::kOutOfMemory;
  // Contents are the kernel's pages, which no two allocations share.
  const std::size_t granule = has_contents_ ? kHostAlignment : kAllocationAlignment;
  const std::size_t rounded = round_up(bytes, granule);
  const DevicePointer base = find_hole(rounded, granule);
  if (base == 0) return Result::kOutOfMemory;
  const Result taken = take_physical(device, rounded);
  if (taken != Result::kSuccess) return taken;
  ranges_.emplace(base, Range{rounded, device, rounded});
  if (has_contents_) contents_.map(base, rounded, -1);
  *pointer = base;
  return Result::kSuccess;
}

bool Memory::is_allocation(DevicePointer pointer) const {
  const auto found = ranges_.find(pointer);
  return found != ranges_.end() && found->second.device >= 0;
}

Result Memory::deallocate(DevicePointer pointer, std::size_t* bytes) {
  if (!is_allocation(pointer)) return Result::kInvalidValue;
  const auto found = ranges_.find(pointer);
  *bytes = found->second.bytes;
  devices_[static_cast<std::size_t>(found->second.device)].used -= found->second.physical_bytes;
  forget_range(pointer, found->second.bytes);
  ranges_.erase(found);
  return Result::kSuccess;
}

void Memory::forget_allocations(Device device) {
  std::erase_if(ranges_, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    devices_[static_cast<std::size_t>(device)].used -= entry.second.physical_bytes;
    forget_range(entry.first, entry.second.bytes);
    return true;
  });
}

Result Memory::allocate_host(void** pointer, std::size_t bytes) {
  if (bytes == 0) return Result::kInvalidValue;
  if (bytes > memory_bytes_) return Result::kOutOfMemory;
  void* const memory = std::aligned_alloc(kHostAlignment, round_up(bytes, kHostAlignment));
  if (memory == nullptr) return Result::kOutOfMemory;
  host_.emplace(reinterpret_cast<DevicePointer>(memory), HostRange{bytes, false});
  *pointer = memory;
  return Result::kSuccess;
}

Result Memory::deallocate_host(void* pointer, std::size_t* bytes) {
  const auto found = host_.find(reinterpret_cast<DevicePointer>(pointer));
  if (found == host_.end() || found->second.is_registered) return Result::kInvalidValue;
  *bytes = found->second.bytes;
  std::free(pointer);
  host_.erase(found);
  return Result::kSuccess;
}

Result Memory::register_host(void* pointer, std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) return Result::kInvalidValue;
  const auto base = reinterpret_cast<DevicePointer>(pointer);
  DevicePointer other = 0;
  const auto next = host_.lower_bound(base);
  if (host_range_around(base, &other) != nullptr ||
      (next != host_.end() && next->first < base + bytes))
    return Result::kHostMemoryAlreadyRegistered;
  host_.emplace(base, HostRange{bytes, true});
  return Result::kSuccess;
}

Result Memory::unregister_host(void* pointer, std::size_t* bytes) {
  const auto found = host_.find(reinterpret_cast<DevicePointer>(pointer));
  if (found == host_.end() || !found->second.is_registered) return Result::kHostMemoryNotRegistered;
  *bytes = found->second.bytes;
  host_.erase(found);
  return Result::kSuccess;
}

const Memory::HostRange* Memory::host_range_around(DevicePointer address,
                                                   DevicePointer* base) const {
  auto found = host_.upper_bound(address);
  if (found == host_.begin()) return nullptr;
  --found;
  *base = found->first;
  return address - found->first < found->second.bytes ? &found->second : nullptr;
}

Reach Memory::reach(const Access& access, Device device) const {
  DevicePointer host_base = 0;
  const HostRange* const host = host_range_around(access.base, &host_base);
  if (host != nullptr) {
    return access.base + access.bytes <= host_base + host->bytes ? Reach::kMemory
                                                                 : Reach::kNoMemory;
  }
  auto range = ranges_.upper_bound(access.base);
  if (range == ranges_.begin()) return Reach::kNoMemory;
  --range;
  const DevicePointer end = access.base + access.bytes;
  if (range->second.device >= 0) {
    if (end > range->first + range->second.bytes) return Reach::kNoMemory;
    return range->second.device == device ? Reach::kMemory : Reach::kNoAccess;
  }
  auto mapping = mappings_.upper_bound(access.base);
  if (mapping == mappings_.begin()) return Reach::kNoMemory;
  --mapping;
  DevicePointer covered = access.base;
  const unsigned needed = access.is_write ? MemoryAccess::kReadWrite : MemoryAccess::kRead;
  while (covered < end) {
    if (mapping == mappings_.end() || mapping->first > covered ||
        mapping->first + mapping->second.bytes <= covered)
      return Reach::kNoMemory;
    const auto given = mapping->second.access.find(device);
    if (given == mapping->second.access.end() || (given->second & needed) != needed)
      return Reach::kNoAccess;
    covered = mapping->first + mapping->second.bytes;
    ++mapping;
  }
  return Reach::kMemory;
}

// What the program has of its own can be reached, too.
void Memory::fill_contents(DevicePointer to, unsigned char value, std::size_t bytes,
                           Device device) const {
  if (!has_contents_ || bytes == 0) return;
  if (is_device_address(to) && reach({to, bytes, true}, device) != Reach::kMemory) return;
  std::memset(reinterpret_cast<void*>(to), value, bytes);
}

void Memory::copy_contents(DevicePointer to, DevicePointer from, std::size_t bytes,
                           Device device) const {
  if (!has_contents_ || bytes == 0) return;
  for (const Access& access : {Access{to, bytes, true}, Access{from, bytes, false}}) {
    if (is_device_address(access.base) && reach(access, device) != Reach::kMemory) return;
  }
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
}

void Memory::add_to(Counts& counts) const {
  for (const auto& [base, range] : ranges_)
    ++(range.device >= 0 ? counts.allocations : counts.reservations);
  for (const DeviceUse& use : devices_) counts.physical_bytes += use.used;
  for (const auto& [base, range] : host_) {
    ++counts.host_allocations;
    counts.host_bytes += range.bytes;
  }
  counts.handles = physicals_;
  counts.mappings = mappings_.size();
}
}  // namespace drey::cuda::sim
