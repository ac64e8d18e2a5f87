// fake_os.hpp: an operating system for tests: real memory, but every call can be made to fail,
// calls and bytes are counted by kind, the clock stands still, and a thread's end is a function.
//
// fake_os.cpp defines every function of alloc/os/os.hpp. A test executable that contains it never
// pulls the real one out of the archive: see fake_os_test.cpp, which proves it.
// Threads: calls from any; controls at quiet points. Everything is constant-initialised, since the
// allocator's own constructor runs before any other.
// Read next: alloc/os/os.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace drey::fake_os {
/// What can fail and is counted. unmap() cannot fail, by its contract, but is counted.
enum class Call : std::size_t {
  kReserve,
  kReserveReadable,
  kCommit,
  kMap,
  kUnmap,
  kRemap,
  kMoveTo,
  kPurge,
  kThreadExit,
};
inline constexpr std::size_t kCallKinds = 9;

/// Takes every control back: nothing fails, counts are 0, no limit, the kernel's page, and an
/// environment that is readable and empty (before the first reset() it is not readable yet).
/// The clock, the memory that is held and the thread-exit hooks stay.
void reset() noexcept;

/// The n-th call from now on fails, once; 1 is the next. 0: none. Only kinds that can fail count.
void fail_nth(std::uint64_t n) noexcept;
void fail_nth(Call kind, std::uint64_t n) noexcept;

/// Every call from the n-th on fails, until fail_from(0) or reset().
void fail_from(std::uint64_t n) noexcept;

/// Every call fails, or every one of a kind, until told otherwise.
void fail_all(bool failing) noexcept;
void fail_all(Call kind, bool failing) noexcept;

/// Calls since the last reset() that could have failed, and how many were made to.
[[nodiscard]] std::uint64_t fallible_calls() noexcept;
[[nodiscard]] std::uint64_t failed_calls() noexcept;

/// Calls of a kind since the last reset(), failed ones included, and bytes of those granted.
[[nodiscard]] std::uint64_t calls(Call kind) noexcept;
[[nodiscard]] std::size_t bytes(Call kind) noexcept;

/// Address space held: mapped and reserved, less unmapped. reset() does not change it.
[[nodiscard]] std::size_t held_bytes() noexcept;

void set_now_ms(std::uint64_t now_ms) noexcept;
void advance_ms(std::uint64_t by_ms) noexcept;

/// Sets a variable; null unsets it. The texts must outlive their use. At most 16 names.
void set_environment(const char* name, const char* value) noexcept;
void set_environment_readable(bool readable) noexcept;

/// What the process may map; SIZE_MAX for no limit. Told, not enforced.
void set_address_space_limit(std::size_t limit_bytes) noexcept;

/// A larger page than the kernel's: what the allocator then rounds to is still a multiple of both.
/// 0: the kernel's own. Requires: a multiple of the kernel's.
void set_page_bytes(std::size_t page_bytes) noexcept;

/// What the system does when the calling thread ends: runs its hook, and again while it re-arms
/// itself, as often as POSIX grants. Returns: how often it ran.
int end_this_thread() noexcept;

/// True once the allocator has asked for fork handlers. They are never run.
[[nodiscard]] bool has_fork_handlers() noexcept;

/// Memory nodes of the machine, as its next user asks, and the one that every thread runs on.
/// reset(): one node, and nothing wished.
void set_memory_nodes(bool several, unsigned current) noexcept;
/// Node last wished for, for which range; nothing since the last reset().
struct NodeWish {
  const void* start;
  std::size_t bytes;
  unsigned node;
};
[[nodiscard]] std::optional<NodeWish> wished_memory_node() noexcept;

/// What was last wished of huge pages; nothing since the last reset().
[[nodiscard]] std::optional<bool> wished_huge_pages() noexcept;
}  // namespace drey::fake_os
