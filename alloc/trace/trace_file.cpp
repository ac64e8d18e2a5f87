// trace_file.cpp: see trace_file.hpp. All calls of the kernel are raw: a program may wrap the C
// library's names and allocate in the wrapper, which would come back here under the lock.
// Read next: recorder.cpp.
// SPDX-License-Identifier: MIT
#include "trace/trace_file.hpp"

#include "trace/clock.hpp"
#include "trace/recorder.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace drey::trace {
namespace {
constexpr std::uint64_t kStepBytes = 16 * kTraceChunkBytes;
constexpr int kNamesTried = 100;

[[nodiscard]] long open_file(const char* path, int flags) noexcept {
  constexpr int kMode = 0644;
  return ::syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, kMode);
}

void close_file(long file) noexcept {
  ::syscall(SYS_close, file);
}

/// Bytes of the file from `start` on, with their space on the disk. Fails: false, errno says why.
[[nodiscard]] bool allocate_space(long file, std::uint64_t start, std::uint64_t bytes) noexcept {
  if (::syscall(SYS_fallocate, file, 0, start, bytes) == 0) return true;
  if (errno != EOPNOTSUPP && errno != ENOSYS) return false;
  // A file system that knows no such call: zeros take the space as well.
  static constexpr char kZeros[4096] = {};
  for (std::uint64_t done = 0; done < bytes; done += sizeof kZeros) {
    if (::syscall(SYS_pwrite64, file, kZeros, sizeof kZeros, start + done) != sizeof kZeros) {
      return false;
    }
  }
  return true;
}

[[nodiscard]] void* map_shared(long file, std::uint64_t start, std::uint64_t bytes) noexcept {
  const long address =
      ::syscall(SYS_mmap, nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, start);
  return address == -1 ? nullptr : reinterpret_cast<void*>(address);
}

[[nodiscard]] bool identify(long file, std::uint64_t& device, std::uint64_t& inode) noexcept {
  struct stat status {};
  if (::syscall(SYS_fstat, file, &status) != 0) return false;
  device = status.st_dev;
  inode = status.st_ino;
  return true;
}

/// A program that grows a file beyond its limit is ended by a signal: so stay below it.
[[nodiscard]] std::uint64_t file_size_limit_bytes() noexcept {
  rlimit limit{};
  const bool known = ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return known ? limit.rlim_cur : UINT64_MAX;
}

/// Where a chunk lies in the file: behind the header's block.
[[nodiscard]] constexpr std::uint64_t start_of(std::uint64_t number) noexcept {
  return (number + 1) * kTraceChunkBytes;
}

/// Copies a C string into a field of the header, cut.
template <std::size_t kBytes>
void copy_text(char (&field)[kBytes], const char* text) noexcept {
  std::size_t length = 0;
  while (text != nullptr && text[length] != '\0' && length + 1 < kBytes) {
    field[length] = text[length];
    ++length;
  }
}
}  // namespace

std::uint64_t monotonic_ns() noexcept {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNanosecondsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void TraceFile::complain(const char* what) const noexcept {
  const char* const reason = ::strerrordesc_np(errno);
  Text<1400> line;
  line.add("drey: trace ").add(path_).add(": ").add(what).add(": ");
  line.add(reason != nullptr ? reason : "unknown error");
  line.add("; the program runs on without");
  write_line_to_stderr(line.c_str());
}

bool TraceFile::create(const char* name, bool is_child, std::uint64_t limit_bytes) noexcept {
  long file = -1;
  for (int attempt = is_child ? 1 : 0; attempt < kNamesTried; ++attempt) {
    Text<sizeof path_> path;
    path.add(name);
    if (attempt > 0) path.add(".").add(static_cast<std::uint64_t>(::getpid()));
    if (attempt > 1) path.add(".").add(static_cast<std::uint64_t>(attempt));
    std::memcpy(path_, path.c_str(), path.length() + 1);
    file = open_file(path_, O_CREAT | O_EXCL);
    if (file >= 0 || errno != EEXIST) break;
  }
  const std::uint64_t system_limit_bytes = file_size_limit_bytes();
  limit_bytes_ = limit_bytes < system_limit_bytes ? limit_bytes : system_limit_bytes;
  if (file < 0) {
    complain("cannot be made");
    return false;
  }
  const bool is_ready = identify(file, device_, inode_) && kTraceChunkBytes <= limit_bytes_ &&
                        allocate_space(file, 0, kTraceChunkBytes);
  header_ = is_ready ? static_cast<TraceHeader*>(map_shared(file, 0, kTraceChunkBytes)) : nullptr;
  if (header_ == nullptr) {
    complain("has no room");
  } else {
    file_bytes_ = kTraceChunkBytes;
    fill_header();
  }
  close_file(file);
  return header_ != nullptr;
}

void TraceFile::fill_header() noexcept {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  constexpr std::uint64_t kCalibrationNs = 100'000;
  timespec real{};
  ::clock_gettime(CLOCK_REALTIME, &real);
  header_->version = kTraceVersion;
  header_->record_bytes = sizeof(TraceRecord);
  header_->chunk_bytes = kTraceChunkBytes;
  header_->clock = stamps_are_ticks ? Clock::kTicks : Clock::kNanoseconds;
  header_->realtime_ns = static_cast<std::uint64_t>(real.tv_sec) * kNanosecondsPerSecond +
                         static_cast<std::uint64_t>(real.tv_nsec);
  header_->process = static_cast<std::uint32_t>(::getpid());
  copy_text(header_->program, program_invocation_name);
  header_->first_ns = monotonic_ns();
  header_->first_ticks = stamp();
  // A first idea of the rate, for traces that end before a better one.
  while (monotonic_ns() - header_->first_ns < kCalibrationNs) continue;
  stamp_header();
  std::memcpy(header_->magic, kTraceMagic, sizeof kTraceMagic);  // last: now it is a trace
}

void TraceFile::stamp_header() noexcept {
  header_->last_ns = monotonic_ns();
  header_->last_ticks = stamp();
}

long TraceFile::open_again() const noexcept {
  const long file = open_file(path_, 0);
  if (file < 0) {
    complain("cannot be opened again");
    return -1;
  }
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  if (identify(file, device, inode) && device == device_ && inode == inode_) return file;
  errno = ESTALE;
  complain("is not the file it was");
  close_file(file);
  return -1;
}

bool TraceFile::grow() noexcept {
  const std::uint64_t left_bytes = file_bytes_ < limit_bytes_ ? limit_bytes_ - file_bytes_ : 0;
  std::uint64_t bytes = left_bytes < kStepBytes ? left_bytes : kStepBytes;
  bytes -= bytes % kTraceChunkBytes;
  if (bytes == 0) {
    header_->flags |= kFlagLimitReached;
    return false;
  }
  const long file = open_again();
  if (file < 0) return false;
  const bool has_grown = allocate_space(file, file_bytes_, bytes);
  if (has_grown) file_bytes_ += bytes;
  if (!has_grown) complain("cannot grow");
  close_file(file);
  return has_grown;
}

bool TraceFile::take_chunk(std::uint64_t& number) noexcept {
  number = header_->chunk_count;
  if (!is_full_ && start_of(number) + kTraceChunkBytes > file_bytes_) is_full_ = !grow();
  if (is_full_) return false;
  header_->chunk_count = number + 1;
  stamp_header();
  return true;
}

TraceRecord* TraceFile::map_chunk(std::uint64_t number) noexcept {
  const long file = open_again();
  if (file < 0) return nullptr;
  auto* const chunk =
      static_cast<ChunkHeader*>(map_shared(file, start_of(number), kTraceChunkBytes));
  if (chunk == nullptr) complain("cannot be mapped");
  close_file(file);
  if (chunk == nullptr) return nullptr;
  chunk->index = static_cast<std::uint32_t>(number);
  chunk->magic = kChunkMagic;
  return reinterpret_cast<TraceRecord*>(chunk + 1);
}

bool TraceFile::copy_out(TraceRecord* end, std::uint64_t number) const noexcept {
  TraceRecord* const records = end - kRecordsPerChunk;
  const ChunkHeader head{kChunkMagic, static_cast<std::uint32_t>(number), 0};
  const iovec parts[] = {{const_cast<ChunkHeader*>(&head), sizeof head},
                         {records, kRecordsPerChunk * sizeof(TraceRecord)}};
  const long file = open_again();
  if (file < 0) return false;
  const long written = ::syscall(SYS_pwritev, file, parts, 2, start_of(number), 0L);
  if (written != static_cast<long>(kTraceChunkBytes)) complain("cannot be written");
  close_file(file);
  if (written != static_cast<long>(kTraceChunkBytes)) return false;
  // Killed between these, the process leaves a chunk that says that its records are elsewhere.
  std::atomic_ref<std::uint64_t> emptying(reinterpret_cast<ChunkHeader*>(records)[-1].emptying);
  // Relaxed with fences for the compiler alone: what reads it is a file, after the process.
  emptying.store(1, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memset(records, 0, kRecordsPerChunk * sizeof(TraceRecord));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  emptying.store(0, std::memory_order_relaxed);
  return true;
}

void TraceFile::unmap_chunk(TraceRecord* end) noexcept {
  char* const start = reinterpret_cast<char*>(end) - kTraceChunkBytes;
  ::syscall(SYS_munmap, start, kTraceChunkBytes);
}

std::uint32_t TraceFile::take_thread_number() noexcept {
  const auto number = static_cast<std::uint32_t>(header_->thread_count);
  header_->thread_count += 1;
  return number;
}

void TraceFile::add_lost() noexcept {
  if (header_ == nullptr) return;
  // Relaxed: a statistic; pairs with itself.
  std::atomic_ref<std::uint64_t>(header_->lost_count).fetch_add(1, std::memory_order_relaxed);
}

void TraceFile::finish() noexcept {
  stamp_header();
  header_->flags |= kFlagEndedInOrder;
  const std::uint64_t used_bytes = start_of(header_->chunk_count);
  if (used_bytes == file_bytes_) return;
  const long file = open_again();
  if (file < 0) return;
  if (::syscall(SYS_ftruncate, file, used_bytes) == 0) file_bytes_ = used_bytes;
  close_file(file);
}
}  // namespace drey::trace
