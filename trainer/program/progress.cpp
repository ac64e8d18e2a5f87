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

void ProgressBar::begin(const PassPlace& place) {
  place_ = place;
  done_ = place.done;
  began_ = Clock::now();
  drawn_ = began_;
}

void ProgressBar::draw_if_due() {
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < kRedrawInterval) return;
  drawn_ = now;
  const auto steps = static_cast<double>(std::max<std::uint64_t>(place_.steps, 1));
  const double part = static_cast<double>(done_) / steps;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double rate = static_cast<double>(done_ - place_.done) / seconds;
  const double left = steps - static_cast<double>(done_);
  const auto passes_left = static_cast<double>(place_.pass_count - place_.pass);
  std::array<char, kBarWidth + 1> bar{};
  std::memset(bar.data(), '.', kBarWidth);
  std::memset(bar.data(), '#', static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * kBarWidth));
  std::array<char, 200> line{};
  const int length = std::snprintf(
      line.data(), line.size(),
      "\r\033[Kepoch %llu/%llu [%s] %3.0f %%  %.0f steps/s  %.0f s left, %.0f s in all",
      static_cast<unsigned long long>(place_.pass),
      static_cast<unsigned long long>(place_.pass_count), bar.data(), part * 100, rate, left / rate,
      (left + passes_left * steps) / rate);
  write_text(line.data(), std::min(static_cast<std::size_t>(std::max(length, 0)), line.size() - 1));
}

void ProgressBar::clear() {
  constexpr char kClear[] = "\r\033[K";
  if (is_on_) write_text(kClear, sizeof(kClear) - 1);
}
}  // namespace drey::trainer
