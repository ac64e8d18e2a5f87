// calls.hpp: how a driver call of the simulator begins: one lock, one number, one chance to fail.
// Each calls_*.cpp sets its part of the table.
// Invariant: a call that is refused or made to fail has done nothing.
// Read next: calls_context.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/machine.hpp"

#include <cstddef>
#include <mutex>
#include <utility>

namespace drey::cuda::sim {
/// Runs `body(machine)` under the lock, unless there is no machine, no start yet, or a fault is due.
template <typename Body>
Result call(const char* name, std::size_t bytes, Body&& body) {
  Machine* const machine = Machine::installed();
  if (machine == nullptr) return Result::kDeinitialized;
  machine->faults.begin(name);
  const std::lock_guard guard(machine->lock);
  const Result fault = machine->faults.next(name, bytes, machine->current_device());
  if (fault != Result::kSuccess) return fault;
  if (!machine->is_initialised) return Result::kNotInitialized;
  return std::forward<Body>(body)(*machine);
}

template <typename Body>
Result call(const char* name, Body&& body) {
  return call(name, 0, std::forward<Body>(body));
}

/// As call(), for one that a running capture may forbid.
template <typename Body>
Result call_outside_capture(const char* name, std::size_t bytes, Body&& body) {
  return call(name, bytes, [&](Machine& machine) {
    const Result refused = machine.refuse_in_capture(name);
    return refused != Result::kSuccess ? refused : body(machine);
  });
}

/// As call(), for one about a stream: body(machine, stream).
template <typename Body>
Result stream_call(const char* name, Stream handle, Body&& body) {
  return call(name, [&](Machine& machine) {
    const std::shared_ptr<StreamState> stream = machine.find_stream(handle);
    return stream == nullptr ? Result::kInvalidHandle : body(machine, *stream);
  });
}

void set_context_calls(DriverTable& table) noexcept;
void set_stream_calls(DriverTable& table) noexcept;
void set_event_calls(DriverTable& table) noexcept;
void set_capture_calls(DriverTable& table) noexcept;
void set_graph_calls(DriverTable& table) noexcept;
void set_memory_calls(DriverTable& table) noexcept;
void set_virtual_memory_calls(DriverTable& table) noexcept;
void set_pool_calls(DriverTable& table) noexcept;
void set_module_calls(DriverTable& table) noexcept;
}  // namespace drey::cuda::sim
