// sampler.cpp: see sampler.hpp.
// SPDX-License-Identifier: MIT
#include "core/sampler.hpp"

#include "core/entry.hpp"
#include "core/exponential.hpp"
#include "core/large.hpp"
#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/profile.hpp"
#include "core/slab_map.hpp"
#include "core/thread_heap.hpp"

#include <new>

namespace drey::core {
constinit std::atomic<bool> profile_is_on{false};

namespace {
/// Below this many blocks to go, arming the countdown is more work than it saves.
constexpr std::int64_t kFarBlocksMin = 16;
constexpr std::uint32_t kUnknownLength = UINT32_MAX;

/// True while this thread takes a sample: what the unwinder takes meanwhile is not sampled. Not the
/// heap's: a fork's child adopts heaps whose threads have vanished.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool sampling = false;

class SamplingScope {
 public:
  SamplingScope() noexcept { sampling = true; }
  ~SamplingScope() { sampling = false; }
  SamplingScope(const SamplingScope&) = delete;
  SamplingScope& operator=(const SamplingScope&) = delete;
};

/// The next of a heap's random numbers. Source: splitmix64, Steele, Lea and Flood 2014.
[[nodiscard]] std::uint64_t next_random(Sampler& sampler) noexcept {
  sampler.random += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = sampler.random;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return mixed ^ (mixed >> 31U);
}

/// Bytes to the next byte that is sampled.
[[nodiscard]] std::int64_t next_interval(Sampler& sampler) noexcept {
  const auto mean = static_cast<double>(options.profile_interval.load(std::memory_order_relaxed));
  // In (0, 1], in steps of 2^-53.
  const double fraction = static_cast<double>((next_random(sampler) >> 11U) + 1) * 0x1p-53;
  return static_cast<std::int64_t>(-natural_log(fraction) * mean);
}

void draw(Sampler& sampler, SizeClass size_class) noexcept {
  Budget& budget = sampler.budgets[index_of(size_class)];
  budget.left_blocks = next_interval(sampler) / static_cast<std::int64_t>(size_of(size_class));
  budget.drawn = true;
}

/// Blocks in a slab's list; at most its capacity, also where a double free has made a ring of it.
[[nodiscard]] std::uint32_t length_of_list(const Slab* slab) noexcept {
  std::uint32_t length = 0;
  for (const Block* block = slab->free; block != nullptr && length < slab->capacity;
       block = next_of(block)) {
    ++length;
  }
  return length;
}

/// Refills, and tells how long the list is now where that is known without walking it: after fresh
/// blocks were linked, the commonest case. Else `length` is left alone.
[[nodiscard]] void* refill_and_measure(Heap& heap, SizeClass size_class,
                                       std::uint32_t& length) noexcept {
  const std::size_t index = index_of(size_class);
  const Slab* const slab = (*heap.kept)[index];
  const std::uint32_t carved = slab->carved;
  void* const block = refill_from(heap, size_class);
  if ((*heap.kept)[index] == slab && slab->carved != carved) length = slab->carved - carved - 1;
  return block;
}

/// The class goes the far way if that leaves it enough to do before its sample; else the near way.
/// `length`: of the current slab's list, or kUnknownLength.
void arm(Heap& heap, SizeClass size_class, std::uint32_t length) noexcept {
  const std::size_t index = index_of(size_class);
  Budget& budget = heap.sampler->budgets[index];
  Slab* const slab = (*heap.kept)[index];
  budget.far = false;
  heap.current[index] = &empty_slab;
  if (slab == &empty_slab) return;
  slab->countdown = Slab::kCurrentBias;
  if (budget.left_blocks < kFarBlocksMin) return;
  if (length == kUnknownLength) length = length_of_list(slab);
  if (budget.left_blocks < 2 * std::int64_t{length}) return;
  const std::int64_t allowed = budget.left_blocks - length;
  if (allowed < Slab::kCurrentBias) slab->countdown = static_cast<std::uint32_t>(allowed);
  budget.free_allowed = slab->countdown;
  budget.room = slab->capacity - slab->carved + length;
  budget.far = true;
  heap.current[index] = slab;
}

/// Every class begins near, with nothing drawn: refill() comes by and sees to it.
void attach(Heap& heap) noexcept {
  const BusyScope busy_scope(heap);
  for (std::size_t index = 0; index < kClassCount; ++index) {
    heap.sampler->kept[index] = heap.current[index];
    heap.sampler->budgets[index] = {};
    heap.current[index] = &empty_slab;
  }
  heap.kept = &heap.sampler->kept;
  heap.sampler->large_bytes_left = next_interval(*heap.sampler);
}

void detach(Heap& heap) noexcept {
  const BusyScope busy_scope(heap);
  for (std::size_t index = 0; index < kClassCount; ++index) {
    heap.current[index] = heap.sampler->kept[index];
    if (heap.current[index] != &empty_slab) {
      heap.current[index]->countdown = Slab::kCurrentBias;
    }
  }
  heap.kept = nullptr;
}

[[nodiscard]] Sampler* make_sampler() noexcept {
  static constinit std::atomic<std::uint64_t> seed{0};
  void* const place = take_metadata(sizeof(Sampler), alignof(Sampler));
  if (place == nullptr) return nullptr;
  auto* const sampler = new (place) Sampler{};
  // Relaxed: only distinct. The same program samples the same blocks of its first thread each time.
  sampler->random = seed.fetch_add(1, std::memory_order_relaxed) << 32U;
  return sampler;
}

/// Has the heap join or leave if need be. Returns: true if it is in.
[[nodiscard]] bool take_part(Heap& heap) noexcept {
  if (!profile_is_on.load(std::memory_order_relaxed)) {
    if (heap.kept != nullptr) detach(heap);
    return false;
  }
  if (heap.kept != nullptr) return true;
  if (heap.sampler == nullptr) heap.sampler = make_sampler();
  if (heap.sampler == nullptr) return false;
  attach(heap);
  return true;
}

/// A block of the class as a large block that is marked. Fails: null; then it is taken as always.
[[gnu::noinline]] void* take_sample(SizeClass size_class) noexcept {
  if (sampling) return nullptr;
  const SamplingScope scope;
  void* const block = take_large(size_of(size_class), kMinAlignmentBytes).pointer;
  if (block == nullptr) return nullptr;
  Slab* const slab = slab_map.find(block);
  slab->run_bytes = size_of(size_class);  // what good_size() promises
  record_sample(slab);
  return block;
}
}  // namespace

void settle_budget(Heap& heap, SizeClass size_class) noexcept {
  const std::size_t index = index_of(size_class);
  Budget& budget = heap.sampler->budgets[index];
  if (!budget.far) return;
  budget.far = false;
  const Slab* const slab = (*heap.kept)[index];
  const std::uint32_t room = slab->capacity - slab->carved + length_of_list(slab);
  const std::uint32_t freed = budget.free_allowed - slab->countdown;
  budget.left_blocks -= std::int64_t{budget.room} + freed - room;
}

void renew_budget(Heap& heap, Slab* slab) noexcept {
  settle_budget(heap, slab->size_class);
  arm(heap, slab->size_class, kUnknownLength);
}

void add_room(Heap& heap, Slab* slab, std::uint32_t count) noexcept {
  Budget& budget = heap.sampler->budgets[index_of(slab->size_class)];
  if (!budget.far) return;
  budget.room += count;
  renew_budget(heap, slab);  // its list is longer than the budget was made for
}

void* take_counted(Heap& heap, SizeClass size_class) noexcept {
  if (!take_part(heap)) return refill_from(heap, size_class);
  settle_budget(heap, size_class);
  Budget& budget = heap.sampler->budgets[index_of(size_class)];
  if (!budget.drawn) draw(*heap.sampler, size_class);
  void* block = nullptr;
  if (--budget.left_blocks < 0) {
    draw(*heap.sampler, size_class);
    block = take_sample(size_class);
  }
  std::uint32_t length = kUnknownLength;
  if (block == nullptr) block = refill_and_measure(heap, size_class, length);
  const BusyScope busy_scope(heap);
  arm(heap, size_class, length);
  return block;
}

void follow_profile() noexcept {
  Heap& heap = *this_heap;
  if (heap.state.load(std::memory_order_relaxed) == HeapState::kOwned) {
    static_cast<void>(take_part(heap));
  }
}

void count_large(void* pointer) noexcept {
  Heap& heap = *this_heap;
  if (sampling || heap.state.load(std::memory_order_relaxed) != HeapState::kOwned) return;
  if (!take_part(heap)) return;
  Slab* const slab = slab_map.find(pointer);
  std::int64_t& left_bytes = heap.sampler->large_bytes_left;
  left_bytes -= static_cast<std::int64_t>(slab->run_bytes);
  if (left_bytes >= 0) return;
  const SamplingScope scope;
  left_bytes = next_interval(*heap.sampler);
  record_sample(slab);
}
}  // namespace drey::core
