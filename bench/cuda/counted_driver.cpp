// counted_driver.cpp: see counted_driver.hpp. Every entry is wrapped by a function made for it.
// SPDX-License-Identifier: MIT
#include "cuda/counted_driver.hpp"

#include <drey/cuda/null_driver.hpp>

namespace drey::bench {
namespace {
using cuda::DriverTable;
using cuda::Result;

constinit thread_local DriverCalls this_calls;

template <auto kEntry, bool kIsRecord = false>
struct Counted;
template <typename... Arguments, Result (*DriverTable::*kEntry)(Arguments...), bool kIsRecord>
struct Counted<kEntry, kIsRecord> {
  static Result call(Arguments... arguments) {
    ++this_calls.all;
    if constexpr (kIsRecord) ++this_calls.events;
    return (cuda::null_driver().*kEntry)(arguments...);
  }
};

template <auto... kEntries>
void wrap(DriverTable& table) {
  ((table.*kEntries = Counted<kEntries>::call), ...);
}

void wrap_streams(DriverTable& table) {
  using T = DriverTable;
  wrap<&T::stream_create_with_priority, &T::stream_destroy, &T::stream_query,
       &T::stream_synchronize, &T::stream_wait_event, &T::stream_get_id, &T::stream_get_ctx,
       &T::event_create, &T::event_query, &T::event_synchronize, &T::event_destroy,
       &T::stream_is_capturing, &T::stream_get_capture_info,
       &T::thread_exchange_stream_capture_mode>(table);
  table.event_record = Counted<&T::event_record, true>::call;
}

void wrap_memory(DriverTable& table) {
  using T = DriverTable;
  wrap<&T::ctx_get_current, &T::ctx_set_current, &T::ctx_push_current, &T::ctx_pop_current,
       &T::ctx_get_device, &T::ctx_synchronize, &T::mem_get_info, &T::mem_alloc, &T::mem_free,
       &T::mem_address_reserve, &T::mem_address_free, &T::mem_create, &T::mem_release, &T::mem_map,
       &T::mem_unmap, &T::mem_set_access>(table);
}
}  // namespace

const DriverTable& counted_driver() noexcept {
  static const DriverTable table = [] {
    DriverTable filled = cuda::null_driver();
    wrap_streams(filled);
    wrap_memory(filled);
    return filled;
  }();
  return table;
}

DriverCalls driver_calls() noexcept {
  return this_calls;
}
}  // namespace drey::bench
