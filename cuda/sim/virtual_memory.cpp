// virtual_memory.cpp: reservations, physical handles, mappings and access; see memory.hpp.
// SPDX-License-Identifier: MIT
#include "sim/memory.hpp"

#include <iterator>

namespace drey::cuda::sim {
Result Memory::reserve(DevicePointer* pointer, std::size_t bytes, std::size_t alignment,
                       DevicePointer wish) {
  const bool is_power = (alignment & (alignment - 1)) == 0;
  if (bytes == 0 || !is_granular(bytes) || !is_power || (alignment != 0 && !is_granular(alignment)))
    return Result::kInvalidValue;
  const std::size_t step = alignment != 0 ? alignment : granularity_bytes_;
  const bool is_granted = wish != 0 && wish % step == 0 && is_free_range(wish, bytes);
  const DevicePointer base = is_granted ? wish : find_hole(bytes, step);
  if (base == 0) return Result::kOutOfMemory;
  ranges_.emplace(base, Range{bytes, -1, 0});
  *pointer = base;
  return Result::kSuccess;
}

Result Memory::unreserve(DevicePointer pointer, std::size_t bytes) {
  const auto found = ranges_.find(pointer);
  if (found == ranges_.end() || found->second.device >= 0 || found->second.bytes != bytes)
    return Result::kInvalidValue;
  const auto mapping = mappings_.lower_bound(pointer);
  if (mapping != mappings_.end() && mapping->first < pointer + bytes) return Result::kInvalidValue;
  ranges_.erase(found);
  return Result::kSuccess;
}

Result Memory::create(MemoryHandle* handle, std::size_t bytes, const MemoryProperties& properties) {
  if (bytes == 0 || !is_granular(bytes) || properties.type != MemoryProperties::kPinned ||
      properties.location.type != MemoryLocation::kDevice || properties.windows_data != nullptr)
    return Result::kInvalidValue;
  if (!is_device(properties.location.id)) return Result::kInvalidDevice;
  const bool is_exportable = properties.exported_as == kPosixFileDescriptor;
  if (properties.exported_as != 0 && (!is_exportable || !has_file_descriptors_))
    return Result::kNotSupported;
  const Result taken = take_physical(properties.location.id, bytes);
  if (taken != Result::kSuccess) return taken;
  auto physical = std::make_shared<Physical>();
  physical->is_exportable = is_exportable;
  if (has_contents_ || is_exportable) physical->file = make_memory_file(bytes);
  if (physical->file < 0 && (has_contents_ || is_exportable)) {
    devices_[static_cast<std::size_t>(properties.location.id)].used -= bytes;
    return Result::kOutOfMemory;
  }
  physical->bytes = bytes;
  physical->device = properties.location.id;
  physical->held = 1;
  physical->handle = handles_.add(physical);
  ++physicals_;
  *handle = physical->handle;
  return Result::kSuccess;
}

void Memory::drop_if_unused(const std::shared_ptr<Physical>& physical) {
  if (physical->held != 0 || physical->mapped != 0) return;
  if (!physical->is_foreign)
    devices_[static_cast<std::size_t>(physical->device)].used -= physical->bytes;
  --physicals_;
  close_file(physical->file);
}

Result Memory::release(MemoryHandle handle) {
  const std::shared_ptr<Physical> physical = handles_.share(handle);
  if (physical == nullptr) return Result::kInvalidValue;
  if (--physical->held == 0) {
    handles_.erase(handle);
    drop_if_unused(physical);
  }
  return Result::kSuccess;
}

Result Memory::retain(MemoryHandle* handle, DevicePointer address) {
  auto found = mappings_.upper_bound(address);
  if (found == mappings_.begin()) return Result::kInvalidValue;
  --found;
  if (address - found->first >= found->second.bytes) return Result::kInvalidValue;
  const std::shared_ptr<Physical>& physical = found->second.physical;
  if (physical->held++ == 0) physical->handle = handles_.add(physical);
  *handle = physical->handle;
  return Result::kSuccess;
}

Result Memory::export_to(int* file, MemoryHandle handle) {
  const Physical* const physical = handles_.find(handle);
  if (physical == nullptr || !physical->is_exportable) return Result::kInvalidValue;
  *file = duplicate_file(physical->file);
  return *file < 0 ? Result::kOutOfMemory : Result::kSuccess;
}

Result Memory::import_from(MemoryHandle* handle, int file, Device device) {
  if (!has_file_descriptors_) return Result::kNotSupported;
  std::size_t bytes = 0;
  const std::uint64_t wanted = identify_file(file, &bytes);
  if (wanted == 0 || bytes == 0 || !is_granular(bytes)) return Result::kInvalidValue;
  std::shared_ptr<Physical> physical;
  const auto compare = [&](const std::shared_ptr<Physical>& candidate) {
    std::size_t size = 0;
    if (candidate->file >= 0 && identify_file(candidate->file, &size) == wanted)
      physical = candidate;
  };
  handles_.for_each_shared(compare);
  for (const auto& [base, mapping] : mappings_) compare(mapping.physical);
  if (physical == nullptr) {
    // Of another process, which counts its bytes.
    physical = std::make_shared<Physical>();
    physical->file = duplicate_file(file);
    if (physical->file < 0) return Result::kOutOfMemory;
    physical->bytes = bytes;
    physical->device = device;
    physical->is_foreign = true;
    ++physicals_;
  }
  if (physical->held++ == 0) physical->handle = handles_.add(physical);
  *handle = physical->handle;
  return Result::kSuccess;
}

Result Memory::map(DevicePointer pointer, std::size_t bytes, std::size_t offset,
                   MemoryHandle handle) {
  const std::shared_ptr<Physical> physical = handles_.share(handle);
  if (physical == nullptr || offset != 0 || bytes != physical->bytes || !is_granular(pointer))
    return Result::kInvalidValue;
  auto range = ranges_.upper_bound(pointer);
  if (range == ranges_.begin()) return Result::kInvalidValue;
  --range;
  const bool is_inside = range->second.device < 0 && pointer - range->first < range->second.bytes &&
                         bytes <= range->second.bytes - (pointer - range->first);
  if (!is_inside) return Result::kInvalidValue;
  const auto next = mappings_.lower_bound(pointer);
  if (next != mappings_.end() && next->first < pointer + bytes) return Result::kInvalidValue;
  if (next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > pointer)
    return Result::kInvalidValue;
  mappings_.emplace(pointer, Mapping{bytes, physical, {}});
  if (has_contents_) contents_.map(pointer, bytes, physical->file);
  ++physical->mapped;
  return Result::kSuccess;
}

Result Memory::can_unmap(DevicePointer pointer, std::size_t bytes) const {
  if (bytes == 0) return Result::kInvalidValue;
  const DevicePointer end = pointer + bytes;
  auto mapping = mappings_.find(pointer);
  DevicePointer covered = pointer;
  while (covered < end) {
    if (mapping == mappings_.end() || mapping->first != covered) return Result::kInvalidValue;
    covered += mapping->second.bytes;
    ++mapping;
  }
  return covered == end ? Result::kSuccess : Result::kInvalidValue;
}

Result Memory::unmap(DevicePointer pointer, std::size_t bytes) {
  const Result allowed = can_unmap(pointer, bytes);
  if (allowed != Result::kSuccess) return allowed;
  auto mapping = mappings_.find(pointer);
  while (mapping != mappings_.end() && mapping->first < pointer + bytes) {
    const std::shared_ptr<Physical> physical = mapping->second.physical;
    forget_range(mapping->first, mapping->second.bytes);
    mapping = mappings_.erase(mapping);
    --physical->mapped;
    drop_if_unused(physical);
  }
  return Result::kSuccess;
}

Result Memory::can_set_access(DevicePointer pointer, std::size_t bytes,
                              const MemoryAccess& access) const {
  const bool is_known = access.flags == MemoryAccess::kNone ||
                        access.flags == MemoryAccess::kRead ||
                        access.flags == MemoryAccess::kReadWrite;
  if (!is_known || access.location.type != MemoryLocation::kDevice) return Result::kInvalidValue;
  if (!is_device(access.location.id)) return Result::kInvalidDevice;
  return can_unmap(pointer, bytes);  // whole mappings, without holes: the same question
}

void Memory::set_access(DevicePointer pointer, std::size_t bytes, const MemoryAccess& access) {
  for (auto mapping = mappings_.find(pointer);
       mapping != mappings_.end() && mapping->first < pointer + bytes; ++mapping)
    mapping->second.access[access.location.id] = access.flags;
}

Result Memory::get_access(unsigned long long* flags, const MemoryLocation& location,
                          DevicePointer pointer) const {
  auto found = mappings_.upper_bound(pointer);
  if (found == mappings_.begin() || !is_device(location.id)) return Result::kInvalidValue;
  --found;
  if (pointer - found->first >= found->second.bytes) return Result::kInvalidValue;
  const auto given = found->second.access.find(location.id);
  *flags = given == found->second.access.end() ? MemoryAccess::kNone : given->second;
  return Result::kSuccess;
}
}  // namespace drey::cuda::sim
