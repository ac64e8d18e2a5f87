// interrupt.cpp: see interrupt.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/interrupt.hpp"

#include <csignal>

namespace drey::trainer {
namespace {
volatile std::sig_atomic_t requested = 0;

extern "C" void note_interrupt(int /*signal*/) {
  requested = 1;
}
}  // namespace

void watch_for_interrupts() noexcept {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupt_requested() noexcept {
  return requested != 0;
}
}  // namespace drey::trainer
