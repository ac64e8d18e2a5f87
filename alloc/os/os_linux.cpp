// os_linux.cpp: os.hpp on Linux: mmap and its family, one pthread key, fork handlers.
//
// Invariants: every function keeps errno; nothing here reads a file, takes a lock or allocates.
// Memory is asked for by the kernel's own calls, not by the C library's names for them: a program
// may wrap mmap and allocate in the wrapper, and would come back here while a lock is held.
// Read next: os.hpp for the contract.
// SPDX-License-Identifier: MIT
#include "os/os.hpp"

#include <drey/base/bits.hpp>

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::os {
namespace {
std::atomic<std::uint64_t> call_count{0};

/// Counts one system call and keeps errno over it.
class SystemCall {
 public:
  SystemCall() noexcept : saved_errno_(errno) {
    // Relaxed: a statistic; pairs with system_call_count().
    call_count.fetch_add(1, std::memory_order_relaxed);
  }
  ~SystemCall() { errno = saved_errno_; }
  SystemCall(const SystemCall&) = delete;
  SystemCall& operator=(const SystemCall&) = delete;

 private:
  int saved_errno_;
};

/// A raw call's result: an address, or -1.
void* address_or_null(long result) noexcept {
  return result == -1 ? nullptr : reinterpret_cast<void*>(result);
}

bool discard(void* start, std::size_t bytes) noexcept {
  return ::syscall(SYS_madvise, start, bytes, MADV_DONTNEED) == 0;
}

void* map_anywhere(std::size_t bytes, int protection, int flags) noexcept {
  const SystemCall call;
  return address_or_null(
      ::syscall(SYS_mmap, nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0L));
}

/// Maps more than asked and cuts both ends off, since the kernel aligns to pages only.
void* map_aligned(std::size_t bytes, std::size_t alignment, int protection, int flags) noexcept {
  if (alignment <= page_bytes()) return map_anywhere(bytes, protection, flags);
  const std::size_t wide_bytes = bytes + alignment - page_bytes();
  if (wide_bytes < bytes) return nullptr;
  void* const wide = map_anywhere(wide_bytes, protection, flags);
  if (wide == nullptr) return nullptr;
  const std::uintptr_t wide_address = address_of(wide);
  const std::uintptr_t address = align_up(wide_address, alignment);
  auto* const start = static_cast<char*>(wide) + (address - wide_address);
  if (address != wide_address) unmap(wide, address - wide_address);
  const std::size_t tail_bytes = wide_address + wide_bytes - (address + bytes);
  if (tail_bytes != 0) unmap(start + bytes, tail_bytes);
  return start;
}

/// Key of the thread-exit hook: kKeyNone, then kKeyMaking, then the key plus kKeyBase.
constexpr std::uint32_t kKeyNone = 0;
constexpr std::uint32_t kKeyMaking = 1;
constexpr std::uint32_t kKeyBase = 2;
std::atomic<std::uint32_t> exit_key{kKeyNone};
std::atomic<void (*)(void*)> exit_hook{nullptr};

extern "C" void run_exit_hook(void* argument) {
  // Relaxed: set before the key that led here was made; the key's own publication orders it.
  exit_hook.load(std::memory_order_relaxed)(argument);
}

bool make_exit_key(void (*hook)(void*), pthread_key_t& key) noexcept {
  for (;;) {
    // Acquire: pairs with the release of the thread that made the key.
    std::uint32_t state = exit_key.load(std::memory_order_acquire);
    if (state >= kKeyBase) {
      key = state - kKeyBase;
      return true;
    }
    if (state == kKeyMaking) continue;  // another thread is between two lines below
    if (!exit_key.compare_exchange_strong(state, kKeyMaking, std::memory_order_acquire)) continue;
    exit_hook.store(hook, std::memory_order_relaxed);
    const bool made = ::pthread_key_create(&key, run_exit_hook) == 0;
    // Release: publishes key and hook; pairs with the acquire above.
    exit_key.store(made ? key + kKeyBase : kKeyNone, std::memory_order_release);
    return made;
  }
}
}  // namespace

std::size_t page_bytes() noexcept {
  static std::atomic<std::size_t> known_bytes{0};
  // Relaxed: every thread finds the same number; pairs with itself.
  std::size_t bytes = known_bytes.load(std::memory_order_relaxed);
  if (bytes == 0) {
    bytes = ::getauxval(AT_PAGESZ);
    if (bytes == 0) bytes = 4096;
    known_bytes.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

void* reserve(std::size_t bytes, std::size_t alignment) noexcept {
  return map_aligned(bytes, alignment, PROT_NONE, MAP_NORESERVE);
}

void* reserve_readable(std::size_t bytes) noexcept {
  void* const start = map_anywhere(bytes, PROT_READ, MAP_NORESERVE);
  if (start != nullptr) {
    const SystemCall call;
    ::syscall(SYS_madvise, start, bytes, MADV_DONTDUMP);
  }
  return start;
}

bool commit(void* start, std::size_t bytes) noexcept {
  const SystemCall call;
  return ::syscall(SYS_mprotect, start, bytes, PROT_READ | PROT_WRITE) == 0;
}

void* map(std::size_t bytes, std::size_t alignment) noexcept {
  return map_aligned(bytes, alignment, PROT_READ | PROT_WRITE, 0);
}

void unmap(void* start, std::size_t bytes) noexcept {
  const SystemCall call;
  if (::syscall(SYS_munmap, start, bytes) != 0) {
    // Out of mappings: a hole would split one. The memory at least goes back.
    static_cast<void>(discard(start, bytes));
  }
}

void* remap(void* start, std::size_t old_bytes, std::size_t new_bytes, bool may_move) noexcept {
  const SystemCall call;
  const int flags = may_move ? MREMAP_MAYMOVE : 0;
  return address_or_null(::syscall(SYS_mremap, start, old_bytes, new_bytes, flags, nullptr));
}

bool move_to(void* start, std::size_t old_bytes, void* target, std::size_t new_bytes) noexcept {
  const SystemCall call;
  // Claimed first: mremap() alone would throw out whatever another thread has mapped there.
  constexpr int kClaim = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  void* const claimed =
      address_or_null(::syscall(SYS_mmap, target, new_bytes, PROT_NONE, kClaim, -1, 0L));
  if (claimed == nullptr) return false;
  constexpr int kMove = MREMAP_MAYMOVE | MREMAP_FIXED;
  if (claimed == target && address_or_null(::syscall(SYS_mremap, start, old_bytes, new_bytes, kMove,
                                                     target)) == target) {
    return true;
  }
  // A kernel before 4.17 took the address for a wish; or the move was refused.
  static_cast<void>(::syscall(SYS_munmap, claimed, new_bytes));
  return false;
}

bool purge(void* start, std::size_t bytes) noexcept {
  const SystemCall call;
  return discard(start, bytes);
}

bool revoke(void* start, std::size_t bytes) noexcept {
  const SystemCall call;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return ::syscall(SYS_mmap, start, bytes, PROT_NONE, kFlags, -1, 0L) != -1;
}

Seed process_seed() noexcept {
  Seed seed{};
  // What the kernel leaves every process for this purpose: no call, no file, never unavailable.
  const auto* const bytes = reinterpret_cast<const void*>(::getauxval(AT_RANDOM));
  if (bytes != nullptr) std::memcpy(&seed, bytes, sizeof(seed));
  return seed;
}

void wish_huge_pages(void* start, std::size_t bytes, bool wanted) noexcept {
  const SystemCall call;
  const int advice = wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
  static_cast<void>(::syscall(SYS_madvise, start, bytes, advice));
}

bool is_resident(const void* address) noexcept {
  const SystemCall call;
  const std::size_t page = page_bytes();
  unsigned char state = 1;
  void* const start = reinterpret_cast<void*>(align_down(address_of(address), page));
  static_cast<void>(::syscall(SYS_mincore, start, page, &state));
  return (state & 1U) != 0;
}

std::uint64_t now_ms() noexcept {
  const int saved_errno = errno;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  errno = saved_errno;
  return static_cast<std::uint64_t>(now.tv_sec) * 1000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000'000;
}

bool environment_is_readable() noexcept {
  return ::environ != nullptr;
}

const char* environment(const char* name) noexcept {
  if (!environment_is_readable() || ::getauxval(AT_SECURE) != 0) return nullptr;
  return ::getenv(name);
}

const char* environment_line(std::size_t index) noexcept {
  if (!environment_is_readable() || ::getauxval(AT_SECURE) != 0) return nullptr;
  return ::environ[index];
}

std::size_t address_space_limit_bytes() noexcept {
  const SystemCall call;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return static_cast<std::size_t>(limit.rlim_cur);
}

bool call_at_thread_exit(void (*hook)(void*), void* argument) noexcept {
  const int saved_errno = errno;
  pthread_key_t key = 0;
  const bool armed = make_exit_key(hook, key) && ::pthread_setspecific(key, argument) == 0;
  errno = saved_errno;
  return armed;
}

void call_at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  ::pthread_atfork(before, in_parent, in_child);
}

namespace {
void* run_body(void* argument) {
  reinterpret_cast<void (*)() noexcept>(argument)();
  return nullptr;
}
}  // namespace

bool start_thread(void (*body)() noexcept) noexcept {
  constexpr std::size_t kStackBytes = std::size_t{128} * 1024;
  const int saved_errno = errno;
  pthread_attr_t attributes;
  bool started = ::pthread_attr_init(&attributes) == 0;
  if (started) {
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, kStackBytes);
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    // The new thread inherits the mask of this moment.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    started = ::pthread_create(&thread, &attributes, run_body, reinterpret_cast<void*>(body)) == 0;
    if (started) ::pthread_setname_np(thread, "drey-purge");
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::pthread_attr_destroy(&attributes);
  }
  errno = saved_errno;
  return started;
}

void sleep_ms(std::uint64_t duration_ms) noexcept {
  const SystemCall call;
  timespec left{static_cast<std::time_t>(duration_ms / 1000),
                static_cast<long>(duration_ms % 1000) * 1'000'000};
  static_cast<void>(::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &left, nullptr));
}

std::uint64_t system_call_count() noexcept {
  // Relaxed: a statistic; pairs with SystemCall.
  return call_count.load(std::memory_order_relaxed);
}
}  // namespace drey::os
