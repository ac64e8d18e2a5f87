// machine.cpp: reads the facts from the kernel; what it does not say stays "unknown".
// Read next: machine.hpp.
// SPDX-License-Identifier: MIT
#include "race/machine.hpp"

#include <array>
#include <ctime>
#include <fstream>

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace drey::bench {
namespace {
/// The rest of the first line of `path` that starts with `key`, trimmed; "unknown" if there is
/// none.
std::string value_in(const char* path, const std::string& key, const std::string& trimmed) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t first = line.find_first_not_of(trimmed, key.size());
    if (first == std::string::npos) break;
    return line.substr(first, line.find_last_not_of(trimmed) + 1 - first);
  }
  return "unknown";
}

int usable_cores() noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

std::string kernel_name() {
  utsname names{};
  if (uname(&names) != 0) return "unknown";
  return std::string(names.sysname) + " " + names.release + " " + names.machine;
}

/// "always [madvise] never" -> "madvise"
std::string chosen_in_brackets(const std::string& choices) {
  const std::size_t open = choices.find('[');
  const std::size_t close = choices.find(']');
  if (open == std::string::npos || close == std::string::npos) return "unknown";
  return choices.substr(open + 1, close - open - 1);
}

std::string load_averages() {
  std::ifstream file("/proc/loadavg");
  std::array<std::string, 3> averages;
  for (std::string& average : averages) file >> average;
  return averages[0] + " " + averages[1] + " " + averages[2];
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

double memory_gib() noexcept {
  const double pages = static_cast<double>(sysconf(_SC_PHYS_PAGES));
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1024.0 * 1024.0 * 1024.0);
}
}  // namespace

Machine describe_machine(int argc, char** argv) {
  Machine machine;
  machine.cpu = value_in("/proc/cpuinfo", "model name", "\t :");
  machine.cores = usable_cores();
  machine.memory_gib = memory_gib();
  machine.kernel = kernel_name();
  machine.distribution = value_in("/etc/os-release", "PRETTY_NAME=", "\"");
  machine.compiler = DREY_BENCH_COMPILER;
  machine.transparent_huge_pages =
      chosen_in_brackets(value_in("/sys/kernel/mm/transparent_hugepage/enabled", "", "\n"));
  machine.load = load_averages();
  machine.date = utc_now();
  for (int index = 0; index < argc; ++index) {
    if (index > 0) machine.command += ' ';
    machine.command += argv[index];
  }
  return machine;
}
}  // namespace drey::bench
