// faults.cpp: see faults.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/sim/faults.hpp>

#include <utility>

namespace drey::cuda::sim {
void Faults::fail_nth(std::uint64_t n, Result result) {
  nth_ = {{}, n, result};
}

void Faults::fail_nth(std::string_view name, std::uint64_t n, Result result) {
  nth_ = {std::string(name), n, result};
}

void Faults::fail_if(Predicate predicate, Result result) {
  predicate_ = std::move(predicate);
  predicate_result_ = result;
}

void Faults::break_context(Result result) {
  broken_ = result;
}

void Faults::clear() {
  nth_ = {};
  predicate_ = nullptr;
  before_ = nullptr;
  broken_ = Result::kSuccess;
}

std::uint64_t Faults::calls(std::string_view name) const {
  const auto found = calls_by_name_.find(name);
  return found == calls_by_name_.end() ? 0 : found->second;
}

Result Faults::verdict(const CallInfo& call) {
  if (broken_ != Result::kSuccess) return broken_;
  if (nth_.left != 0 && (nth_.name.empty() || nth_.name == call.name) && --nth_.left == 0)
    return nth_.result;
  return predicate_ && predicate_(call) ? predicate_result_ : Result::kSuccess;
}

Result Faults::next(std::string_view name, std::size_t bytes, Device device) {
  auto found = calls_by_name_.find(name);
  if (found == calls_by_name_.end()) found = calls_by_name_.emplace(std::string(name), 0).first;
  const Result result = verdict({name, ++calls_, ++found->second, bytes, device});
  if (result != Result::kSuccess) ++failed_;
  return result;
}
}  // namespace drey::cuda::sim
