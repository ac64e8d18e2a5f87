// pools_verb_test.cpp: drey-bench pools over a script whose figures we know: who takes part in which
// case, rows with targets, verdicts, refusals; and drey-pool-cases itself. No timing is judged.
// SPDX-License-Identifier: MIT
#include "bench/fake_peers.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <sstream>

namespace drey::bench {
namespace {
/// A pair takes 2 ns in drey's pool, 5 in another's, 4 with drey's malloc, 30 with others; a batch
/// 2 ns a vector.
const char* const kFakePoolCases = R"(
if [ "$1" = list ]; then
  for way in drey malloc other; do
    echo "{\"group\": \"vector\", \"name\": \"vector/pair\", \"way\": \"$way\", \"threads\": false}"
  done
  echo '{"group": "vector", "name": "vector/batch_128", "way": "drey", "threads": false}'
  echo '{"group": "arena", "name": "arena/made_up", "way": "drey", "threads": true}'
  exit
fi
library=${LD_PRELOAD:-/lib/libc.so.6}
case "$3 $library" in
"drey "*) ns=2 ;; "other "*) ns=5 ;; *drey.so) ns=4 ;; *) ns=30 ;;
esac
echo "$2 $3 ${library##*/}" >> "$(dirname "$0")/pools.log"
[ "$2 $3" = "vector/pair other" ] && [ -e "$(dirname "$0")/other-fails" ] && exit 3
echo "{\"case\": \"$2\", \"library\": \"$library\", \"figures\": {\"cpu_ns\": $ns, \"faults\": 0}}"
)";

class Pools : public testing::Test {
 protected:
  Pools() { fake_.folder().write_script("drey-pool-cases", kFakePoolCases); }

  [[nodiscard]] nlohmann::json results(std::vector<std::string> more, int exit_code = 0) const {
    more.insert(more.end(), {"--json", fake_.path("out.json")});
    const ChildResult result = fake_.run("pools", more);
    EXPECT_EQ(result.exit_code, exit_code) << result.standard_error << result.standard_output;
    return nlohmann::json::parse(read_file(fake_.path("out.json")));
  }
  static nlohmann::json row_named(const nlohmann::json& json, const std::string& name) {
    for (const auto& row : json["rows"]) {
      if (row["name"] == name && row["unit"] == "ns") return row;
    }
    ADD_FAILURE() << "no row " << name;
    return {};
  }

  FakePeers fake_;
};

TEST_F(Pools, EachWayRunsOnTheMallocThatItsNameSays) {
  static_cast<void>(results({"--filter", "pair"}));
  std::istringstream log(read_file(fake_.path("pools.log")));
  std::multiset<std::string> runs;
  for (std::string line; std::getline(log, line);) runs.insert(line);
  EXPECT_EQ(runs.count("vector/pair drey libc.so.6"), 2U);
  EXPECT_EQ(runs.count("vector/pair other libc.so.6"), 2U);
  EXPECT_EQ(runs.count("vector/pair malloc libc.so.6"), 2U);
  EXPECT_EQ(runs.count("vector/pair malloc drey.so"), 2U);
  EXPECT_EQ(runs.count("vector/pair malloc fast.so"), 2U);
}

TEST_F(Pools, ATargetIsARowOfThoseItSpeaksOf) {
  const auto json = results({"--group", "vector"});
  const auto pair = row_named(json, "vector/pair");
  EXPECT_FALSE(pair.contains("verdict"));
  EXPECT_EQ(pair["minimum"]["other"], 5.0);
  const auto absolute = row_named(json, "vector/pair: at most 3.5 ns");
  EXPECT_TRUE(absolute["verdict"]["met"].get<bool>());
  EXPECT_EQ(absolute["samples"].size(), 1U);
  const auto against = row_named(json, "vector/pair: 0.6 of drey's malloc");
  EXPECT_EQ(against["best_other"], "drey_malloc");
  EXPECT_DOUBLE_EQ(against["verdict"]["figure"].get<double>(), 0.5);
  EXPECT_TRUE(against["verdict"]["met"].get<bool>());
  const auto batch = row_named(json, "vector/batch_128: at most 1 ns");
  EXPECT_FALSE(batch["verdict"]["met"].get<bool>());
  EXPECT_FALSE(json["goals"][0]["met"].get<bool>());
}

TEST_F(Pools, AWayThatFailsIsNamedAndTheOthersGoOn) {
  std::ofstream(fake_.path("other-fails")) << "";
  const auto json = results({"--filter", "pair"}, 1);
  EXPECT_EQ(json["failures"][0]["what"], "other, vector/pair");
  EXPECT_EQ(row_named(json, "vector/pair")["samples"]["drey"].size(), 2U);
}

TEST_F(Pools, UnknownGroupsAndNamesAreRefused) {
  for (const char* option : {"--group", "--filter"}) {
    const ChildResult result = fake_.run("pools", {option, "nonsense"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(contains(result.standard_error, option)) << result.standard_error;
  }
}

TEST(PoolCases, RunEveryVectorCaseInDreysWay) {
  const std::string program = std::string(DREY_TEST_BIN_FOLDER) + "/drey-pool-cases";
  const ChildResult listed = run_command({program, "list"}, {});
  ASSERT_EQ(listed.exit_code, 0);
  int count = 0;
  std::istringstream lines(listed.standard_output);
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry["way"] != "drey" || entry["group"] != "vector") continue;
    const ChildResult run =
        run_command({program, "run", entry["name"].get<std::string>(), "drey", "0.001"}, {});
    EXPECT_EQ(run.exit_code, 0) << line << run.standard_error;
    const auto report = nlohmann::json::parse(run.standard_output, nullptr, false);
    ASSERT_TRUE(report.is_object()) << line;
    EXPECT_GT(report["figures"].begin().value().get<double>(), 0) << line;
    ++count;
  }
  EXPECT_GE(count, 6);
  EXPECT_EQ(run_command({program, "run", "vector/pair", "nobody", "0.1"}, {}).exit_code, 2);
}
}  // namespace
}  // namespace drey::bench
