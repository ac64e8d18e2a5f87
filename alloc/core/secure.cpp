// secure.cpp: the secrets of a secure build, from the sixteen bytes the kernel gives each process.
// Read next: secure.hpp.
// SPDX-License-Identifier: MIT
#include "core/secure.hpp"

#include "core/misuse.hpp"
#include "core/slab.hpp"
#include "os/os.hpp"

namespace drey::core {
constinit Secrets secrets{};

namespace {
constinit std::atomic<std::uint64_t> sequence{0};

/// Source: the finalising step of splitmix64 (Steele, Lea, Flood, 2014).
[[nodiscard]] std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}
}  // namespace

std::uint64_t random_number() noexcept {
  // Relaxed, and not one operation: a number drawn twice does no harm.
  const std::uint64_t state = sequence.load(std::memory_order_relaxed) + 0x9e3779b97f4a7c15;
  sequence.store(state, std::memory_order_relaxed);
  return mix(state ^ secrets.canary);
}

void draw_secrets() noexcept {
  // The C library's own secrets come from the same bytes: mixed, so that neither tells the other.
  const os::Seed seed = os::process_seed();
  secrets.link = mix(seed.first + mix(seed.second));
  secrets.canary = mix(secrets.link ^ mix(seed.first ^ seed.second));
  sequence.store(mix(secrets.canary + seed.second), std::memory_order_relaxed);
}

void report_broken_link(const Block* block) noexcept {
  report_finding("free list", block, "was written to after it was freed");
}
}  // namespace drey::core
