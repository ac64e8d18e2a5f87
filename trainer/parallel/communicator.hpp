// communicator.hpp: what a run on several processes needs of whatever connects them.
// The trainer knows this interface only. Over MPI it is libdrey_mpi.so, opened at run time when the
// launcher says that there is more than one rank, so that drey-train itself needs no MPI; in tests it
// is threads.
// Invariants: every call but rank(), size() and abort() is collective: all ranks make the same calls in
// the same order; what a call gives is the same on all ranks bit for bit, and depends on the number of
// ranks but not on timing. Read next: reduction.hpp, load_communicator.hpp, mpi_plugin.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace drey::trainer {
/// Threads: one at a time.
/// Fails: a call that cannot reach another rank ends the whole job.
class Communicator {
 public:
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] virtual std::size_t rank() const = 0;  ///< 0 .. size() - 1
  [[nodiscard]] virtual std::size_t size() const = 0;  ///< ranks

  /// Piece k of `send` goes to rank k, and piece k of `receive` comes from it.
  /// Requires: spans of size() * piece values, apart.
  virtual void exchange(std::span<const float> send, std::span<float> receive,
                        std::size_t piece) = 0;
  /// `receive` holds `send` of rank 0, then of rank 1, ... Requires: spans apart.
  virtual void gather_all(std::span<const float> send, std::span<float> receive) = 0;
  /// Everybody has the bytes of `root` afterwards.
  virtual void broadcast(std::span<std::byte> bytes, std::size_t root) = 0;
  /// True if all ranks say so.
  [[nodiscard]] virtual bool all_agree(bool own) = 0;
  virtual void barrier() = 0;
  /// Ends all ranks at once, this one too. For failures that the others cannot know of.
  [[noreturn]] virtual void abort(int exit_status) = 0;

 protected:
  Communicator() = default;
};

/// What a plug-in's `drey_make_communicator` returns; raised when this class changes.
inline constexpr std::uint32_t kCommunicatorVersion = 1;
}  // namespace drey::trainer
