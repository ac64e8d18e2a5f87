// device_learner.cpp: the learner of a device, compiled once. Read next: agent/basic_learner.hpp,
// device_backend.hpp, module_launcher.hpp. SPDX-License-Identifier: MIT
#include "trainer/device/device_learner.hpp"

#include "trainer/agent/basic_learner.hpp"
#include "trainer/device/device_backend.hpp"
#include "trainer/device/driver_queue.hpp"
#include "trainer/device/module_launcher.hpp"

namespace drey::trainer {
namespace {
using Queue = DriverQueue<ModuleLauncher>;
static_assert(DeviceQueue<Queue> && WholeStepBackend<DeviceBackend<Queue>>);
}  // namespace

std::unique_ptr<Learner> make_device_learner(const LearnerSettings& settings, Random random) {
  return std::make_unique<BasicLearner<DeviceBackend<Queue>>>(settings, random);
}
}  // namespace drey::trainer
