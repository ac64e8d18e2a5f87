// library.cpp: the simulator as a driver's library, libsimcuda.so: what libcuda.so.1 exports that
// drey's loader asks for, and a few calls to steer it. Everything else goes out by cuGetProcAddress.
//
// Environment, read once: DREY_SIM_DEVICES, DREY_SIM_MEMORY_MIB (a device), DREY_SIM_SCHEDULE (never,
// eager), DREY_SIM_CONTENTS (1: memory holds bytes, and modules of the host can be loaded), DREY_SIM_REPORT
// (1: a line on standard error at exit: hazards, calls, what was left behind). What is no number or too large is a reason not to start: cuInit says so.
// Invariant: one simulator, made by the first call, never destroyed: threads may still call.
// Read next: simulator.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/sim/simulator.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace drey::cuda::sim {
namespace {
std::optional<std::uint64_t> number_of(const char* name, std::uint64_t otherwise,
                                       std::uint64_t max) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const std::uint64_t value = std::strtoull(text, &end, 10);
  if (*end != '\0' || *text == '-' || value > max) return std::nullopt;
  return value;
}

std::optional<Config> config_of_environment() {
  const auto devices = number_of("DREY_SIM_DEVICES", 1, 64);
  const auto mebibytes = number_of("DREY_SIM_MEMORY_MIB", 1024, 1 << 20);
  const auto contents = number_of("DREY_SIM_CONTENTS", 0, 1);
  const char* const schedule = std::getenv("DREY_SIM_SCHEDULE");
  const bool is_eager = schedule != nullptr && std::strcmp(schedule, "eager") == 0;
  const bool is_never = schedule == nullptr || std::strcmp(schedule, "never") == 0;
  if (!devices || !mebibytes || !contents || (!is_eager && !is_never)) return std::nullopt;
  Config config;
  config.device_count = static_cast<int>(*devices);
  config.memory_bytes = *mebibytes << 20;
  config.has_contents = *contents == 1;
  // Addresses must then be found in this process: for eight allocators that reserve as they like.
  if (config.has_contents) config.address_space_bytes = 40 * *devices * config.memory_bytes;
  config.schedule = is_eager ? Schedule::kEager : Schedule::kNever;
  return config;
}

Simulator* the_simulator();

void report_at_exit() {
  Simulator& simulator = *the_simulator();
  const auto calls = [&](const char* name) {
    return static_cast<unsigned long long>(simulator.faults().calls(name));
  };
  std::fprintf(stderr,
               "simulated device: %zu hazards, %llu kernel launches, %llu graph launches, %s\n%s",
               simulator.hazards().size(), calls("cuLaunchKernel"), calls("cuGraphLaunch"),
               simulator.counts() == Counts{} ? "nothing left behind" : "something left behind",
               simulator.report().c_str());
}

// Null if the environment is not understood.
Simulator* the_simulator() {
  static Simulator* const simulator = [] {
    const std::optional<Config> config = config_of_environment();
    if (config && number_of("DREY_SIM_REPORT", 0, 1) == 1) std::atexit(report_at_exit);
    return config ? new Simulator(*config) : nullptr;
  }();
  return simulator;
}

const EntryPoint* find_entry(const char* name) {
  for (const EntryPoint& entry : entry_points()) {
    if (std::strcmp(entry.name, name) == 0) return &entry;
  }
  return nullptr;
}

Result find_function(const char* name, void** function, int version) {
  const EntryPoint* const entry = find_entry(name);
  // A real driver has older forms of some calls as well; drey asks for none of them.
  *function = entry != nullptr && version >= entry->version
                  ? function_of(Simulator::driver(), *entry)
                  : nullptr;
  return *function != nullptr ? Result::kSuccess : Result::kNotFound;
}
}  // namespace
}  // namespace drey::cuda::sim

using drey::cuda::DevicePointer;
using drey::cuda::Result;
using drey::cuda::Stream;
using drey::cuda::sim::Simulator;
using drey::cuda::sim::the_simulator;

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): the driver's own names.
[[gnu::visibility("default")]] Result cuInit(unsigned flags) {
  return the_simulator() == nullptr ? Result::kInvalidValue : Simulator::driver().init(flags);
}
[[gnu::visibility("default")]] Result cuDriverGetVersion(int* version) {
  return the_simulator() == nullptr ? Result::kInvalidValue
                                    : Simulator::driver().driver_get_version(version);
}
[[gnu::visibility("default")]] Result cuDeviceGetCount(int* count) {
  return the_simulator() == nullptr ? Result::kInvalidValue
                                    : Simulator::driver().device_get_count(count);
}
[[gnu::visibility("default")]] Result cuGetProcAddress_v2(const char* name, void** function,
                                                          int version, std::uint64_t /*flags*/,
                                                          int* found) {
  if (the_simulator() == nullptr) return Result::kInvalidValue;
  const Result result = drey::cuda::sim::find_function(name, function, version);
  if (found != nullptr) *found = result == Result::kSuccess ? 0 : 1;
  return result;
}
[[gnu::visibility("default")]] Result cuGetProcAddress(const char* name, void** function,
                                                       int version, std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
// NOLINTEND(readability-identifier-naming)

/// A kernel that writes one range.
[[gnu::visibility("default")]] unsigned drey_sim_launch(Stream stream, DevicePointer base,
                                                        std::size_t bytes, const char* label) {
  if (the_simulator() == nullptr) return static_cast<unsigned>(Result::kNotInitialized);
  return static_cast<unsigned>(the_simulator()->launch(stream, {{base, bytes, true}}, label));
}
[[gnu::visibility("default")]] void drey_sim_block_allocated(DevicePointer block, std::size_t bytes,
                                                             Stream stream) {
  if (the_simulator() != nullptr) the_simulator()->block_allocated(block, bytes, stream);
}
[[gnu::visibility("default")]] void drey_sim_block_freed(DevicePointer block, Stream stream) {
  if (the_simulator() != nullptr) the_simulator()->block_freed(block, stream);
}
/// Hazards so far; the text of all of them, cut to fit and ended by a NUL, if `text` is not null.
[[gnu::visibility("default")]] std::size_t drey_sim_hazards(char* text, std::size_t capacity) {
  if (the_simulator() == nullptr) return 0;
  if (text != nullptr && capacity != 0) {
    const std::string report = the_simulator()->report();
    std::strncpy(text, report.c_str(), capacity - 1);
    text[capacity - 1] = '\0';
  }
  return the_simulator()->hazards().size();
}
}
