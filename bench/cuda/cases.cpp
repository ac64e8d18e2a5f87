// cases.cpp: see cases.hpp.
// SPDX-License-Identifier: MIT
#include "cuda/cases.hpp"

#include "cuda/counted_driver.hpp"
#include "cuda/shapes.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace drey::bench {
namespace {
struct Subject {
  const char* name;
  std::unique_ptr<AllocatorShape> (*make)();
};
constexpr Subject kSubjects[] = {{"drey", make_drey_shape},
                                 {"cub", make_cub_shape},
                                 {"pytorch_shape", make_pytorch_shape},
                                 {"rmm_shape", make_rmm_shape}};

cuda::Stream new_stream() {
  cuda::Stream stream = nullptr;
  static_cast<void>(counted_driver().stream_create_with_priority(&stream, 1, 0));
  return stream;
}

// Driver calls and events a pair, of this thread.
class CallCounter {
 public:
  explicit CallCounter(benchmark::State& state) : state_(state), before_(driver_calls()) {}
  ~CallCounter() {
    const DriverCalls after = driver_calls();
    const auto pairs = static_cast<double>(state_.iterations());
    state_.counters["calls/pair"] = benchmark::Counter(
        static_cast<double>(after.all - before_.all) / pairs, benchmark::Counter::kAvgThreads);
    state_.counters["events/pair"] =
        benchmark::Counter(static_cast<double>(after.events - before_.events) / pairs,
                           benchmark::Counter::kAvgThreads);
  }
  CallCounter(const CallCounter&) = delete;
  CallCounter& operator=(const CallCounter&) = delete;

 private:
  benchmark::State& state_;
  DriverCalls before_;
};

void run_pairs(benchmark::State& state, AllocatorShape& allocator, cuda::Stream stream,
               std::size_t bytes) {
  for (int warm = 0; warm < 8; ++warm)
    allocator.deallocate(allocator.allocate(bytes, stream), bytes, stream);
  const CallCounter counter(state);
  for (auto unused : state) {
    static_cast<void>(unused);
    void* const block = allocator.allocate(bytes, stream);
    benchmark::DoNotOptimize(block);
    allocator.deallocate(block, bytes, stream);
  }
}

void hit_pair(benchmark::State& state, const Subject& subject) {
  const auto allocator = subject.make();
  run_pairs(state, *allocator, new_stream(), static_cast<std::size_t>(state.range(0)));
}

// Which of the live blocks goes next: a multiplicative sequence modulo a power of two.
class Order {
 public:
  std::size_t next(std::size_t count) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33) % count;
  }

 private:
  std::uint64_t state_ = 7;
};

void random_order(benchmark::State& state, const Subject& subject) {
  constexpr std::size_t kLive = 1000;
  const auto bytes_of = [](std::size_t slot) { return 512 + slot % 61 * 512; };
  const auto allocator = subject.make();
  cuda::Stream stream = new_stream();
  std::vector<void*> live(kLive);
  for (std::size_t slot = 0; slot < kLive; ++slot)
    live[slot] = allocator->allocate(bytes_of(slot), stream);
  Order order;
  {
    const CallCounter counter(state);
    for (auto unused : state) {
      static_cast<void>(unused);
      const std::size_t slot = order.next(kLive);
      allocator->deallocate(live[slot], bytes_of(slot), stream);
      live[slot] = allocator->allocate(bytes_of(slot), stream);
    }
  }
  for (std::size_t slot = 0; slot < kLive; ++slot)
    allocator->deallocate(live[slot], bytes_of(slot), stream);
}

// Free blocks of 512 B between live ones; the pair is of 4 KiB and needs to see none of them.
void holes(benchmark::State& state, const Subject& subject) {
  constexpr std::size_t kBytes = 512;
  const auto count = static_cast<std::size_t>(state.range(0));
  const auto allocator = subject.make();
  cuda::Stream stream = new_stream();
  std::vector<void*> blocks(2 * count);
  for (void*& block : blocks) block = allocator->allocate(kBytes, stream);
  for (std::size_t index = 0; index < blocks.size(); index += 2)
    allocator->deallocate(blocks[index], kBytes, stream);
  run_pairs(state, *allocator, stream, 8 * kBytes);
  for (std::size_t index = 1; index < blocks.size(); index += 2)
    allocator->deallocate(blocks[index], kBytes, stream);
}

// A ring between two threads: one allocates, the other frees; what is timed is one block of both.
void remote_free(benchmark::State& state, const Subject& subject) {
  constexpr std::size_t kBytes = 4096;
  constexpr std::size_t kRing = 256;
  const auto allocator = subject.make();
  cuda::Stream stream = new_stream();
  std::vector<std::atomic<void*>> ring(kRing);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    for (std::size_t place = 0;; place = (place + 1) % kRing) {
      void* block = nullptr;
      // Acquire: what the first thread did to the block. Pairs with its release below.
      while ((block = ring[place].exchange(nullptr, std::memory_order_acquire)) == nullptr) {
        if (is_over.load(std::memory_order_acquire)) return;
        std::this_thread::yield();
      }
      allocator->deallocate(block, kBytes, stream);
    }
  });
  std::size_t place = 0;
  {
    const CallCounter counter(state);
    for (auto unused : state) {
      static_cast<void>(unused);
      void* const block = allocator->allocate(kBytes, stream);
      // Relaxed: only whether the place is empty. Release: pairs with the acquire above.
      while (ring[place].load(std::memory_order_relaxed) != nullptr) std::this_thread::yield();
      ring[place].store(block, std::memory_order_release);
      place = (place + 1) % kRing;
    }
  }
  is_over.store(true, std::memory_order_release);
  other.join();
  for (const std::atomic<void*>& block : ring) {
    if (block.load(std::memory_order_relaxed) != nullptr)
      allocator->deallocate(block.load(std::memory_order_relaxed), kBytes, stream);
  }
}

// One allocator, two threads, a stream each.
void two_threads(benchmark::State& state, AllocatorShape& allocator) {
  run_pairs(state, allocator, new_stream(), static_cast<std::size_t>(state.range(0)));
}

void register_subject(const Subject& subject) {
  const std::string name = subject.name;
  const auto add = [&](const char* text, void (*function)(benchmark::State&, const Subject&)) {
    return benchmark::RegisterBenchmark(
        (std::string(text) + "/" + name).c_str(),
        [function, &subject](benchmark::State& state) { function(state, subject); });
  };
  for (const std::int64_t bytes : {512, 4096, 65'536, 1 << 20, 2 << 20, 64 << 20})
    add("hit_pair", hit_pair)->Arg(bytes);
  add("random_order_1000", random_order);
  for (const std::int64_t count : {100, 1000, 10'000}) add("holes", holes)->Arg(count);
  add("remote_free", remote_free)->UseRealTime();
  const std::shared_ptr<AllocatorShape> shared = subject.make();
  benchmark::RegisterBenchmark(("two_threads/" + name).c_str(),
                               [shared](benchmark::State& state) { two_threads(state, *shared); })
      ->Arg(4096)
      ->Threads(2);
}
}  // namespace

void register_cuda_cases() {
  for (const Subject& subject : kSubjects) {
    if (subject.make() != nullptr) register_subject(subject);
  }
}
}  // namespace drey::bench
