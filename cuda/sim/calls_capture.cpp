// calls_capture.cpp: captures and graphs of the simulated driver.
// SPDX-License-Identifier: MIT
#include "sim/calls.hpp"

#include <algorithm>

namespace drey::cuda::sim {
namespace {
Result stream_begin_capture(Stream handle, CaptureMode mode) {
  return call("cuStreamBeginCapture", [&](Machine& machine) {
    const std::shared_ptr<StreamState> stream = machine.find_stream(handle);
    if (stream == nullptr) return Result::kInvalidHandle;
    if (stream->is_legacy) return Result::kCaptureUnsupported;
    if (stream->capture != 0) return Result::kIllegalState;
    const CaptureId id = ++machine.captures_made;
    auto graph = std::make_shared<GraphState>();
    graph->capture = id;
    machine.captures[id] = {id,     mode,  this_thread_number(),
                            stream, false, machine.graphs.add(std::move(graph))};
    stream->capture = id;
    stream->capture_tail.clear();
    return Result::kSuccess;
  });
}

// A stream that joined must have been waited for by the origin.
bool is_joined(Machine& machine, const CaptureState& capture) {
  const GraphState& graph = *machine.graphs.find(capture.graph);
  bool joined = true;
  machine.for_each_stream([&](const StreamState& stream) {
    if (stream.capture != capture.id || &stream == capture.origin.get()) return;
    for (const NodeIndex node : stream.capture_tail)
      joined = joined && graph.covers(capture.origin->capture_tail, node);
  });
  return joined;
}

Result stream_end_capture(Stream handle, Graph* graph) {
  return stream_call("cuStreamEndCapture", handle, [&](Machine& machine, StreamState& stream) {
    if (stream.capture == 0) return Result::kIllegalState;
    const CaptureState capture = *machine.find_capture(stream.capture);
    if (capture.origin.get() != &stream) return Result::kCaptureUnmatched;
    if (capture.mode != CaptureMode::kRelaxed && capture.thread != this_thread_number())
      return Result::kCaptureWrongThread;
    Result result = Result::kSuccess;
    if (capture.is_invalid) {
      result = Result::kCaptureInvalidated;
    } else if (!is_joined(machine, capture)) {
      result = Result::kCaptureUnjoined;
    }
    machine.for_each_stream([&](StreamState& member) {
      if (member.capture != capture.id) return;
      member.capture = 0;
      member.capture_tail.clear();
    });
    machine.captures.erase(capture.id);
    if (result != Result::kSuccess) machine.erase_graph(capture.graph);
    *graph = result == Result::kSuccess ? capture.graph : nullptr;
    return result;
  });
}

CaptureStatus status_of(Machine& machine, const StreamState& stream) {
  if (stream.capture == 0) return CaptureStatus::kNone;
  return machine.find_capture(stream.capture)->is_invalid ? CaptureStatus::kInvalidated
                                                          : CaptureStatus::kActive;
}

Result stream_is_capturing(Stream handle, CaptureStatus* status) {
  return stream_call("cuStreamIsCapturing", handle, [&](Machine& machine, StreamState& stream) {
    *status = status_of(machine, stream);
    return Result::kSuccess;
  });
}

Result stream_get_capture_info(Stream handle, CaptureStatus* status, unsigned long long* id,
                               Graph* graph, const GraphNode** dependencies,
                               const GraphEdge** edges, std::size_t* count) {
  return stream_call("cuStreamGetCaptureInfo", handle, [&](Machine& machine, StreamState& stream) {
    *status = status_of(machine, stream);
    if (edges != nullptr) *edges = nullptr;  // all edges are plain ones
    if (*status != CaptureStatus::kActive) return Result::kSuccess;
    const CaptureState& capture = *machine.find_capture(stream.capture);
    if (id != nullptr) *id = capture.id;
    if (graph != nullptr) *graph = capture.graph;
    stream.capture_handles.clear();
    for (const NodeIndex node : stream.capture_tail)
      stream.capture_handles.push_back(machine.node_handle(capture.graph, node));
    if (dependencies != nullptr) *dependencies = stream.capture_handles.data();
    if (count != nullptr) *count = stream.capture_handles.size();
    return Result::kSuccess;
  });
}

// The indices of nodes of this graph; false if one is not.
bool to_indices(const Machine& machine, Graph graph, const GraphNode* handles, std::size_t count,
                std::vector<NodeIndex>& indices) {
  for (std::size_t place = 0; place < count; ++place) {
    const NodeReference* const reference = machine.nodes.find(handles[place]);
    if (reference == nullptr || reference->graph != graph) return false;
    indices.push_back(reference->index);
  }
  return true;
}

Result stream_update_capture_dependencies(Stream handle, GraphNode* dependencies,
                                          const GraphEdge* /*edges*/, std::size_t count,
                                          unsigned flags) {
  return stream_call("cuStreamUpdateCaptureDependencies", handle,
                     [&](Machine& machine, StreamState& stream) {
                       if (stream.capture == 0) return Result::kIllegalState;
                       const Result entered = machine.enter(stream);
                       if (entered != Result::kSuccess) return entered;
                       if (flags > kSetCaptureDependencies) return Result::kInvalidValue;
                       std::vector<NodeIndex> tail;
                       if (flags == kAddCaptureDependencies) tail = stream.capture_tail;
                       Graph graph = machine.find_capture(stream.capture)->graph;
                       if (!to_indices(machine, graph, dependencies, count, tail))
                         return Result::kInvalidValue;
                       std::sort(tail.begin(), tail.end());
                       tail.erase(std::unique(tail.begin(), tail.end()), tail.end());
                       stream.capture_tail = tail;
                       return Result::kSuccess;
                     });
}

Result thread_exchange_stream_capture_mode(CaptureMode* mode) {
  return call("cuThreadExchangeStreamCaptureMode", [&](Machine& machine) {
    if (*mode > CaptureMode::kRelaxed) return Result::kInvalidValue;
    std::swap(machine.thread().mode, *mode);
    return Result::kSuccess;
  });
}

Result graph_add_empty_node(GraphNode* node, Graph graph, const GraphNode* dependencies,
                            std::size_t count) {
  return call("cuGraphAddEmptyNode", [&](Machine& machine) {
    GraphState* const state = machine.graphs.find(graph);
    if (state == nullptr) return Result::kInvalidValue;
    std::vector<NodeIndex> before;
    if (!to_indices(machine, graph, dependencies, count, before)) return Result::kInvalidValue;
    *node = machine.node_handle(
        graph, state->add(std::move(before), {machine.faults.calls(), 0, "empty node"}));
    return Result::kSuccess;
  });
}

Result graph_node_get_dependencies(GraphNode node, GraphNode* dependencies, std::size_t* count) {
  return call("cuGraphNodeGetDependencies", [&](Machine& machine) {
    const NodeReference* const found = machine.nodes.find(node);
    if (found == nullptr || count == nullptr) return Result::kInvalidValue;
    const NodeReference reference = *found;
    const std::vector<NodeIndex> before =
        machine.graphs.find(reference.graph)->nodes[reference.index].before;
    for (std::size_t place = 0; dependencies != nullptr && place < *count; ++place) {
      dependencies[place] =
          place < before.size() ? machine.node_handle(reference.graph, before[place]) : nullptr;
    }
    *count = dependencies == nullptr ? before.size() : std::min(*count, before.size());
    return Result::kSuccess;
  });
}

Result graph_instantiate_with_flags(GraphExec* exec, Graph graph, unsigned long long /*flags*/) {
  return call_outside_capture("cuGraphInstantiate", 0, [&](Machine& machine) {
    const GraphState* const state = machine.graphs.find(graph);
    if (state == nullptr) return Result::kInvalidValue;
    *exec = machine.execs.add(std::make_shared<GraphState>(*state));
    return Result::kSuccess;
  });
}

Result graph_launch(GraphExec exec, Stream handle) {
  return stream_call("cuGraphLaunch", handle, [&](Machine& machine, StreamState& stream) {
    const GraphState* const graph = machine.execs.find(exec);
    return graph == nullptr ? Result::kInvalidValue : machine.replay(*graph, stream);
  });
}

Result graph_exec_destroy(GraphExec exec) {
  return call("cuGraphExecDestroy", [&](Machine& machine) {
    if (machine.execs.find(exec) == nullptr) return Result::kInvalidValue;
    machine.execs.erase(exec);
    return Result::kSuccess;
  });
}

Result graph_destroy(Graph graph) {
  return call("cuGraphDestroy", [&](Machine& machine) {
    if (machine.graphs.find(graph) == nullptr) return Result::kInvalidValue;
    for (const auto& [id, capture] : machine.captures) {
      if (capture.graph == graph) return Result::kInvalidValue;  // still being built
    }
    machine.erase_graph(graph);
    return Result::kSuccess;
  });
}
}  // namespace

void set_capture_calls(DriverTable& table) noexcept {
  table.stream_begin_capture = stream_begin_capture;
  table.stream_end_capture = stream_end_capture;
  table.stream_is_capturing = stream_is_capturing;
  table.stream_get_capture_info = stream_get_capture_info;
  table.stream_update_capture_dependencies = stream_update_capture_dependencies;
  table.thread_exchange_stream_capture_mode = thread_exchange_stream_capture_mode;
}

void set_graph_calls(DriverTable& table) noexcept {
  table.graph_add_empty_node = graph_add_empty_node;
  table.graph_node_get_dependencies = graph_node_get_dependencies;
  table.graph_instantiate_with_flags = graph_instantiate_with_flags;
  table.graph_launch = graph_launch;
  table.graph_exec_destroy = graph_exec_destroy;
  table.graph_destroy = graph_destroy;
}
}  // namespace drey::cuda::sim
