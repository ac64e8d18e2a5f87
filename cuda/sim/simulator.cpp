// simulator.cpp: see simulator.hpp: what a test sees of the machine.
// Read next: machine.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/sim/simulator.hpp>

#include "sim/calls.hpp"
#include "sim/machine.hpp"

#include <utility>

namespace drey::cuda::sim {
namespace {
DriverTable filled_table() noexcept {
  DriverTable table = {};
  set_context_calls(table);
  set_stream_calls(table);
  set_event_calls(table);
  set_capture_calls(table);
  set_graph_calls(table);
  set_memory_calls(table);
  set_virtual_memory_calls(table);
  set_pool_calls(table);
  set_module_calls(table);
  return table;
}
}  // namespace

const char* name_of(HazardKind kind) noexcept {
  static constexpr const char* kNames[] = {
      "reuse",         "overlap",    "use after free", "out of bounds",   "unmapped", "no access",
      "unmap pending", "unmap live", "graph",          "illegal capture", "bad free"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(HazardKind::kBadFree) + 1);
  return kNames[static_cast<std::size_t>(kind)];
}

const char* name_of(Blame blame) noexcept {
  static constexpr const char* kNames[] = {"allocator", "user", "caller"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(Blame::kCaller) + 1);
  return kNames[static_cast<std::size_t>(blame)];
}

Simulator::Simulator(const Config& config) : machine_(std::make_unique<Machine>(config)) {}
Simulator::~Simulator() = default;

const DriverTable& Simulator::driver() noexcept {
  static const DriverTable table = filled_table();
  return table;
}

Result Simulator::launch(Stream stream, const std::vector<Access>& accesses, const char* label) {
  return stream_call("cuLaunchKernel", stream, [&](Machine& machine, StreamState& state) {
    return machine.submit(state, accesses, label);
  });
}

void Simulator::host_access(const void* base, std::size_t bytes, const char* label) {
  const std::lock_guard guard(machine_->lock);
  const Moment moment = machine_->timeline.host_moment();
  machine_->shadow.use(
      {reinterpret_cast<DevicePointer>(base), bytes, true},
      {moment, &machine_->timeline.host().clock, {machine_->faults.calls(), 0, label}});
}

void Simulator::complete(Stream stream) {
  const std::lock_guard guard(machine_->lock);
  const std::shared_ptr<StreamState> state = machine_->find_stream(stream);
  if (state != nullptr) machine_->timeline.work.complete(state->tail);
}

void Simulator::block_allocated(DevicePointer block, std::size_t bytes, Stream stream,
                                std::uint64_t pool) {
  const std::lock_guard guard(machine_->lock);
  const auto generation = machine_->shadow.allocate(block, bytes, machine_->faults.calls());
  generation->stream = machine_->find_stream(stream);
  generation->pool = pool;
  if (generation->stream != nullptr) generation->capture = generation->stream->capture;
}

namespace {
// What the end of a stream promises, added to what is promised already.
void promise(Machine& machine, Generation& block, const StreamState& stream) {
  if (stream.capture == 0) {
    block.claim.join(machine.timeline.next_clock(stream, machine.end_peers(stream)));
    return;
  }
  block.freed_in = stream.capture;
  block.claim.join(machine.timeline.host().clock);
  block.claim_nodes.insert(block.claim_nodes.end(), stream.capture_tail.begin(),
                           stream.capture_tail.end());
}

std::shared_ptr<Generation> find_live(Machine& machine, DevicePointer block, const char* what) {
  std::shared_ptr<Generation> found = machine.shadow.block_at(block);
  if (found == nullptr) {
    machine.shadow.report(HazardKind::kBadFree, Blame::kUser, machine.faults.calls(),
                          std::string(what) + " of what is no live block, after call " +
                              std::to_string(machine.faults.calls()));
  }
  return found;
}
}  // namespace

void Simulator::block_freed(DevicePointer block, Stream stream) {
  const std::lock_guard guard(machine_->lock);
  const auto found = find_live(*machine_, block, "free");
  if (found == nullptr) return;
  const std::shared_ptr<StreamState> state = machine_->find_stream(stream);
  if (state != nullptr) promise(*machine_, *found, *state);
  for (const auto& used : found->used_until_free) promise(*machine_, *found, *used);
  machine_->shadow.free(found, machine_->faults.calls());
}

void Simulator::block_freed(DevicePointer block) {
  const std::lock_guard guard(machine_->lock);
  const auto found = find_live(*machine_, block, "free");
  if (found == nullptr) return;
  if (found->stream != nullptr) promise(*machine_, *found, *found->stream);
  for (const auto& stream : found->used_until_free) promise(*machine_, *found, *stream);
  machine_->shadow.free(found, machine_->faults.calls());
}

void Simulator::block_used(DevicePointer block, Stream stream, bool is_precise) {
  const std::lock_guard guard(machine_->lock);
  const auto found = find_live(*machine_, block, "use");
  const std::shared_ptr<StreamState> state = machine_->find_stream(stream);
  if (found == nullptr || state == nullptr) return;
  if (is_precise) {
    promise(*machine_, *found, *state);
  } else {
    found->used_until_free.push_back(state);
  }
}

void Simulator::signal(const void* key) {
  const std::lock_guard guard(machine_->lock);
  machine_->timeline.signal(key);
}

void Simulator::await(const void* key) {
  const std::lock_guard guard(machine_->lock);
  machine_->timeline.await(key);
}

void Simulator::set_other_processes(Device device, std::uint64_t bytes) {
  const std::lock_guard guard(machine_->lock);
  machine_->memory.set_other_processes(device, bytes);
}

Faults& Simulator::faults() noexcept {
  return machine_->faults;
}

const std::vector<Hazard>& Simulator::hazards() const noexcept {
  return machine_->hazards;
}

void Simulator::forget_hazards() noexcept {
  machine_->hazards.clear();
}

std::string Simulator::report() const {
  const std::lock_guard guard(machine_->lock);
  std::string text;
  for (const Hazard& hazard : machine_->hazards) text += hazard.text + "\n";
  return text;
}

Counts Simulator::counts() const {
  const std::lock_guard guard(machine_->lock);
  Counts counts;
  counts.streams = machine_->streams.size();
  counts.events = machine_->events.size();
  counts.graphs = machine_->graphs.size();
  counts.graph_execs = machine_->execs.size();
  counts.captures = machine_->captures.size();
  counts.pools = machine_->pools.created();
  counts.modules = machine_->modules.size();
  machine_->memory.add_to(counts);
  return counts;
}

std::size_t Simulator::pending() const {
  const std::lock_guard guard(machine_->lock);
  return machine_->timeline.work.size();
}
}  // namespace drey::cuda::sim
