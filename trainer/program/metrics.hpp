// metrics.hpp: one row per pass, on the terminal and in a CSV file.
// The file is replaced whole after each pass, so a reader never sees half a row.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "trainer/program/pass_record.hpp"
#include "trainer/program/problem.hpp"

namespace drey::trainer {
/// A line per pass on standard output.
class PassLog final : public PassObserver {
 public:
  PassLog(std::uint64_t epochs, ReturnUnit unit) : epochs_(epochs), unit_(unit) {}
  void pass_done(const PassRecord& record) override;

 private:
  std::uint64_t epochs_;
  ReturnUnit unit_;
};

class MetricsFile final : public PassObserver {
 public:
  /// With `resumed_epochs` > 0 the file's rows up to that epoch stay.
  MetricsFile(std::string path, std::uint64_t resumed_epochs);

  /// Fails: SystemError; the file is then as it was.
  void pass_done(const PassRecord& record) override;

 private:
  std::string path_;
  std::string contents_;
};
}  // namespace drey::trainer
