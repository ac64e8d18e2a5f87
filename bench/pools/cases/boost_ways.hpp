// boost_ways.hpp: boost's pools as ways to hold a vector. boost::pool and boost::object_pool are for
// one thread; singleton_pool takes a mutex for each call.
// Read next: vector_ways.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "pools/cases/vector_ways.hpp"

#include <boost/pool/object_pool.hpp>
#include <boost/pool/pool.hpp>
#include <boost/pool/singleton_pool.hpp>

#include <array>

namespace drey::bench {
class BoostPoolWay : public PointerWay {
 public:
  Handle take() { return pool_.malloc(); }
  void give_back(Handle handle) { pool_.free(handle); }

 private:
  boost::pool<boost::default_user_allocator_malloc_free> pool_{kObservationBytes};
};

class BoostObjectPoolWay : public PointerWay {
 public:
  Handle take() { return pool_.malloc(); }
  void give_back(Handle handle) { pool_.free(static_cast<Observation*>(handle)); }

 private:
  using Observation = std::array<float, kObservationFloats>;
  boost::object_pool<Observation, boost::default_user_allocator_malloc_free> pool_;
};

struct BoostSingletonWay : PointerWay {
  using Pool = boost::singleton_pool<BoostSingletonWay, kObservationBytes,
                                     boost::default_user_allocator_malloc_free>;
  static Handle take() { return Pool::malloc(); }
  static void give_back(Handle handle) { Pool::free(handle); }
};
}  // namespace drey::bench
