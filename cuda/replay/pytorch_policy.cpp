// pytorch_policy.cpp: a model of PyTorch's native caching allocator: segments from the driver, cut and
// merged within themselves, kept by pool and stream. Out of memory, all free segments go back.
// SPDX-License-Identifier: MIT
#include "replay/policies.hpp"
#include "replay/pytorch_lists.hpp"

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kLargeMin = 10 * kMiB;

std::uint64_t segment_bytes(std::uint64_t bytes) {
  if (bytes <= kPytorchSmallMax) return kPytorchSmallBuffer;
  return bytes < kLargeMin ? kPytorchLargeBuffer : round_up(bytes, 2 * kMiB);
}

class PytorchPolicy : public PytorchLists {
 public:
  using PytorchLists::PytorchLists;

  bool allocate(std::uint32_t block, std::uint64_t wanted, std::uint32_t stream) override {
    free_pending();
    const std::uint64_t bytes = round_up(wanted, kPytorchRound);
    const std::uint64_t list = pytorch_list(bytes, stream);
    Pieces::Place place = pieces_.best_fit(list, bytes);
    if (place == pieces_.end()) place = new_segment(segment_bytes(bytes), list);
    if (place == pieces_.end()) {
      release_free_segments();
      place = new_segment(segment_bytes(bytes), list);
    }
    if (place == pieces_.end()) return false;
    hand_out(block, place, bytes);
    return true;
  }

 private:
  Pieces::Place new_segment(std::uint64_t bytes, std::uint64_t list) {
    if (!device_.take(bytes, 1)) return pieces_.end();
    const std::uint64_t address = next_address_;
    next_address_ += bytes + kMiB;  // segments are no neighbours
    return pieces_.add(address, {bytes, address, list, true, true});
  }

  // A free piece that is all of its segment.
  void release_free_segments() {
    for (auto place = pieces_.begin(); place != pieces_.end();) {
      const auto next = std::next(place);
      const bool is_whole =
          place->second.is_free && place->first == place->second.segment &&
          (next == pieces_.end() || next->second.segment != place->second.segment);
      if (is_whole) {
        device_.give_back(place->second.bytes, 1);
        device_.counts.moved_bytes += place->second.bytes;
        ++device_.counts.page_moves;
        pieces_.erase(place);
      }
      place = next;
    }
  }

  std::uint64_t next_address_ = kMiB;
};
}  // namespace

std::unique_ptr<Policy> make_pytorch_policy(std::uint64_t capacity) {
  return std::make_unique<PytorchPolicy>(capacity);
}
}  // namespace drey::cuda::replay
