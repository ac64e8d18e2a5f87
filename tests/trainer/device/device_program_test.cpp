// device_program_test.cpp: drey-train --device cuda as a user runs it, on the simulated device (libsimcuda.so),
// which runs the kernels and checks what each uses: it trains as the CPU does within rounding, goes on where
// it stopped to the last bit, does what the CPU does, or says in one line what it does not.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "trainer/dqn/temporary_folder.hpp"
#include "trainer/dqn/trainer_program.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::test {
namespace {
using drey::trainer::read_file;
using Options = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

const Options cuda_device = {"--device", "cuda"};
const Environment simulated = {
    {"DREY_CUDA_LIBRARY", DREY_SIMCUDA}, {"DREY_SIM_CONTENTS", "1"}, {"DREY_SIM_REPORT", "1"}};

ChildResult run(const Options& options, const Environment& environment) {
  return run_program(Options{DREY_TRAIN_PROGRAM} + options, environment, kLimitSeconds);
}

ChildResult run_on_cpu(const Options& options) {
  ChildResult result = run(options, {});
  EXPECT_TRUE(result.succeeded()) << result.summary();
  return result;
}

/// On the simulated device, which has nothing to complain of afterwards.
ChildResult run_on_device(const Options& options) {
  ChildResult result = run(options + cuda_device, simulated);
  EXPECT_TRUE(result.succeeded()) << result.summary();
  EXPECT_NE(result.error_output.find("simulated device: 0 hazards"), std::string::npos)
      << result.error_output;
  EXPECT_NE(result.error_output.find("nothing left behind"), std::string::npos)
      << result.error_output;
  return result;
}

/// All actions by chance, so that rounding does not change what is learned from.
Options short_run(const std::string& gradient_steps) {
  return small_run("2") + Options{"--max-steps", gradient_steps, "--eps-start",
                                  "1",           "--eps-end",    "1",
                                  "--lr",        "0.001",        "--no-progress"};
}

class DeviceProgram : public ::testing::Test {
 protected:
  std::vector<float> weights(const std::string& file, const std::string& block) const {
    const drey::trainer::TensorReader reader(file, read_file(folder_.path(file)));
    std::vector<float> values(std::size_t{128} * 225);
    reader.read(block + ".0.weight", {128, 225}, std::span<float>(values));
    return values;
  }
  void expect_equal_weights(const std::string& left, const std::string& right) const {
    for (const char* const block : {"network", "target"}) {
      const std::vector<float> first = weights(left, block);
      const std::vector<float> second = weights(right, block);
      float largest = 0;
      for (std::size_t at = 0; at < first.size(); ++at) {
        largest = std::max(largest, std::fabs(first[at] - second[at]));
      }
      EXPECT_LT(largest, 1e-4f) << block;
      EXPECT_GT(largest, 0.0f) << block << ": the device rounds otherwise; was it used?";
    }
  }
  void refused(const Options& options, const Environment& environment, const std::string& text) {
    const ChildResult result =
        run(short_run("60") + options + Options{"--checkpoint", folder_.path("checkpoint")},
            environment);
    EXPECT_EQ(result.exit_status, 2) << result.summary();
    EXPECT_EQ(result.error_output, "drey-train: " + text + "\n");
    EXPECT_EQ(folder_.file_count(), 0U);
  }

  TemporaryFolder folder_;
};

TEST_F(DeviceProgram, TrainsAsTheCpuDoesWithinRoundingByOneGraphAStep) {
  run_on_cpu(short_run("60") + Options{"--checkpoint", folder_.path("cpu")});
  const ChildResult result =
      run_on_device(short_run("60") + Options{"--checkpoint", folder_.path("device")});
  EXPECT_NE(result.output.find("device: cuda\n"), std::string::npos) << result.output;
  EXPECT_NE(result.error_output.find(" 60 graph launches,"), std::string::npos)
      << result.error_output;
  expect_equal_weights("cpu", "device");
}

TEST_F(DeviceProgram, GoesOnWhereItStoppedToTheLastByte) {
  run_on_device(short_run("50") + Options{"--checkpoint", folder_.path("whole")});
  run_on_device(short_run("25") + Options{"--checkpoint", folder_.path("half")});
  run_on_device({"--data", "synthetic:1000:1", "--epochs", "2", "--max-steps", "50", "--resume",
                 folder_.path("half"), "--checkpoint", folder_.path("resumed"), "--no-progress"});
  EXPECT_EQ(read_file(folder_.path("whole")), read_file(folder_.path("resumed")));
}

TEST_F(DeviceProgram, HandsItsCheckpointToTheCpuAndTakesItBack) {
  run_on_device(short_run("30") + Options{"--checkpoint", folder_.path("device")});
  const Options from = {"--data", "synthetic:1000:1", "--no-progress", "--resume",
                        folder_.path("device")};
  const std::string label = "agent         return ";
  const ChildResult by_cpu = run_on_cpu(from + Options{"--eval"});
  const std::size_t place = by_cpu.output.find(label);
  ASSERT_NE(place, std::string::npos) << by_cpu.output;
  const std::string line = by_cpu.output.substr(place, by_cpu.output.find('\n', place) - place);
  const ChildResult by_device = run_on_device(from + Options{"--eval"});
  EXPECT_NE(by_device.output.find(line), std::string::npos) << by_device.output << line;
  const Options on = from + Options{"--epochs", "2", "--max-steps", "60"};
  run_on_cpu(on + Options{"--checkpoint", folder_.path("cpu 60")});
  run_on_device(on + Options{"--checkpoint", folder_.path("device 60")});
  expect_equal_weights("cpu 60", "device 60");
}

TEST_F(DeviceProgram, GivesTheSameBitsWhateverFormItsMemoryHas) {
  const auto hash = [](const Options& options) {
    return word_after(run_on_device(short_run("30") + options).output, "weights hash ");
  };
  const std::string by_index = hash({});
  EXPECT_EQ(by_index.size(), 16U);
  EXPECT_EQ(hash({"--replay", "pool", "--states", "each"}), by_index);
  EXPECT_EQ(hash({"--replay", "copy", "--batch-buffers", "fresh"}), by_index);
}

TEST_F(DeviceProgram, LearnsWithPrioritiesSeveralStepsAndStreamsWhereTheWorldStillWrites) {
  const Options options = {"--env",
                           "cartpole",
                           "--pass-steps",
                           "100",
                           "--epochs",
                           "1",
                           "--batch",
                           "16",
                           "--learning-starts",
                           "40",
                           "--per",
                           "--dueling",
                           "--n-step",
                           "3",
                           "--envs",
                           "4",
                           "--target",
                           "hard",
                           "--eps-end",
                           "1",
                           "--target-interval",
                           "20",
                           "--eval-episodes",
                           "1",
                           "--no-progress"};
  const ChildResult on_device = run_on_device(options);
  const ChildResult on_cpu = run_on_cpu(options);
  EXPECT_NE(word_after(on_cpu.output, "loss "), "");
  EXPECT_EQ(word_after(on_device.output, "loss "), word_after(on_cpu.output, "loss "));
}

TEST_F(DeviceProgram, TrainsSeveralAgentsEachOnThatDevice) {
  const ChildResult result = run_on_device(short_run("40") + Options{"--agents", "2"});
  EXPECT_NE(result.error_output.find(" 40 graph launches,"), std::string::npos)
      << result.error_output;
}

TEST_F(DeviceProgram, SaysInOneLineWhatIsMissing) {
  refused(cuda_device, {{"DREY_CUDA_LIBRARY", "/nowhere/libcuda.so"}},
          "--device cuda: no CUDA driver: cannot load /nowhere/libcuda.so");
  refused({"--device", "cuda:1"}, {{"DREY_CUDA_LIBRARY", DREY_SIMCUDA}},
          "--device cuda:1: expected a number below 1, the driver's count of devices, found 1");
  refused(cuda_device + Options{"--reduce", "nccl"}, {{"DREY_CUDA_LIBRARY", DREY_SIMCUDA}},
          "option --reduce: expected mpi in a single process, found nccl");
  // Without contents the simulated device is like a real one: it does not run the host's functions.
  refused(cuda_device, {{"DREY_CUDA_LIBRARY", DREY_SIMCUDA}}, DREY_NO_KERNELS);
}

TEST_F(DeviceProgram, SaysInOneLineWhatADeviceDoesNotDo) {
  const auto refuse = [this](const Options& options, const std::string& text) {
    refused(options, {}, "option " + text);
  };
  refuse(cuda_device + Options{"--precision", "bf16"},
         "--precision: expected f32 with --device cuda, found bf16");
  refuse(cuda_device + Options{"--agents", "2", "--threads", "2"},
         "--threads: expected 1 with --device cuda, found 2");
  refuse(cuda_device + Options{"--polyak", "temporaries"},
         "--polyak: expected fused with --device cuda, found temporaries");
  refuse({"--reduce", "nccl"}, "--reduce: expected mpi with --device cpu, found nccl");
  for (const char* const word : {"gpu", "cuda:", "cuda:64", "cuda:-1", "cuda:1x", "cpu:0"}) {
    refuse({"--device", word},
           "--device: expected cpu, cuda, or cuda:N with N from 0 to 63, found '" +
               std::string(word) + "'");
  }
}
}  // namespace
}  // namespace drey::test
