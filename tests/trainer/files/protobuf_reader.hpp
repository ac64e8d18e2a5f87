// protobuf_reader.hpp: reads a message of protocol buffers into its fields, for the tests of files.
// Shares no code with trainer/files/protobuf_writer.hpp. Throws where a message is broken.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace drey::test {
struct ProtobufField {
  unsigned number;
  std::uint64_t value;     ///< of an integer, a float or a double: its bits
  std::string_view bytes;  ///< of a text or a message
};

class ProtobufMessage {
 public:
  explicit ProtobufMessage(std::string_view bytes) {
    while (!bytes.empty()) fields_.push_back(take_field(bytes));
  }
  [[nodiscard]] std::vector<ProtobufField> all(unsigned number) const {
    std::vector<ProtobufField> found;
    for (const ProtobufField& field : fields_) {
      if (field.number == number) found.push_back(field);
    }
    return found;
  }
  /// The only field of that number.
  [[nodiscard]] ProtobufField one(unsigned number) const {
    const std::vector<ProtobufField> found = all(number);
    if (found.size() != 1) throw std::runtime_error("not one field " + std::to_string(number));
    return found[0];
  }
  [[nodiscard]] std::string text(unsigned number) const { return std::string(one(number).bytes); }
  [[nodiscard]] ProtobufMessage message(unsigned number) const {
    return ProtobufMessage(one(number).bytes);
  }

 private:
  static std::uint64_t take_bytes(std::string_view& bytes, std::size_t count) {
    if (bytes.size() < count) throw std::runtime_error("a message that ends early");
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), count);
    bytes.remove_prefix(count);
    return value;
  }
  static std::uint64_t take_varint(std::string_view& bytes) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = take_bytes(bytes, 1);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw std::runtime_error("a number without end");
  }
  static ProtobufField take_field(std::string_view& bytes) {
    const std::uint64_t tag = take_varint(bytes);
    ProtobufField field{static_cast<unsigned>(tag >> 3), 0, {}};
    switch (tag & 7) {
      case 0:
        field.value = take_varint(bytes);
        break;
      case 1:
        field.value = take_bytes(bytes, 8);
        break;
      case 5:
        field.value = take_bytes(bytes, 4);
        break;
      case 2: {
        const std::uint64_t size = take_varint(bytes);
        if (size > bytes.size()) throw std::runtime_error("a field that ends early");
        field.bytes = bytes.substr(0, size);
        bytes.remove_prefix(size);
        break;
      }
      default:
        throw std::runtime_error("an unknown kind of field");
    }
    return field;
  }

  std::vector<ProtobufField> fields_;
};
}  // namespace drey::test
