// option_value.hpp: the kinds of values that an option can have, as text and back.
// Every source of settings (command line, TOML, checkpoint) reads through read_text(), so each
// refuses the same values in the same words. A kind is: a type with read_text(), text_of() and
// expected_of().
// Read next: config.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
enum class ProgressMode : std::uint8_t;

/// A number's bounds, both included.
template <class Number>
struct Limits {
  Number low;
  Number high;
};

/// Yes or no. With `off_sentence`, --no-NAME exists too and means what it says.
struct Flag {
  const char* off_sentence = nullptr;
};

/// A name; `type` stands for it in --help.
struct Text {
  const char* type;
};

/// cpu, cuda (the first device), or cuda:N.
struct DeviceKind {};

/// Where the network learns.
struct DeviceChoice {
  static constexpr int kNumberMax = 63;
  bool is_cuda = false;
  int number = 0;  ///< of the device

  bool operator==(const DeviceChoice&) const = default;
};

/// One to `count_max` numbers with commas between, each from `low` to `high`.
struct Widths {
  std::uint64_t low;
  std::uint64_t high;
  std::size_t count_max;
};

/// One of some words: the place of the word is the value.
template <std::size_t kCount>
struct Words {
  std::array<const char*, kCount> words;
};
template <class... Word>
Words(Word...) -> Words<sizeof...(Word)>;

/// The value that `text` says. Returns: false, leaving `value` as it was, if it says none that
/// fits.
[[nodiscard]] bool read_text(std::string_view text, std::uint64_t& value,
                             const Limits<std::uint64_t>& kind);
[[nodiscard]] bool read_text(std::string_view text, double& value, const Limits<double>& kind);
[[nodiscard]] bool read_text(std::string_view text, bool& value, const Flag& kind);
[[nodiscard]] bool read_text(std::string_view text, ProgressMode& value, const Flag& kind);
[[nodiscard]] bool read_text(std::string_view text, std::string& value, const Text& kind);
[[nodiscard]] bool read_text(std::string_view text, DeviceChoice& value, const DeviceKind& kind);
[[nodiscard]] bool read_text(std::string_view text, std::vector<std::uint64_t>& value,
                             const Widths& kind);
template <class Enumeration, std::size_t kCount>
[[nodiscard]] bool read_text(std::string_view text, Enumeration& value, const Words<kCount>& kind) {
  for (std::size_t place = 0; place < kCount; ++place) {
    if (text != kind.words[place]) continue;
    value = static_cast<Enumeration>(place);
    return true;
  }
  return false;
}

/// The shortest text that reads back as the same value; "" for a name or mode that is not set.
[[nodiscard]] std::string text_of(std::uint64_t value);
[[nodiscard]] std::string text_of(double value);
[[nodiscard]] std::string text_of(std::uint64_t value, const Limits<std::uint64_t>& kind);
[[nodiscard]] std::string text_of(double value, const Limits<double>& kind);
[[nodiscard]] std::string text_of(bool value, const Flag& kind);
[[nodiscard]] std::string text_of(ProgressMode value, const Flag& kind);
[[nodiscard]] std::string text_of(const std::string& value, const Text& kind);
[[nodiscard]] std::string text_of(const DeviceChoice& value, const DeviceKind& kind);
[[nodiscard]] std::string text_of(const std::vector<std::uint64_t>& value, const Widths& kind);
template <class Enumeration, std::size_t kCount>
[[nodiscard]] std::string text_of(Enumeration value, const Words<kCount>& kind) {
  return kind.words.at(static_cast<std::size_t>(value));
}

/// "a whole number from 1 to 9": what an option of this kind accepts.
[[nodiscard]] std::string expected_of(const Limits<std::uint64_t>& kind);
[[nodiscard]] std::string expected_of(const Limits<double>& kind);
[[nodiscard]] std::string expected_of(const Flag& kind);
[[nodiscard]] std::string expected_of(const Text& kind);
[[nodiscard]] std::string expected_of(const DeviceKind& kind);
[[nodiscard]] std::string expected_of(const Widths& kind);
[[nodiscard]] std::string one_of(const char* const* words, std::size_t count);
template <std::size_t kCount>
[[nodiscard]] std::string expected_of(const Words<kCount>& kind) {
  return one_of(kind.words.data(), kCount);
}

/// "(1 to 9 epochs)", "(huber or mse)", or nothing: what --help puts behind the sentence.
[[nodiscard]] std::string hint_of(const Limits<std::uint64_t>& kind, const std::string& unit);
[[nodiscard]] std::string hint_of(const Limits<double>& kind, const std::string& unit);
[[nodiscard]] std::string hint_of(const Flag& kind, const std::string& unit);
[[nodiscard]] std::string hint_of(const Text& kind, const std::string& unit);
[[nodiscard]] std::string hint_of(const DeviceKind& kind, const std::string& unit);
[[nodiscard]] std::string hint_of(const Widths& kind, const std::string& unit);
template <std::size_t kCount>
[[nodiscard]] std::string hint_of(const Words<kCount>& kind, const std::string& /*unit*/) {
  return "(" + one_of(kind.words.data(), kCount) + ")";
}

/// "N", "X", "FILE": what stands for the value in --help; "" for a flag.
[[nodiscard]] inline const char* type_of(const Limits<std::uint64_t>& /*kind*/) {
  return "N";
}
[[nodiscard]] inline const char* type_of(const Limits<double>& /*kind*/) {
  return "X";
}
[[nodiscard]] inline const char* type_of(const Flag& /*kind*/) {
  return "";
}
[[nodiscard]] inline const char* type_of(const Text& kind) {
  return kind.type;
}
[[nodiscard]] inline const char* type_of(const DeviceKind& /*kind*/) {
  return "DEVICE";
}
[[nodiscard]] inline const char* type_of(const Widths& /*kind*/) {
  return "N,N...";
}
template <std::size_t kCount>
[[nodiscard]] const char* type_of(const Words<kCount>& /*kind*/) {
  return "WORD";
}
}  // namespace drey::trainer
