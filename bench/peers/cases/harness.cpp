// harness.cpp: see harness.hpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/harness.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace drey::bench {
namespace {
constexpr int kStretches = 3;
/// A count is large enough once it has cost this part of a stretch; the rest is computed.
constexpr double kTrialPart = 0.25;
/// One that costs this much CPU time is not repeated: a case of seconds needs no second opinion.
constexpr double kTooSlowNs = 1e9;

double nanoseconds(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Spent operator-(const Spent& later, const Spent& earlier) noexcept {
  return {later.cpu_ns - earlier.cpu_ns, later.wall_ns - earlier.wall_ns,
          later.faults - earlier.faults};
}

Spent cost_of_count(std::size_t count, const std::function<void(std::size_t)>& work) {
  const Spent before = spent_so_far();
  work(count);
  return spent_so_far() - before;
}

Spent cheaper(const Spent& one, const Spent& other) noexcept {
  return other.cpu_ns < one.cpu_ns ? other : one;
}

struct Trial {
  std::size_t count;
  Spent cost;
};

/// A count that costs at least a part of `stretch_ns` of CPU time. Each is tried twice and the cheaper
/// believed: the first meets cold caches and pages that nobody has touched. Elapsed time would not
/// do: on a busy machine it says little of the work.
Trial tried_count(double stretch_ns, const std::function<void(std::size_t)>& work) {
  for (std::size_t count = 1;;) {
    const Spent first = cost_of_count(count, work);
    if (first.cpu_ns > kTooSlowNs) return {count, first};
    const Spent cost = cheaper(first, cost_of_count(count, work));
    if (cost.cpu_ns >= kTrialPart * stretch_ns) return {count, cost};
    count *= cost.cpu_ns < kTrialPart * kTrialPart * stretch_ns ? 4 : 2;
  }
}

/// The cheapest of three stretches; the trial itself if it took longer than all of them should.
Trial measured(double stretch_ns, const std::function<void(std::size_t)>& work) {
  const Trial trial = tried_count(stretch_ns, work);
  if (trial.cost.cpu_ns > kStretches * stretch_ns) return trial;
  const double wanted = static_cast<double>(trial.count) * stretch_ns / trial.cost.cpu_ns;
  const std::size_t count = std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
  Spent least = cost_of_count(count, work);
  for (int stretch = 1; stretch < kStretches; ++stretch) {
    least = cheaper(least, cost_of_count(count, work));
  }
  return {count, least};
}
}  // namespace

Spent spent_so_far() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {nanoseconds(CLOCK_PROCESS_CPUTIME_ID), nanoseconds(CLOCK_MONOTONIC),
          static_cast<double>(usage.ru_minflt + usage.ru_majflt)};
}

Figures cost_of(double seconds, double operations, const std::function<void(std::size_t)>& work) {
  const Trial result = measured(seconds * 1e9 / kStretches, work);
  const double each = 1.0 / (operations * static_cast<double>(result.count));
  return {{"cpu_ns", result.cost.cpu_ns * each},
          {"wall_ns", result.cost.wall_ns * each},
          {"faults", result.cost.faults * each}};
}

double resident_bytes() noexcept {
  std::array<char, 256> text{};
  const int descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t count = read(descriptor, text.data(), text.size() - 1);
  close(descriptor);
  if (count <= 0) return 0;
  char* second = nullptr;
  static_cast<void>(std::strtol(text.data(), &second, 10));  // the first number: mapped pages
  return static_cast<double>(std::strtol(second, nullptr, 10)) *
         static_cast<double>(sysconf(_SC_PAGESIZE));
}
}  // namespace drey::bench
