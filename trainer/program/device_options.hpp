// device_options.hpp: what --device means: which options fit a device, whether it is there, and learners on it.
// Read next: device/device_learner.hpp, config.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/agent.hpp"
#include "trainer/program/config.hpp"

namespace drey::trainer {
/// Fails: ConfigError naming the first option that a device does not do, or that needs one.
void check_device_options(const Config& config);

/// Fails: ConfigError where gradients are to be averaged in a way that so many ranks have no use for.
void check_reduction(const Config& config, std::size_t rank_count);

/// Looks for the device, if there is to be one, before anything else takes time.
/// Fails: DeviceError without driver or device.
void require_chosen_device(const RunOptions& run);

/// The agent's learners shall be where `run` says, and their gradients averaged there.
void choose_device(const RunOptions& run, AgentSettings& settings);
}  // namespace drey::trainer
