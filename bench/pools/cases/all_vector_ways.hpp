// all_vector_ways.hpp: which ways take part in the cases of vectors; the one place where boost's
// pools are left out when the build has none of them.
// Read next: vector_ways.hpp, boost_ways.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "pools/cases/pool_cases.hpp"
#include "pools/cases/vector_ways.hpp"

#if DREY_BENCH_BOOST
#include "pools/cases/boost_ways.hpp"
#endif

#include <string>

namespace drey::bench {
template <class Way>
struct WayType {
  using type = Way;
};

#if DREY_BENCH_BOOST
template <class Visit>
void visit_boost_ways(Visit visit) {
  visit("boost_pool", WayType<BoostPoolWay>{});
  visit("boost_object", WayType<BoostObjectPoolWay>{});
}
template <class Visit>
void visit_shared_boost_ways(Visit visit) {
  visit("boost_singleton", WayType<BoostSingletonWay>{});
}
#else
template <class Visit>
void visit_boost_ways(Visit /*visit*/) {}
template <class Visit>
void visit_shared_boost_ways(Visit /*visit*/) {}
#endif

/// Calls visit(name, WayType<Way>{}) for each way of one thread that is not drey's pool.
template <class Visit>
void for_each_other_way(Visit visit) {
  visit(kMallocWay, WayType<MallocWay>{});
  visit("pmr_unsync", WayType<UnsyncWay>{});
  visit("pmr_sync", WayType<SyncWay>{});
  visit_boost_ways(visit);
}

template <class Visit>
void for_each_way(Visit visit) {
  visit(kDreyWay, WayType<DreyWay>{});
  for_each_other_way(visit);
}

/// The ways that any thread may give back in.
template <class Visit>
void for_each_shared_way(Visit visit) {
  visit(kDreyWay, WayType<DreyWay>{});
  visit(kMallocWay, WayType<MallocWay>{});
  visit("pmr_sync", WayType<SyncWay>{});
  visit_shared_boost_ways(visit);
}
}  // namespace drey::bench
