// faults.hpp: which driver calls of the simulated device fail, and with what.
//
// Invariants: a call that is made to fail has no effect at all. Calls are numbered from 1 in the
// order in which they come, all together and by name; those that fail count too.
// Read next: simulator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace drey::cuda::sim {
/// One call, as a predicate sees it.
struct CallInfo {
  std::string_view name;         ///< "cuMemCreate"
  std::uint64_t number;          ///< among all calls
  std::uint64_t number_by_name;  ///< among the calls of this name
  std::size_t bytes;             ///< what it asks for, where it asks for bytes; else 0
  Device device;                 ///< current one; -1 without a context
};

/// Threads: controls at quiet points, when no driver call runs.
class Faults {
 public:
  using Predicate = std::function<bool(const CallInfo&)>;

  /// The n-th call from now on fails, once; 1 is the next.
  void fail_nth(std::uint64_t n, Result result);
  /// The n-th call of this name from now on fails, once.
  void fail_nth(std::string_view name, std::uint64_t n, Result result);
  /// Every call for which the predicate is true fails.
  void fail_if(Predicate predicate, Result result);
  /// Every call fails from now on, as after an error that breaks the context.
  void break_context(Result result);
  /// Runs at the beginning of every call, on its thread, before anything else and without a lock: a
  /// slow call, or a place to stop a thread at. It may make calls of its own.
  void before_each(std::function<void(std::string_view name)> hook) { before_ = std::move(hook); }
  /// Takes all of it back. The counts go on.
  void clear();

  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t calls(std::string_view name) const;
  /// Calls that were made to fail.
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

  /// For the simulator: a call begins.
  void begin(std::string_view name) const {
    if (before_) before_(name);
  }
  /// For the simulator: counts a call and says how it goes.
  [[nodiscard]] Result next(std::string_view name, std::size_t bytes, Device device);

 private:
  struct Nth {
    std::string name;  // empty: any
    std::uint64_t left = 0;
    Result result = Result::kSuccess;
  };

  Result verdict(const CallInfo& call);

  std::uint64_t calls_ = 0;
  std::uint64_t failed_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> calls_by_name_;
  Nth nth_;
  Predicate predicate_;
  Result predicate_result_ = Result::kSuccess;
  Result broken_ = Result::kSuccess;
  std::function<void(std::string_view name)> before_;
};
}  // namespace drey::cuda::sim
