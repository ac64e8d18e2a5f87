// capture.cpp: the part of machine.hpp that captures and graphs need.
//
// Source of the rules: cuStreamBeginCapture, cuThreadExchangeStreamCaptureMode and their neighbours in
// <cuda.h> of CUDA 13.0. Which calls are "potentially unsafe" is not listed there: here it is every
// call that allocates, frees, maps, waits or asks.
// SPDX-License-Identifier: MIT
#include "sim/machine.hpp"

#include <string>

namespace drey::cuda::sim {
CaptureState* Machine::find_capture(CaptureId id) {
  const auto found = captures.find(id);
  return found == captures.end() ? nullptr : &found->second;
}

void Machine::break_capture(CaptureId id, const char* name) {
  CaptureState* const capture = find_capture(id);
  if (capture == nullptr || capture->is_invalid) return;
  capture->is_invalid = true;
  shadow.report(HazardKind::kIllegalCapture, Blame::kCaller, faults.calls(),
                std::string(name) + " at call " + std::to_string(faults.calls()) +
                    " broke capture " + std::to_string(id));
}

Result Machine::refuse_in_capture(const char* name) {
  const CaptureMode mode = thread().mode;
  if (mode == CaptureMode::kRelaxed) return Result::kSuccess;
  Result result = Result::kSuccess;
  for (auto& [id, capture] : captures) {
    const bool is_own = capture.thread == this_thread_number();
    const bool forbids = is_own
                             ? capture.mode != CaptureMode::kRelaxed
                             : capture.mode == CaptureMode::kGlobal && mode == CaptureMode::kGlobal;
    if (!forbids) continue;
    break_capture(id, name);
    result = Result::kCaptureUnsupported;
  }
  return result;
}

Result Machine::enter(StreamState& stream) {
  if (stream.capture != 0) {
    return find_capture(stream.capture)->is_invalid ? Result::kCaptureInvalidated
                                                    : Result::kSuccess;
  }
  if (!stream.is_legacy) return Result::kSuccess;
  Result result = Result::kSuccess;
  for (const StreamState* peer : end_peers(stream)) {
    if (peer->capture == 0) continue;
    break_capture(peer->capture, "work in the legacy stream");
    result = Result::kCaptureImplicit;
  }
  return result;
}

// Within a graph: uses of the same bytes by different blocks must be ordered by its edges.
void Machine::check_captured(GraphState& graph, NodeIndex node) {
  const GraphNodeState& now = graph.nodes[node];
  for (NodeIndex index = 0; index < node; ++index) {
    const GraphNodeState& before = graph.nodes[index];
    if (graph.covers({node}, index)) continue;
    for (const NodeUse& use : now.uses) {
      for (const NodeUse& other : before.uses) {
        const bool overlaps = use.access.base < other.access.base + other.access.bytes &&
                              other.access.base < use.access.base + use.access.bytes;
        if (!overlaps || use.block == other.block || other.block == nullptr) continue;
        const Generation& block = *other.block;
        const bool is_promised =
            block.freed_in == graph.capture && graph.covers(block.claim_nodes, index);
        shadow.report(HazardKind::kReuse, is_promised ? Blame::kAllocator : Blame::kUser,
                      now.place.call,
                      "captured " + text_of(now.place) + " uses memory that " +
                          text_of(before.place) + " used as block " + std::to_string(block.number) +
                          "; no path of the graph orders the two");
      }
    }
  }
}

Result Machine::replay(const GraphState& graph, StreamState& stream) {
  if (stream.capture != 0) return Result::kNotSupported;  // no child graphs
  const Result entered = enter(stream);
  if (entered != Result::kSuccess) return entered;
  const Moment moment = timeline.submit(stream, work_peers(stream));
  for (const GraphNodeState& node : graph.nodes) {
    const Place place{faults.calls(), stream.id, node.place.label};
    for (const NodeUse& use : node.uses) {
      check_reach(use.access, stream, place);
      shadow.replay(use.access, {moment, &stream.clock, place}, use.block, graph.capture);
    }
    if (node.effect) node.effect();
  }
  return Result::kSuccess;
}

GraphNode Machine::node_handle(Graph handle, NodeIndex index) {
  GraphNodeState& node = graphs.find(handle)->nodes[index];
  if (node.handle == nullptr)
    node.handle = nodes.add(std::make_shared<NodeReference>(NodeReference{handle, index}));
  return node.handle;
}

void Machine::erase_graph(Graph handle) {
  for (const GraphNodeState& node : graphs.find(handle)->nodes) {
    if (node.handle != nullptr) nodes.erase(node.handle);
  }
  graphs.erase(handle);
}
}  // namespace drey::cuda::sim
