// race.cu: drey-gpu-race: drey's device allocator, the driver's pools (cudaMallocAsync) and CUB's caching
// allocator on the device that is here: a pair that hits, by size and by number of threads; memory that is
// new; and what the driver's calls cost. Nanoseconds of wall time, JSON on standard output or in a file.
//
//   drey-gpu-race [FILE]
//
// Rows of one run alternate, the median of five is kept. Without a device: one line, exit code 2.
// SPDX-License-Identifier: MIT
#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/driver_table.hpp>

#include <cuda_runtime.h>
#include <cub/util_allocator.cuh>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {
using drey::cuda::Result;
using Clock = std::chrono::steady_clock;

void must(cudaError_t error, const char* what) {
  if (error != cudaSuccess)
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}
void must(Result result, const char* what) {
  if (result != Result::kSuccess)
    throw std::runtime_error(std::string(what) + ": driver's code " +
                             std::to_string(static_cast<unsigned>(result)));
}

struct Subject {
  const char* name;
  std::function<void*(std::size_t, cudaStream_t)> allocate;
  std::function<void(void*, cudaStream_t)> deallocate;
};

double ns_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

cudaStream_t new_stream() {
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  return stream;
}

void run_pairs(const Subject& subject, cudaStream_t stream, std::size_t bytes, int pairs) {
  for (int pair = 0; pair < pairs; ++pair)
    subject.deallocate(subject.allocate(bytes, stream), stream);
}

// Of a pair, in a stream of its own for each thread; pairs a second of all threads are `threads` times that.
double time_hits(const Subject& subject, std::size_t bytes, int threads) {
  constexpr int kPairs = 4000;
  std::atomic<int> ready{0};
  std::vector<double> took(threads);
  const auto body = [&](int number) {
    must(cudaSetDevice(0), "cudaSetDevice");
    cudaStream_t stream = new_stream();
    run_pairs(subject, stream, bytes, 200);
    // Acquire and release: all threads begin together.
    ready.fetch_add(1, std::memory_order_acq_rel);
    while (ready.load(std::memory_order_acquire) < threads) std::this_thread::yield();
    const Clock::time_point begin = Clock::now();
    run_pairs(subject, stream, bytes, kPairs);
    took[number] = ns_since(begin) / kPairs;
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  std::vector<std::thread> others;
  for (int number = 1; number < threads; ++number) others.emplace_back(body, number);
  body(0);
  for (std::thread& other : others) other.join();
  return *std::max_element(took.begin(), took.end());
}

// Of a block, when nothing is cached yet or all blocks are live.
double time_new(const Subject& subject, std::size_t bytes) {
  constexpr int kBlocks = 64;
  cudaStream_t stream = new_stream();
  std::vector<void*> blocks(kBlocks);
  const Clock::time_point begin = Clock::now();
  for (void*& block : blocks) block = subject.allocate(bytes, stream);
  const double took = ns_since(begin) / kBlocks;
  for (void* const block : blocks) subject.deallocate(block, stream);
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return took;
}

class Rows {
 public:
  void add(const std::string& text, double ns) {
    char row[300];
    std::snprintf(row, sizeof row, "%s\n    {%s, \"ns\": %.1f}", is_first_ ? "" : ",", text.c_str(),
                  ns);
    is_first_ = false;
    text_ += row;
  }
  [[nodiscard]] std::string text() const { return "[" + text_ + "\n  ]"; }

 private:
  std::string text_;
  bool is_first_ = true;
};

void race(const std::vector<Subject>& subjects, Rows& rows) {
  struct Case {
    std::size_t bytes;
    int threads;
  };
  std::vector<Case> cases;
  for (const std::size_t bytes : {512UL, 65'536UL, 1UL << 20, 2UL << 20, 64UL << 20})
    cases.push_back({bytes, 1});
  for (const int threads : {2, 4, 8, 16}) cases.push_back({65'536, threads});
  for (const Case& one : cases) {
    std::vector<std::vector<double>> took(subjects.size());
    for (int round = 0; round < 5; ++round) {
      for (std::size_t index = 0; index < subjects.size(); ++index)
        took[index].push_back(time_hits(subjects[index], one.bytes, one.threads));
    }
    for (std::size_t index = 0; index < subjects.size(); ++index)
      rows.add("\"case\": \"hit_pair\", \"allocator\": \"" + std::string(subjects[index].name) +
                   "\", \"bytes\": " + std::to_string(one.bytes) +
                   ", \"threads\": " + std::to_string(one.threads),
               median(took[index]));
  }
  for (const Subject& subject : subjects)
    rows.add("\"case\": \"new\", \"allocator\": \"" + std::string(subject.name) +
                 "\", \"bytes\": " + std::to_string(32 << 20) + ", \"threads\": 1",
             time_new(subject, 32 << 20));
}

// Virtual memory in handles of so many bytes.
void time_driver(const drey::cuda::DriverTable& driver, std::uint64_t bytes, Rows& rows) {
  constexpr int kHandles = 32;
  drey::cuda::MemoryProperties properties;
  const drey::cuda::MemoryAccess access{{drey::cuda::MemoryLocation::kDevice, 0},
                                        drey::cuda::MemoryAccess::kReadWrite};
  drey::cuda::DevicePointer base = 0;
  must(driver.mem_address_reserve(&base, kHandles * bytes, 0, 0, 0), "cuMemAddressReserve");
  std::vector<drey::cuda::MemoryHandle> handles(kHandles);
  const auto time = [&](const char* name, const std::function<void(int)>& call) {
    const Clock::time_point begin = Clock::now();
    for (int index = 0; index < kHandles; ++index) call(index);
    rows.add("\"case\": \"driver\", \"call\": \"" + std::string(name) +
                 "\", \"bytes\": " + std::to_string(bytes),
             ns_since(begin) / kHandles);
  };
  time("cuMemCreate",
       [&](int i) { must(driver.mem_create(&handles[i], bytes, &properties, 0), "cuMemCreate"); });
  time("cuMemMap",
       [&](int i) { must(driver.mem_map(base + i * bytes, bytes, 0, handles[i], 0), "cuMemMap"); });
  time("cuMemSetAccess", [&](int i) {
    must(driver.mem_set_access(base + i * bytes, bytes, &access, 1), "cuMemSetAccess");
  });
  time("cuMemUnmap", [&](int i) { must(driver.mem_unmap(base + i * bytes, bytes), "cuMemUnmap"); });
  time("cuMemRelease", [&](int i) { must(driver.mem_release(handles[i]), "cuMemRelease"); });
  must(driver.mem_address_free(base, kHandles * bytes), "cuMemAddressFree");
}

void time_events(Rows& rows) {
  constexpr int kCalls = 10'000;
  cudaStream_t stream = new_stream();
  cudaEvent_t event = nullptr;
  must(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  Clock::time_point begin = Clock::now();
  for (int call = 0; call < kCalls; ++call) must(cudaEventRecord(event, stream), "cudaEventRecord");
  rows.add("\"case\": \"driver\", \"call\": \"cudaEventRecord\"", ns_since(begin) / kCalls);
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  begin = Clock::now();
  for (int call = 0; call < kCalls; ++call) must(cudaEventQuery(event), "cudaEventQuery");
  rows.add("\"case\": \"driver\", \"call\": \"cudaEventQuery\"", ns_since(begin) / kCalls);
  must(cudaEventDestroy(event), "cudaEventDestroy");
}

std::string run(const drey::cuda::LoadedDriver& driver) {
  must(cudaSetDevice(0), "cudaSetDevice");
  must(cudaFree(nullptr), "the runtime's start");
  cudaMemPool_t pool = nullptr;
  must(cudaDeviceGetDefaultMemPool(&pool, 0), "cudaDeviceGetDefaultMemPool");
  std::uint64_t keeps = UINT64_MAX;  // else it gives memory back at each synchronisation
  must(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keeps),
       "cudaMemPoolSetAttribute");
  cub::CachingDeviceAllocator cub_cache(2, 9, 26, static_cast<std::size_t>(-1), false);
  drey::cuda::DeviceAllocator own;
  if (!own.open(driver.table, {}).is_ok()) throw std::runtime_error("the allocator does not open");
  using DreyStream = drey::cuda::Stream;
  const std::vector<Subject> subjects = {
      {"drey",
       [&](std::size_t bytes, cudaStream_t stream) {
         return own.allocate(bytes, 256, reinterpret_cast<DreyStream>(stream));
       },
       [&](void* block, cudaStream_t stream) {
         own.deallocate(block, reinterpret_cast<DreyStream>(stream));
       }},
      {"cudaMallocAsync",
       [&](std::size_t bytes, cudaStream_t stream) {
         void* block = nullptr;
         must(cudaMallocAsync(&block, bytes, stream), "cudaMallocAsync");
         return block;
       },
       [&](void* block, cudaStream_t stream) {
         must(cudaFreeAsync(block, stream), "cudaFreeAsync");
       }},
      {"cub",
       [&](std::size_t bytes, cudaStream_t stream) {
         void* block = nullptr;
         must(cub_cache.DeviceAllocate(&block, bytes, stream), "DeviceAllocate");
         return block;
       },
       [&](void* block, cudaStream_t) { must(cub_cache.DeviceFree(block), "DeviceFree"); }}};
  Rows rows;
  race(subjects, rows);
  for (const std::uint64_t mib : {2, 8, 32}) time_driver(driver.table, mib << 20, rows);
  time_events(rows);
  static_cast<void>(own.close());
  cudaDeviceProp properties = {};
  must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  return "{\n  \"device\": \"" + std::string(properties.name) +
         "\",\n  \"driver\": " + std::to_string(driver.version) + ",\n  \"rows\": " + rows.text() +
         "\n}\n";
}
}  // namespace

int main(int count, char** arguments) {
  try {
    if (count > 2) throw std::runtime_error("expected one file's name at most");
    const drey::cuda::LoadedDriver driver = drey::cuda::load_driver();
    if (driver.reason.length() != 0) throw std::runtime_error(driver.reason.c_str());
    const std::string text = run(driver);
    std::FILE* const file = count == 2 ? std::fopen(arguments[1], "w") : stdout;
    if (file == nullptr)
      throw std::runtime_error(std::string(arguments[1]) + ": cannot be written");
    const bool is_whole = std::fputs(text.c_str(), file) >= 0 && std::fflush(file) == 0;
    if (!is_whole) throw std::runtime_error("the figures cannot be written");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-gpu-race: %s\n", error.what());
    return 2;
  }
}
