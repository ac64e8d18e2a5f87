// pickle_text.hpp: Python's pickle, protocol 2, written front to back, without what would need code to
// load: numbers, words, lists, dicts, pairs.
// Invariants: a word is written once and then referred to by its place in the reader's memo; every
// open_*() has its close_*().
// Source: the opcodes as Python's pickletools documents them.
// Read next: snapshot.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace drey::cuda::trace {
class PickleText {
 public:
  PickleText() : bytes_("\x80\x02", 2) {}

  PickleText& open_list() { return add_bytes("]("); }
  PickleText& close_list() { return add_bytes("e"); }
  PickleText& open_dict() { return add_bytes("}("); }
  PickleText& close_dict() { return add_bytes("u"); }
  /// Of the two values written last.
  PickleText& make_pair() { return add_bytes("\x86"); }
  PickleText& add(bool value) { return add_bytes(value ? "\x88" : "\x89"); }
  PickleText& add_none() { return add_bytes("N"); }

  PickleText& add(std::uint64_t value) {
    if (value <= 0xff) return add_bytes("K").add_low(value, 1);
    if (value <= 0xffff) return add_bytes("M").add_low(value, 2);
    if (value <= 0x7fffffff) return add_bytes("J").add_low(value, 4);
    // A long of as many bytes as it needs, the sign's bit included.
    unsigned count = 1;
    while (count < 9 && value >> (8 * count - 1) != 0) ++count;
    add_bytes("\x8a").add_low(count, 1).add_low(value, count < 8 ? count : 8);
    return count == 9 ? add_low(0, 1) : *this;
  }

  PickleText& add(std::string_view word) {
    const auto [place, is_new] = words_.try_emplace(std::string(word), words_.size());
    const std::uint64_t index = place->second;
    const bool is_near = index <= 0xff;
    if (!is_new) return add_bytes(is_near ? "h" : "j").add_low(index, is_near ? 1 : 4);
    add_bytes("X").add_low(word.size(), 4).add_bytes(word);
    return add_bytes(is_near ? "q" : "r").add_low(index, is_near ? 1 : 4);
  }
  PickleText& add(const char* word) { return add(std::string_view(word)); }

  [[nodiscard]] std::string finish() { return std::move(add_bytes(".").bytes_); }

 private:
  PickleText& add_bytes(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  PickleText& add_low(std::uint64_t value, unsigned count) {
    for (unsigned index = 0; index < count; ++index)
      bytes_ += static_cast<char>(value >> (8 * index));
    return *this;
  }

  std::string bytes_;
  std::map<std::string, std::uint64_t, std::less<>> words_;
};
}  // namespace drey::cuda::trace
