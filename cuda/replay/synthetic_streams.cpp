// synthetic_streams.cpp: traces with more than one stream, and random ones; see synthetic.hpp.
// SPDX-License-Identifier: MIT
#include "replay/synthetic.hpp"

#include <charconv>
#include <deque>

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
}  // namespace

// One burst on a second stream before the second step, then never again: an allocator that keeps a
// stream's free memory for that stream has lost it.
trace::DeviceTrace make_one_shot_stream(std::uint64_t seed) {
  Script script;
  Random random(seed);
  TransformerScript network(script, {});
  network.step(768);
  std::vector<std::uint64_t> burst;
  for (int block = 0; block < 24; ++block)
    burst.push_back(script.allocate((32 + random.below(96)) * kMiB, 1));
  for (const std::uint64_t block : burst) script.free(block);
  script.wait(0, 1);
  for (int step = 0; step < 4; ++step) network.step(832);
  return script.finish();
}

// Batches are loaded on a stream of their own, two ahead, and used by the training stream.
trace::DeviceTrace make_prefetch(std::uint64_t seed) {
  Script script;
  Random random(seed);
  TransformerScript network(script, {});
  std::deque<std::uint64_t> ready;
  for (int step = 0; step < 8; ++step) {
    while (ready.size() < 3) ready.push_back(script.allocate((4 + random.below(60)) * kMiB, 1));
    script.wait(0, 1);
    script.record_stream(ready.front(), 0);
    network.step(512 + 8 * random.below(64));
    script.free(ready.front());
    ready.pop_front();
  }
  return script.finish();
}

// 73 of 100 steps allocate 1 to 256 MiB, the others free a random block; never more than 16,000 MiB.
trace::DeviceTrace make_random_allocations(std::uint64_t seed) {
  constexpr std::uint64_t kLimit = 16'000 * kMiB;
  constexpr std::uint64_t kPercent = 73;
  struct Live {
    std::uint64_t block;
    std::uint64_t bytes;
  };
  Script script;
  Random random(seed);
  std::vector<Live> live;
  std::uint64_t total = 0;
  for (int step = 0; step < 4000; ++step) {
    const std::uint64_t bytes = 1 + random.below(256 * kMiB);
    const bool wants = random.below(100) < kPercent;
    if (live.empty() || (wants && total + bytes <= kLimit)) {
      live.push_back({script.allocate(bytes), bytes});
      total += bytes;
      continue;
    }
    const std::size_t victim = random.below(live.size());
    script.free(live[victim].block);
    total -= live[victim].bytes;
    live[victim] = live.back();
    live.pop_back();
  }
  return script.finish();
}

// Four streams in turn; each piece of work has a buffer, which its stream frees when 32 more wait.
trace::DeviceTrace make_multi_stream_allocations(std::uint64_t seed) {
  constexpr std::uint32_t kStreams = 4;
  constexpr std::size_t kOutstanding = 32;
  struct Live {
    std::uint64_t block;
    std::uint32_t stream;
  };
  Script script;
  Random random(seed);
  std::deque<Live> live;
  for (std::uint32_t step = 0; step < 4000; ++step) {
    const std::uint32_t stream = step % kStreams;
    const std::uint64_t bytes = (std::uint64_t{4096} << random.below(17)) + random.below(4096);
    live.push_back({script.allocate(bytes, stream), stream});
    if (live.size() <= kOutstanding) continue;
    script.free_on(live.front().block, live.front().stream);
    live.pop_front();
  }
  return script.finish();
}

std::span<const SyntheticKind> synthetic_kinds() {
  static constexpr SyntheticKind kKinds[] = {
      {"transformer_fixed", "training, every step 1,024 long", make_transformer_fixed},
      {"transformer_variable", "training, each step as long as the seed says",
       make_transformer_variable},
      {"one_shot_stream", "training, and one burst on a second stream", make_one_shot_stream},
      {"prefetch", "training, batches loaded on a second stream", make_prefetch},
      {"random_allocations", "blocks of any size up to 256 MiB, in any order",
       make_random_allocations},
      {"multi_stream_allocations", "short-lived buffers on four streams",
       make_multi_stream_allocations},
  };
  return kKinds;
}

trace::DeviceTrace make_synthetic(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  std::uint64_t seed = 1;
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      throw trace::BadInput("synthetic:" + std::string(text) +
                            ": expected a seed below 2^64, found '" + std::string(digits) + "'");
    }
  }
  std::string names;
  for (const SyntheticKind& kind : synthetic_kinds()) {
    if (kind.name == name) return kind.make(seed);
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw trace::BadInput("synthetic:" + std::string(text) + ": expected one of " + names +
                        ", found '" + std::string(name) + "'");
}
}  // namespace drey::cuda::replay
