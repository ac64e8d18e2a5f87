// device_counter.cpp: counts the instructions of the device allocator's hits.
//
//   device_counter      prints "device_allocate SIZE COUNT" and "device_free SIZE COUNT" lines
// On the driver that does nothing, which a hit does not call. Everything between two marks in this
// program's own text is counted, the caller's part included. Each is measured five times, warm; the
// least is printed.
// Read next: single_step.hpp, fast_path_golden.py.
// SPDX-License-Identifier: MIT
#include "golden/single_step.hpp"

#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/null_driver.hpp>

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>

using namespace drey::test;  // NOLINT(google-build-using-namespace): marks and steps

namespace {
constexpr int kRounds = 5;
constexpr std::array<const char*, 2> kCalls = {"device_allocate", "device_free"};
constexpr std::array<std::size_t, 4> kSizes = {512, 4096, 65'536, std::size_t{1} << 20};
constexpr std::size_t kAlignment = drey::cuda::DeviceAllocator::kGranuleBytes;

/// One mark before each call of kCalls, one after the last.
[[gnu::noinline]] void measure_once(drey::cuda::DeviceAllocator& allocator,
                                    drey::cuda::Stream stream, std::size_t size) {
  mark();
  void* const block = hide(allocator.try_allocate(size, kAlignment, stream).pointer);
  mark();
  static_cast<void>(allocator.try_deallocate(block, stream));
  mark();
}

int be_the_subject() {
  drey::cuda::DeviceAllocator allocator;
  drey::cuda::Stream stream = nullptr;
  const drey::cuda::DriverTable& driver = drey::cuda::null_driver();
  static_cast<void>(driver.stream_create_with_priority(&stream, 1, 0));
  if (!allocator.open(driver, {}).is_ok()) return 1;
  for (const std::size_t size : kSizes) {
    static_cast<void>(
        allocator.try_deallocate(allocator.try_allocate(size, kAlignment, stream).pointer, stream));
    for (int round = 0; round < kRounds; ++round) measure_once(allocator, stream, size);
  }
  return 0;
}

void print_size(pid_t process, const Range& text, std::size_t size) {
  std::array<long, kCalls.size()> least;
  least.fill(LONG_MAX);
  for (int round = 0; round < kRounds; ++round) {
    run_to_next_mark(process);
    for (long& count : least) {
      // Less the mark at the end.
      const long counted = count_to_next_mark(process, text) - 1;
      if (counted < count) count = counted;
    }
  }
  for (std::size_t call = 0; call < kCalls.size(); ++call) {
    std::printf("%s %zu %ld\n", kCalls[call], size, least[call]);
  }
}
}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::strcmp(arguments[1], "--subject") == 0) return be_the_subject();
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0)
    fail("no path of its own");
  const pid_t process = start(arguments[0], nullptr);
  const Range text = text_of(process, program.data());
  if (text.end == 0) fail("no text of the traced copy");
  for (const std::size_t size : kSizes) {
    print_size(process, text, size);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return 0;
}
