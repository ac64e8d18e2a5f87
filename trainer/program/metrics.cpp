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

namespace drey::trainer {
namespace {
constexpr const char* kHeader =
    "epoch,environment_steps,gradient_steps,epsilon,loss,q_mean,train_return,validation_return,"
    "steps_per_second\n";

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

MetricsFile::MetricsFile(std::string path, std::uint64_t resumed_epochs)
    : path_(std::move(path)), contents_(kHeader) {
  if (!path_.empty() && resumed_epochs > 0) contents_ += earlier_rows(path_, resumed_epochs);
}

void MetricsFile::add(const MetricsRow& row) {
  if (path_.empty()) return;
  std::array<char, 256> line{};
  std::snprintf(line.data(), line.size(), "%llu,%llu,%llu,%.6g,%.9g,%.9g,%.9g,%.9g,%.1f\n",
                static_cast<unsigned long long>(row.epoch),
                static_cast<unsigned long long>(row.environment_steps),
                static_cast<unsigned long long>(row.gradient_steps), row.epsilon, row.loss,
                row.value, row.train_return, row.validation_return, row.steps_per_second);
  contents_ += line.data();
  write_file(path_, contents_);
}
}  // namespace drey::trainer
