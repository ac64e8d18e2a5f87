// timeline.cpp: see timeline.hpp.
// SPDX-License-Identifier: MIT
#include "sim/timeline.hpp"

#include <atomic>
#include <cstddef>

namespace drey::cuda::sim {
std::uint64_t this_thread_number() noexcept {
  static std::atomic<std::uint64_t> last{0};
  // Relaxed: only the numbers' difference matters; nothing is published by them.
  thread_local const std::uint64_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

Chain Timeline::new_chain() {
  // Without one order of the host there is nobody who knows a chain's end to be past for all.
  for (std::size_t index = 0; order_ == HostOrder::kByCall && index < retired_.size(); ++index) {
    const Chain chain = retired_[index];
    if (!shared_host_.clock.covers({chain, epochs_[chain]})) continue;
    retired_.erase(retired_.begin() + static_cast<std::ptrdiff_t>(index));
    return chain;
  }
  epochs_.push_back(0);
  return static_cast<Chain>(epochs_.size() - 1);
}

HostThread& Timeline::host() {
  if (order_ == HostOrder::kByCall) return shared_host_;
  const auto [found, is_new] = hosts_.try_emplace(this_thread_number());
  if (is_new) found->second.chain = new_chain();
  return found->second;
}

Moment Timeline::host_moment() {
  HostThread& thread = host();
  const Moment moment = next_moment(thread.chain);
  thread.clock.raise(moment);
  return moment;
}

std::shared_ptr<StreamState> Timeline::new_stream(Device device, bool is_blocking, bool is_legacy) {
  auto stream = std::make_shared<StreamState>();
  stream->id = ++streams_made_;
  stream->device = device;
  stream->is_blocking = is_blocking;
  stream->is_legacy = is_legacy;
  stream->chain = new_chain();
  return stream;
}

void Timeline::retire(const StreamState& stream) {
  retired_.push_back(stream.chain);
}

Clock Timeline::next_clock(const StreamState& stream,
                           const std::vector<const StreamState*>& peers) {
  Clock clock = stream.clock;
  clock.join(host().clock);
  for (const StreamState* peer : peers) clock.join(peer->clock);
  return clock;
}

Moment Timeline::submit(StreamState& stream, const std::vector<const StreamState*>& peers) {
  stream.clock = next_clock(stream, peers);
  std::vector<WorkId> before{stream.tail};
  for (const StreamState* peer : peers) before.push_back(peer->tail);
  stream.tail = work.submit(before);
  const Moment moment = next_moment(stream.chain);
  stream.clock.raise(moment);
  return moment;
}

void Timeline::record(EventState& event, const StreamState& stream,
                      const std::vector<const StreamState*>& peers) {
  std::vector<WorkId> before{stream.tail};
  for (const StreamState* peer : peers) before.push_back(peer->tail);
  event.work = work.mark(before);
  event.clock = next_clock(stream, peers);
  event.capture = 0;
  event.capture_tail.clear();
}

void Timeline::wait(StreamState& stream, const EventState& event) {
  stream.clock.join(event.clock);
  stream.tail = work.mark({stream.tail, event.work});
}

void Timeline::host_waits(WorkId id, const Clock& clock) {
  work.complete(id);
  host().clock.join(clock);
}

void Timeline::signal(const void* key) {
  signals_[key].join(host().clock);
}

void Timeline::await(const void* key) {
  const auto found = signals_.find(key);
  if (found != signals_.end()) host().clock.join(found->second);
}
}  // namespace drey::cuda::sim
