// device_learner.hpp: the learner on a CUDA device, as agents take it. Read next: device_learner.cpp,
// agent/learner.hpp. SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "trainer/agent/learner.hpp"

namespace drey::trainer {
/// On device number settings.device of this machine's driver, or of the one that DREY_CUDA_LIBRARY names:
/// with libsimcuda.so, on the simulated one. Threads: only that which made it, whose context is the
/// device's from then on.
/// Fails: DeviceError without driver, device, kernels for it, or memory.
[[nodiscard]] std::unique_ptr<Learner> make_device_learner(const LearnerSettings& settings,
                                                           Random random);
}  // namespace drey::trainer
