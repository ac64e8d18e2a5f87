// whole_programs_test.cpp: drey-bench programs: the list of programs, what the launcher counts, the
// figures of programs that run for a fixed time. No timing is judged.
// SPDX-License-Identifier: MIT
#include "bench/fake_peers.hpp"
#include "peers/program_list.hpp"
#include "race/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace drey::bench {
namespace {
class Programs : public testing::Test {
 protected:
  void list(const std::string& text) const { std::ofstream(fake_.path("programs.txt")) << text; }
  [[nodiscard]] ChildResult run(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> options = {"--programs", fake_.folder().path().string(), "--json",
                                        fake_.path("out.json")};
    options.insert(options.end(), more.begin(), more.end());
    return fake_.run("programs", options);
  }
  [[nodiscard]] nlohmann::json rows() const {
    return nlohmann::json::parse(read_file(fake_.path("out.json")))["rows"];
  }

  FakePeers fake_;
};

TEST_F(Programs, RunUnderEachAllocatorWithTheirInput) {
  fake_.folder().write_script("echoing", "read word; echo \"$1 $word ${LD_PRELOAD##*/}\" >> log\n");
  std::ofstream(fake_.path("input")) << "from-a-file\n";
  list("# a comment\n\necho | heap | echoing with | stdin=input\n");
  const ChildResult result = run();
  ASSERT_EQ(result.exit_code, 0) << result.standard_error << result.standard_output;
  EXPECT_EQ(read_file(fake_.path("log")),
            "with from-a-file drey.so\nwith from-a-file \nwith from-a-file fast.so\n"
            "with from-a-file slow.so\nwith from-a-file \nwith from-a-file fast.so\n"
            "with from-a-file slow.so\nwith from-a-file drey.so\n");
}

TEST_F(Programs, OfAFixedTimeAreJudgedByWhatTheySay) {
  fake_.folder().write_script(
      "fixed",
      "case \"$LD_PRELOAD\" in *drey.so) echo 'took: 2' ;; *) echo 'took: 4' "
      ";; esac\n");
  list("fixed | heap | fixed | time=took: ([0-9]+)\n");
  ASSERT_EQ(run().exit_code, 0);
  const auto row = rows()[0];
  EXPECT_EQ(row["group"], "CPU time");
  EXPECT_DOUBLE_EQ(row["minimum"]["drey"].get<double>(), 2.0);
  EXPECT_DOUBLE_EQ(row["ratio_to_reference"]["minimum"].get<double>(), 0.5);
}

TEST_F(Programs, PeakMemoryIsTheProgramsOwn) {
  list("shell | memory | sh -c :\n");
  ASSERT_EQ(run().exit_code, 0);
  const auto peak = rows()[1];
  EXPECT_EQ(peak["group"], "peak memory");
  EXPECT_GT(peak["minimum"]["system"].get<double>(), 0.2);
  // drey-bench itself holds more than a shell: its memory must not be counted.
  EXPECT_LT(peak["minimum"]["system"].get<double>(), 3.0);
}

TEST_F(Programs, TimesOfProgramsThatHardlyUseTheirHeapAreNotShown) {
  list("a | heap | sh -c :\nb | memory | sh -c :\n");
  const std::string text = run().standard_output;
  const std::string times = text.substr(0, text.find("peak memory"));
  EXPECT_TRUE(contains(times, "\na  ")) << text;
  EXPECT_FALSE(contains(times, "\nb  ")) << text;
  EXPECT_TRUE(contains(text, "\nb, MiB")) << text;
}

TEST_F(Programs, OneThatFailsIsNamedAndTheRestShown) {
  list("bad | heap | sh -c exit\\ 3\ngood | heap | sh -c :\n");
  fake_.folder().write_script("failing", "exit 3\n");
  list("bad | heap | failing\ngood | heap | sh -c :\n");
  const ChildResult result = run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(contains(result.standard_output, "FAILED fast, bad: exit code 3"))
      << result.standard_output;
  EXPECT_TRUE(contains(result.standard_output, "good")) << result.standard_output;
}

TEST_F(Programs, ABadListIsNamedByFileAndLine) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"no fields\n", ":1: expected 'name | kind | command line'"},
      {"# fine\na | lazy | b\n", ":2: expected the kind heap or memory, found 'lazy'"},
      {"a | heap | \n", ":1: expected"},
      {"a | heap | b | time=no group\n", "with one group, found 'no group'"},
      {"a | heap | b | time=(\n", "expected a regular expression"},
      {"a | heap | b | other=1\n", "expected stdin=, time= or count=, found 'other=1'"},
      {"\n", "expected a program, found none"}};
  for (const auto& [text, message] : bad) {
    list(text);
    const ChildResult result = run();
    EXPECT_EQ(result.exit_code, 2) << text;
    EXPECT_TRUE(is_one_line(result.standard_error)) << result.standard_error;
    EXPECT_TRUE(contains(result.standard_error, message)) << result.standard_error;
  }
}

TEST(ProgramList, KeepsWordsInputAndPattern) {
  const TestFolder folder;
  const auto path = folder.path() / "list";
  std::ofstream(path) << " one | memory |  a  b c | stdin=in | count=n ([0-9]+)\n";
  const auto entries = read_program_list(path);
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].name, "one");
  EXPECT_FALSE(entries[0].is_heap_bound);
  EXPECT_EQ(entries[0].command, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(entries[0].standard_input, "in");
  EXPECT_EQ(entries[0].count_pattern, "n ([0-9]+)");
}
}  // namespace
}  // namespace drey::bench
