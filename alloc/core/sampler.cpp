// sampler.cpp: see sampler.hpp.
// SPDX-License-Identifier: MIT
#include "core/sampler.hpp"

#include "core/exponential.hpp"
#include "core/large.hpp"
#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/profile.hpp"
#include "core/slab_map.hpp"
#include "core/thread_heap.hpp"

#include <new>
#include <utility>

namespace drey::core {
constinit std::atomic<bool> profile_is_on{false};

namespace {
/// True while this thread takes a sample: what the unwinder takes meanwhile is not counted. Not the
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

[[nodiscard]] std::int64_t next_interval(Sampler& sampler) noexcept {
  const auto mean = static_cast<double>(options.profile_interval.load(std::memory_order_relaxed));
  // In (0, 1], in steps of 2^-53.
  const double fraction = static_cast<double>((next_random(sampler) >> 11U) + 1) * 0x1p-53;
  return static_cast<std::int64_t>(-natural_log(fraction) * mean);
}

void swap_tables(Heap& heap, Sampler& sampler) noexcept {
  const BusyScope busy_scope(heap);
  for (std::size_t index = 1; index < kClassCount; ++index) {
    std::swap(heap.current[index], sampler.current[index]);
  }
  heap.kept = heap.kept == nullptr ? &sampler.current : nullptr;
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

/// The heap's sampler, attached. Fails: null.
[[nodiscard]] Sampler* attached_sampler(Heap& heap) noexcept {
  if (heap.sampler == nullptr) {
    heap.sampler = make_sampler();
    if (heap.sampler == nullptr) return nullptr;
    heap.left_bytes = next_interval(*heap.sampler);
  }
  if (heap.kept == nullptr) swap_tables(heap, *heap.sampler);
  return heap.sampler;
}

/// A block of the class as a large block that is marked. Fails: null; then it is taken as always.
[[gnu::noinline]] void* take_sample(Heap& heap, SizeClass size_class) noexcept {
  if (sampling) return nullptr;
  const SamplingScope scope;
  heap.left_bytes = next_interval(*heap.sampler);
  void* const block = take_large(size_of(size_class), kMinAlignmentBytes).pointer;
  if (block == nullptr) return nullptr;
  Slab* const slab = slab_map.find(block);
  slab->run_bytes = size_of(size_class);  // what good_size() promises
  record_sample(slab);
  return block;
}
}  // namespace

void* take_counted(Heap& heap, SizeClass size_class) noexcept {
  if (!profile_is_on.load(std::memory_order_relaxed)) {
    if (heap.kept != nullptr) swap_tables(heap, *heap.sampler);
    return nullptr;
  }
  if (attached_sampler(heap) == nullptr) return nullptr;
  heap.left_bytes -= static_cast<std::int64_t>(size_of(size_class));
  return heap.left_bytes < 0 ? take_sample(heap, size_class) : nullptr;
}

void count_large(void* pointer) noexcept {
  Heap& heap = *this_heap;
  if (sampling || heap.state.load(std::memory_order_relaxed) != HeapState::kOwned) return;
  if (attached_sampler(heap) == nullptr) return;
  Slab* const slab = slab_map.find(pointer);
  heap.left_bytes -= static_cast<std::int64_t>(slab->run_bytes);
  if (heap.left_bytes >= 0) return;
  const SamplingScope scope;
  heap.left_bytes = next_interval(*heap.sampler);
  record_sample(slab);
}
}  // namespace drey::core
