// profile.hpp: what the samples add up to: a site for each stack and block size, its live blocks and
// all it ever had; written in pprof's heap format.
//
// Invariants: a sampled block's descriptor points to its site, which is never freed; a site's live
// count is the number of descriptors that point to it; at most kSitesMax sites, further samples are
// dropped and counted. Bytes are of blocks (drey_good_size), not of requests.
// Threads: any; one lock, held for a few instructions.
// Read next: sampler.hpp, stack_trace.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/report_writer.hpp"
#include "core/slab.hpp"

#include <cstddef>
#include <cstdint>

namespace drey::core {
struct SampleSite {
  static constexpr std::size_t kFramesMax = 48;

  SampleSite* next;  ///< in its bucket
  std::uint64_t hash;
  std::size_t block_bytes;
  std::uint64_t live_count;
  std::uint64_t total_count;
  std::size_t frame_count;

  /// Return addresses, innermost first; they lie behind the site.
  [[nodiscard]] std::uintptr_t* frames() noexcept {
    return reinterpret_cast<std::uintptr_t*>(this + 1);
  }
  [[nodiscard]] const std::uintptr_t* frames() const noexcept {
    return reinterpret_cast<const std::uintptr_t*>(this + 1);
  }
};

/// Marks a large or huge block of the calling thread as sampled here and now.
void record_sample(Slab* slab) noexcept;

/// Takes the mark off a block that is freed or resized. Requires: slab->sample is not null.
[[gnu::cold]] void forget_sample(Slab* slab) noexcept;

/// Starts sampling in all threads. Returns: false if stacks cannot be had: sites are sizes only then.
bool start_profile() noexcept;
/// Ends sampling. Marked blocks stay in the profile until they are freed.
void stop_profile() noexcept;

/// The samples and the process's mappings, as `pprof` reads them.
void add_profile(ReportWriter& report) noexcept;

/// Samples that found no room in the table of sites.
[[nodiscard]] std::uint64_t dropped_samples() noexcept;

/// Blocks that one sampled block stands for: 1 / (1 - e^(-size / mean)).
[[nodiscard]] double weight_of_sample(std::size_t block_bytes) noexcept;

/// A cursor over all sites. Each is copied under the lock, without its frames, which do not change.
class SiteCursor {
 public:
  /// Returns: the site itself, for its frames; null past the last.
  [[nodiscard]] const SampleSite* next(SampleSite& copy) noexcept;

 private:
  std::size_t bucket_ = 0;
  const SampleSite* site_ = nullptr;
};

// For fork.cpp.
void acquire_profile_lock() noexcept;
void release_profile_lock() noexcept;
}  // namespace drey::core
