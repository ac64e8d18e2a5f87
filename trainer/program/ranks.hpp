// ranks.hpp: this process among those of its job. Alone, unless a launcher such as mpirun started several.
// Invariant: rank 0 alone prints and writes; a failure that one rank has before training ends all of
// them in order, one during training ends them at once, and never does a rank wait for one that is gone.
// Read next: parallel/communicator.hpp, trainer_main.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "trainer/parallel/communicator.hpp"

namespace drey::trainer {
/// Another rank has said why the job ends.
struct OtherRankFailed {};

/// Threads: one at a time.
class Ranks {
 public:
  /// Connects to the others if there are any. Fails: ConfigError.
  Ranks();

  /// Null: there are no others.
  [[nodiscard]] Communicator* communicator() const { return communicator_.get(); }
  [[nodiscard]] bool is_first() const { return !communicator_ || communicator_->rank() == 0; }
  [[nodiscard]] std::size_t count() const { return communicator_ ? communicator_->size() : 1; }

  /// Collective: `failure` is null on a rank where all is well so far. Fails: with it, or, on ranks
  /// without one and where rank 0 has the word, with OtherRankFailed, if any rank has one.
  void agree(const std::exception_ptr& failure) const;

  /// Collective: whether all ranks ended with the same weights, of this hash.
  [[nodiscard]] bool have_equal(const std::string& hash) const;

 private:
  std::unique_ptr<Communicator> communicator_;
};
}  // namespace drey::trainer
