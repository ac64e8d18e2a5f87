// progress.cpp: see progress.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace drey::trainer {
namespace {
constexpr int kBarWidth = 30;
constexpr auto kRedrawInterval = std::chrono::milliseconds(100);

void write_text(const char* text, std::size_t length) {
  // A closed terminal is no reason to stop training.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, length);
}
}  // namespace

ProgressBar::ProgressBar(ProgressMode mode)
    : is_on_(mode == ProgressMode::kOn ||
             (mode == ProgressMode::kAutomatic && ::isatty(STDERR_FILENO) == 1)) {}

void ProgressBar::begin(std::uint64_t pass, std::uint64_t pass_count, std::uint64_t steps,
                        std::uint64_t done) {
  pass_ = pass;
  pass_count_ = pass_count;
  steps_ = steps;
  done_ = done;
  done_before_ = done;
  began_ = Clock::now();
  drawn_ = began_;
}

void ProgressBar::draw_if_due() {
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < kRedrawInterval) return;
  drawn_ = now;
  const double part =
      static_cast<double>(done_) / static_cast<double>(std::max<std::uint64_t>(steps_, 1));
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = static_cast<double>(done_ - done_before_) / seconds;
  std::array<char, kBarWidth + 1> bar{};
  std::memset(bar.data(), '.', kBarWidth);
  std::memset(bar.data(), '#', static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * kBarWidth));
  std::array<char, 160> line{};
  const int length = std::snprintf(
      line.data(), line.size(), "\r\033[Kepoch %llu/%llu [%s] %3.0f %%  %.0f steps/s  %.0f s left",
      static_cast<unsigned long long>(pass_), static_cast<unsigned long long>(pass_count_),
      bar.data(), part * 100, rate,
      (static_cast<double>(steps_) - static_cast<double>(done_)) / rate);
  write_text(line.data(), std::min(static_cast<std::size_t>(std::max(length, 0)), line.size() - 1));
}

void ProgressBar::clear() {
  constexpr char kClear[] = "\r\033[K";
  if (is_on_) write_text(kClear, sizeof(kClear) - 1);
}
}  // namespace drey::trainer
