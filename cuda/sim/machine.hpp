// machine.hpp: all the state behind a Simulator: devices, contexts, streams, captures, memory, the
// checker. One lock guards it; the calls_*.cpp files are the driver's calls on it.
//
// Invariants: at most one machine is installed. A stream in a capture has a tail in that capture's
// graph; one that is not has none. Whatever is not a live handle is found to be none.
// Read next: machine.cpp, calls.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/graph.hpp"
#include "sim/handle_table.hpp"
#include "sim/memory.hpp"
#include "sim/pools.hpp"
#include "sim/shadow.hpp"
#include "sim/timeline.hpp"

#include <drey/cuda/sim/host_module.hpp>
#include <drey/cuda/sim/simulator.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

namespace drey::cuda::sim {
struct ThreadState {
  std::vector<Context> contexts;
  CaptureMode mode = CaptureMode::kGlobal;
  std::map<Device, std::shared_ptr<StreamState>> own_streams;
};

struct DeviceState {
  std::shared_ptr<StreamState> legacy;
  // Destroyed streams whose work somebody may still have to wait for.
  std::vector<std::shared_ptr<StreamState>> destroyed;
  // Of streams that left the list above: all of it is complete.
  Clock past;
  std::size_t context_references = 0;
};

struct ModuleState {
  const HostModule* module = nullptr;
  std::vector<Function> functions;  // handed out
};

class Machine {
 public:
  explicit Machine(const Config& wanted);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  /// The one there is, or null.
  static Machine* installed() noexcept;

  [[nodiscard]] static Context context_of(Device device);
  /// -1 for what is no context.
  [[nodiscard]] Device device_of(Context context) const;

  ThreadState& thread() { return threads_[this_thread_number()]; }
  /// The device of the calling thread's context; -1 without one.
  [[nodiscard]] Device current_device();

  /// Null if the handle is none, or needs a context and there is none.
  std::shared_ptr<StreamState> find_stream(Stream handle);
  template <typename Visit>
  void for_each_stream(Visit&& visit);
  /// What work in the stream comes after, beside its own: the legacy stream, or all blocking ones.
  std::vector<const StreamState*> work_peers(const StreamState& stream);
  /// The same for who records, asks or waits: a blocking stream then stands for itself.
  std::vector<const StreamState*> end_peers(const StreamState& stream);

  /// Work is put into a stream, or into the graph it is captured to, and checked. What it does to
  /// contents is done at once, or at each launch of that graph.
  Result submit(StreamState& stream, const std::vector<Access>& accesses, const char* label,
                std::function<void()> effect = {});
  /// Before anything enters a stream: whether a capture is broken, or breaks by it.
  Result enter(StreamState& stream);
  /// An instantiated graph runs, as one piece of work.
  Result replay(const GraphState& graph, StreamState& stream);

  /// What a query is told; if complete, the host knows it from now on.
  Result query(WorkId id, const Clock& clock);
  /// A call that a capture of this thread, or a global one, does not allow.
  Result refuse_in_capture(const char* name);
  void break_capture(CaptureId id, const char* name);
  CaptureState* find_capture(CaptureId id);
  GraphNode node_handle(Graph handle, NodeIndex index);
  void erase_graph(Graph handle);

  void destroy_stream(Stream handle);
  /// The work that still runs on a device completes, and the host knows it.
  void wait_for_device(Device device);
  void reset(Device device);

  Config config;
  std::mutex lock;
  Faults faults;
  std::vector<Hazard> hazards;
  Shadow shadow{hazards};
  Timeline timeline;
  Memory memory;
  Pools pools;
  bool is_initialised = false;
  std::vector<DeviceState> devices;
  HandleTable<Stream, StreamState> streams{0x5200'0000'0000};
  HandleTable<Event, EventState> events{0x5300'0000'0000};
  HandleTable<Graph, GraphState> graphs{0x5400'0000'0000};
  HandleTable<GraphExec, GraphState> execs{0x5500'0000'0000};
  HandleTable<GraphNode, NodeReference> nodes{0x5600'0000'0000};
  HandleTable<Module, ModuleState> modules{0x5700'0000'0000};
  HandleTable<Function, HostKernel> functions{0x5800'0000'0000};
  std::map<CaptureId, CaptureState> captures;
  CaptureId captures_made = 0;

 private:
  void check_reach(const Access& access, const StreamState& stream, const Place& place);
  void check_captured(GraphState& graph, NodeIndex node);

  std::map<std::uint64_t, ThreadState> threads_;
  std::mt19937_64 random_;
};

template <typename Visit>
void Machine::for_each_stream(Visit&& visit) {
  for (const DeviceState& device : devices) visit(*device.legacy);
  for (auto& [number, state] : threads_) {
    for (auto& [device, stream] : state.own_streams) visit(*stream);
  }
  streams.for_each(visit);
}
}  // namespace drey::cuda::sim
