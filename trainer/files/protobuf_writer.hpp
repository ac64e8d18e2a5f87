// protobuf_writer.hpp: the wire format of protocol buffers, as far as files of ours need it.
// A message is its fields one after the other: a tag (number * 8 + kind), then the value; a message
// within a message is a field of bytes. Source: the encoding guide of protobuf.dev.
// Invariant: fields come out in the order they were added, so equal contents give equal bytes.
// Read next: onnx_model.hpp, event_file.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace drey::trainer {
/// One message. Numbers are those of the message's .proto file.
class ProtobufWriter {
 public:
  void add_integer(unsigned number, std::int64_t value) {
    put_tag(number, kVarint);
    put_varint(static_cast<std::uint64_t>(value));
  }
  void add_float(unsigned number, float value) {
    put_tag(number, kFixed32);
    put_little_endian(std::bit_cast<std::uint32_t>(value), 4);
  }
  void add_double(unsigned number, double value) {
    put_tag(number, kFixed64);
    put_little_endian(std::bit_cast<std::uint64_t>(value), 8);
  }
  void add_text(unsigned number, std::string_view bytes) {
    put_tag(number, kLengthDelimited);
    put_varint(bytes.size());
    bytes_.append(bytes);
  }
  void add_message(unsigned number, const ProtobufWriter& message) {
    add_text(number, message.bytes_);
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  static constexpr unsigned kVarint = 0;
  static constexpr unsigned kFixed64 = 1;
  static constexpr unsigned kLengthDelimited = 2;
  static constexpr unsigned kFixed32 = 5;

  void put_tag(unsigned number, unsigned kind) { put_varint(std::uint64_t{number} << 3 | kind); }
  // Seven bits a byte, lowest first; the top bit says that more follow.
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  void put_little_endian(std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i) bytes_.push_back(static_cast<char>(value >> (8 * i)));
  }

  std::string bytes_;
};
}  // namespace drey::trainer
