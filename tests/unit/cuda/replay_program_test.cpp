// replay_program_test.cpp: drey-cuda-replay as a user runs it: figures on standard output, files whole,
// and one line and exit code 2 for everything that is wrong with what it was given.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/trace_files.hpp>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <sys/wait.h>

namespace drey::cuda::replay {
namespace {
struct Outcome {
  int code = -1;
  std::string text;
};

class ReplayProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              (std::string("drey_replay_") +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Outcome run(const std::string& arguments) {
    const std::string command = std::string(DREY_CUDA_REPLAY) + " " + arguments + " 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    Outcome outcome;
    char part[4096];
    while (std::fgets(part, sizeof part, pipe) != nullptr) outcome.text += part;
    const int status = ::pclose(pipe);
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  void expect_refused(const std::string& arguments, const std::string& part) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.text.find(part), std::string::npos) << outcome.text;
    EXPECT_EQ(outcome.text.find('\n'), outcome.text.size() - 1) << outcome.text;
    EXPECT_EQ(outcome.text.rfind("drey-cuda-replay: ", 0), 0U) << outcome.text;
  }

  std::string file(const char* name, const std::string& bytes) {
    const std::string path = (folder_ / name).string();
    trace::write_file(path, bytes);
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(ReplayProgram, PrintsARowAPolicyAndWritesJson) {
  const std::string json = (folder_ / "out.json").string();
  const Outcome outcome =
      run("synthetic:multi_stream_allocations:2 --policy rmm --policy pages "
          "--json " +
          json);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("\nrmm "), std::string::npos) << outcome.text;
  EXPECT_NE(outcome.text.find("\npages "), std::string::npos) << outcome.text;
  EXPECT_EQ(outcome.text.find("\npytorch "), std::string::npos) << outcome.text;
  const std::string text = trace::read_file(json);
  for (const char* part : {"\"least_capacity_over_peak_live\": 1", "\"events_recorded\": ",
                           "\"page_moves\": ", "\"driver_calls\": ", "\"streams\": 4"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in " << text;
}

TEST_F(ReplayProgram, ConvertsBetweenItsForms) {
  const std::string binary = (folder_ / "a.dreydv").string();
  const std::string csv = (folder_ / "a.csv").string();
  EXPECT_EQ(run("synthetic:random_allocations --only-convert --write-binary " + binary).code, 0);
  EXPECT_EQ(run(binary + " --only-convert --write-rmm " + csv).code, 0);
  const trace::DeviceTrace trace = trace::read_trace(binary);
  EXPECT_EQ(trace::read_trace(csv).blocks, trace.blocks);
  EXPECT_EQ(trace::peak_live_bytes(trace::read_trace(csv)), trace::peak_live_bytes(trace));
}

// Whether a snapshot's pickle holds a word; pickle has strings as they are.
bool holds(const std::string& pickle, const char* word) {
  return pickle.find(word) != std::string::npos;
}

TEST_F(ReplayProgram, WritesASnapshotAtThePeakAtAnEventAndWhenMemoryIsOut) {
  const std::string trace = "synthetic:multi_stream_allocations:2";
  const std::string path = (folder_ / "memory.pickle").string();
  EXPECT_EQ(run(trace + " --snapshot " + path + " --at 0").code, 0);
  const std::string first = trace::read_file(path);
  EXPECT_TRUE(holds(first, "active_allocated"));
  EXPECT_FALSE(holds(first, "free_completed"));
  EXPECT_EQ(run(trace + " --snapshot " + path).code, 0);
  const std::string peak = trace::read_file(path);
  EXPECT_TRUE(holds(peak, "free_completed"));
  EXPECT_FALSE(holds(peak, "oom"));
  const Outcome out = run(trace + " --snapshot " + path + " --at oom --capacity 600");
  EXPECT_EQ(out.code, 0) << out.text;
  EXPECT_NE(out.text.find("out of memory at event "), std::string::npos) << out.text;
  EXPECT_TRUE(holds(trace::read_file(path), "oom"));
}

TEST_F(ReplayProgram, RefusesMomentsThatDoNotCome) {
  const std::string trace = "synthetic:multi_stream_allocations:2 --snapshot /nowhere/at/all ";
  expect_refused(trace, "/nowhere/at/all: cannot be written");
  expect_refused(trace + "--at oom", "expected an allocation that fails, found none");
  expect_refused(trace + "--at noon", "--at: expected peak, oom or an event from 0 to ");
  expect_refused(trace + "--at 99999999", "found '99999999'");
  expect_refused(trace + "--at peak --capacity 600", "out of memory at event ");
  expect_refused(trace + "--capacity 0", "command line: ");
}

TEST_F(ReplayProgram, ReplaysOnTheDriverThatIsThere) {
  const std::string json = (folder_ / "real.json").string();
  const std::string arguments =
      "synthetic:multi_stream_allocations:2 --driver real --capacity 4096 --json " + json;
  ::setenv("DREY_CUDA_LIBRARY", DREY_SIMCUDA_LIBRARY, 1);
  ::setenv("DREY_SIM_MEMORY_MIB", "8192", 1);
  const Outcome outcome = run(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(trace::read_file(json).find("\"fits\": 1"), std::string::npos);
  EXPECT_EQ(trace::read_file(json).find("simulated"), std::string::npos);
  ::setenv("DREY_CUDA_LIBRARY", "libcuda-of-nobody.so.9", 1);
  expect_refused(arguments, "--driver real: no CUDA driver: cannot load libcuda-of-nobody.so.9");
  ::unsetenv("DREY_CUDA_LIBRARY");
}

TEST_F(ReplayProgram, RefusesWhatIsNoTrace) {
  expect_refused(file("text", "hello\n"), "row 1: expected a trace");
  expect_refused(file("empty", ""), "row 1: expected a trace");
  expect_refused(folder_.string(), "expected a trace, found a folder");
  expect_refused((folder_ / "none").string(), "cannot be read: No such file or directory");
  expect_refused(file("head", "Thread,Time,Action,Pointer,Size,Stream\n"),
                 "expected events, found none");
}

TEST_F(ReplayProgram, RefusesTracesThatCannotBe) {
  const std::string head = "Thread,Time,Action,Pointer,Size,Stream\n";
  expect_refused(file("unknown.csv", head + "1,00:00:00:000000,free,0x10,512,0\n"),
                 "row 2: pointer: expected a live block, found 0x10");
  expect_refused(
      file("large.csv", head + "1,00:00:00:000000,allocate,0x10,18446744073709551000,0\n"),
      "row 2: size: expected 1 to 2^48 bytes, found 18446744073709551000");
  const std::string good =
      trace::binary_of(trace::read_rmm_csv(head + "1,00:00:00:000000,allocate,0x10,512,0\n", "f"));
  expect_refused(file("cut.dreydv", good.substr(0, good.size() - 3)), "may be cut off");
}

TEST_F(ReplayProgram, RefusesOptionsAndOutputsThatCannotBe) {
  expect_refused("", "command line: ");
  expect_refused("synthetic:prefetch --fast", "command line: ");
  expect_refused("synthetic:prefetch --policy best", "--policy: expected one of ");
  expect_refused("synthetic:nothing", "expected one of transformer_fixed");
  expect_refused("synthetic:prefetch:x", "expected a seed below 2^64, found 'x'");
  expect_refused("synthetic:multi_stream_allocations --policy rmm --json /nowhere/at/all",
                 "/nowhere/at/all: cannot be written");
}
}  // namespace
}  // namespace drey::cuda::replay
