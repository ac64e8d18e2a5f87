// page_store.cpp: what changes pages: map, unmap, move, sleep, wake; see page_store.hpp.
//
// Each of them does its driver calls first and undoes them in the opposite order when one fails; what the
// records say changes with each call that succeeded, so there is no moment at which they are wrong.
// Read next: page_handles.cpp.
// SPDX-License-Identifier: MIT
#include "pages/page_store.hpp"

#include <drey/base/assert.hpp>

namespace drey::cuda {
Result PageStore::map(PageRange range) noexcept {
  DREY_ASSERT(is_open() && is_in_store(range));
  if (counts_.asleep != 0) return Result::kIllegalState;
  const Result mended = mend(range);
  if (mended != Result::kSuccess) return mended;
  DREY_ASSERT(all_are(range, State::kUnmapped));
  return map_run(range);
}

// Maps unmapped or sleeping pages and gives access, or leaves them as they were.
Result PageStore::map_run(PageRange range, bool takes_large_spares) noexcept {
  const State before = pages_[range.first].state;
  std::uint32_t page = range.first;
  Result result = Result::kSuccess;
  while (page < range.end()) {
    std::size_t size = 0;
    MemoryHandle handle = 0;
    bool is_fresh = false;
    const std::uint32_t left = range.end() - page;
    result = take_any_handle(range, left, &size, &handle, &is_fresh);
    if (result == Result::kOutOfMemory && takes_large_spares)
      result = take_large_spare(left, &size, &handle, &is_fresh);
    if (result != Result::kSuccess) break;
    result = driver_->mem_map(address_of(page), pages_of(size) * page_bytes_, 0, handle, 0);
    if (result != Result::kSuccess) {
      drop_handle(size, handle, is_fresh);
      break;
    }
    note_handle(page, size, handle, is_fresh);
    page += pages_of(size);
  }
  if (result == Result::kSuccess) result = set_access(range);
  if (result != Result::kSuccess) undo_map({range.first, page - range.first}, before);
  return result;
}

void PageStore::undo_map(PageRange mapped, State before) noexcept {
  if (mapped.count == 0) return;
  if (unmap_addresses(mapped) == Result::kSuccess) {
    lose_memory(mapped, before);
    return;
  }
  for (std::uint32_t page = mapped.first; page < mapped.end(); ++page)
    pages_[page].state = State::kStuck;
  set_marks(mapped, before == State::kAsleep ? Mark::kClaimed : Mark::kNone);
  counts_.mapped -= mapped.count;
  counts_.stuck += mapped.count;
}

Result PageStore::unmap(PageRange range) noexcept {
  DREY_ASSERT(is_open() && is_in_store(range));
  if (pages_[range.first].state == State::kMapped) {
    DREY_ASSERT(all_are(range, State::kMapped) && is_whole(range));
    const Result result = unmap_addresses(range);
    if (result != Result::kSuccess) return result;
    // What the last call created is as good as any other from now on.
    for (std::uint32_t page = range.first; page < range.end(); ++page)
      pages_[page].is_fresh = false;
    lose_memory(range, State::kUnmapped);
    return Result::kSuccess;
  }
  for (std::uint32_t page = range.first; page < range.end(); ++page) {
    DREY_ASSERT(pages_[page].state == State::kAsleep || pages_[page].mark == Mark::kClaimed);
    if (pages_[page].state == State::kAsleep) {
      pages_[page].state = State::kUnmapped;
      --counts_.asleep;
    }
  }
  set_marks(range, Mark::kNone);
  return Result::kSuccess;
}

Result PageStore::move(PageRange from, PageRange to) noexcept {
  DREY_ASSERT(from.end() <= to.first || to.end() <= from.first);
  DREY_ASSERT(is_in_store(to) && all_are(from, State::kMapped));
  const Result mended = mend(to);
  if (mended != Result::kSuccess) return mended;
  const Result unmapped = unmap(from);
  if (unmapped != Result::kSuccess) return unmapped;
  const Result mapped = map_run(to, true);
  // If even this fails, `from` is unmapped and its memory spare: is_mapped() says so.
  if (mapped != Result::kSuccess) static_cast<void>(put_back(from));
  return mapped;
}

// Undoes lose_memory(): the very handles, at their places. They are spares now; one that is not is
// stuck elsewhere, because the driver failed twice.
Result PageStore::put_back(PageRange range) noexcept {
  const State before = pages_[range.first].state;
  std::uint32_t page = range.first;
  Result result = Result::kSuccess;
  while (page < range.end()) {
    const Page& kept = pages_[page];
    const std::size_t size = size_of(kept.handle_pages);
    if (!remove_spare(size, kept.handle)) {
      result = Result::kIllegalState;
      break;
    }
    result = driver_->mem_map(address_of(page), kept.handle_pages * page_bytes_, 0, kept.handle, 0);
    if (result != Result::kSuccess) {
      add_spare(size, kept.handle);
      break;
    }
    note_handle(page, size, kept.handle, false);
    page += pages_of(size);
  }
  if (result == Result::kSuccess) result = set_access(range);
  if (result != Result::kSuccess) undo_map({range.first, page - range.first}, before);
  return result;
}

// Pages that a failed call left mapped: taken back before they are used again.
Result PageStore::mend(PageRange range) noexcept {
  if (counts_.stuck == 0) return Result::kSuccess;
  for (std::uint32_t page = range.first; page < range.end(); ++page) {
    if (pages_[page].state != State::kStuck) continue;
    const PageRange whole = handle_range(page);
    const Result result = unmap_addresses(whole);
    if (result != Result::kSuccess) return result;
    counts_.stuck -= whole.count;
    counts_.mapped += whole.count;  // as lose_memory() finds them
    const bool is_claimed = pages_[page].mark == Mark::kClaimed;
    lose_memory(whole, is_claimed ? State::kAsleep : State::kUnmapped);
    set_marks(whole, Mark::kNone);
  }
  return Result::kSuccess;
}

Result PageStore::sleep() noexcept {
  const Result mended = mend({0, page_count_});
  if (mended != Result::kSuccess) return mended;
  set_marks({0, page_count_}, Mark::kNone);
  for (PageRange run = next_run(0, State::kMapped); run.count != 0;
       run = next_run(run.end(), State::kMapped)) {
    const Result result = unmap_addresses(run);
    if (result == Result::kSuccess) {
      for (std::uint32_t page = run.first; page < run.end(); ++page) pages_[page].is_fresh = false;
      lose_memory(run, State::kAsleep);
      set_marks(run, Mark::kThisCall);
      continue;
    }
    for (std::uint32_t page = 0; page < run.first; ++page) {
      if (pages_[page].mark == Mark::kThisCall && pages_[page].state == State::kAsleep)
        static_cast<void>(put_back(handle_range(page)));
    }
    return result;
  }
  release_spares(0);
  return Result::kSuccess;
}

Result PageStore::wake() noexcept {
  const Result mended = mend({0, page_count_});
  if (mended != Result::kSuccess) return mended;
  set_marks({0, page_count_}, Mark::kNone);
  for (PageRange run = next_run(0, State::kAsleep); run.count != 0;
       run = next_run(run.end(), State::kAsleep)) {
    const Result result = map_run(run);
    if (result == Result::kSuccess) {
      set_marks(run, Mark::kThisCall);
      continue;
    }
    for (std::uint32_t page = 0; page < run.first; ++page) {
      if (pages_[page].mark == Mark::kThisCall && pages_[page].state == State::kMapped)
        undo_map(handle_range(page), State::kAsleep);
    }
    return result;
  }
  return Result::kSuccess;
}

Result PageStore::take_all_back(State state) noexcept {
  for (PageRange run = next_run(0, state); run.count != 0; run = next_run(run.end(), state)) {
    const Result result = unmap_addresses(run);
    if (result != Result::kSuccess) return result;
    if (state == State::kStuck) {
      counts_.stuck -= run.count;
      counts_.mapped += run.count;  // as lose_memory() finds them
    }
    lose_memory(run, State::kUnmapped);
  }
  return Result::kSuccess;
}

Result PageStore::close() noexcept {
  if (!is_open()) return Result::kSuccess;
  Result result = take_all_back(State::kMapped);
  if (result == Result::kSuccess) result = take_all_back(State::kStuck);
  if (result != Result::kSuccess) return result;
  release_spares(0);
  if (counts_.spare != 0) return Result::kIllegalState;
  result = driver_->mem_address_free(base_, page_count_ * page_bytes_);
  if (result == Result::kSuccess) abandon();
  return result;
}
}  // namespace drey::cuda
