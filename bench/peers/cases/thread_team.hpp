// thread_team.hpp: threads that stay, and do one piece of work after another, all together: starting
// threads is not part of what a case measures unless it says so.
//
// Invariant: run() returns when every member has done its part; members wait asleep, not spinning.
// Read next: mixed.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace drey::bench {
/// Keeps the calling thread on the index-th processor that the process may use, if there are so many. On
/// one processor nothing crosses between caches, and figures of threads that exchange blocks would
/// depend on where the system happened to run them.
inline void stay_on_processor(std::size_t index) {
  static const cpu_set_t allowed = [] {
    cpu_set_t set;
    CPU_ZERO(&set);
    static_cast<void>(sched_getaffinity(getpid(), sizeof(set), &set));
    return set;
  }();
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed) || index-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof(one), &one));
    return;
  }
}

class ThreadTeam {
 public:
  explicit ThreadTeam(std::size_t size) {
    members_.reserve(size);
    for (std::size_t member = 0; member < size; ++member) {
      members_.emplace_back([this, member] { serve(member); });
    }
  }
  ~ThreadTeam() {
    run({});
    for (std::thread& member : members_) member.join();
  }
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Each member calls work(its number). An empty function ends the team.
  void run(const std::function<void(std::size_t)>& work) {
    std::unique_lock lock(mutex_);
    work_ = work;
    pending_count_ = members_.size();
    ++order_number_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return pending_count_ == 0; });
  }

 private:
  void serve(std::size_t member) {
    for (std::size_t done_number = 0;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return order_number_ != done_number; });
      done_number = order_number_;
      const bool is_last_order = !work_;
      lock.unlock();
      if (!is_last_order) work_(member);  // unchanged until all are done
      lock.lock();
      if (--pending_count_ == 0) changed_.notify_all();
      if (is_last_order) return;
    }
  }

  std::vector<std::thread> members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void(std::size_t)> work_;
  std::size_t pending_count_ = 0;
  std::size_t order_number_ = 0;
};
}  // namespace drey::bench
