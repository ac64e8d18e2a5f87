// training_memory.cpp: where the memory of a training step can come from: a ring of transitions, a
// batch gathered from a matrix, scratch of one step in an arena, objects in a pool. Once everything
// is warm no step calls the heap.
//
// Build: g++ -std=c++20 training_memory.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc.hpp>
#include <drey/pools/arena.hpp>
#include <drey/pools/arena_resource.hpp>
#include <drey/pools/batch_buffers.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/gather.hpp>
#include <drey/pools/object_pool.hpp>
#include <drey/pools/pool_resource.hpp>
#include <drey/pools/ring_buffer.hpp>
#include <drey/pools/shared_arena.hpp>
#include <drey/pools/spsc_ring.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <list>
#include <memory_resource>
#include <numeric>
#include <thread>
#include <vector>

namespace {
constexpr std::size_t kRows = 1000;
constexpr std::size_t kBatchRows = 128;

struct Trade {
  std::uint32_t bar;
  float price;
};

/// Fills a batch with rows of a 225-column matrix and sums it up with scratch of this step only.
double train_step(drey::FrameArena& frames, drey::BatchBuffers& batch,
                  const drey::MatrixRows& features, std::uint32_t step) {
  frames.next_frame();
  const std::span<std::uint32_t> rows = frames.allocate_array<std::uint32_t>(kBatchRows);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = static_cast<std::uint32_t>((i * 7919 + step) % kRows);
  if (!batch.resize(rows.size())) return 0;
  if (gather(rows, features, batch.states()) != drey::GatherResult::kDone) return 0;
  for (float& reward : batch.rewards()) reward = 1.0F;
  double sum = 0;
  {
    const drey::ArenaScope scope(frames.current());  // gives its pieces back at the brace
    const std::span<double> sums = frames.allocate_array<double>(batch.rows());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::span<const float> state = batch.state(i);
      sums[i] = std::accumulate(state.begin(), state.end(), 0.0);
    }
    sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  }
  return sum;  // batch.data(), batch.bytes(): the one copy to a device would be of these
}

/// Trades in a pool, the last of them in a ring; nodes of a standard list in a pool of blocks.
bool keep_trades() {
  drey::ObjectPool<Trade> trades(1000, drey::PoolGrowth::kGrowing);
  drey::RingBuffer<float, 4> last_prices;
  drey::BlockPool blocks(64, 16, 100);
  drey::PoolResource resource(blocks);
  std::pmr::list<std::uint32_t> bars(&resource);
  for (std::uint32_t bar = 0; bar < 10; ++bar) {
    const drey::PooledObject<Trade> trade = trades.make(Trade{bar, 1.5F * static_cast<float>(bar)});
    if (!trade) return false;
    last_prices.push(trade->price);
    bars.push_back(trade->bar);
  }
  return trades.live() == 0 && last_prices.oldest() == 9.0F && blocks.taken() == 10;
}

/// One thread hands numbers to another; both take memory from one arena.
bool hand_over() {
  drey::SharedArena arena;
  drey::SpscRing<std::uint32_t*, 64> ring;
  std::thread producer([&] {
    drey::SharedArenaSlice slice(arena);  // this thread's own part of it
    for (std::uint32_t sent = 0; sent < 1000;) {
      auto* const number = static_cast<std::uint32_t*>(slice.allocate(sizeof(std::uint32_t)));
      *number = sent++;
      while (!ring.try_push(number)) std::this_thread::yield();
    }
  });
  std::uint64_t sum = 0;
  for (int received = 0; received < 1000;) {
    std::uint32_t* number = nullptr;
    if (!ring.try_pop(number)) continue;
    sum += *number;
    ++received;
  }
  producer.join();
  arena.reset();  // all of them at once, when both are done
  return sum == 999 * 1000 / 2;
}
}  // namespace

int main() {
  drey::Arena arena;  // for as long as the program runs
  drey::ArenaResource resource(arena);
  std::pmr::vector<float> matrix(kRows * 225, 0.5F, &resource);
  const drey::MatrixRows features{matrix.data(), kRows, 225, 225};

  drey::FrameArena frames;
  drey::BatchBuffers batch;
  double sum = 0;
  for (std::uint32_t step = 0; step < 100; ++step) sum += train_step(frames, batch, features, step);
  std::printf("sum %.1f; scratch %zu bytes, batch %zu bytes\n", sum,
              frames.statistics().reserved_bytes, batch.reserved_bytes());
  const bool is_right = sum == 100.0 * 128 * 225 * 0.5 && keep_trades() && hand_over();
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
