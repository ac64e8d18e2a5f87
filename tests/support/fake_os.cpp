// fake_os.cpp: os.hpp on real mappings, with the controls of fake_os.hpp.
// Read next: fake_os.hpp.
// SPDX-License-Identifier: MIT
#include "support/fake_os.hpp"

#include "os/os.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/bits.hpp>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

namespace drey::fake_os {
namespace {
/// One for each kind, and one for all of them together. Orders: all relaxed; statistics and
/// controls set at quiet points, ordered by whatever makes the point quiet.
struct Control {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<std::uint64_t> fail_at{0};             ///< the value of `calls` that fails; 0: none
  std::atomic<std::uint64_t> fail_from{UINT64_MAX};  ///< this and all later values fail
  std::atomic<bool> failing{false};

  /// Counts a call. Returns: true if it shall fail.
  bool count_call() noexcept {
    const std::uint64_t number = calls.fetch_add(1, std::memory_order_relaxed) + 1;
    return failing.load(std::memory_order_relaxed) ||
           number >= fail_from.load(std::memory_order_relaxed) ||
           number == fail_at.load(std::memory_order_relaxed);
  }
  void fail_nth(std::uint64_t n) noexcept {
    fail_at.store(n == 0 ? 0 : calls.load(std::memory_order_relaxed) + n,
                  std::memory_order_relaxed);
  }
  void reset() noexcept {
    calls = 0;
    bytes = 0;
    fail_at = 0;
    fail_from = UINT64_MAX;
    failing = false;
  }
};

struct Variable {
  const char* name;
  const char* value;

  /// "NAME=value", for the process's life.
  [[nodiscard]] const char* line() noexcept {
    std::snprintf(text, sizeof(text), "%s=%s", name, value);
    return text;
  }
  char text[8192];
};
constexpr std::size_t kVariablesMax = 16;

constinit Control kinds[kCallKinds];
constinit Control all_kinds;
constinit std::atomic<std::uint64_t> failed{0};
constinit std::atomic<std::uint64_t> calls_ever{0};
constinit std::atomic<std::size_t> held{0};
constinit std::atomic<std::uint64_t> clock_ms{1'000'000};
/// -1: nothing was wished.
constinit std::atomic<int> wish{-1};
constinit std::atomic<std::size_t> page_override{0};
constinit std::atomic<std::size_t> limit{SIZE_MAX};
constinit std::atomic<bool> environment_readable{false};
constinit std::atomic<bool> fork_handlers{false};
constinit Variable variables[kVariablesMax] = {};

using ExitHook = void (*)(void*);
constinit thread_local ExitHook exit_hook = nullptr;
constinit thread_local void* exit_argument = nullptr;

[[nodiscard]] Control& control_of(Call kind) noexcept {
  return kinds[static_cast<std::size_t>(kind)];
}
}  // namespace

/// Counts a call that may fail. Returns: true if it is to be carried out.
[[nodiscard]] static bool granted(Call kind) noexcept {
  calls_ever.fetch_add(1, std::memory_order_relaxed);
  const bool fails_by_kind = control_of(kind).count_call();
  const bool fails_by_number = all_kinds.count_call();
  if (!fails_by_kind && !fails_by_number) return true;
  failed.fetch_add(1, std::memory_order_relaxed);
  return false;
}

static void count_bytes(Call kind, std::size_t bytes) noexcept {
  control_of(kind).bytes.fetch_add(bytes, std::memory_order_relaxed);
}

/// Keeps errno, as the contract of os.hpp asks: even where the kernel itself refuses.
[[nodiscard]] static void* map_aligned(Call kind, std::size_t bytes, std::size_t alignment,
                                       int protection) noexcept {
  DREY_CHECK(bytes != 0 && is_power_of_two(alignment), "fake_os: a mapping without sense");
  if (!granted(kind)) return nullptr;
  const int saved_errno = errno;
  const auto kernel_page = static_cast<std::size_t>(::getpagesize());
  const std::size_t page = os::page_bytes();
  if (alignment < page) alignment = page;
  std::size_t wide_bytes = 0;
  if (__builtin_add_overflow(bytes, alignment - kernel_page, &wide_bytes)) return nullptr;
  void* const wide =
      ::mmap(nullptr, wide_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  errno = saved_errno;
  if (wide == MAP_FAILED) return nullptr;
  const std::uintptr_t address = align_up(address_of(wide), alignment);
  auto* const start = static_cast<char*>(wide) + (address - address_of(wide));
  if (start != wide) ::munmap(wide, address - address_of(wide));
  const std::size_t tail_bytes = address_of(wide) + wide_bytes - (address + bytes);
  if (tail_bytes != 0) ::munmap(start + bytes, tail_bytes);
  count_bytes(kind, bytes);
  held.fetch_add(bytes, std::memory_order_relaxed);
  return start;
}

/// Every range that is given to the system must be whole pages of the size that was told.
static void check_range(const void* start, std::size_t bytes) noexcept {
  DREY_CHECK(is_aligned(start, os::page_bytes()), "fake_os: a range that starts within a page");
  DREY_CHECK(bytes != 0 && bytes % static_cast<std::size_t>(::getpagesize()) == 0,
             "fake_os: a range that ends within a page");
}

void reset() noexcept {
  wish = -1;
  set_memory_nodes(false, 0);
  for (Control& control : kinds) control.reset();
  all_kinds.reset();
  failed = 0;
  page_override = 0;
  limit = SIZE_MAX;
  environment_readable = true;
  for (Variable& variable : variables) variable = {};
}

void fail_nth(std::uint64_t n) noexcept {
  all_kinds.fail_nth(n);
}
void fail_nth(Call kind, std::uint64_t n) noexcept {
  control_of(kind).fail_nth(n);
}
void fail_from(std::uint64_t n) noexcept {
  all_kinds.fail_from = n == 0 ? UINT64_MAX : all_kinds.calls + n;
}
void fail_all(bool failing) noexcept {
  all_kinds.failing = failing;
}
void fail_all(Call kind, bool failing) noexcept {
  control_of(kind).failing = failing;
}
std::uint64_t fallible_calls() noexcept {
  return all_kinds.calls;
}
std::uint64_t failed_calls() noexcept {
  return failed;
}
std::uint64_t calls(Call kind) noexcept {
  return control_of(kind).calls;
}
std::size_t bytes(Call kind) noexcept {
  return control_of(kind).bytes;
}
std::size_t held_bytes() noexcept {
  return held;
}
void set_now_ms(std::uint64_t now_ms) noexcept {
  clock_ms = now_ms;
}
void advance_ms(std::uint64_t by_ms) noexcept {
  clock_ms += by_ms;
}
void set_environment_readable(bool readable) noexcept {
  environment_readable = readable;
}
void set_address_space_limit(std::size_t limit_bytes) noexcept {
  limit = limit_bytes;
}
std::optional<bool> wished_huge_pages() noexcept {
  const int last = wish.load(std::memory_order_relaxed);
  return last < 0 ? std::nullopt : std::optional<bool>(last != 0);
}

bool has_fork_handlers() noexcept {
  return fork_handlers;
}

void set_page_bytes(std::size_t page_bytes) noexcept {
  DREY_CHECK(page_bytes % static_cast<std::size_t>(::getpagesize()) == 0,
             "fake_os: a page smaller than the kernel's");
  page_override = page_bytes;
}

void set_environment(const char* name, const char* value) noexcept {
  for (Variable& variable : variables) {
    if (variable.name != nullptr && std::strcmp(variable.name, name) != 0) continue;
    variable.name = name;
    variable.value = value;
    return;
  }
  fatal("fake_os: too many variables");
}

int end_this_thread() noexcept {
  int rounds = 0;
  while (exit_hook != nullptr && rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    const ExitHook hook = exit_hook;
    exit_hook = nullptr;
    hook(exit_argument);
    ++rounds;
  }
  return rounds;
}
}  // namespace drey::fake_os

namespace drey::os {
using fake_os::Call;

std::size_t page_bytes() noexcept {
  const std::size_t overridden = fake_os::page_override;
  return overridden != 0 ? overridden : static_cast<std::size_t>(::getpagesize());
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
  return fake_os::map_aligned(Call::kReserve, bytes, alignment, PROT_NONE);
}

void* reserve_readable(std::size_t bytes) noexcept {
  return fake_os::map_aligned(Call::kReserveReadable, bytes, page_bytes(), PROT_READ);
}

bool commit(void* start, std::size_t bytes) noexcept {
  fake_os::check_range(start, bytes);
  if (!fake_os::granted(Call::kCommit)) return false;
  const int saved_errno = errno;
  const bool done = ::mprotect(start, bytes, PROT_READ | PROT_WRITE) == 0;
  errno = saved_errno;
  if (done) fake_os::count_bytes(Call::kCommit, bytes);
  return done;
}

void* map(std::size_t bytes, std::size_t alignment) noexcept {
  return fake_os::map_aligned(Call::kMap, bytes, alignment, PROT_READ | PROT_WRITE);
}

void unmap(void* start, std::size_t bytes) noexcept {
  fake_os::check_range(start, bytes);
  fake_os::calls_ever.fetch_add(1, std::memory_order_relaxed);
  fake_os::control_of(Call::kUnmap).count_call();
  fake_os::count_bytes(Call::kUnmap, bytes);
  fake_os::held.fetch_sub(bytes, std::memory_order_relaxed);
  const int saved_errno = errno;
  DREY_CHECK(::munmap(start, bytes) == 0, "fake_os: munmap refused");
  errno = saved_errno;
}

void* remap(void* start, std::size_t old_bytes, std::size_t new_bytes, bool may_move) noexcept {
  fake_os::check_range(start, old_bytes);
  if (!fake_os::granted(Call::kRemap)) return nullptr;
  const int saved_errno = errno;
  void* const moved = ::mremap(start, old_bytes, new_bytes, may_move ? MREMAP_MAYMOVE : 0);
  errno = saved_errno;
  if (moved == MAP_FAILED) return nullptr;
  fake_os::count_bytes(Call::kRemap, new_bytes);
  fake_os::held.fetch_add(new_bytes - old_bytes, std::memory_order_relaxed);
  return moved;
}

bool move_to(void* start, std::size_t old_bytes, void* target, std::size_t new_bytes) noexcept {
  fake_os::check_range(start, old_bytes);
  fake_os::check_range(target, new_bytes);
  if (!fake_os::granted(Call::kMoveTo)) return false;
  const int saved_errno = errno;
  void* const claimed =
      ::mmap(target, new_bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  const bool moved = claimed == target && ::mremap(start, old_bytes, new_bytes,
                                                   MREMAP_MAYMOVE | MREMAP_FIXED, target) == target;
  errno = saved_errno;
  if (!moved) return false;
  fake_os::count_bytes(Call::kMoveTo, new_bytes);
  fake_os::held.fetch_add(new_bytes - old_bytes, std::memory_order_relaxed);
  return true;
}

bool purge(void* start, std::size_t bytes) noexcept {
  fake_os::check_range(start, bytes);
  if (!fake_os::granted(Call::kPurge)) return false;
  const int saved_errno = errno;
  const bool done = ::madvise(start, bytes, MADV_DONTNEED) == 0;
  errno = saved_errno;
  if (done) fake_os::count_bytes(Call::kPurge, bytes);
  return done;
}

bool revoke(void* start, std::size_t bytes) noexcept {
  fake_os::check_range(start, bytes);
  if (!fake_os::granted(Call::kPurge)) return false;
  const int saved_errno = errno;
  const bool done = ::mmap(start, bytes, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == start;
  errno = saved_errno;
  if (done) fake_os::count_bytes(Call::kPurge, bytes);
  return done;
}

Seed process_seed() noexcept {
  return {1, 2};
}

void wish_huge_pages(void* start, std::size_t bytes, bool wanted) noexcept {
  fake_os::check_range(start, bytes);
  fake_os::wish.store(wanted ? 1 : 0, std::memory_order_relaxed);
}

bool is_resident(const void* address) noexcept {
  const std::size_t page = page_bytes();
  unsigned char state = 1;
  void* const start = reinterpret_cast<void*>(align_down(address_of(address), page));
  static_cast<void>(::mincore(start, page, &state));
  return (state & 1U) != 0;
}

std::uint64_t now_ms() noexcept {
  return fake_os::clock_ms.load(std::memory_order_relaxed);
}

const char* environment(const char* name) noexcept {
  if (!environment_is_readable()) return nullptr;
  for (const fake_os::Variable& variable : fake_os::variables) {
    if (variable.name != nullptr && std::strcmp(variable.name, name) == 0) return variable.value;
  }
  return nullptr;
}

const char* environment_line(std::size_t index) noexcept {
  if (!environment_is_readable()) return nullptr;
  for (fake_os::Variable& variable : fake_os::variables) {
    if (variable.name != nullptr && index-- == 0) return variable.line();
  }
  return nullptr;
}

bool environment_is_readable() noexcept {
  return fake_os::environment_readable;
}

std::size_t address_space_limit_bytes() noexcept {
  return fake_os::limit;
}

bool call_at_thread_exit(void (*hook)(void*), void* argument) noexcept {
  if (!fake_os::granted(Call::kThreadExit)) return false;
  fake_os::exit_hook = hook;
  fake_os::exit_argument = argument;
  return true;
}

void call_at_fork(void (* /*before*/)(), void (* /*in_parent*/)(),
                  void (* /*in_child*/)()) noexcept {
  fake_os::fork_handlers = true;
}

bool start_thread(void (* /*body*/)() noexcept) noexcept {
  return false;  // no test of the core wants a clock of its own
}

void sleep_ms(std::uint64_t /*duration_ms*/) noexcept {}

std::uint64_t system_call_count() noexcept {
  return fake_os::calls_ever;
}
}  // namespace drey::os
