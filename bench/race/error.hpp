// error.hpp: what stops drey-bench. Each message is one line for the user.
// main() catches both, prints "drey-bench: <message>" and exits with their code.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace drey::bench {
/// Something the user can mend: an option, a missing program or file, an output that cannot be
/// written. Exit code 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A measurement that must not be believed: a program crashed or said something impossible.
/// Exit code 1.
class RaceFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
}  // namespace drey::bench
