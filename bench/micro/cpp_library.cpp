// cpp_library.cpp: the heap as C++ programs meet it: vectors, maps of strings, growing buffers,
// zeroed and over-aligned memory.
// Read next: small_blocks.cpp, vectors.cpp.
// SPDX-License-Identifier: MIT
#include "micro/measure.hpp"

#include <drey/base/units.hpp>

#include <cstring>
#include <map>
#include <new>
#include <string>
#include <unordered_map>

namespace drey::bench {
namespace {
/// One observation: 900 bytes, filled with zeros by the constructor.
void vector_of_225_floats(benchmark::State& state) {
  for (auto _ : state) {
    std::vector<float> observation(225);
    benchmark::DoNotOptimize(observation.data());
  }
  report_pairs(state, 1);
}

/// Long enough to leave the string's own buffer.
std::string long_key(std::size_t number) {
  return "a key that is too long to stay inside " + std::to_string(number);
}

/// A map of `kKeys` strings; each iteration erases one and inserts another.
template <typename Map>
void churn(benchmark::State& state) {
  constexpr std::size_t kKeys = 20'000;
  Random random(kSeed);
  std::vector<std::string> keys;
  for (std::size_t number = 0; number < 2 * kKeys; ++number) keys.push_back(long_key(number));
  Map map;
  for (std::size_t number = 0; number < kKeys; ++number) map[keys[number]] = keys[number];
  for (auto _ : state) {
    map.erase(keys[random.between(0, 2 * kKeys - 1)]);
    const std::string& key = keys[random.between(0, 2 * kKeys - 1)];
    map[key] = key;
  }
  report_pairs(state, 1);
}

void map_of_strings(benchmark::State& state) {
  churn<std::map<std::string, std::string>>(state);
}
void unordered_map_of_strings(benchmark::State& state) {
  churn<std::unordered_map<std::string, std::string>>(state);
}

/// Grows a buffer from 16 bytes to `bytes_max`; `next` gives the next size. A pair is one realloc.
template <typename Next>
void grow(benchmark::State& state, std::size_t bytes_max, Next next) {
  double steps = 0;
  for (auto _ : state) {
    std::size_t bytes = 16;
    char* buffer = static_cast<char*>(std::malloc(bytes));
    while (bytes < bytes_max) {
      const std::size_t larger = next(bytes);
      buffer = static_cast<char*>(std::realloc(buffer, larger));
      std::memset(buffer + bytes, 1, larger - bytes);
      bytes = larger;
      ++steps;
    }
    benchmark::DoNotOptimize(buffer);
    std::free(buffer);
  }
  report_pairs(state, steps / static_cast<double>(state.iterations()));
}

void realloc_by_16_to_64_kib(benchmark::State& state) {
  grow(state, 64_KiB, [](std::size_t bytes) { return bytes + 16; });
}
void realloc_doubling_to_1_mib(benchmark::State& state) {
  grow(state, 1_MiB, [](std::size_t bytes) { return bytes * 2; });
}

void calloc_pair(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::calloc(1, size);
    benchmark::DoNotOptimize(block);
    std::free(block);
  }
  report_pairs(state, 1);
}

void new_delete(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = ::operator new(size);
    benchmark::DoNotOptimize(block);
    ::operator delete(block);
  }
  report_pairs(state, 1);
}

void new_aligned_to_64(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = ::operator new (size, std::align_val_t{64});
    benchmark::DoNotOptimize(block);
    ::operator delete (block, std::align_val_t{64});
  }
  report_pairs(state, 1);
}

BENCHMARK(vector_of_225_floats);
BENCHMARK(map_of_strings);
BENCHMARK(unordered_map_of_strings);
BENCHMARK(realloc_by_16_to_64_kib);
BENCHMARK(realloc_doubling_to_1_mib);
BENCHMARK(calloc_pair)->Name("calloc")->Arg(64)->Arg(900)->Arg(57600);
BENCHMARK(new_delete)->Arg(64)->Arg(900);
BENCHMARK(new_aligned_to_64)->Arg(64)->Arg(900);
}  // namespace
}  // namespace drey::bench
