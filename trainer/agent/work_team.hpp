// work_team.hpp: some threads that take turns on jobs of several steps each.
// A job is a sequence (a member's gradient steps); jobs do not know of each other. Which thread does
// which step when is left to chance, so the result must not depend on it, and does not: the steps of
// one job are done in order, by one thread at a time.
// Invariants: run() returns when all steps of all jobs are done, and what they wrote is seen by the
// caller; the job with the most steps left goes first, so at the end no thread waits for longer than
// one slice. No heap call but at construction.
// Read next: work_team.cpp, ensemble.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace drey::trainer {
/// Does a part of a job. Threads: called by any thread of the team, for each job by one at a time.
class JobSteps {
 public:
  virtual ~JobSteps() = default;
  virtual void do_steps(std::size_t job, std::size_t step_count) = 0;
};

/// Threads: run() by one at a time.
class WorkTeam {
 public:
  /// The caller is one of the threads. Requires: both >= 1. Fails: std::system_error.
  WorkTeam(std::size_t thread_count, std::size_t job_count);
  ~WorkTeam();
  WorkTeam(const WorkTeam&) = delete;
  WorkTeam& operator=(const WorkTeam&) = delete;

  /// Does `step_count` steps of each job that `takes_part` names (all, if it is empty).
  /// Fails: what do_steps() throws first, after all threads have come to rest.
  void run(JobSteps& steps, std::size_t step_count, const std::vector<bool>& takes_part);

  [[nodiscard]] std::size_t thread_count() const { return threads_.size() + 1; }

 private:
  struct Job {
    std::size_t left = 0;
    bool is_taken = false;
  };

  void live();
  void work(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] Job* next_job();

  static constexpr std::size_t kSliceSteps = 4;

  std::mutex mutex_;
  std::condition_variable begun_;
  std::condition_variable ended_;
  std::vector<Job> jobs_;
  JobSteps* steps_ = nullptr;
  std::uint64_t round_ = 0;
  std::size_t working_count_ = 0;  ///< threads that are in work()
  std::exception_ptr failure_;
  bool is_over_ = false;
  std::vector<std::thread> threads_;
};
}  // namespace drey::trainer
