// trace_file.hpp: the file of a trace: made once a process, grown a mebibyte at a time, written
// through shared mappings, so that what is recorded survives any end of the process.
//
// Invariants: the file is opened by its name for each growth and closed again, so that a program
// that closes every descriptor, or counts them, is not disturbed; space is allocated before it is
// mapped, so that a full disk is an error here and not a signal there; a file that exists is never
// opened for a new trace.
// Threads: every function under the caller's lock, but for add_lost.
// Read next: trace_file.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/trace_format.hpp>

#include <cstddef>
#include <cstdint>

namespace drey::trace {
class TraceFile {
 public:
  /// Makes the file `name`, or where it exists name.PID, name.PID.2 and so on; a child of a fork
  /// starts with name.PID. Fails: false, after one line to standard error.
  [[nodiscard]] bool create(const char* name, bool is_child, std::uint64_t limit_bytes) noexcept;

  /// The first record of a chunk that is mapped and zero but for its header.
  /// Fails: null; the limit is reached, or the disk is full (one line said so).
  [[nodiscard]] TraceRecord* take_chunk() noexcept;

  /// Unmaps a chunk by the end of its records.
  static void unmap_chunk(TraceRecord* end) noexcept;

  [[nodiscard]] std::uint32_t take_thread_number() noexcept;

  /// Counts an event that had no room. Threads: any.
  void add_lost() noexcept;

  /// Brings the header's second pair of stamps up to date.
  void stamp_header() noexcept;

  /// Cuts off what was never taken, and says that the process ended in order.
  void finish() noexcept;

 private:
  [[nodiscard]] bool grow() noexcept;
  [[nodiscard]] long open_again() const noexcept;
  void fill_header() noexcept;
  void complain(const char* what) const noexcept;

  TraceHeader* header_ = nullptr;
  char* window_ = nullptr;  // mapped, not yet taken
  char* window_end_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t limit_bytes_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool is_full_ = false;  // at its limit, or it could not grow: said once, never tried again
  char path_[1024] = {};
};
}  // namespace drey::trace
