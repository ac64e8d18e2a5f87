// replay_thread.cpp: one thread's operations, in a loop. Read next: replay_thread.hpp.
// SPDX-License-Identifier: MIT
#include "replay/replay_thread.hpp"

#include <drey/base/units.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace drey::bench {
namespace {
constexpr std::uint64_t kPageBytes = 4096;

/// Waits until `is_there()`, and takes the time off.
template <typename Condition>
[[gnu::cold, gnu::noinline]] void wait_until(Replay& replay, Condition is_there) noexcept {
  const std::uint64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  while (!is_there()) sched_yield();
  // Relaxed: a sum, read when all threads have ended.
  replay.wait_ns.fetch_add(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns, std::memory_order_relaxed);
}

/// Writes as a program would, at the least: the ends, and each page.
void touch(void* block, std::uint64_t size, unsigned char mark) noexcept {
  auto* const bytes = static_cast<volatile unsigned char*>(block);
  for (std::uint64_t place = 0; place < size; place += kPageBytes) bytes[place] = mark;
  if (size > 0) bytes[size - 1] = mark;
}

void check(const void* block, std::uint64_t size, unsigned char mark) noexcept {
  const auto* const bytes = static_cast<const volatile unsigned char*>(block);
  if (size > 0 && (bytes[0] != mark || bytes[size - 1] != mark)) {
    stop_replay("a block's bytes have changed: this allocator handed memory out twice");
  }
}

template <Mode kMode>
class Thread {
 public:
  Thread(Replay& replay, std::uint64_t number) noexcept : replay_(replay), number_(number) {}

  void run(const Operation* operation, const Operation* end) noexcept {
    for (; operation != end; ++operation) {
      switch (operation->kind()) {
        case OperationKind::kMalloc:
        case OperationKind::kCalloc:
        case OperationKind::kAligned:
          put(*operation,
              kMode == Mode::kEmpty ? operation_as_block(operation) : allocate(*operation));
          break;
        case OperationKind::kFree:
          free_block(*operation);
          break;
        case OperationKind::kReallocateFrom:
          reallocate(*operation);
          ++operation;
          break;
        case OperationKind::kReallocateTo:
          stop_replay("the plan is wrong");
        case OperationKind::kStart:
          start_thread(replay_, operation->slot);
          break;
        case OperationKind::kPace:
          keep_pace(operation->slot);
          break;
      }
    }
  }

  static void start_thread(Replay& replay, std::uint64_t thread) noexcept;

 private:
  static void* operation_as_block(const Operation* operation) noexcept {
    return const_cast<Operation*>(operation);
  }

  static unsigned char mark_of(const Operation& operation) noexcept {
    return static_cast<unsigned char>(operation.slot * 31 + operation.sequence);
  }

  void* allocate(const Operation& operation) noexcept {
    const std::uint64_t size = operation.size();
    if (operation.kind() == OperationKind::kMalloc) return std::malloc(size);
    if (operation.kind() == OperationKind::kCalloc) {
      void* const block = std::calloc(1, size);
      if (kMode == Mode::kSampled && block != nullptr) check(block, size, 0);
      return block;
    }
    const std::uint64_t alignment = operation.alignment();
    void* block = nullptr;
    // posix_memalign alone is everybody's: it wants the size of a pointer at least.
    const int error =
        posix_memalign(&block, alignment < sizeof(void*) ? sizeof(void*) : alignment, size);
    return error == 0 ? block : nullptr;
  }

  /// Puts a new block into its slot, written.
  void put(const Operation& operation, void* block) noexcept {
    if (block == nullptr) stop_replay("out of memory");
    if constexpr (kMode != Mode::kEmpty) touch(block, operation.size(), mark_of(operation));
    Slot& slot = replay_.slots[operation.slot];
    slot.block = block;
    // Release: the block and its bytes; pairs with the acquire in take().
    slot.sequence.store(operation.sequence, std::memory_order_release);
    count(static_cast<std::int64_t>(operation.size()));
  }

  [[nodiscard]] void* take(const Operation& operation) noexcept {
    Slot& slot = replay_.slots[operation.slot];
    const auto is_there = [&]() noexcept {
      // Acquire: pairs with the release in put().
      return slot.sequence.load(std::memory_order_acquire) == operation.sequence;
    };
    if (!is_there()) [[unlikely]]
      wait_until(replay_, is_there);
    if constexpr (kMode == Mode::kSampled) {
      check(slot.block, operation.size(), mark_of(operation));
    }
    return slot.block;
  }

  void free_block(const Operation& operation) noexcept {
    void* const block = take(operation);
    if constexpr (kMode != Mode::kEmpty) std::free(block);
    count(-static_cast<std::int64_t>(operation.size()));
  }

  void reallocate(const Operation& from) noexcept {
    const Operation& to = (&from)[1];
    void* const old = take(from);
    if constexpr (kMode == Mode::kSampled) {
      // Relaxed: statistics.
      replay_.live_bytes.fetch_sub(static_cast<std::int64_t>(from.size()),
                                   std::memory_order_relaxed);
    }
    put(to, kMode == Mode::kEmpty ? old : std::realloc(old, to.size() == 0 ? 1 : to.size()));
  }

  void keep_pace(std::uint64_t stretch) noexcept {
    // Release: what this thread did before; pairs with the acquire below.
    replay_.progress[number_].stretch.store(stretch, std::memory_order_release);
    const auto all_are_near = [&]() noexcept {
      for (std::uint64_t thread = 0; thread < replay_.plan->thread_count; ++thread) {
        // Acquire: pairs with the releases above and in run_thread().
        if (replay_.progress[thread].stretch.load(std::memory_order_acquire) + 1 < stretch) {
          return false;
        }
      }
      return true;
    };
    if (!all_are_near()) wait_until(replay_, all_are_near);
  }

  /// One event is over.
  void count(std::int64_t bytes) noexcept {
    if constexpr (kMode == Mode::kSampled) {
      // Relaxed, all: statistics.
      replay_.live_bytes.fetch_add(bytes, std::memory_order_relaxed);
      const std::uint64_t events = replay_.events.fetch_add(1, std::memory_order_relaxed) + 1;
      if (events % replay_.sample_interval == 0) {
        take_sample(replay_, events / replay_.sample_interval - 1, events);
      }
    }
  }

  Replay& replay_;
  std::uint64_t number_;
};

constexpr std::uint64_t kEnded = UINT64_MAX / 2;

void run_thread(Replay& replay, std::uint64_t thread) noexcept {
  const Operation* const first = replay.operations + replay.threads[thread].first;
  const Operation* const end = first + replay.threads[thread].count;
  if (replay.mode == Mode::kTimed) Thread<Mode::kTimed>(replay, thread).run(first, end);
  if (replay.mode == Mode::kSampled) Thread<Mode::kSampled>(replay, thread).run(first, end);
  if (replay.mode == Mode::kEmpty) Thread<Mode::kEmpty>(replay, thread).run(first, end);
  // Release, both: all it did; pairs with the acquire of who waits for it.
  replay.progress[thread].stretch.store(kEnded, std::memory_order_release);
  replay.alive.fetch_sub(1, std::memory_order_release);
}

Replay* the_replay = nullptr;  // written before the first thread is started

extern "C" void* enter_thread(void* number) {
  run_thread(*the_replay, reinterpret_cast<std::uint64_t>(number));
  return nullptr;
}

template <Mode kMode>
void Thread<kMode>::start_thread(Replay& replay, std::uint64_t thread) noexcept {
  const auto has_room = [&]() noexcept {
    // Acquire: pairs with the release in run_thread().
    return replay.alive.load(std::memory_order_acquire) < replay.plan->threads_alive_max;
  };
  if (!has_room()) wait_until(replay, has_room);
  replay.alive.fetch_add(1, std::memory_order_relaxed);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  constexpr std::size_t kStackBytes = 256_KiB;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  pthread_t handle{};
  if (pthread_create(&handle, &attributes, enter_thread, reinterpret_cast<void*>(thread)) != 0) {
    stop_replay("a thread cannot be started");
  }
  pthread_attr_destroy(&attributes);
}
}  // namespace

void stop_replay(const char* reason) noexcept {
  std::fprintf(stderr, "drey-replay: %s\n", reason);
  _exit(EXIT_FAILURE);
}

std::uint64_t clock_ns(clockid_t clock) noexcept {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::int64_t resident_bytes() noexcept {
  char text[256] = {};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  long long total = 0;
  long long resident = 0;
  long long shared = 0;
  if (length <= 0 || std::sscanf(text, "%lld %lld %lld", &total, &resident, &shared) != 3) return 0;
  return (resident - shared) * sysconf(_SC_PAGESIZE);
}

void take_sample(Replay& replay, std::uint64_t index, std::uint64_t events) noexcept {
  Sample& sample = replay.samples[index < replay.samples_max ? index : replay.samples_max - 1];
  sample.wall_ns = clock_ns(CLOCK_MONOTONIC) - replay.wall_start_ns;
  sample.live_bytes = replay.live_bytes.load(std::memory_order_relaxed);
  sample.resident_bytes = resident_bytes() - replay.resident_before_bytes;
  sample.events = events;
}

void set_progress(Replay& replay) noexcept {
  for (std::uint64_t thread = 0; thread < replay.plan->thread_count; ++thread) {
    std::uint64_t stretch = kEnded;
    const PlanThread& operations = replay.threads[thread];
    if (operations.count > 0) {
      const Operation& first = replay.operations[operations.first];
      stretch = first.kind() == OperationKind::kPace ? first.slot : 0;
    }
    // Relaxed: before any other thread is there.
    replay.progress[thread].stretch.store(stretch, std::memory_order_relaxed);
  }
}

void replay_all(Replay& replay) noexcept {
  if (replay.plan->thread_count == 0) return;
  the_replay = &replay;
  replay.alive.store(1, std::memory_order_relaxed);
  run_thread(replay, 0);
  // Acquire: pairs with the release in run_thread().
  const auto all_ended = [&]() noexcept {
    return replay.alive.load(std::memory_order_acquire) == 0;
  };
  if (!all_ended()) wait_until(replay, all_ended);
}
}  // namespace drey::bench
