// c_api.cpp: pools of float vectors for C.
// Read next: include/drey/pools.h.
// SPDX-License-Identifier: MIT
#include <drey/pools.h>

#include <drey/alloc.hpp>
#include <drey/base/bits.hpp>
#include <drey/pools/place_pool.hpp>
#include <drey/pools/pooled_vector.hpp>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>

// NOLINTNEXTLINE(readability-identifier-naming): a C name.
struct drey_vector_pool_t {
  explicit drey_vector_pool_t(const drey_vector_pool_options_t& wanted,
                              const drey::PlaceShape& shape) noexcept
      : options(wanted), memory(shape, pool_options()), places(memory) {}

  [[nodiscard]] drey::VectorPoolOptions pool_options() noexcept {
    using drey::VectorChecks;
    using drey::VectorPages;
    drey::VectorPoolOptions result;
    result.capacity = options.capacity;
    result.capacity_max = options.capacity_max;
    result.pages = options.has_huge_pages ? VectorPages::kHuge : VectorPages::kPlain;
    result.checks = options.is_checked ? VectorChecks::kOn : VectorChecks::kAutomatic;
    result.backing = {.open = open_piece, .close = close_all, .context = this};
    return result;
  }

  static bool open_piece(void* begin, std::size_t bytes, void* context) noexcept {
    const auto& wanted = static_cast<drey_vector_pool_t*>(context)->options;
    return wanted.open_memory == nullptr || wanted.open_memory(begin, bytes, wanted.context);
  }
  static void close_all(void* begin, std::size_t bytes, void* context) noexcept {
    const auto& wanted = static_cast<drey_vector_pool_t*>(context)->options;
    if (wanted.close_memory != nullptr) wanted.close_memory(begin, bytes, wanted.context);
  }

  [[nodiscard]] float* vector(std::uint32_t place) const noexcept {
    return static_cast<float*>(memory.vector(place));
  }
  /// A vector on its way out.
  [[nodiscard]] float* prepared(std::uint32_t place) const noexcept {
    float* const taken = vector(place);
    if (options.is_zeroed) std::memset(taken, 0, memory.shape().values_bytes);
    return taken;
  }

  const drey_vector_pool_options_t options;
  drey::PoolMemory memory;
  drey::PlacePool places;
};

namespace {
constexpr std::size_t kValuesMin = 4;
constexpr std::size_t kValuesMax = std::size_t{1} << 40;  // 4 TiB: no sum below overflows
constexpr std::size_t kBatch = 128;                       // places on the stack at once

drey::PlaceShape shape_of(const drey_vector_pool_options_t& options) noexcept {
  const std::size_t values_bytes = options.value_count * sizeof(float);
  if (options.is_packed) return {values_bytes, values_bytes, alignof(float)};
  return {drey::align_up(values_bytes, drey::kCacheLineBytes), values_bytes, drey::kCacheLineBytes};
}
}  // namespace

extern "C" {
drey_vector_pool_t* drey_vector_pool_create(const drey_vector_pool_options_t* options) {
  if (options->value_count < kValuesMin || (options->capacity | options->capacity_max) == 0) {
    errno = EINVAL;
    return nullptr;
  }
  const bool is_possible = options->value_count <= kValuesMax;
  void* const memory = is_possible
                           ? drey::allocate(sizeof(drey_vector_pool_t), alignof(drey_vector_pool_t))
                           : nullptr;
  if (memory == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* const pool = ::new (memory) drey_vector_pool_t(*options, shape_of(*options));
  if (pool->memory.capacity() != 0) return pool;
  drey_vector_pool_destroy(pool);
  errno = ENOMEM;
  return nullptr;
}

void drey_vector_pool_destroy(drey_vector_pool_t* pool) {
  if (pool == nullptr) return;
  pool->~drey_vector_pool_t();
  drey::deallocate(pool);
}

float* drey_vector_pool_take(drey_vector_pool_t* pool) {
  const drey::TakenPlace taken = pool->places.take();
  return taken.place == drey::kNoPlace ? nullptr : pool->prepared(taken.place);
}

void drey_vector_pool_give_back(drey_vector_pool_t* pool, float* vector) {
  if (vector != nullptr) pool->places.give_back_vector(vector);
}

size_t drey_vector_pool_take_batch(drey_vector_pool_t* pool, float** vectors, size_t count) {
  size_t taken = 0;
  while (taken < count) {
    std::uint32_t places[kBatch];
    const size_t wanted = std::min(count - taken, kBatch);
    const size_t got = pool->places.take_batch(places, wanted);
    for (size_t index = 0; index < got; ++index) vectors[taken++] = pool->prepared(places[index]);
    if (got < wanted) break;
  }
  return taken;
}

void drey_vector_pool_give_back_batch(drey_vector_pool_t* pool, float* const* vectors,
                                      size_t count) {
  for (size_t index = 0; index < count; ++index) drey_vector_pool_give_back(pool, vectors[index]);
}

drey_vector_ref_t drey_vector_pool_ref(const drey_vector_pool_t* pool, const float* vector) {
  const std::size_t place = pool->memory.place_of(vector);
  if (place >= pool->memory.capacity()) return {0, 0};
  const std::uint32_t generation = pool->places.generation(static_cast<std::uint32_t>(place));
  if ((generation & 1) == 0) return {0, 0};
  const drey::VectorRef ref(static_cast<std::uint32_t>(place), pool->places.tag(), generation);
  return std::bit_cast<drey_vector_ref_t>(ref);
}

float* drey_vector_pool_find(const drey_vector_pool_t* pool, drey_vector_ref_t ref) {
  const auto named = std::bit_cast<drey::VectorRef>(ref);
  return pool->places.is_held(named) ? pool->vector(named.place()) : nullptr;
}

bool drey_vector_pool_owns(const drey_vector_pool_t* pool, const float* vector) {
  return pool->memory.place_of(vector) < pool->memory.capacity();
}

size_t drey_vector_pool_lane_count(const drey_vector_pool_t* pool) {
  return pool->memory.shape().vector_bytes / sizeof(float);
}

size_t drey_vector_pool_capacity(const drey_vector_pool_t* pool) {
  return pool->memory.capacity();
}

void drey_vector_pool_stats_read(drey_vector_pool_t* pool, drey_vector_pool_stats_t* stats) {
  const drey::VectorPoolStatistics counts = pool->places.statistics();
  *stats = {.taken = counts.taken,
            .ever_taken = counts.ever_taken,
            .take_count = counts.take_count,
            .give_back_count = counts.give_back_count,
            .exhausted_count = counts.exhausted_count,
            .cached = counts.cached,
            .capacity = counts.capacity,
            .opened = counts.opened,
            .reserved_bytes = counts.reserved_bytes,
            .touched_bytes = counts.touched_bytes};
}

void drey_vector_pool_report_taken(drey_vector_pool_t* pool, size_t count_max) {
  pool->places.report_taken(count_max);
}
}  // extern "C"
