// allocator_error.hpp: what allocate() and deallocate() of the device allocator and the pinned cache throw.
//
//   AllocatorError (std::exception)
//   +-- OutOfDeviceMemory   with the report that says why
//   +-- OutOfPinnedMemory
//   +-- MisuseError         the caller's mistake: a double free, a foreign pointer, a wrong size...
//   +-- DriverError         the driver's result
//   +-- UnusableError       closed, asleep, in a forked child
//
// Invariant: whoever catches one finds the allocator as it was before the call.
// Read next: device_allocator.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/base/text.hpp>
#include <drey/cuda/device_allocator.hpp>

#include <exception>

namespace drey::cuda {
class AllocatorError : public std::exception {
 public:
  explicit AllocatorError(Outcome outcome) noexcept : outcome_(outcome) {
    text_.add("drey: ").add(text_of(outcome.status));
  }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  [[nodiscard]] Outcome outcome() const noexcept { return outcome_; }

 protected:
  Text<2048> text_;

 private:
  Outcome outcome_;
};

class OutOfDeviceMemory : public AllocatorError {
 public:
  OutOfDeviceMemory(Outcome outcome, const OomReport& report) noexcept
      : AllocatorError(outcome), report_(report) {
    char lines[1900];
    static_cast<void>(drey::cuda::text_of(report, lines, sizeof(lines)));
    text_.add("\n").add(lines);
  }
  [[nodiscard]] const OomReport& report() const noexcept { return report_; }

 private:
  OomReport report_;
};

class OutOfPinnedMemory : public AllocatorError {
 public:
  using AllocatorError::AllocatorError;
};

class MisuseError : public AllocatorError {
 public:
  MisuseError(Outcome outcome, const void* pointer) noexcept : AllocatorError(outcome) {
    if (pointer != nullptr) text_.add(": ").add(pointer);
  }
};

class DriverError : public AllocatorError {
 public:
  explicit DriverError(Outcome outcome) noexcept : AllocatorError(outcome) {
    text_.add(": result ").add(static_cast<std::uint64_t>(outcome.driver));
  }
};

class UnusableError : public AllocatorError {
 public:
  using AllocatorError::AllocatorError;
};
}  // namespace drey::cuda
