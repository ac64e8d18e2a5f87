// recorder.cpp: the slow path of an event: the first of a process or thread, a full chunk, a child
// of a fork, a thread that ends.
//
// All that is process-wide lies in one mapping with MADV_WIPEONFORK: in a child it reads as zero, the
// lock included, and the child starts a trace of its own at its first event. Chunks of threads that
// ended are handed on, so that many short threads do not cost a chunk each.
// Read next: recorder.hpp, trace_file.hpp, settings.hpp.
// SPDX-License-Identifier: MIT
#include "trace/recorder.hpp"

#include "os/lock.hpp"
#include "os/os.hpp"
#include "trace/settings.hpp"
#include "trace/trace_file.hpp"

#include <drey/base/assert.hpp>

#include <cerrno>
#include <climits>
#include <new>

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::trace {
[[gnu::tls_model("initial-exec")]] constinit thread_local ThreadBuffer this_buffer;

namespace {
constexpr std::size_t kHandedOnMax = 2048;

/// Room in a chunk whose thread has ended.
struct Rest {
  TraceRecord* next;
  TraceRecord* end;
};

struct State {
  Gate gate;
  os::Lock lock;
  TraceFile file;
  std::size_t rest_count;
  Rest rests[kHandedOnMax];
};

enum class Mode : int { kUnknown, kOff, kOn };
constinit std::atomic<Mode> mode{Mode::kUnknown};
constinit State* state = nullptr;  // written once, before mode is kOn
constinit os::Lock start_lock;  // held only before mode is known: never across a fork that matters
constinit bool has_started = false;
constinit pthread_key_t exit_key;
constinit bool has_exit_key = false;
constinit Settings settings;

extern "C" void end_recording_thread(void* rounds_left);

/// The mapping that is zero in every child. Fails: null.
[[nodiscard]] State* make_state() noexcept {
  const std::size_t bytes = align_up(sizeof(State), os::page_bytes());
  void* const place = os::map(bytes, os::page_bytes());
  if (place == nullptr) return nullptr;
  constexpr int kWipeOnFork = 18;
  if (::syscall(SYS_madvise, place, bytes, kWipeOnFork) != 0) {
    os::unmap(place, bytes);
    return nullptr;
  }
  return ::new (place) State;  // default-initialised: zero as the mapping is
}

/// Reads the environment, once it is there. Returns the mode.
[[nodiscard]] Mode find_mode() noexcept {
  const os::LockHolder hold(start_lock);
  // Relaxed: under the lock; pairs with the release below.
  Mode found = mode.load(std::memory_order_relaxed);
  if (found != Mode::kUnknown || !os::environment_is_readable()) return found;
  found = read_settings(settings) ? Mode::kOn : Mode::kOff;
  if (found == Mode::kOn) {
    state = make_state();
    if (state == nullptr) {
      write_line_to_stderr("drey: DREY_TRACE ignored: this kernel has no MADV_WIPEONFORK");
      found = Mode::kOff;
    }
    stamps_are_ticks = !settings.wants_kernel_clock && processor_counter_is_steady();
    has_exit_key = ::pthread_key_create(&exit_key, end_recording_thread) == 0;
  }
  // Release: state and settings; pairs with the acquire in record_slowly().
  mode.store(found, std::memory_order_release);
  return found;
}

/// Under the lock: the process's trace, begun if it is not. Returns its generation, 0 for none.
[[nodiscard]] std::uint64_t begin_trace() noexcept {
  // Relaxed: under the lock.
  std::uint64_t generation = state->gate.generation.load(std::memory_order_relaxed);
  if (generation != 0) return generation;
  const bool is_child = has_started;
  has_started = true;
  if (!state->file.create(settings.path, is_child, settings.limit_bytes)) {
    // Release, as in find_mode(). Neither this process nor its children try again.
    mode.store(Mode::kOff, std::memory_order_release);
    return 0;
  }
  // Another one than the parent's, whose buffers this process's threads may still hold.
  generation = (processor_counter() ^ (static_cast<std::uint64_t>(::getpid()) << 40)) | 1;
  state->gate.generation.store(generation, std::memory_order_relaxed);
  return generation;
}

/// The record that says whose the ones behind it are.
void write_head(ThreadBuffer& buffer) noexcept {
  *buffer.next++ = {stamp(), pack(RecordKind::kThread, buffer.thread, 0), buffer.part++};
}

/// Under the lock: a chunk of its own for this thread, or what another one left. Fails: false.
[[nodiscard]] bool take_room(ThreadBuffer& buffer, std::uint64_t generation) noexcept {
  if (buffer.generation != generation) {
    buffer.generation = generation;
    buffer.fast_generation = stamps_are_ticks ? generation : kNeverFast;
    buffer.gate = &state->gate;
    buffer.has_number = false;
    buffer.part = 0;
  }
  buffer.next = nullptr;
  buffer.end = nullptr;
  if (state->rest_count > 0) {
    const Rest& rest = state->rests[--state->rest_count];
    buffer.next = rest.next;
    buffer.end = rest.end;
  } else {
    std::uint64_t number = 0;
    if (state->file.take_chunk(number)) buffer.next = state->file.map_chunk(number);
    if (buffer.next == nullptr) return false;
    buffer.end = buffer.next + kRecordsPerChunk;
  }
  if (!buffer.has_number) buffer.thread = state->file.take_thread_number();
  buffer.has_number = true;
  write_head(buffer);
  return true;
}

/// Empties this thread's chunk into the file, the write without the lock. Fails: false.
[[nodiscard]] bool empty_chunk(ThreadBuffer& buffer) noexcept {
  std::uint64_t number = 0;
  {
    const os::LockHolder hold(state->lock);
    if (!state->file.take_chunk(number)) return false;
  }
  if (!state->file.copy_out(buffer.end, number)) {
    const os::LockHolder hold(state->lock);
    state->file.close_for_good();
    return false;
  }
  buffer.next = buffer.end - kRecordsPerChunk;
  write_head(buffer);
  return true;
}

/// Under the lock: hands this thread's room on; unmaps it if there is hardly any.
void give_room_back(ThreadBuffer& buffer) noexcept {
  constexpr std::ptrdiff_t kWorthKeeping = 8;
  if (buffer.end != nullptr) {
    if (buffer.end - buffer.next >= kWorthKeeping && state->rest_count < kHandedOnMax) {
      state->rests[state->rest_count++] = {buffer.next, buffer.end};
    } else {
      TraceFile::unmap_chunk(buffer.end);
    }
  }
  buffer.next = nullptr;
  buffer.end = nullptr;
}

[[nodiscard]] bool is_of_this_process(const ThreadBuffer& buffer) noexcept {
  // Relaxed: a child of a fork sees zero at once, and has no other threads.
  return buffer.generation == state->gate.generation.load(std::memory_order_relaxed);
}

void write(ThreadBuffer& buffer, std::uint64_t word, std::size_t size) noexcept {
  TraceRecord* const place = buffer.next++;
  *place = {stamp(), word, size};
}

/// Takes room if there is none, and writes the record. Returns true if the room is this thread's to
/// keep and new.
[[nodiscard]] bool record_with_room(ThreadBuffer& buffer, std::uint64_t word,
                                    std::size_t size) noexcept {
  if (buffer.end != nullptr && is_of_this_process(buffer)) {
    if (buffer.next == buffer.end && !empty_chunk(buffer)) {
      state->file.add_lost();
    } else {
      write(buffer, word, size);
    }
    return false;
  }
  const os::LockHolder hold(state->lock);
  const std::uint64_t generation = begin_trace();
  if (generation == 0) return false;
  if (!take_room(buffer, generation)) {
    state->file.add_lost();
    return false;
  }
  write(buffer, word, size);
  if (buffer.ended) give_room_back(buffer);
  return !buffer.ended;
}

extern "C" void end_recording_thread(void* rounds_left) {
  // As late as may be: other destructors free blocks too.
  const std::uintptr_t left = address_of(rounds_left);
  if (left > 1 && ::pthread_setspecific(exit_key, reinterpret_cast<const void*>(left - 1)) == 0) {
    return;
  }
  ThreadBuffer& buffer = this_buffer;
  if (!is_of_this_process(buffer)) return;
  const os::LockHolder hold(state->lock);
  buffer.ended = true;
  give_room_back(buffer);
}

[[gnu::destructor]] void finish_trace() {
  // Acquire: pairs with the release in find_mode().
  if (mode.load(std::memory_order_acquire) != Mode::kOn) return;
  const int saved_errno = errno;
  {
    const os::LockHolder hold(state->lock);
    if (state->gate.generation.load(std::memory_order_relaxed) != 0) state->file.finish();
  }
  errno = saved_errno;
}
}  // namespace

constinit bool stamps_are_ticks = false;

void record_slowly(std::uint64_t word, std::size_t size) noexcept {
  // Acquire: pairs with the release in find_mode().
  Mode found = mode.load(std::memory_order_acquire);
  if (found == Mode::kOff) return;
  ThreadBuffer& buffer = this_buffer;
  if (buffer.busy) {  // a signal handler, within the lines below
    if (state != nullptr) state->file.add_lost();
    return;
  }
  // Each event comes by here where the processor's counter will not do.
  if (found == Mode::kOn && buffer.next != buffer.end && !buffer.ended &&
      is_of_this_process(buffer)) {
    return write(buffer, word, size);
  }
  const int saved_errno = errno;
  buffer.busy = true;
  if (found == Mode::kUnknown) found = find_mode();
  const bool is_new = found == Mode::kOn && record_with_room(buffer, word, size);
  buffer.busy = false;
  if (is_new && has_exit_key) {
    // It may allocate: an ordinary event, now that there is room.
    ::pthread_setspecific(exit_key, reinterpret_cast<const void*>(PTHREAD_DESTRUCTOR_ITERATIONS));
  }
  errno = saved_errno;
}
}  // namespace drey::trace
