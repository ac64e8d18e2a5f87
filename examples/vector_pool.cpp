// vector_pool.cpp: one thread fills observations, another uses them up; nobody calls malloc for it.
//
// Build: g++ -std=c++20 vector_pool.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/pools/vector_pool.hpp>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>

namespace {
constexpr int kObservations = 10'000;

/// What lies between the two threads. The queue moves handles of 16 bytes, never the 225 floats.
class Pipe {
 public:
  void send(drey::PooledVector vector) {
    const std::lock_guard lock(mutex_);
    queue_.push(std::move(vector));
  }
  drey::PooledVector receive() {
    const std::lock_guard lock(mutex_);
    if (queue_.empty()) return {};
    drey::PooledVector vector = std::move(queue_.front());
    queue_.pop();
    return vector;
  }

 private:
  std::mutex mutex_;
  std::queue<drey::PooledVector> queue_;
};

void produce(drey::VectorPool225& pool, Pipe& pipe) {
  for (int sent = 0; sent < kObservations;) {
    drey::PooledVector vector = pool.take();
    if (!vector) {  // all 64 are out: the consumer is behind
      std::this_thread::yield();
      continue;
    }
    std::iota(vector.values().begin(), vector.values().end(), static_cast<float>(sent++ % 100));
    pipe.send(std::move(vector));
  }
}

double consume(Pipe& pipe) {
  double sum = 0;
  for (int received = 0; received < kObservations;) {
    const drey::PooledVector vector = pipe.receive();
    if (!vector) {
      std::this_thread::yield();
      continue;
    }
    sum += std::accumulate(vector.values().begin(), vector.values().end(), 0.0);
    ++received;
  }  // here each vector goes back to the pool, from another thread than took it
  return sum;
}
}  // namespace

int main() {
  drey::VectorPool225 pool(64);
  if (pool.capacity() == 0) {
    std::fputs("no memory for 64 vectors\n", stderr);
    return EXIT_FAILURE;
  }
  Pipe pipe;
  std::thread producer(produce, std::ref(pool), std::ref(pipe));
  const double sum = consume(pipe);
  producer.join();

  const drey::VectorPoolStatistics statistics = pool.statistics();
  std::printf("%d observations of 225 floats, sum %.0f\n", kObservations, sum);
  std::printf("vectors: %zu in the pool, %zu of them ever taken, taken %zu times, %zu waits\n",
              statistics.capacity, static_cast<std::size_t>(statistics.ever_taken),
              static_cast<std::size_t>(statistics.take_count),
              static_cast<std::size_t>(statistics.exhausted_count));
  // 225 values first + 0 ... 224, for first = 0 ... 99, a hundred times over.
  const double expected = 100.0 * 100 * 225 * (49.5 + 112);
  return sum == expected && statistics.taken == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
