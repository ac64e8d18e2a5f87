// synthetic.hpp: traces made by rule and seed: the same on every machine.
// Read next: synthetic_transformer.cpp, synthetic_streams.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/trace/device_trace.hpp>
#include <drey/cuda/trace/trace_builder.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drey::cuda::replay {
struct SyntheticKind {
  std::string_view name;
  std::string_view text;
  trace::DeviceTrace (*make)(std::uint64_t seed);
};

[[nodiscard]] std::span<const SyntheticKind> synthetic_kinds();
/// "NAME:SEED" or "NAME", which is seed 1. Fails: BadInput names what there is.
[[nodiscard]] trace::DeviceTrace make_synthetic(std::string_view text);

[[nodiscard]] trace::DeviceTrace make_transformer_fixed(std::uint64_t seed);
[[nodiscard]] trace::DeviceTrace make_transformer_variable(std::uint64_t seed);
[[nodiscard]] trace::DeviceTrace make_one_shot_stream(std::uint64_t seed);
[[nodiscard]] trace::DeviceTrace make_prefetch(std::uint64_t seed);
[[nodiscard]] trace::DeviceTrace make_random_allocations(std::uint64_t seed);
[[nodiscard]] trace::DeviceTrace make_multi_stream_allocations(std::uint64_t seed);

/// Numbers by splitmix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15U;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebU;
    return mixed ^ mixed >> 31;
  }
  /// Below `bound`, which is far below 2^64.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

/// Writes a trace: blocks get numbers, time goes on by a microsecond an event.
class Script {
 public:
  Script() : builder_("synthetic") {}

  std::uint64_t allocate(std::uint64_t bytes, std::uint32_t stream = 0) {
    add({TraceAction::kAllocate, ++blocks_, bytes, stream, 0, 0});
    return blocks_;
  }
  void free(std::uint64_t block) { add({TraceAction::kFree, block, 0, 0, 0, 0}); }
  void free_on(std::uint64_t block, std::uint32_t stream) {
    add({TraceAction::kFreeOn, block, 0, stream, 0, 0});
  }
  void record_stream(std::uint64_t block, std::uint32_t stream) {
    add({TraceAction::kRecordStream, block, 0, stream, 0, 0});
  }
  void wait(std::uint32_t waiter, std::uint32_t waited) {
    add({TraceAction::kWait, waited, 0, waiter, 0, 0});
  }
  trace::DeviceTrace finish() { return builder_.finish(); }

 private:
  void add(trace::RawEvent event) {
    event.time_ns = now_ns_ += 1000;
    builder_.set_place("event", now_ns_ / 1000);
    builder_.add(event);
  }

  trace::TraceBuilder builder_;
  std::uint64_t blocks_ = 0;
  std::uint64_t now_ns_ = 0;
};

/// A GPT-like network in training, in half precision, AdamW in single.
struct Transformer {
  std::uint64_t layers = 24;
  std::uint64_t width = 1024;
  std::uint64_t heads = 16;
  std::uint64_t words = 50'257;
  std::uint64_t batch = 8;
};

/// Weights live to the end; a step is forward, backward, and the optimizer.
class TransformerScript {
 public:
  TransformerScript(Script& script, const Transformer& shape);
  void step(std::uint64_t length);

 private:
  struct Saved {
    std::uint64_t blocks[8];
  };
  Saved forward(std::uint64_t length);
  void backward(const Saved& saved, std::uint64_t length, std::uint64_t layer);
  void optimize();

  Script& script_;
  Transformer shape_;
  std::vector<std::uint64_t> weights_bytes_;
  std::vector<std::uint64_t> gradients_;
  bool has_moments_ = false;
};
}  // namespace drey::cuda::replay
