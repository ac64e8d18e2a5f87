// cpu_learner.hpp: the learner on this machine's processor, as a type: for those who hold one by value or ask
// for its backend. All others: make_cpu_learner() of learner.hpp.
// Read next: basic_learner.hpp, backend/cpu_backend.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/agent/basic_learner.hpp"
#include "trainer/backend/cpu_backend.hpp"

namespace drey::trainer {
using CpuLearner = BasicLearner<CpuBackend>;
extern template class BasicLearner<CpuBackend>;
}  // namespace drey::trainer
