// error.hpp: the exceptions of the trainer. Each message is one line for the user.
// main() catches Error once, prints "drey-train: <message>" and exits with 2.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace drey::trainer {
/// Root of the tree: something the user can mend.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file's contents. Message: file, row, column, what was expected, what was found.
class DataError : public Error {
 public:
  using Error::Error;
};

/// An option, alone or against another. Message: option, expected, found.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A checkpoint that cannot be read or does not fit. Message: file, expected, found.
class CheckpointError : public Error {
 public:
  using Error::Error;
};

/// The system refused: open, write, sync, rename. Message: file and strerror.
class SystemError : public Error {
 public:
  using Error::Error;
};
}  // namespace drey::trainer
