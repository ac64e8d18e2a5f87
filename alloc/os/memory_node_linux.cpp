// memory_node_linux.cpp: memory_node.hpp on Linux: a file of sysfs, getcpu, mbind.
// SPDX-License-Identifier: MIT
#include "os/memory_node.hpp"

#include <cerrno>
#include <climits>

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace drey::os {
namespace {
/// Nodes that a mask names; the kernel's own limit is 1,024.
constexpr unsigned kNodesMax = 1024;
constexpr unsigned kMaskBits = sizeof(unsigned long) * CHAR_BIT;

class KeptErrno {
 public:
  KeptErrno() noexcept : saved_(errno) {}
  ~KeptErrno() { errno = saved_; }
  KeptErrno(const KeptErrno&) = delete;
  KeptErrno& operator=(const KeptErrno&) = delete;

 private:
  int saved_;
};
}  // namespace

bool has_memory_nodes() noexcept {
  const KeptErrno kept;
  const long descriptor =
      ::syscall(SYS_openat, AT_FDCWD, "/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  // "0" where there is one node, else "0-1" or "0,8".
  char text[64];
  const long length = ::syscall(SYS_read, descriptor, text, sizeof(text));
  ::syscall(SYS_close, descriptor);
  for (long index = 0; index < length; ++index) {
    if (text[index] == '-' || text[index] == ',') return true;
  }
  return false;
}

unsigned memory_node() noexcept {
  const KeptErrno kept;
  unsigned processor = 0;
  unsigned node = 0;
  return ::getcpu(&processor, &node) == 0 && node < kNodesMax ? node : 0;
}

void wish_memory_node(void* start, std::size_t bytes, unsigned node) noexcept {
  if (node >= kNodesMax) return;
  const KeptErrno kept;
  unsigned long mask[kNodesMax / kMaskBits] = {};
  mask[node / kMaskBits] = 1UL << (node % kMaskBits);
  // One more than the bits that count: the kernel takes one off.
  static_cast<void>(::syscall(SYS_mbind, start, bytes, MPOL_PREFERRED, mask, kNodesMax + 1UL, 0U));
}
}  // namespace drey::os
