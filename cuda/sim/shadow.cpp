// shadow.cpp: see shadow.hpp.
// SPDX-License-Identifier: MIT
#include "sim/shadow.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace drey::cuda::sim {
namespace {
std::string hexadecimal(DevicePointer address) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", address);
  return text;
}

std::string text_of(const Generation& block) {
  std::string text = "block " + std::to_string(block.number) + " (" + std::to_string(block.bytes) +
                     " bytes at " + hexadecimal(block.base) + ", allocated at call " +
                     std::to_string(block.allocated_by);
  if (!block.is_live) text += ", freed at call " + std::to_string(block.freed_by);
  return text + ")";
}

// Whether the user promised at the free that this use would be over.
Blame blame_for(const Generation& block, Moment moment) {
  return block.is_live || block.claim.covers(moment) ? Blame::kAllocator : Blame::kUser;
}
}  // namespace

std::string text_of(const Place& place) {
  std::string text = "'" + place.label + "' (call " + std::to_string(place.call);
  text += place.stream == 0 ? ", host" : ", stream " + std::to_string(place.stream);
  return text + ")";
}

void Shadow::report(HazardKind kind, Blame blame, std::uint64_t call, std::string text) {
  text.insert(0, std::string(name_of(kind)) + " (" + name_of(blame) + "): ");
  hazards_.push_back({kind, blame, call, std::move(text)});
}

void Shadow::split(DevicePointer at) {
  auto next = cells_.upper_bound(at);
  if (next == cells_.begin()) return;
  const auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at) return;
  Cell tail = cell->second;
  cell->second.end = at;
  cells_.emplace(at, std::move(tail));
}

Shadow::Cells::iterator Shadow::first_in(Bytes range) {
  split(range.base);
  split(range.end);
  return cells_.lower_bound(range.base);
}

std::shared_ptr<Generation> Shadow::block_at(DevicePointer base) const {
  const auto found = live_.find(base);
  return found == live_.end() ? nullptr : found->second;
}

std::shared_ptr<Generation> Shadow::block_around(DevicePointer address) const {
  auto found = live_.upper_bound(address);
  if (found == live_.begin()) return nullptr;
  --found;
  return address < found->second->end() ? found->second : nullptr;
}

std::shared_ptr<Generation> Shadow::allocate(DevicePointer base, std::size_t bytes,
                                             std::uint64_t call) {
  auto block = std::make_shared<Generation>();
  block->number = ++generations_;
  block->base = base;
  block->bytes = bytes;
  block->allocated_by = call;
  const Bytes range{base, block->end()};
  DevicePointer covered = base;
  std::shared_ptr<Generation> overlapped;
  for (auto cell = first_in(range); cell != cells_.end() && cell->first < range.end; ++cell) {
    if (cell->first > covered) cells_.emplace(covered, Cell{cell->first, block, {}});
    covered = cell->second.end;
    // The gap's cell has this block already.
    if (cell->second.block != block && cell->second.block->is_live) overlapped = cell->second.block;
    cell->second.block = block;
  }
  if (covered < range.end) cells_.emplace(covered, Cell{range.end, block, {}});
  if (overlapped != nullptr) {
    report(HazardKind::kOverlap, Blame::kAllocator, call,
           text_of(*block) + " handed out over live " + text_of(*overlapped));
  }
  live_[base] = block;
  return block;
}

void Shadow::free(const std::shared_ptr<Generation>& block, std::uint64_t call) {
  block->is_live = false;
  block->freed_by = call;
  const auto found = live_.find(block->base);
  if (found != live_.end() && found->second == block) live_.erase(found);
}

std::shared_ptr<Generation> Shadow::check_bounds(const Access& access, const Place& place) {
  auto found = cells_.upper_bound(access.base);
  if (found == cells_.begin()) return nullptr;
  --found;
  if (access.base >= found->second.end) return nullptr;
  std::shared_ptr<Generation> block = found->second.block;
  const DevicePointer end = access.base + access.bytes;
  if (!block->is_live) {
    report(HazardKind::kUseAfterFree, Blame::kUser, place.call,
           text_of(place) + " uses " + text_of(*block));
    return nullptr;
  }
  if (end > block->end()) {
    report(HazardKind::kOutOfBounds, Blame::kUser, place.call,
           text_of(place) + " reaches " + std::to_string(end - block->end()) + " bytes beyond " +
               text_of(*block));
  }
  return block;
}

void Shadow::report_reuse(const Touch& before, const Generation& now, const Use& use) {
  const Blame blame = blame_for(*before.block, before.moment);
  const char* const why = blame == Blame::kAllocator
                              ? ", which its free covered; nothing orders the two"
                              : ", which its free did not cover; nothing orders the two";
  report(HazardKind::kReuse, blame, use.place.call,
         text_of(use.place) + " uses " + text_of(now) + " after " + text_of(before.place) +
             " used " + text_of(*before.block) + why);
}

void Shadow::touch(Cell& cell, const Use& use, CaptureId own_capture) {
  bool is_reported = false;
  std::erase_if(cell.touches, [&](const Touch& before) {
    if (use.clock->covers(before.moment)) return true;
    if (before.block == cell.block) return false;
    if (own_capture != 0 && before.block->capture == own_capture) return false;
    // One line a use: cells are reported once, by whoever is first in them.
    const bool is_known = !hazards_.empty() && hazards_.back().call == use.place.call &&
                          hazards_.back().kind == HazardKind::kReuse;
    if (!is_reported && !is_known) report_reuse(before, *cell.block, use);
    is_reported = true;
    return true;
  });
  cell.touches.push_back({use.moment, cell.block, use.place});
}

void Shadow::use(const Access& access, const Use& use) {
  const std::shared_ptr<Generation> block = check_bounds(access, use.place);
  if (block == nullptr) return;
  const Bytes range{access.base, std::min(access.base + access.bytes, block->end())};
  for (auto cell = first_in(range); cell != cells_.end() && cell->first < range.end; ++cell)
    touch(cell->second, use, 0);
}

void Shadow::replay(const Access& access, const Use& use, const std::shared_ptr<Generation>& block,
                    CaptureId capture) {
  const Bytes range{access.base, access.base + access.bytes};
  bool is_reported = false;
  for (auto cell = first_in(range); cell != cells_.end() && cell->first < range.end; ++cell) {
    const std::shared_ptr<Generation>& owner = cell->second.block;
    const bool is_shared =
        block != nullptr && block->pool != 0 && owner->pool == block->pool && owner->capture != 0;
    const bool is_own =
        owner->capture == capture || (owner == block && owner->is_live) || is_shared;
    if (!is_own && !is_reported) {
      const bool was_pool = block != nullptr && block->capture == capture;
      report(HazardKind::kGraph, was_pool ? Blame::kAllocator : Blame::kUser, use.place.call,
             "replay of " + text_of(use.place) + " uses " + text_of(*owner) +
                 (block == nullptr ? "" : ", captured with " + text_of(*block)));
      is_reported = true;
    }
    if (is_own) touch(cell->second, use, capture);
  }
}

void Shadow::unmap(Bytes range, const Clock& host, std::uint64_t call) {
  auto cell = first_in(range);
  const Generation* reported = nullptr;
  while (cell != cells_.end() && cell->first < range.end) {
    const std::shared_ptr<Generation>& block = cell->second.block;
    if (block->is_live && block.get() != reported) {
      report(
          HazardKind::kUnmapLive, Blame::kAllocator, call,
          "memory of live " + text_of(*block) + " is taken away at call " + std::to_string(call));
      reported = block.get();
    }
    for (const Touch& touch : cell->second.touches) {
      if (host.covers(touch.moment) || touch.block.get() == reported) continue;
      report(HazardKind::kUnmapPending, blame_for(*touch.block, touch.moment), call,
             "memory is taken away at call " + std::to_string(call) + " while " +
                 text_of(touch.place) + " may use " + text_of(*touch.block));
      reported = touch.block.get();
    }
    if (block->is_live) live_.erase(block->base);
    cell = cells_.erase(cell);
  }
}
}  // namespace drey::cuda::sim
