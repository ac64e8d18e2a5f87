// os.hpp: everything the allocator asks of the operating system, and nothing else asks it.
//
// Contract: noexcept; failure is null or false and leaves everything as it was; errno is kept by
// every function here, so that free() keeps it too. No function is a cancellation point.
// Sizes and addresses are multiples of page_bytes() where a range is meant.
// Tests link tests/support/fake_os.cpp instead of os_linux.cpp: the same names, failing on request.
// Read next: lock.hpp, then os_linux.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

namespace drey::os {
#if defined(__x86_64__)
/// Bits of an address that the kernel hands out unless asked by hint for more.
inline constexpr unsigned kAddressBits = 47;
#else
inline constexpr unsigned kAddressBits = 48;
#endif

/// Bytes of the kernel's page, asked at run time: 4, 16 or 64 KiB.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Reserves address space without access, aligned to `alignment` (a power of two).
/// Fails: null.
[[nodiscard]] void* reserve(std::size_t bytes, std::size_t alignment) noexcept;

/// Reserves address space that reads as zero and cannot be written: costs no memory until commit().
[[nodiscard]] void* reserve_readable(std::size_t bytes) noexcept;

/// Makes reserved pages readable and writable. Fails: false.
[[nodiscard]] bool commit(void* start, std::size_t bytes) noexcept;

/// Reserves and commits in one: readable, writable, zero, aligned.
[[nodiscard]] void* map(std::size_t bytes, std::size_t alignment) noexcept;

/// Gives address space back. Never fails in a way the caller could mend.
void unmap(void* start, std::size_t bytes) noexcept;

/// Resizes a mapping of map(): in place, or elsewhere if `may_move`. New bytes are zero.
/// Fails: null; the mapping is unchanged.
[[nodiscard]] void* remap(void* start, std::size_t old_bytes, std::size_t new_bytes,
                          bool may_move) noexcept;

/// Moves a mapping of map() to `target`, where nothing may lie, and cuts or grows it there.
/// Fails: false; the mapping is unchanged.
[[nodiscard]] bool move_to(void* start, std::size_t old_bytes, void* target,
                           std::size_t new_bytes) noexcept;

/// Drops the contents: resident memory shrinks at once, the pages read as zero afterwards.
/// Fails: false; the contents may or may not be gone (locked pages).
[[nodiscard]] bool purge(void* start, std::size_t bytes) noexcept;

/// Drops the contents and takes the access away: what reserve() gives.
/// Fails: false; the contents may or may not be gone, the access may stay.
[[nodiscard]] bool revoke(void* start, std::size_t bytes) noexcept;

/// Sixteen bytes that differ from process to process.
struct Seed {
  std::uint64_t first, second;
};
[[nodiscard]] Seed process_seed() noexcept;

/// Asks for transparent huge pages over a reservation, or for none. A wish: it may be refused.
void wish_huge_pages(void* start, std::size_t bytes, bool wanted) noexcept;

/// True if the page at `address`, within a mapping, is in memory; also when that cannot be told.
[[nodiscard]] bool is_resident(const void* address) noexcept;

/// Milliseconds of a monotonic clock that costs no system call; a few ms coarse.
[[nodiscard]] std::uint64_t now_ms() noexcept;

/// Value of an environment variable, null where unset, unreadable yet, or the process is setuid.
[[nodiscard]] const char* environment(const char* name) noexcept;

/// The index-th "NAME=value" of the environment; null past the last, and where environment() is.
[[nodiscard]] const char* environment_line(std::size_t index) noexcept;

/// True once the C library has set the environment up.
[[nodiscard]] bool environment_is_readable() noexcept;

/// Address-space limit of the process in bytes (RLIMIT_AS); SIZE_MAX for none.
[[nodiscard]] std::size_t address_space_limit_bytes() noexcept;

/// Calls `hook(argument)` when the calling thread ends, after all but the last round of other
/// thread-specific destructors. One hook per process; call again per thread. Fails: false.
[[nodiscard]] bool call_at_thread_exit(void (*hook)(void*), void* argument) noexcept;

/// Registers fork handlers once for the process's life.
void call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept;

/// Starts a detached thread that no signal reaches, with a small stack, named "drey-purge".
/// May allocate. Fails: false.
[[nodiscard]] bool start_thread(void (*body)() noexcept) noexcept;

/// Sleeps that long, or less when the kernel says so.
void sleep_ms(std::uint64_t duration_ms) noexcept;

/// System calls made through this file so far.
[[nodiscard]] std::uint64_t system_call_count() noexcept;
}  // namespace drey::os
