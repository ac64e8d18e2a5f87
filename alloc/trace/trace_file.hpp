// trace_file.hpp: the file of a trace: made once a process, grown a mebibyte at a time.
//
// A thread writes into a chunk of the file that is mapped, so that what is recorded survives any end
// of the process; when that is full it is copied to another chunk by one write and used again, since
// a page fault for each page would cost more than all records on it.
// Invariants: the file is opened by its name for each system call on it and closed again, so that a
// program that closes every descriptor, or counts them, is not disturbed; space is allocated before
// it is mapped, so that a full disk is an error here and not a signal there; a file that exists is
// never opened for a new trace.
// Threads: every function under the caller's lock, but for copy_out and add_lost.
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

  /// Takes the next chunk's number. Fails: false; the limit is reached, or the disk is full (one line
  /// said so).
  [[nodiscard]] bool take_chunk(std::uint64_t& number) noexcept;

  /// Maps a chunk that was taken. Returns: its first record; all are zero. Fails: null, after a line.
  [[nodiscard]] TraceRecord* map_chunk(std::uint64_t number) noexcept;

  /// Copies a mapped chunk, given by the end of its records, to the chunk of that number, and wipes
  /// it. Fails: false, after one line; the mapped chunk is untouched. Threads: the chunk's.
  [[nodiscard]] bool copy_out(TraceRecord* end, std::uint64_t number) const noexcept;

  /// Unmaps a chunk by the end of its records.
  static void unmap_chunk(TraceRecord* end) noexcept;

  /// After a failure of copy_out(): no more chunks.
  void close_for_good() noexcept { is_full_ = true; }

  [[nodiscard]] std::uint32_t take_thread_number() noexcept;

  /// Counts an event that had no room. Threads: any.
  void add_lost() noexcept;

  /// Brings the header up to date, cuts off what was never taken, and says that the process ended in
  /// order.
  void finish() noexcept;

 private:
  [[nodiscard]] bool grow() noexcept;
  [[nodiscard]] long open_again() const noexcept;
  void fill_header() noexcept;
  void stamp_header() noexcept;
  void complain(const char* what) const noexcept;

  TraceHeader* header_ = nullptr;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t limit_bytes_ = 0;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  bool is_full_ = false;  // at its limit, or it could not grow: said once, never tried again
  char path_[1024] = {};
};
}  // namespace drey::trace
