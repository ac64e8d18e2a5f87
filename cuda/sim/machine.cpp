// machine.cpp: see machine.hpp: contexts, streams and what work in them is checked for.
// Read next: capture.cpp.
// SPDX-License-Identifier: MIT
#include "sim/machine.hpp"

#include <drey/base/assert.hpp>

#include <atomic>
#include <string>
#include <utility>

namespace drey::cuda::sim {
namespace {
std::atomic<Machine*> the_machine{nullptr};
constexpr std::uintptr_t kFirstContext = 0x5000'0000'0000;
constexpr std::uintptr_t kContextStep = 16;
}  // namespace

Machine::Machine(const Config& wanted)
    : config(wanted),
      timeline(wanted.host_order),
      memory(wanted),
      pools(memory, timeline, wanted.granularity_bytes),
      random_(wanted.seed) {
  for (Device device = 0; device < config.device_count; ++device) {
    devices.emplace_back();
    devices.back().legacy = timeline.new_stream(device, true, true);
  }
  Machine* nobody = nullptr;
  // Release: who finds the machine (installed()) finds it built.
  const bool is_first = the_machine.compare_exchange_strong(nobody, this, std::memory_order_release,
                                                            std::memory_order_relaxed);
  DREY_CHECK(is_first, "a second simulated device in one process");
}

Machine::~Machine() {
  // Relaxed: the caller promises that no driver call runs.
  the_machine.store(nullptr, std::memory_order_relaxed);
}

Machine* Machine::installed() noexcept {
  // Acquire: pairs with the constructor's release.
  return the_machine.load(std::memory_order_acquire);
}

Context Machine::context_of(Device device) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): nobody dereferences it.
  return reinterpret_cast<Context>(kFirstContext +
                                   static_cast<std::uintptr_t>(device) * kContextStep);
}

Device Machine::device_of(Context context) const {
  for (Device device = 0; device < config.device_count; ++device) {
    if (context == context_of(device) &&
        devices[static_cast<std::size_t>(device)].context_references != 0)
      return device;
  }
  return -1;
}

Device Machine::current_device() {
  const ThreadState& state = thread();
  return state.contexts.empty() ? -1 : device_of(state.contexts.back());
}

std::shared_ptr<StreamState> Machine::find_stream(Stream handle) {
  const bool is_legacy = handle == nullptr || handle == legacy_stream();
  if (!is_legacy && handle != per_thread_stream()) return streams.share(handle);
  const Device device = current_device();
  if (device < 0) return nullptr;
  if (is_legacy) return devices[static_cast<std::size_t>(device)].legacy;
  std::shared_ptr<StreamState>& own = thread().own_streams[device];
  if (own == nullptr) own = timeline.new_stream(device, true, false);
  return own;
}

std::vector<const StreamState*> Machine::end_peers(const StreamState& stream) {
  std::vector<const StreamState*> peers;
  if (!stream.is_legacy) return peers;
  for_each_stream([&](const StreamState& other) {
    if (other.device == stream.device && other.is_blocking && !other.is_legacy)
      peers.push_back(&other);
  });
  for (const auto& other : devices[static_cast<std::size_t>(stream.device)].destroyed) {
    if (other->is_blocking) peers.push_back(other.get());
  }
  return peers;
}

std::vector<const StreamState*> Machine::work_peers(const StreamState& stream) {
  if (stream.is_legacy || !stream.is_blocking) return end_peers(stream);
  return {devices[static_cast<std::size_t>(stream.device)].legacy.get()};
}

void Machine::check_reach(const Access& access, const StreamState& stream, const Place& place) {
  const Reach reach = memory.reach(access, stream.device);
  if (reach == Reach::kMemory) return;
  const bool is_block = shadow.block_around(access.base) != nullptr;
  const char* const what = reach == Reach::kNoMemory ? " uses addresses without memory, "
                                                     : " has no access to its memory, ";
  shadow.report(reach == Reach::kNoMemory ? HazardKind::kUnmapped : HazardKind::kNoAccess,
                is_block ? Blame::kAllocator : Blame::kUser, place.call,
                text_of(place) + what + std::to_string(access.bytes) + " bytes" +
                    (is_block ? " of a live block" : ""));
}

Result Machine::submit(StreamState& stream, const std::vector<Access>& accesses, const char* label,
                       std::function<void()> effect) {
  const Result entered = enter(stream);
  if (entered != Result::kSuccess) return entered;
  Place place{faults.calls(), stream.id, label};
  if (stream.capture != 0) {
    GraphState& graph = *graphs.find(find_capture(stream.capture)->graph);
    const NodeIndex node = graph.add(stream.capture_tail, std::move(place));
    for (const Access& access : accesses)
      graph.nodes[node].uses.push_back(
          {access, shadow.check_bounds(access, graph.nodes[node].place)});
    graph.nodes[node].effect = std::move(effect);
    stream.capture_tail = {node};
    check_captured(graph, node);
    return Result::kSuccess;
  }
  const Moment moment = timeline.submit(stream, work_peers(stream));
  for (const Access& access : accesses) {
    check_reach(access, stream, place);
    shadow.use(access, {moment, &stream.clock, place});
  }
  if (effect) effect();
  return Result::kSuccess;
}

Result Machine::query(WorkId id, const Clock& clock) {
  if (!timeline.work.is_complete(id)) {
    bool is_complete = false;
    switch (config.schedule) {
      case Schedule::kNever:
        break;
      case Schedule::kEager:
        is_complete = true;
        break;
      case Schedule::kRandom:
        is_complete = random_() % 2 == 0;
        break;
      case Schedule::kAsk:
        is_complete = config.ask();
        break;
    }
    if (!is_complete) return Result::kNotReady;
  }
  timeline.host_waits(id, clock);
  return Result::kSuccess;
}

void Machine::destroy_stream(Stream handle) {
  const std::shared_ptr<StreamState> stream = streams.share(handle);
  timeline.retire(*stream);
  streams.erase(handle);
  auto& destroyed = devices[static_cast<std::size_t>(stream->device)].destroyed;
  destroyed.push_back(stream);
  if (config.host_order != HostOrder::kByCall) return;
  // What the one host knows to be past is before everything that can still come.
  std::erase_if(destroyed, [this](const std::shared_ptr<StreamState>& old) {
    return timeline.work.is_complete(old->tail) &&
           timeline.host().clock.covers({old->chain, old->clock.at(old->chain)});
  });
}

void Machine::wait_for_device(Device device) {
  for_each_stream([&](const StreamState& stream) {
    if (stream.device == device) timeline.host_waits(stream.tail, stream.clock);
  });
  DeviceState& state = devices[static_cast<std::size_t>(device)];
  for (const auto& stream : state.destroyed) {
    timeline.host_waits(stream->tail, stream->clock);
    state.past.join(stream->clock);
  }
  timeline.host().clock.join(state.past);
  // Blocking ones stay where a host thread may submit to the legacy stream without knowing this.
  std::erase_if(state.destroyed, [this](const std::shared_ptr<StreamState>& stream) {
    return config.host_order == HostOrder::kByCall || !stream->is_blocking;
  });
  pools.after_wait();
}

void Machine::reset(Device device) {
  wait_for_device(device);
  pools.forget(device);
  memory.forget_allocations(device);
  streams.erase_if([&](const StreamState& stream) { return stream.device == device; });
  events.erase_if([&](const EventState& event) { return event.device == device; });
}
}  // namespace drey::cuda::sim
