// work.hpp: what was submitted and is not complete: pieces of work, markers between them, and what
// each must come after.
// Invariants: numbers rise, and everything waits for smaller numbers only, so there is no cycle;
// what is in no table is complete. A marker is complete as soon as all before it is; nothing waits for
// a marker itself, but for what the marker waits for.
// Read next: timeline.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace drey::cuda::sim {
/// Number of a piece of work or of a marker; 0 is one that was always complete.
using WorkId = std::uint64_t;

class Work {
 public:
  WorkId submit(const std::vector<WorkId>& before) {
    pieces_.emplace(++last_, pieces_before(before));
    return last_;
  }

  /// An event, or a wait: a point between pieces.
  WorkId mark(const std::vector<WorkId>& before) {
    if (markers_.size() >= markers_max_) drop_complete_markers();
    markers_.emplace(++last_, pieces_before(before));
    return last_;
  }

  [[nodiscard]] bool is_complete(WorkId id) const {
    if (pieces_.contains(id)) return false;
    const auto marker = markers_.find(id);
    return marker == markers_.end() || is_past(marker->second);
  }

  /// Completes it and everything it waits for.
  void complete(WorkId wanted) {
    std::vector<WorkId> open{wanted};
    const auto marker = markers_.find(wanted);
    if (marker != markers_.end()) {
      open = std::move(marker->second);
      markers_.erase(marker);
    }
    while (!open.empty()) {
      const auto found = pieces_.find(open.back());
      open.pop_back();
      if (found == pieces_.end()) continue;
      open.insert(open.end(), found->second.begin(), found->second.end());
      pieces_.erase(found);
    }
  }

  /// Pieces that are not complete.
  [[nodiscard]] std::size_t size() const { return pieces_.size(); }

 private:
  using Table = std::unordered_map<WorkId, std::vector<WorkId>>;

  [[nodiscard]] bool is_past(const std::vector<WorkId>& pieces) const {
    return std::none_of(pieces.begin(), pieces.end(),
                        [this](WorkId id) { return pieces_.contains(id); });
  }

  [[nodiscard]] std::vector<WorkId> pieces_before(const std::vector<WorkId>& before) const {
    std::vector<WorkId> pieces;
    for (const WorkId id : before) {
      if (pieces_.contains(id)) pieces.push_back(id);
      const auto marker = markers_.find(id);
      if (marker == markers_.end()) continue;
      for (const WorkId piece : marker->second) {
        if (pieces_.contains(piece)) pieces.push_back(piece);
      }
    }
    std::sort(pieces.begin(), pieces.end());
    pieces.erase(std::unique(pieces.begin(), pieces.end()), pieces.end());
    return pieces;
  }

  void drop_complete_markers() {
    std::erase_if(markers_, [this](const auto& marker) { return is_past(marker.second); });
    markers_max_ = 2 * markers_.size() + kMarkersMin;
  }

  static constexpr std::size_t kMarkersMin = 1024;
  WorkId last_ = 0;
  Table pieces_;
  Table markers_;
  std::size_t markers_max_ = kMarkersMin;
};
}  // namespace drey::cuda::sim
