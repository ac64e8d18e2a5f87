// peer_verbs.cpp: see peer_verbs.hpp.
// SPDX-License-Identifier: MIT
#include "peers/peer_verbs.hpp"

#include "peers/case_race.hpp"
#include "peers/peer_report.hpp"
#include "peers/program_race.hpp"
#include "pools/pool_race.hpp"
#include "race/output_file.hpp"

#include <cstdio>
#include <cstring>
#include <memory>

#include <unistd.h>

namespace drey::bench {
namespace {
/// The files a run writes: tried before it starts, there whole or not at all.
class Outputs {
 public:
  explicit Outputs(const PeerOptions& options) {
    if (options.json) json_ = std::make_unique<OutputFile>("--json", *options.json);
    if (options.markdown) markdown_ = std::make_unique<OutputFile>("--markdown", *options.markdown);
  }

  int commit(HeadToHead results) {
    add_environment(results);
    std::fputs(head_to_head_text(results).c_str(), stdout);
    if (json_ != nullptr) json_->commit(head_to_head_json(results));
    if (markdown_ != nullptr) markdown_->commit(head_to_head_markdown(results));
    return results.failures.empty() ? 0 : 1;
  }

 private:
  /// The options that drey had from the environment: every contender's programs saw them.
  static void add_environment(HeadToHead& results) {
    for (char** entry = environ; *entry != nullptr; ++entry) {
      const char* const equals = std::strchr(*entry, '=');
      if (std::strncmp(*entry, "DREY_", 5) != 0 || equals == nullptr) continue;
      const std::string name(*entry, static_cast<std::size_t>(equals - *entry));
      if (name != "DREY_LIBRARY") results.settings.emplace_back(name, equals + 1);
    }
  }

  std::unique_ptr<OutputFile> json_;
  std::unique_ptr<OutputFile> markdown_;
};
}  // namespace

int run_peers(const CaseRaceOptions& options, const Machine& machine) {
  Outputs outputs(options.common);
  return outputs.commit(race_cases(options, machine));
}

int run_pools(const CaseRaceOptions& options, const Machine& machine) {
  Outputs outputs(options.common);
  return outputs.commit(race_pools(options, machine));
}

int run_programs(const ProgramRaceOptions& options, const Machine& machine) {
  Outputs outputs(options.common);
  return outputs.commit(race_programs(options, machine));
}
}  // namespace drey::bench
