// graph.hpp: captured work as a graph of nodes, and captures while they run.
// Invariants: a node comes after nodes of smaller index only; `earlier` holds every node that it is
// ordered after. A graph knows the capture it came from: blocks allocated in that capture are its own.
// Read next: machine.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "sim/shadow.hpp"
#include "sim/timeline.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace drey::cuda::sim {
struct NodeUse {
  Access access;
  std::shared_ptr<Generation> block;  // whose it was at the capture; null: nobody's
};

struct GraphNodeState {
  std::vector<NodeIndex> before;  // as told
  std::vector<bool> earlier;      // all of them, by index
  std::vector<NodeUse> uses;
  Place place;
  std::function<void()> effect;  // on contents, at each launch; may be empty
  GraphNode handle = nullptr;
};

struct GraphState {
  CaptureId capture = 0;
  std::vector<GraphNodeState> nodes;

  NodeIndex add(std::vector<NodeIndex> before, Place place) {
    GraphNodeState node;
    node.earlier.resize(nodes.size(), false);
    for (const NodeIndex index : before) {
      node.earlier[index] = true;
      for (NodeIndex other = 0; other < nodes[index].earlier.size(); ++other)
        node.earlier[other] = node.earlier[other] || nodes[index].earlier[other];
    }
    node.before = std::move(before);
    node.place = std::move(place);
    nodes.push_back(std::move(node));
    return nodes.size() - 1;
  }

  /// Whether what comes after `tail` is ordered after the node.
  [[nodiscard]] bool covers(const std::vector<NodeIndex>& tail, NodeIndex node) const {
    for (const NodeIndex last : tail) {
      if (last == node) return true;
      if (node < nodes[last].earlier.size() && nodes[last].earlier[node]) return true;
    }
    return false;
  }
};

/// What a node's handle leads to.
struct NodeReference {
  Graph graph = nullptr;
  NodeIndex index = 0;
};

struct CaptureState {
  CaptureId id = 0;
  CaptureMode mode = CaptureMode::kGlobal;
  std::uint64_t thread = 0;  // that began it
  std::shared_ptr<StreamState> origin;
  bool is_invalid = false;
  Graph graph = nullptr;
};
}  // namespace drey::cuda::sim
