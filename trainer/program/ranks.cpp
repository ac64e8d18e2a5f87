// ranks.cpp: see ranks.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/ranks.hpp"

#include <span>

#include "trainer/parallel/load_communicator.hpp"
#include "trainer/program/log.hpp"

namespace drey::trainer {
Ranks::Ranks() {
  if (launched_rank_count() > 1) communicator_ = load_communicator();
  log_is_on = is_first();
}

void Ranks::agree(const std::exception_ptr& failure) const {
  if (!communicator_) {
    if (failure) std::rethrow_exception(failure);
    return;
  }
  bool is_first_well = !failure;
  communicator_->broadcast(std::as_writable_bytes(std::span<bool, 1>(&is_first_well, 1)), 0);
  if (communicator_->all_agree(!failure)) return;
  if (failure && (is_first() || is_first_well)) std::rethrow_exception(failure);
  throw OtherRankFailed();
}

bool Ranks::have_equal(const std::string& hash) const {
  if (!communicator_) return true;
  std::string first = hash;
  communicator_->broadcast(std::as_writable_bytes(std::span(first)), 0);
  return communicator_->all_agree(first == hash);
}
}  // namespace drey::trainer
