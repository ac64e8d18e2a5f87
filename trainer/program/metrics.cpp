// metrics.cpp: see metrics.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/metrics.hpp"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "trainer/files/output_file.hpp"
#include "trainer/program/log.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kHeader =
    "epoch,environment_steps,gradient_steps,epsilon,learning_rate,loss,q_mean,train_return,"
    "validation_return,steps_per_second\n";

/// The rows of an earlier run up to `epoch_max`; nothing if the file has another header.
std::string earlier_rows(const std::string& path, std::uint64_t epoch_max) {
  if (::access(path.c_str(), R_OK) != 0) return {};
  std::istringstream lines(read_file(path));
  std::string line;
  std::string kept;
  if (!std::getline(lines, line) || line + "\n" != kHeader) return {};
  while (std::getline(lines, line)) {
    const std::uint64_t epoch = std::strtoull(line.c_str(), nullptr, 10);
    if (epoch >= 1 && epoch <= epoch_max) kept += line + "\n";
  }
  return kept;
}
}  // namespace

void PassLog::pass_done(const PassRecord& record) {
  std::array<char, 64> validation{};
  if (record.validation_return) {
    std::snprintf(validation.data(), validation.size(), "validation %+.2f%s%s, ",
                  unit_.factor * *record.validation_return, unit_.suffix,
                  record.is_best ? " (best)" : "");
  }
  log_line(
      "epoch %llu/%llu: loss %.6f, value %+.4f, epsilon %.3f, train %+.2f%s, %s%.0f gradient "
      "steps/s",
      static_cast<unsigned long long>(record.epoch), static_cast<unsigned long long>(epochs_),
      record.loss, record.q_mean, record.epsilon, unit_.factor * record.train_return, unit_.suffix,
      validation.data(), record.steps_per_second);
}

MetricsFile::MetricsFile(std::string path, std::uint64_t resumed_epochs)
    : path_(std::move(path)), contents_(kHeader) {
  if (resumed_epochs > 0) contents_ += earlier_rows(path_, resumed_epochs);
}

void MetricsFile::pass_done(const PassRecord& record) {
  std::array<char, 32> validation{};
  if (record.validation_return) {
    std::snprintf(validation.data(), validation.size(), "%.9g", *record.validation_return);
  }
  std::array<char, 320> line{};
  std::snprintf(line.data(), line.size(), "%llu,%llu,%llu,%.6g,%.6g,%.9g,%.9g,%.9g,%s,%.1f\n",
                static_cast<unsigned long long>(record.epoch),
                static_cast<unsigned long long>(record.environment_steps),
                static_cast<unsigned long long>(record.gradient_steps), record.epsilon,
                record.learning_rate, record.loss, record.q_mean, record.train_return,
                validation.data(), record.steps_per_second);
  contents_ += line.data();
  write_file(path_, contents_);
}
}  // namespace drey::trainer
