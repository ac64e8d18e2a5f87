// option_value.cpp: see option_value.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/option_value.hpp"

#include <charconv>
#include <type_traits>

#include "trainer/program/config.hpp"

namespace drey::trainer {
namespace {
template <class Number>
bool read_number(std::string_view text, Number& value, Number low, Number high) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const bool is_inside = number >= low && number <= high;  // false for NaN
  if (result.ec != std::errc{} || result.ptr != end || !is_inside) return false;
  value = number;
  return true;
}

template <class Number>
std::string shortest(Number number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}

template <class Number>
std::string bounds(const Limits<Number>& kind, const std::string& unit) {
  return "(" + shortest(kind.low) + " to " + shortest(kind.high) +
         (unit.empty() ? "" : " " + unit) + ")";
}
}  // namespace

bool read_text(std::string_view text, std::uint64_t& value, const Limits<std::uint64_t>& kind) {
  return read_number(text, value, kind.low, kind.high);
}

bool read_text(std::string_view text, double& value, const Limits<double>& kind) {
  return read_number(text, value, kind.low, kind.high);
}

bool read_text(std::string_view text, bool& value, const Flag& /*kind*/) {
  if (text != "true" && text != "false") return false;
  value = text == "true";
  return true;
}

bool read_text(std::string_view text, ProgressMode& value, const Flag& kind) {
  bool is_on = false;
  if (!read_text(text, is_on, kind)) return false;
  value = is_on ? ProgressMode::kOn : ProgressMode::kOff;
  return true;
}

bool read_text(std::string_view text, std::string& value, const Text& /*kind*/) {
  if (text.empty()) return false;
  value = text;
  return true;
}

bool read_text(std::string_view text, DeviceChoice& value, const DeviceKind& /*kind*/) {
  constexpr std::string_view kNumbered = "cuda:";
  DeviceChoice choice;
  choice.is_cuda = text != "cpu";
  const bool is_number =
      text.substr(0, kNumbered.size()) == kNumbered &&
      read_number(text.substr(kNumbered.size()), choice.number, 0, DeviceChoice::kNumberMax);
  if (text != "cpu" && text != "cuda" && !is_number) return false;
  value = choice;
  return true;
}

bool read_text(std::string_view text, std::vector<std::uint64_t>& value, const Widths& kind) {
  std::vector<std::uint64_t> widths;
  for (bool is_last = false; !is_last;) {
    const std::size_t comma = text.find(',');
    is_last = comma == std::string_view::npos;
    std::uint64_t width = 0;
    if (!read_number(text.substr(0, comma), width, kind.low, kind.high)) return false;
    widths.push_back(width);
    if (!is_last) text.remove_prefix(comma + 1);
  }
  if (widths.size() > kind.count_max) return false;
  value = widths;
  return true;
}

std::string text_of(std::uint64_t value) {
  return shortest(value);
}

std::string text_of(double value) {
  return shortest(value);
}

std::string text_of(std::uint64_t value, const Limits<std::uint64_t>& /*kind*/) {
  return shortest(value);
}

std::string text_of(double value, const Limits<double>& /*kind*/) {
  return shortest(value);
}

std::string text_of(bool value, const Flag& /*kind*/) {
  return value ? "true" : "false";
}

std::string text_of(ProgressMode value, const Flag& kind) {
  return value == ProgressMode::kAutomatic ? "" : text_of(value == ProgressMode::kOn, kind);
}

std::string text_of(const std::string& value, const Text& /*kind*/) {
  return value;
}

std::string text_of(const DeviceChoice& value, const DeviceKind& /*kind*/) {
  if (!value.is_cuda) return "cpu";
  return value.number == 0 ? "cuda" : "cuda:" + shortest(value.number);
}

std::string text_of(const std::vector<std::uint64_t>& value, const Widths& /*kind*/) {
  std::string text;
  for (const std::uint64_t width : value) text += (text.empty() ? "" : ",") + shortest(width);
  return text;
}

std::string expected_of(const Limits<std::uint64_t>& kind) {
  return "a whole number from " + shortest(kind.low) + " to " + shortest(kind.high);
}

std::string expected_of(const Limits<double>& kind) {
  return "a number from " + shortest(kind.low) + " to " + shortest(kind.high);
}

std::string expected_of(const Flag& /*kind*/) {
  return "true or false";
}

std::string expected_of(const Text& /*kind*/) {
  return "a name";
}

std::string expected_of(const DeviceKind& /*kind*/) {
  return "cpu, cuda, or cuda:N with N from 0 to " + shortest(DeviceChoice::kNumberMax);
}

std::string expected_of(const Widths& kind) {
  return "1 to " + shortest(std::uint64_t{kind.count_max}) + " whole numbers from " +
         shortest(kind.low) + " to " + shortest(kind.high) + " with commas between";
}

std::string one_of(const char* const* words, std::size_t count) {
  std::string text;
  for (std::size_t place = 0; place < count; ++place) {
    if (place > 0) text += place + 1 == count ? " or " : ", ";
    text += words[place];
  }
  return text;
}

std::string hint_of(const Limits<std::uint64_t>& kind, const std::string& unit) {
  return bounds(kind, unit);
}

std::string hint_of(const Limits<double>& kind, const std::string& unit) {
  return bounds(kind, unit);
}

std::string hint_of(const Flag& /*kind*/, const std::string& /*unit*/) {
  return "";
}

std::string hint_of(const Text& /*kind*/, const std::string& /*unit*/) {
  return "";
}

std::string hint_of(const DeviceKind& /*kind*/, const std::string& /*unit*/) {
  return "(cpu, cuda, cuda:N)";
}

std::string hint_of(const Widths& kind, const std::string& /*unit*/) {
  return "(1 to " + shortest(std::uint64_t{kind.count_max}) + " of them, " + shortest(kind.low) +
         " to " + shortest(kind.high) + ")";
}
}  // namespace drey::trainer
