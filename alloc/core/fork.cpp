// fork.cpp: what happens before a fork, in the parent, in the child.
//
// Before: every lock is taken, in the order options, profile, shared heap, heap lists, private
// heaps, store, metadata, so that no other thread is inside one. In the child only the forking thread exists: the
// other threads' heaps become orphans, to be adopted, with all their blocks intact. A heap whose
// thread was changing its lists at that moment (Heap::busy) is lost instead: its blocks stay valid
// and can be freed, but its memory is not used again in the child. The same for private heaps.
// Read next: thread_heap.hpp.
// SPDX-License-Identifier: MIT
#include "core/metadata.hpp"
#include "core/options.hpp"
#include "core/private_heap.hpp"
#include "core/process.hpp"
#include "core/profile.hpp"
#include "core/purge_thread.hpp"
#include "core/segment_store.hpp"
#include "core/thread_heap.hpp"
#include "os/os.hpp"

#include <atomic>

namespace drey::core {
namespace {
void release_all() noexcept {
  release_metadata_lock();
  segment_store.lock().release();
  private_heap_lock().release();
  release_heap_locks();
  release_profile_lock();
  release_option_locks();
}

void before_fork() noexcept {
  acquire_option_locks();
  acquire_profile_lock();
  acquire_heap_locks();
  private_heap_lock().acquire();
  segment_store.lock().acquire();
  acquire_metadata_lock();
}

void in_child() noexcept {
  orphan_vanished_threads();
  forget_purge_thread();
  release_all();
}
}  // namespace

void register_fork_handlers() noexcept {
  static constinit std::atomic<bool> registered{false};
  // Relaxed: set before registering, which may allocate and come here again.
  if (registered.exchange(true, std::memory_order_relaxed)) return;
  os::call_at_fork(before_fork, release_all, in_child);
}
}  // namespace drey::core
