// trainer_main.hpp: drey-train as a function, so that programs can differ in what they link, and in
// the environments they add.
// SPDX-License-Identifier: MIT
#pragma once

#include <span>

namespace drey::trainer {
struct EnvironmentEntry;
}

/// Exit status of the program: 0 done; 1 a fault of the program or no memory; 2 input that the user
/// can mend, one line on standard error; 3 a step made heap calls; 130 stopped by Ctrl-C or kill.
int trainer_main(int argc, char** argv);

/// The same, where --env may also name one of `more`.
int trainer_main(int argc, char** argv, std::span<const drey::trainer::EnvironmentEntry> more);
