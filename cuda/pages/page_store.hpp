// page_store.hpp: the physical memory of one device under one range of its addresses: which pages have
// memory, and memory on its way from one page to another.
//
// Invariants: a page is unmapped, mapped, asleep or stuck, and says so. Held handles are those of
// mapped and stuck pages and the spares, each once; no call brings their pages above the limit. A call
// that fails has changed nothing that counts() or is_mapped() shows, but where a driver fails twice:
// once in the call and again while it is undone; what is left then is stuck or spare, and is mended by
// the next call that needs it.
// Read next: page_store.cpp; docs/DESIGN.md, "Device pages".
// SPDX-License-Identifier: MIT
#pragma once

#include "pages/metadata_array.hpp"

#include <drey/cuda/driver_table.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>

namespace drey::cuda {
/// Pages of the store, by index.
struct PageRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  [[nodiscard]] std::uint32_t end() const noexcept { return first + count; }
};

/// In pages, but for the last three.
struct PageCounts {
  std::uint64_t mapped = 0;
  std::uint64_t spare = 0;   ///< physical, mapped nowhere, ready to be
  std::uint64_t stuck = 0;   ///< mapped without access: the driver refused to take it back
  std::uint64_t asleep = 0;  ///< without memory until wake()
  bool operator==(const PageCounts&) const noexcept = default;
  [[nodiscard]] std::uint64_t held() const noexcept { return mapped + spare + stuck; }
};

struct PageStoreConfig {
  static constexpr std::size_t kPeersMax = 16;
  Device device = 0;
  std::uint64_t address_bytes = 0;  ///< addresses to reserve; rounded up to pages
  std::uint64_t limit_bytes = 0;    ///< physical memory at most; rounded down to pages
  /// Of the largest handle, a power of two: fewer calls; 1 for single pages only.
  std::uint32_t pages_of_large = 16;
  /// Handles of many pages are made while at most this part of the limit is held. Later a handle with one
  /// live page would keep pages that somebody will need.
  std::uint32_t calm_part = 8;
  Device peers[kPeersMax] = {};  ///< that may use the memory, beside the device itself
  std::size_t peer_count = 0;
};

/// Threads: one at a time. Cost: driver calls, as named; no call but these.
class PageStore {
 public:
  PageStore() noexcept = default;
  /// Makes no driver call: at the end of a process there may be no driver. See close().
  ~PageStore() = default;
  PageStore(const PageStore&) = delete;
  PageStore& operator=(const PageStore&) = delete;

  /// Reserves the addresses. Fails: as the driver; kNotSupported without virtual memory;
  /// kInvalidValue for a size of 0 or too many peers. The store stays closed.
  Result open(const DriverTable& driver, const PageStoreConfig& config) noexcept;
  /// Takes everything back to the driver. Requires: no work uses any page. Fails: the rest stays, and
  /// close() may be called again.
  Result close() noexcept;
  /// Forgets everything without a driver call: after the device's reset, or in a forked child.
  void abandon() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return base_ != 0; }

  /// Gives each page of the range memory: spare ones first, then new. All of it or nothing.
  /// Requires: none of it is mapped. Fails: kIllegalState while pages are asleep; kOutOfMemory at the limit, without a driver call
  /// for what is missing; else as the driver.
  Result map(PageRange range) noexcept;
  /// The memory of the range becomes spare. Pages that are asleep just lose their claim.
  /// Requires: all of it is mapped, or all asleep; is_whole(range); no work uses it: the driver does
  /// not wait.
  Result unmap(PageRange range) noexcept;
  /// unmap(from) and map(to), with the memory of `from` for `to`. If `to` gets none, `from` has its
  /// own memory again. Requires: of both what they require.
  Result move(PageRange from, PageRange to) noexcept;

  /// Gives spare memory back to the driver, large handles first, as long as `pages_kept` stay spare and
  /// the driver does not refuse.
  /// Returns: pages given back.
  std::uint64_t release_spares(std::uint64_t pages_kept) noexcept;

  /// Every mapped page loses its memory, which goes back to the driver, and keeps its claim. Contents
  /// are lost. What the driver does not take back stays spare. Asleep already: nothing to do.
  /// Requires: no work uses any page.
  Result sleep() noexcept;
  /// Every page that is asleep gets memory. All of them or none.
  Result wake() noexcept;

  /// Whether the range cuts no large handle in two: only whole handles can be unmapped.
  [[nodiscard]] bool is_whole(PageRange range) const noexcept;
  /// The largest part of a mapped range that cuts no handle; count 0 if there is none.
  [[nodiscard]] PageRange whole_within(PageRange range) const noexcept;
  [[nodiscard]] bool is_mapped(std::uint32_t page) const noexcept;
  [[nodiscard]] DevicePointer address_of(std::uint32_t page) const noexcept {
    return base_ + page * page_bytes_;
  }
  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return page_bytes_; }
  [[nodiscard]] std::uint32_t page_count() const noexcept { return page_count_; }
  [[nodiscard]] std::uint64_t limit_pages() const noexcept { return limit_pages_; }
  /// Another limit, of pages. What is held beyond it stays; nothing is added.
  void set_limit_pages(std::uint64_t pages) noexcept { limit_pages_ = pages; }
  [[nodiscard]] const PageCounts& counts() const noexcept { return counts_; }
  /// Counts every page and compares. Cost: all pages.
  [[nodiscard]] bool invariants_hold() const noexcept;

 private:
  enum class State : std::uint16_t { kUnmapped = 0, kMapped, kStuck, kAsleep };
  enum class Mark : std::uint8_t {
    kNone = 0,
    kClaimed,   // stuck: asleep, as far as the caller is concerned
    kThisCall,  // what the sleep() or wake() under way did to the page, it may have to undo
  };
  struct Page {
    // Kept when the page loses its memory, so that a move or a sleep can be undone.
    MemoryHandle handle;
    std::uint16_t handle_pages;  // of its handle
    std::uint16_t handle_place;  // of this page in it
    State state;
    bool is_fresh;  // mapped or stuck: the handle was created by the call that mapped it last
    Mark mark;
  };
  static_assert(sizeof(Page) == 16);
  static constexpr std::size_t kSizes = 8;  // of handles: 1, 2, 4 ... 128 pages

  [[nodiscard]] bool all_are(PageRange range, State state) const noexcept;
  [[nodiscard]] bool is_in_store(PageRange range) const noexcept {
    return range.count != 0 && range.first < page_count_ &&
           range.count <= page_count_ - range.first;
  }
  [[nodiscard]] PageRange next_run(std::uint32_t from, State state) const noexcept;
  [[nodiscard]] PageRange handle_range(std::uint32_t page) const noexcept;
  [[nodiscard]] static std::uint32_t pages_of(std::size_t size) noexcept {
    return std::uint32_t{1} << size;
  }
  [[nodiscard]] static std::size_t size_of(std::uint32_t handle_pages) noexcept {
    return static_cast<std::size_t>(std::countr_zero(handle_pages));
  }
  [[nodiscard]] std::size_t choose_size(PageRange run, std::uint32_t pages_left) const noexcept;

  Result take_handle(std::size_t size, MemoryHandle* handle, bool* is_fresh) noexcept;
  Result take_any_handle(PageRange run, std::uint32_t pages_left, std::size_t* size,
                         MemoryHandle* handle, bool* is_fresh) noexcept;
  Result take_large_spare(std::uint32_t pages_left, std::size_t* size, MemoryHandle* handle,
                          bool* is_fresh) noexcept;
  void drop_handle(std::size_t size, MemoryHandle handle, bool is_fresh) noexcept;
  void add_spare(std::size_t size, MemoryHandle handle) noexcept;
  bool remove_spare(std::size_t size, MemoryHandle handle) noexcept;

  Result map_run(PageRange range, bool takes_large_spares = false) noexcept;
  Result set_access(PageRange range) noexcept;
  Result unmap_addresses(PageRange range) noexcept;
  void note_handle(std::uint32_t page, std::size_t size, MemoryHandle handle,
                   bool is_fresh) noexcept;
  void lose_memory(PageRange range, State next) noexcept;
  void undo_map(PageRange mapped, State before) noexcept;
  Result put_back(PageRange range) noexcept;
  Result mend(PageRange range) noexcept;
  Result take_all_back(State state) noexcept;
  void set_marks(PageRange range, Mark mark) noexcept;

  const DriverTable* driver_ = nullptr;
  DevicePointer base_ = 0;
  std::uint64_t page_bytes_ = 0;
  std::uint32_t page_count_ = 0;
  std::uint32_t pages_of_large_ = 1;
  std::uint32_t calm_part_ = 1;
  std::uint64_t limit_pages_ = 0;
  MemoryProperties properties_;
  MemoryAccess accesses_[PageStoreConfig::kPeersMax + 1];
  std::size_t access_count_ = 0;
  PageCounts counts_;
  MetadataArray<Page> pages_;
  MetadataArray<MemoryHandle> spares_[kSizes];
  std::size_t spare_count_[kSizes] = {};
};
}  // namespace drey::cuda
