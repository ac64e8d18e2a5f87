// vector_ways.hpp: the ways to hold a vector of 225 floats, each with the same three words: a Handle,
// take() and give_back(). Chosen at compile time, so that no way pays for another's generality.
//
// boost's pools only where the build found boost (DREY_BENCH_BOOST).
// Read next: vector_times.cpp, boost_ways.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "peers/cases/harness.hpp"

#include <drey/pools/vector_pool.hpp>

#include <cstdlib>
#include <memory_resource>
#include <utility>

namespace drey::bench {
inline constexpr std::size_t kObservationFloats = 225;
inline constexpr std::size_t kObservationBytes = kObservationFloats * sizeof(float);
inline constexpr std::size_t kPoolVectors = 200'000;  ///< room for every case

/// drey's pool, padded or packed, by its unique handle.
template <class Pool>
class PoolWay {
 public:
  using Handle = typename Pool::PooledVector;
  Handle take() { return pool_.take(); }
  static void give_back(Handle& handle) { handle.reset(); }
  static void* address(const Handle& handle) { return handle.get(); }

 private:
  Pool pool_{kPoolVectors};
};
using DreyWay = PoolWay<VectorPool225>;
using PackedWay = PoolWay<PackedVectorPool225>;

/// What all ways with plain pointers share.
struct PointerWay {
  using Handle = void*;
  static void* address(Handle handle) { return handle; }
};

struct MallocWay : PointerWay {
  static Handle take() { return std::malloc(kObservationBytes); }
  static void give_back(Handle handle) { std::free(handle); }
};

template <class Resource>
class ResourceWay : public PointerWay {
 public:
  Handle take() { return resource_.allocate(kObservationBytes); }
  void give_back(Handle handle) { resource_.deallocate(handle, kObservationBytes); }

 private:
  Resource resource_{std::pmr::new_delete_resource()};
};
using UnsyncWay = ResourceWay<std::pmr::unsynchronized_pool_resource>;
using SyncWay = ResourceWay<std::pmr::synchronized_pool_resource>;
}  // namespace drey::bench
