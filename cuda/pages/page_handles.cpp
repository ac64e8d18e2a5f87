// page_handles.cpp: the rest of page_store.hpp: handles of physical memory, spares, and questions.
// SPDX-License-Identifier: MIT
#include "pages/page_store.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <limits>

namespace drey::cuda {
Result PageStore::open(const DriverTable& driver, const PageStoreConfig& config) noexcept {
  DREY_ASSERT(!is_open());
  if (config.peer_count > PageStoreConfig::kPeersMax ||
      !std::has_single_bit(config.pages_of_large) || config.pages_of_large > pages_of(kSizes - 1) ||
      config.calm_part == 0)
    return Result::kInvalidValue;
  driver_ = &driver;
  properties_ = {};
  properties_.location.id = config.device;
  std::size_t granularity = 0;
  const Result told =
      driver.mem_get_allocation_granularity(&granularity, &properties_, Granularity::kRecommended);
  if (told != Result::kSuccess) return told;
  const std::uint64_t pages =
      config.address_bytes / granularity + (config.address_bytes % granularity != 0 ? 1 : 0);
  if (pages == 0 || pages > std::numeric_limits<std::uint32_t>::max()) return Result::kInvalidValue;
  page_bytes_ = granularity;
  pages_of_large_ = config.pages_of_large;
  calm_part_ = config.calm_part;
  limit_pages_ = config.limit_bytes / granularity;
  access_count_ = 0;
  accesses_[access_count_++] = {{MemoryLocation::kDevice, config.device}, MemoryAccess::kReadWrite};
  for (std::size_t peer = 0; peer < config.peer_count; ++peer)
    accesses_[access_count_++] = {{MemoryLocation::kDevice, config.peers[peer]},
                                  MemoryAccess::kReadWrite};
  bool has_records = pages_.take(pages);
  for (std::size_t size = 0; size < kSizes; ++size)
    has_records = has_records && spares_[size].take(pages / pages_of(size) + 1);
  Result result = Result::kOutOfMemory;
  if (has_records) result = driver.mem_address_reserve(&base_, pages * granularity, 0, 0, 0);
  if (result != Result::kSuccess) {
    abandon();
    return result;
  }
  page_count_ = static_cast<std::uint32_t>(pages);
  return Result::kSuccess;
}

void PageStore::abandon() noexcept {
  base_ = 0;
  page_count_ = 0;
  counts_ = {};
  pages_.give_back();
  for (std::size_t size = 0; size < kSizes; ++size) {
    spares_[size].give_back();
    spare_count_[size] = 0;
  }
}

// Of a run that is long enough for large handles, the largest that fits what is left of it; of spare ones,
// unless there is none that large and smaller ones are enough.
std::size_t PageStore::choose_size(PageRange run, std::uint32_t pages_left) const noexcept {
  if (run.count < pages_of_large_) return 0;
  const std::uint32_t most = std::min(pages_of_large_, pages_left);
  if (most == 1 || (counts_.held() + most) * calm_part_ > limit_pages_) return 0;
  const auto largest = static_cast<std::size_t>(std::bit_width(most)) - 1;
  std::uint64_t smaller = 0;
  for (std::size_t size = 0; size < largest; ++size) smaller += spare_count_[size] * pages_of(size);
  if (spare_count_[largest] != 0 || smaller < pages_of(largest)) return largest;
  std::size_t size = largest - 1;
  while (spare_count_[size] == 0) --size;
  return size;
}

Result PageStore::take_handle(std::size_t size, MemoryHandle* handle, bool* is_fresh) noexcept {
  *is_fresh = spare_count_[size] == 0;
  if (!*is_fresh) {
    *handle = spares_[size][--spare_count_[size]];
    counts_.spare -= pages_of(size);
    return Result::kSuccess;
  }
  if (counts_.held() + pages_of(size) > limit_pages_) return Result::kOutOfMemory;
  return driver_->mem_create(handle, pages_of(size) * page_bytes_, &properties_, 0);
}

Result PageStore::take_any_handle(PageRange run, std::uint32_t pages_left, std::size_t* size,
                                  MemoryHandle* handle, bool* is_fresh) noexcept {
  *size = choose_size(run, pages_left);
  Result result = take_handle(*size, handle, is_fresh);
  while (result == Result::kOutOfMemory && *size != 0)
    result = take_handle(--*size, handle, is_fresh);
  return result;
}

// Where no more can be made: a spare one of those that are larger than is wise.
Result PageStore::take_large_spare(std::uint32_t pages_left, std::size_t* size,
                                   MemoryHandle* handle, bool* is_fresh) noexcept {
  for (std::size_t spare = kSizes; spare-- != 1;) {
    if (spare_count_[spare] == 0 || pages_of(spare) > pages_left) continue;
    *size = spare;
    return take_handle(spare, handle, is_fresh);
  }
  return Result::kOutOfMemory;
}

// A handle that is mapped nowhere: back where it came from.
void PageStore::drop_handle(std::size_t size, MemoryHandle handle, bool is_fresh) noexcept {
  if (is_fresh && driver_->mem_release(handle) == Result::kSuccess) return;
  add_spare(size, handle);
}

void PageStore::add_spare(std::size_t size, MemoryHandle handle) noexcept {
  spares_[size][spare_count_[size]++] = handle;
  counts_.spare += pages_of(size);
}

bool PageStore::remove_spare(std::size_t size, MemoryHandle handle) noexcept {
  std::size_t place = spare_count_[size];
  while (place != 0 && spares_[size][place - 1] != handle) --place;
  if (place == 0) return false;
  spares_[size][place - 1] = spares_[size][--spare_count_[size]];
  counts_.spare -= pages_of(size);
  return true;
}

void PageStore::set_marks(PageRange range, Mark mark) noexcept {
  for (std::uint32_t page = range.first; page < range.end(); ++page) pages_[page].mark = mark;
}

std::uint64_t PageStore::release_spares(std::uint64_t pages_kept) noexcept {
  std::uint64_t released = 0;
  for (std::size_t size = kSizes; size-- != 0;) {
    while (spare_count_[size] != 0 && counts_.spare >= pages_kept + pages_of(size)) {
      if (driver_->mem_release(spares_[size][spare_count_[size] - 1]) != Result::kSuccess)
        return released;
      --spare_count_[size];
      counts_.spare -= pages_of(size);
      released += pages_of(size);
    }
  }
  return released;
}

Result PageStore::set_access(PageRange range) noexcept {
  return driver_->mem_set_access(address_of(range.first), range.count * page_bytes_, accesses_,
                                 access_count_);
}

Result PageStore::unmap_addresses(PageRange range) noexcept {
  return driver_->mem_unmap(address_of(range.first), range.count * page_bytes_);
}

void PageStore::note_handle(std::uint32_t page, std::size_t size, MemoryHandle handle,
                            bool is_fresh) noexcept {
  const std::uint32_t pages = pages_of(size);
  for (std::uint32_t place = 0; place < pages; ++place) {
    Page& noted = pages_[page + place];
    if (noted.state == State::kAsleep) --counts_.asleep;
    noted = {handle,
             static_cast<std::uint16_t>(pages),
             static_cast<std::uint16_t>(place),
             State::kMapped,
             is_fresh,
             Mark::kNone};
  }
  counts_.mapped += pages;
}

// The addresses of mapped pages have been unmapped: their handles are dropped.
void PageStore::lose_memory(PageRange range, State next) noexcept {
  counts_.mapped -= range.count;
  for (std::uint32_t page = range.first; page < range.end(); ++page) {
    Page& lost = pages_[page];
    if (lost.handle_place == 0) drop_handle(size_of(lost.handle_pages), lost.handle, lost.is_fresh);
    lost.state = next;
    if (next == State::kAsleep) ++counts_.asleep;
  }
}

bool PageStore::all_are(PageRange range, State state) const noexcept {
  for (std::uint32_t page = range.first; page < range.end(); ++page) {
    if (pages_[page].state != state) return false;
  }
  return true;
}

PageRange PageStore::next_run(std::uint32_t from, State state) const noexcept {
  std::uint32_t first = from;
  while (first < page_count_ && pages_[first].state != state) ++first;
  std::uint32_t end = first;
  while (end < page_count_ && pages_[end].state == state) ++end;
  return {first, end - first};
}

PageRange PageStore::handle_range(std::uint32_t page) const noexcept {
  return {page - pages_[page].handle_place, pages_[page].handle_pages};
}

bool PageStore::is_whole(PageRange range) const noexcept {
  const Page& first = pages_[range.first];
  const Page& last = pages_[range.end() - 1];
  return first.handle_place == 0 && last.handle_place + 1 == last.handle_pages;
}

PageRange PageStore::whole_within(PageRange range) const noexcept {
  std::uint32_t first = range.first;
  std::uint32_t end = range.end();
  if (first < end && pages_[first].handle_place != 0) first = handle_range(first).end();
  while (first < end && handle_range(end - 1).end() > end) end = handle_range(end - 1).first;
  return first < end ? PageRange{first, end - first} : PageRange{first, 0};
}

bool PageStore::is_mapped(std::uint32_t page) const noexcept {
  return page < page_count_ && pages_[page].state == State::kMapped;
}

bool PageStore::invariants_hold() const noexcept {
  PageCounts seen;
  for (std::uint32_t page = 0; page < page_count_; ++page) {
    const Page& record = pages_[page];
    if (record.state == State::kMapped) ++seen.mapped;
    if (record.state == State::kStuck) ++seen.stuck;
    if (record.state == State::kAsleep) ++seen.asleep;
    if (record.state != State::kMapped && record.state != State::kStuck) continue;
    const PageRange whole = handle_range(page);
    if (whole.end() > page_count_) return false;
    const Page& head = pages_[whole.first];
    if (head.handle != record.handle || head.state != record.state) return false;
  }
  for (std::size_t size = 0; size < kSizes; ++size)
    seen.spare += spare_count_[size] * pages_of(size);
  return seen == counts_;
}
}  // namespace drey::cuda
