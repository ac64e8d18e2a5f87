// profile.cpp: see profile.hpp.
// SPDX-License-Identifier: MIT
#include "core/profile.hpp"

#include "core/exponential.hpp"
#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/sampler.hpp"
#include "core/stack_trace.hpp"
#include "os/lock.hpp"

#include <cstring>

namespace drey::core {
namespace {
constexpr std::size_t kBucketCount = 4096;
constexpr std::size_t kSitesMax = 32768;

constinit os::Lock lock;
constinit SampleSite* buckets[kBucketCount] = {};
constinit std::size_t site_count = 0;
constinit std::uint64_t dropped_count = 0;

[[nodiscard]] std::uint64_t hash_of(const std::uintptr_t* frames, std::size_t count,
                                    std::size_t block_bytes) noexcept {
  std::uint64_t hash = block_bytes;
  for (std::size_t index = 0; index < count; ++index) {
    hash = (hash ^ frames[index]) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 29U;
  }
  return hash;
}

/// The site of a stack and a size, made if need be. Fails: null. Requires: the lock.
[[nodiscard]] SampleSite* site_of(const std::uintptr_t* frames, std::size_t count,
                                  std::size_t block_bytes) noexcept {
  const std::uint64_t hash = hash_of(frames, count, block_bytes);
  SampleSite*& bucket = buckets[hash % kBucketCount];
  const std::size_t frame_bytes = count * sizeof(*frames);
  for (SampleSite* site = bucket; site != nullptr; site = site->next) {
    if (site->hash == hash && site->block_bytes == block_bytes && site->frame_count == count &&
        std::memcmp(site->frames(), frames, frame_bytes) == 0) {
      return site;
    }
  }
  if (site_count == kSitesMax) return nullptr;
  void* const place = take_metadata(sizeof(SampleSite) + frame_bytes, alignof(SampleSite));
  if (place == nullptr) return nullptr;
  auto* const site = static_cast<SampleSite*>(place);  // zero, as all metadata
  site->hash = hash;
  site->block_bytes = block_bytes;
  site->frame_count = count;
  std::memcpy(site->frames(), frames, frame_bytes);
  site->next = bucket;
  bucket = site;
  ++site_count;
  return site;
}

void add_counts(ReportWriter& report, std::uint64_t live_count, std::uint64_t live_bytes,
                std::uint64_t total_count, std::uint64_t total_bytes) noexcept {
  report.add_right(live_count, 6).add(": ").add_right(live_bytes, 8).add(" [");
  report.add_right(total_count, 6).add(": ").add_right(total_bytes, 8).add("] @");
}
}  // namespace

void record_sample(Slab* slab) noexcept {
  std::uintptr_t frames[SampleSite::kFramesMax];
  const std::size_t count = take_stack_trace(frames, SampleSite::kFramesMax);
  const os::LockHolder hold(lock);
  SampleSite* const site = site_of(frames, count, slab->run_bytes);
  if (site == nullptr) {
    ++dropped_count;
    return;
  }
  ++site->live_count;
  ++site->total_count;
  slab->sample = site;
}

void forget_sample(Slab* slab) noexcept {
  const os::LockHolder hold(lock);
  --slab->sample->live_count;
  slab->sample = nullptr;
}

bool start_profile() noexcept {
  if constexpr (kSecure) return false;  // samples are blocks of another kind than was asked for
  const bool has_stacks = open_stack_traces();
  profile_is_on.store(true, std::memory_order_relaxed);
  follow_profile();
  return has_stacks;
}

void stop_profile() noexcept {
  profile_is_on.store(false, std::memory_order_relaxed);
  follow_profile();
}

const SampleSite* SiteCursor::next(SampleSite& copy) noexcept {
  const os::LockHolder hold(lock);
  if (site_ != nullptr) site_ = site_->next;
  while (site_ == nullptr && bucket_ < kBucketCount) site_ = buckets[bucket_++];
  if (site_ != nullptr) copy = *site_;
  return site_;
}

void add_profile(ReportWriter& report) noexcept {
  std::uint64_t live_count = 0;
  std::uint64_t live_bytes = 0;
  std::uint64_t total_count = 0;
  std::uint64_t total_bytes = 0;
  SampleSite site;
  for (SiteCursor cursor; cursor.next(site) != nullptr;) {
    live_count += site.live_count;
    live_bytes += site.live_count * site.block_bytes;
    total_count += site.total_count;
    total_bytes += site.total_count * site.block_bytes;
  }
  report.add("heap profile: ");
  add_counts(report, live_count, live_bytes, total_count, total_bytes);
  report.add(" heap_v2/");
  report.add_signed(options.profile_interval.load(std::memory_order_relaxed)).add("\n");
  SiteCursor cursor;
  while (const SampleSite* const original = cursor.next(site)) {
    add_counts(report, site.live_count, site.live_count * site.block_bytes, site.total_count,
               site.total_count * site.block_bytes);
    for (std::size_t index = 0; index < site.frame_count; ++index) {
      report.add(" ").add_hex(original->frames()[index]);
    }
    report.add("\n");
  }
  report.add("\nMAPPED_LIBRARIES:\n").append_file("/proc/self/maps");
}

std::uint64_t dropped_samples() noexcept {
  const os::LockHolder hold(lock);
  return dropped_count;
}

double weight_of_sample(std::size_t block_bytes) noexcept {
  const auto mean = static_cast<double>(options.profile_interval.load(std::memory_order_relaxed));
  const double probability = 1 - decay(static_cast<double>(block_bytes) / mean);
  return probability > 0 ? 1 / probability : 1;
}

void acquire_profile_lock() noexcept {
  lock.acquire();
}
void release_profile_lock() noexcept {
  lock.release();
}
}  // namespace drey::core
