// work_team.cpp: see work_team.hpp. One lock guards everything; it is held between slices only, so a
// thread asks for it once in some hundred microseconds.
// SPDX-License-Identifier: MIT
#include "trainer/agent/work_team.hpp"

#include <algorithm>
#include <utility>

#include <drey/base/assert.hpp>

namespace drey::trainer {
namespace {
/// How much of a job a thread does before it looks again. Another job's weights and moments are not
/// in this core's cache: so large slices at first, and small ones at the end, when who is done early
/// would wait. A job of which one thread had no slice at first begins after 1 / threads of a job: no
/// later than it must where there is a job more than there are threads.
constexpr std::size_t slice_of(std::size_t left, std::size_t threads, std::size_t least) {
  return std::min(left, std::max(least, left / threads));
}
static_assert(slice_of(64, 2, 4) == 32 && slice_of(9, 2, 4) == 4 && slice_of(3, 2, 4) == 3);
}  // namespace

WorkTeam::WorkTeam(std::size_t thread_count, std::size_t job_count) : jobs_(job_count) {
  DREY_ASSERT(thread_count >= 1 && job_count >= 1);
  threads_.reserve(thread_count - 1);
  for (std::size_t index = 1; index < thread_count; ++index) {
    threads_.emplace_back([this] { live(); });
  }
}

WorkTeam::~WorkTeam() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

WorkTeam::Job* WorkTeam::next_job() {
  if (failure_) return nullptr;
  Job* best = nullptr;
  for (Job& job : jobs_) {
    if (!job.is_taken && job.left > 0 && (best == nullptr || job.left > best->left)) best = &job;
  }
  return best;
}

void WorkTeam::work(std::unique_lock<std::mutex>& lock) {
  ++working_count_;
  while (Job* const job = next_job()) {
    const auto index = static_cast<std::size_t>(job - jobs_.data());
    const std::size_t count = slice_of(job->left, threads_.size() + 1, kSliceSteps);
    job->is_taken = true;
    lock.unlock();
    std::exception_ptr failure;
    try {
      steps_->do_steps(index, count);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    job->is_taken = false;
    job->left -= count;
    if (failure && !failure_) failure_ = failure;
  }
  if (--working_count_ == 0) ended_.notify_one();
}

void WorkTeam::live() {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  for (;;) {
    begun_.wait(lock, [&] { return is_over_ || round_ != seen; });
    if (is_over_) return;
    seen = round_;
    work(lock);
  }
}

void WorkTeam::run(JobSteps& steps, std::size_t step_count, const std::vector<bool>& takes_part) {
  DREY_ASSERT(takes_part.empty() || takes_part.size() == jobs_.size());
  std::unique_lock lock(mutex_);
  for (std::size_t index = 0; index < jobs_.size(); ++index) {
    jobs_[index] = {takes_part.empty() || takes_part[index] ? step_count : 0, false};
  }
  steps_ = &steps;
  ++round_;
  if (!threads_.empty()) begun_.notify_all();
  work(lock);
  ended_.wait(lock, [&] { return working_count_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}
}  // namespace drey::trainer
