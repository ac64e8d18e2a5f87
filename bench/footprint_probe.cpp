// footprint_probe.cpp: a trivial program that says how much memory it holds: at rest, with 64 MiB
// of 900-byte blocks (one observation each), and after giving them back. One JSON object on one
// line.
//
// It uses no library but libc and keeps its own book-keeping out of the heap, so that what is left
// is the allocator's. Run under LD_PRELOAD by `drey-bench footprint`.
// Read next: race/footprint.cpp.
// SPDX-License-Identifier: MIT
#include <drey/base/active_allocator.hpp>
#include <drey/base/units.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {
using namespace drey;  // NOLINT: for its units, _KiB and _MiB

constexpr std::size_t kBlockBytes = 225 * sizeof(float);
constexpr std::size_t kBlockCount = 64_MiB / kBlockBytes;

/// Reads `path` into `text`, NUL-terminated; empty on failure. Without stdio, which would allocate.
template <std::size_t kCapacity>
void read_text(const char* path, char (&text)[kCapacity]) noexcept {
  text[0] = '\0';
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  const ssize_t count = read(descriptor, text, kCapacity - 1);
  close(descriptor);
  if (count > 0) text[count] = '\0';
}

/// KiB of the line that starts with `key`; -1 if there is none.
long kib_after(const char* text, const char* key) noexcept {
  const char* const line = std::strstr(text, key);
  return line == nullptr ? -1 : std::strtol(line + std::strlen(key), nullptr, 10);
}

/// Resident bytes now, exact where the kernel has smaps_rollup (4.14), else from status.
long resident_bytes() noexcept {
  static char text[8_KiB];
  read_text("/proc/self/smaps_rollup", text);
  long kib = kib_after(text, "\nRss:");
  if (kib < 0) {
    read_text("/proc/self/status", text);
    kib = kib_after(text, "\nVmRSS:");
  }
  return kib < 0 ? -1 : kib * 1024;
}
}  // namespace

int main() {
  void* volatile first = std::malloc(64);  // an allocator is at rest once it has been asked
  std::free(first);
  const long rest_bytes = resident_bytes();

  void* const area = mmap(nullptr, kBlockCount * sizeof(void*), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (area == MAP_FAILED) return EXIT_FAILURE;
  auto* const blocks = static_cast<void**>(area);
  const long before_bytes = resident_bytes();
  for (std::size_t index = 0; index < kBlockCount; ++index) {
    blocks[index] = std::malloc(kBlockBytes);
    if (blocks[index] == nullptr) return EXIT_FAILURE;
    std::memset(blocks[index], 1, kBlockBytes);
  }
  const long filled_bytes = resident_bytes() - before_bytes;
  for (std::size_t index = 0; index < kBlockCount; ++index) std::free(blocks[index]);
  const long kept_bytes = resident_bytes() - before_bytes;

  const drey::ActiveAllocator active = drey::active_allocator();
  std::printf(
      "{\"rest_bytes\": %ld, \"payload_bytes\": %zu, \"filled_bytes\": %ld, \"kept_bytes\": %ld, "
      "\"allocator\": {\"name\": \"%s\", \"version\": \"%s\", \"how\": \"%s\"}}\n",
      rest_bytes, kBlockCount * kBlockBytes, filled_bytes, kept_bytes, active.name,
      active.version.c_str(), active.how.c_str());
  return EXIT_SUCCESS;
}
