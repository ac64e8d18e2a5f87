// trainer_main.hpp: the whole program as a function, so that several programs can be made of it:
// one per allocator, and others that count heap calls.
// SPDX-License-Identifier: MIT
#pragma once

/// Exit status of the program: 0 done; 1 a fault of the program or no memory; 2 input that the user
/// can mend, one line on standard error; 3 a step made heap calls; 130 stopped by Ctrl-C or kill.
int trainer_main(int argc, char** argv);
