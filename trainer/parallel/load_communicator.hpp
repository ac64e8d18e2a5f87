// load_communicator.hpp: opens what connects the ranks, if there are any others.
// Read next: communicator.hpp, mpi_plugin.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/parallel/communicator.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace drey::trainer {
/// Ranks of this job according to its launcher (OpenMPI's or MPICH's variable); 1 when it
/// was not launched by one.
[[nodiscard]] std::size_t launched_rank_count();

/// This process's number among them, by the same variables; 0 when it was not launched by one.
[[nodiscard]] std::size_t launched_rank();

/// Opens libdrey_mpi.so: DREY_MPI_LIBRARY, or beside the program, in ../lib of it, or where the
/// system looks. Fails: ConfigError, naming what was tried, when it cannot be had or does not fit.
[[nodiscard]] std::unique_ptr<Communicator> load_communicator();
}  // namespace drey::trainer
