// device_options.cpp: see device_options.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/device_options.hpp"

#include <string>

#include "trainer/device/device_learner.hpp"
#include "trainer/device/driver_session.hpp"
#include "trainer/parallel/nccl_reduction.hpp"
#include "trainer/program/command_line.hpp"

namespace drey::trainer {
void check_device_options(const Config& config) {
  const RunOptions& run = config.run;
  if (!run.device.is_cuda) {
    if (run.reduce == ReduceBy::kNccl) refuse_option("--reduce", "mpi with --device cpu", "nccl");
    return;
  }
  const std::string with = " with --device " + text_of(run.device, DeviceKind{});
  if (config.hyper.precision != Precision::kFloat) {
    refuse_option("--precision", "f32" + with, "bf16");
  }
  if (run.threads != 1) refuse_option("--threads", "1" + with, text_of(run.threads));
  if (run.memory.polyak != PolyakForm::kFused) {
    refuse_option("--polyak", "fused" + with, "temporaries");
  }
}

void check_reduction(const Config& config, std::size_t rank_count) {
  if (config.run.reduce != ReduceBy::kNccl) return;
  if (rank_count == 1) refuse_option("--reduce", "mpi in a single process", "nccl");
  if (config.hyper.agents > 1) refuse_option("--reduce", "mpi with several --agents", "nccl");
}

void require_chosen_device(const RunOptions& run) {
  if (run.device.is_cuda) require_device(run.device.number);
}

void choose_device(const RunOptions& run, AgentSettings& settings) {
  if (!run.device.is_cuda) return;
  settings.learner.device = run.device.number;
  settings.make_learner = make_device_learner;
  if (run.reduce == ReduceBy::kNccl) {
    settings.memory.make_reduction = make_nccl_reduction(run.device.number);
  }
}
}  // namespace drey::trainer
