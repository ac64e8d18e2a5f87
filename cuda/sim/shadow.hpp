// shadow.hpp: who owns each byte of device memory, and the last uses of it: the checker.
//
// Invariants: cells do not overlap and cover what was ever handed out as a block and not unmapped
// since. A cell's uses are unordered among each other: a use that is ordered after another replaces
// it, since whatever is ordered after the later one is ordered after both. A block's claim is what its
// user promised at the free: every use of it that the claim does not cover makes the promise false.
// Read next: shadow.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/clock.hpp"
#include "sim/timeline.hpp"

#include <drey/cuda/sim/hazard.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace drey::cuda::sim {
/// One life of a block: from its allocation to its free. The next block there is another one.
struct Generation {
  std::uint64_t number = 0;
  DevicePointer base = 0;
  std::size_t bytes = 0;
  bool is_live = true;
  std::uint64_t allocated_by = 0;  // calls, for the report
  std::uint64_t freed_by = 0;
  std::shared_ptr<StreamState> stream;                        // it was allocated for
  std::vector<std::shared_ptr<StreamState>> used_until_free;  // by record_stream
  Clock claim;
  CaptureId capture = 0;   // it was allocated in
  std::uint64_t pool = 0;  // whose graphs may use each other's; 0: none
  CaptureId freed_in = 0;
  std::vector<NodeIndex> claim_nodes;  // of the capture it was freed in

  [[nodiscard]] DevicePointer end() const { return base + bytes; }
};

/// A use of memory as reports name it.
struct Place {
  std::uint64_t call = 0;
  std::uint64_t stream = 0;  // 0: the host
  std::string label;
};

[[nodiscard]] std::string text_of(const Place& place);

struct Use {
  Moment moment;
  const Clock* clock = nullptr;  // what it is ordered after
  Place place;
};

struct Bytes {
  DevicePointer base = 0;
  DevicePointer end = 0;
};

class Shadow {
 public:
  explicit Shadow(std::vector<Hazard>& hazards) : hazards_(hazards) {}

  /// A new block; also where it overlaps a live one, which is reported.
  std::shared_ptr<Generation> allocate(DevicePointer base, std::size_t bytes, std::uint64_t call);
  /// The block's life ends; its claim is the caller's to fill.
  void free(const std::shared_ptr<Generation>& block, std::uint64_t call);
  /// The live block that begins there, or null.
  [[nodiscard]] std::shared_ptr<Generation> block_at(DevicePointer base) const;
  /// The live block that contains the address, or null.
  [[nodiscard]] std::shared_ptr<Generation> block_around(DevicePointer address) const;

  /// Work uses bytes.
  void use(const Access& access, const Use& use);
  /// A graph that was captured when `block` owned the bytes uses them again.
  void replay(const Access& access, const Use& use, const std::shared_ptr<Generation>& block,
              CaptureId capture);
  /// Checks what kind of block the access lies in. Returns: it; null if there is nothing to check.
  std::shared_ptr<Generation> check_bounds(const Access& access, const Place& place);

  /// Memory goes away. `host`: what the host knows to be complete.
  void unmap(Bytes range, const Clock& host, std::uint64_t call);

  void report(HazardKind kind, Blame blame, std::uint64_t call, std::string text);

 private:
  struct Touch {
    Moment moment;
    std::shared_ptr<Generation> block;
    Place place;
  };
  struct Cell {
    DevicePointer end = 0;
    std::shared_ptr<Generation> block;
    std::vector<Touch> touches;
  };
  using Cells = std::map<DevicePointer, Cell>;

  void split(DevicePointer at);
  Cells::iterator first_in(Bytes range);
  void touch(Cell& cell, const Use& use, CaptureId own_capture);
  void report_reuse(const Touch& before, const Generation& now, const Use& use);

  std::vector<Hazard>& hazards_;
  Cells cells_;
  std::map<DevicePointer, std::shared_ptr<Generation>> live_;
  std::uint64_t generations_ = 0;
};
}  // namespace drey::cuda::sim
