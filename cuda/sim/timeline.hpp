// timeline.hpp: streams, events and host threads as chains of moments: what is ordered after what.
//
// Invariants: a stream's clock covers all work in it; the host's clock covers what it waited for or
// saw complete. The legacy stream is a barrier between all blocking streams of its device. An event
// holds the clock its stream had at the record; one never recorded holds nothing and is complete.
// A retired chain is used again only where the host knows all of it to be complete.
// Read next: shadow.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/clock.hpp"
#include "sim/work.hpp"

#include <drey/cuda/sim/simulator.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace drey::cuda::sim {
/// Number of a capture, of its stream and in its graph; 0: none.
using CaptureId = std::uint64_t;
using NodeIndex = std::size_t;

struct StreamState {
  std::uint64_t id = 0;  // never used again, as cuStreamGetId's
  Device device = 0;
  bool is_blocking = true;
  bool is_legacy = false;
  Chain chain = 0;
  Clock clock;
  WorkId tail = 0;
  CaptureId capture = 0;
  std::vector<NodeIndex> capture_tail;     // what the next captured work depends on
  std::vector<GraphNode> capture_handles;  // the same, as it was last handed out
};

struct EventState {
  Device device = 0;
  WorkId work = 0;
  Clock clock;
  CaptureId capture = 0;  // the capture it was last recorded in
  std::vector<NodeIndex> capture_tail;
};

struct HostThread {
  Chain chain = 0;
  Clock clock;
};

/// A number for the calling thread that no other thread had or gets.
[[nodiscard]] std::uint64_t this_thread_number() noexcept;

class Timeline {
 public:
  explicit Timeline(HostOrder order) : order_(order) { shared_host_.chain = new_chain(); }

  /// The calling thread's, or the one of all threads.
  HostThread& host();
  /// A moment of the host's own, for a use of memory by it.
  Moment host_moment();

  std::shared_ptr<StreamState> new_stream(Device device, bool is_blocking, bool is_legacy);
  void retire(const StreamState& stream);

  /// Puts work at the end of a stream. `peers`: streams that it comes after as well.
  Moment submit(StreamState& stream, const std::vector<const StreamState*>& peers);
  /// What such work would be ordered after.
  Clock next_clock(const StreamState& stream, const std::vector<const StreamState*>& peers);

  void record(EventState& event, const StreamState& stream,
              const std::vector<const StreamState*>& peers);
  void wait(StreamState& stream, const EventState& event);

  /// The host waits: the work completes, and what comes later on the host is ordered after it.
  void host_waits(WorkId work, const Clock& clock);

  void signal(const void* key);
  void await(const void* key);

  Work work;

 private:
  Chain new_chain();
  Moment next_moment(Chain chain) { return {chain, ++epochs_[chain]}; }

  HostOrder order_;
  HostThread shared_host_;
  std::map<std::uint64_t, HostThread> hosts_;
  std::map<const void*, Clock> signals_;
  std::vector<std::uint64_t> epochs_;  // the last moment of each chain
  std::vector<Chain> retired_;
  std::uint64_t streams_made_ = 0;
};
}  // namespace drey::cuda::sim
