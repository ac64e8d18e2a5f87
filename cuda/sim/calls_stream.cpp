// calls_stream.cpp: streams and events of the simulated driver.
//
// An event recorded in the legacy stream stands for all blocking streams of the device; one recorded
// in a blocking stream stands for that stream alone, which promises less than a real driver may.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

#include <algorithm>

namespace drey::cuda::sim {
namespace {
Result stream_create_with_priority(Stream* handle, unsigned flags, int /*priority*/) {
  return call("cuStreamCreate", [&](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    if (handle == nullptr || (flags & ~kStreamNonBlocking) != 0) return Result::kInvalidValue;
    const bool is_blocking = (flags & kStreamNonBlocking) == 0;
    *handle = machine.streams.add(machine.timeline.new_stream(device, is_blocking, false));
    return Result::kSuccess;
  });
}

// Returns at once; the work in it goes on.
Result stream_destroy(Stream handle) {
  return call("cuStreamDestroy", [&](Machine& machine) {
    const std::shared_ptr<StreamState> stream = machine.streams.share(handle);
    if (stream == nullptr) return Result::kInvalidHandle;
    if (stream->capture != 0) {
      machine.break_capture(stream->capture, "cuStreamDestroy");
      return Result::kCaptureUnsupported;
    }
    machine.destroy_stream(handle);
    return Result::kSuccess;
  });
}

// What has to be complete for the stream to be.
EventState end_of(Machine& machine, const StreamState& stream) {
  EventState end;
  machine.timeline.record(end, stream, machine.end_peers(stream));
  return end;
}

Result refuse_captured(Machine& machine, const StreamState& stream, const char* name) {
  if (stream.capture == 0) return machine.refuse_in_capture(name);
  machine.break_capture(stream.capture, name);
  return Result::kCaptureUnsupported;
}

Result stream_query(Stream handle) {
  return stream_call("cuStreamQuery", handle, [](Machine& machine, StreamState& stream) {
    const Result refused = refuse_captured(machine, stream, "cuStreamQuery");
    if (refused != Result::kSuccess) return refused;
    const EventState end = end_of(machine, stream);
    return machine.query(end.work, end.clock);
  });
}

Result stream_synchronize(Stream handle) {
  return stream_call("cuStreamSynchronize", handle, [](Machine& machine, StreamState& stream) {
    const Result refused = refuse_captured(machine, stream, "cuStreamSynchronize");
    if (refused != Result::kSuccess) return refused;
    const EventState end = end_of(machine, stream);
    machine.timeline.host_waits(end.work, end.clock);
    machine.pools.after_wait();
    return Result::kSuccess;
  });
}

void add_missing(std::vector<NodeIndex>& tail, const std::vector<NodeIndex>& more) {
  for (const NodeIndex node : more) {
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) tail.push_back(node);
  }
}

// The stream joins the event's capture, or is in it already.
Result wait_captured(Machine& machine, StreamState& stream, const EventState& event) {
  const CaptureState* const capture = machine.find_capture(event.capture);
  if (capture == nullptr) return Result::kCapturedEvent;
  if (capture->is_invalid) return Result::kCaptureInvalidated;
  if (stream.is_legacy) {
    machine.break_capture(event.capture, "a wait of the legacy stream");
    return Result::kCaptureImplicit;
  }
  if (stream.capture != 0 && stream.capture != event.capture) {
    machine.break_capture(stream.capture, "a wait for another capture");
    machine.break_capture(event.capture, "a wait of another capture");
    return Result::kCaptureMerge;
  }
  stream.capture = event.capture;
  add_missing(stream.capture_tail, event.capture_tail);
  return Result::kSuccess;
}

Result stream_wait_event(Stream handle, Event event_handle, unsigned /*flags*/) {
  return stream_call("cuStreamWaitEvent", handle, [&](Machine& machine, StreamState& stream) {
    const EventState* const event = machine.events.find(event_handle);
    if (event == nullptr) return Result::kInvalidHandle;
    const Result entered = machine.enter(stream);
    if (entered != Result::kSuccess) return entered;
    if (event->capture != 0) return wait_captured(machine, stream, *event);
    if (stream.capture != 0) {
      if (event->work == 0) return Result::kSuccess;
      machine.break_capture(stream.capture, "a wait for work outside the capture");
      return Result::kCaptureIsolation;
    }
    machine.timeline.wait(stream, *event);
    return Result::kSuccess;
  });
}

Result stream_get_id(Stream handle, unsigned long long* id) {
  return stream_call("cuStreamGetId", handle, [&](Machine&, StreamState& stream) {
    *id = stream.id;
    return Result::kSuccess;
  });
}

Result stream_get_ctx(Stream handle, Context* context) {
  return stream_call("cuStreamGetCtx", handle, [&](Machine&, StreamState& stream) {
    *context = Machine::context_of(stream.device);
    return Result::kSuccess;
  });
}

Result event_create(Event* handle, unsigned /*flags*/) {
  return call("cuEventCreate", [&](Machine& machine) {
    const Device device = machine.current_device();
    if (device < 0) return Result::kInvalidContext;
    if (handle == nullptr) return Result::kInvalidValue;
    auto event = std::make_shared<EventState>();
    event->device = device;
    *handle = machine.events.add(std::move(event));
    return Result::kSuccess;
  });
}

Result event_record(Event event_handle, Stream handle) {
  return stream_call("cuEventRecord", handle, [&](Machine& machine, StreamState& stream) {
    EventState* const event = machine.events.find(event_handle);
    if (event == nullptr || event->device != stream.device) return Result::kInvalidHandle;
    const Result entered = machine.enter(stream);
    if (entered != Result::kSuccess) return entered;
    machine.timeline.record(*event, stream, machine.end_peers(stream));
    event->capture = stream.capture;
    event->capture_tail = stream.capture_tail;
    return Result::kSuccess;
  });
}

template <typename Body>
Result event_call(const char* name, Event handle, Body&& body) {
  return call(name, [&](Machine& machine) {
    const EventState* const event = machine.events.find(handle);
    if (event == nullptr) return Result::kInvalidHandle;
    if (event->capture != 0) {
      machine.break_capture(event->capture, name);
      return Result::kCapturedEvent;
    }
    const Result refused = machine.refuse_in_capture(name);
    return refused != Result::kSuccess ? refused : body(machine, *event);
  });
}

// One that was never recorded is complete: what the driver says, and what a cache that asks before
// it records falls for.
Result event_query(Event handle) {
  return event_call("cuEventQuery", handle, [](Machine& machine, const EventState& event) {
    return machine.query(event.work, event.clock);
  });
}

Result event_synchronize(Event handle) {
  return event_call("cuEventSynchronize", handle, [](Machine& machine, const EventState& event) {
    machine.timeline.host_waits(event.work, event.clock);
    machine.pools.after_wait();
    return Result::kSuccess;
  });
}

Result event_destroy(Event handle) {
  return call("cuEventDestroy", [&](Machine& machine) {
    if (machine.events.find(handle) == nullptr) return Result::kInvalidHandle;
    machine.events.erase(handle);
    return Result::kSuccess;
  });
}
}  // namespace

void set_stream_calls(DriverTable& table) noexcept {
  table.stream_create_with_priority = stream_create_with_priority;
  table.stream_destroy = stream_destroy;
  table.stream_query = stream_query;
  table.stream_synchronize = stream_synchronize;
  table.stream_wait_event = stream_wait_event;
  table.stream_get_id = stream_get_id;
  table.stream_get_ctx = stream_get_ctx;
}

void set_event_calls(DriverTable& table) noexcept {
  table.event_create = event_create;
  table.event_record = event_record;
  table.event_query = event_query;
  table.event_synchronize = event_synchronize;
  table.event_destroy = event_destroy;
}
}  // namespace drey::cuda::sim
