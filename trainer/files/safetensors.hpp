// safetensors.hpp: named arrays in one file that PyTorch, NumPy and others read too.
//   8 bytes   length of the header, little-endian
//   header    JSON: {"name": {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__":
//   {...}}
//             padded with spaces so that the data start on a multiple of 8
//   data      the arrays, one after the other without gaps, little-endian, row-major
// Invariant: a TensorReader that was constructed has checked all of that.
// Source: the format's description, github.com/huggingface/safetensors, README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drey::trainer {
enum class TensorType : std::uint8_t { kF32, kF64, kI64, kI32, kU8 };

/// "F32" and so on. Cost: none.
[[nodiscard]] const char* name_of(TensorType type);

template <class Value>
[[nodiscard]] consteval TensorType tensor_type_of() {
  if constexpr (std::is_same_v<Value, float>) return TensorType::kF32;
  if constexpr (std::is_same_v<Value, double>) return TensorType::kF64;
  if constexpr (std::is_same_v<Value, std::int64_t>) return TensorType::kI64;
  if constexpr (std::is_same_v<Value, std::int32_t>) return TensorType::kI32;
  if constexpr (std::is_same_v<Value, std::uint8_t>) return TensorType::kU8;
}

using TensorShape = std::vector<std::uint64_t>;

/// "[128, 225]".
[[nodiscard]] std::string text_of(const TensorShape& shape);

/// Collects arrays, then gives the file's bytes.
class TensorWriter {
 public:
  /// Copies `values`. Requires: their number is the product of `shape`; `name` is new.
  template <class Value>
  void add(const std::string& name, const TensorShape& shape, std::span<const Value> values) {
    add_bytes(name, tensor_type_of<Value>(), shape, std::as_bytes(values));
  }
  void set_metadata(const std::string& key, const std::string& value) { metadata_[key] = value; }
  [[nodiscard]] std::string file_contents() const;

 private:
  struct Entry {
    TensorType type;
    TensorShape shape;
    std::size_t begin;
    std::size_t end;
  };

  void add_bytes(const std::string& name, TensorType type, const TensorShape& shape,
                 std::span<const std::byte> bytes);

  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
  std::string data_;
};

/// The arrays of a file. All faults are CheckpointErrors naming file, expected and found.
class TensorReader {
 public:
  /// Parses and checks the header. `file` is for messages, `contents` the whole of it.
  TensorReader(std::string file, std::string contents);
  TensorReader(const TensorReader&) = delete;  // data_ points into contents_
  TensorReader& operator=(const TensorReader&) = delete;

  /// Copies the array `name` to `values`.
  /// Fails: no such array; another type; another shape than `shape`.
  template <class Value>
  void read(const std::string& name, const TensorShape& shape, std::span<Value> values) const {
    read_bytes(name, tensor_type_of<Value>(), shape, std::as_writable_bytes(values));
  }
  /// Fails: no array `name`.
  [[nodiscard]] const TensorShape& shape_of(const std::string& name) const;
  /// Fails: no metadata `key`.
  [[nodiscard]] const std::string& metadata(const std::string& key) const;
  [[nodiscard]] const std::string& file() const { return file_; }

  /// Throws a CheckpointError: "FILE: expected E, found F".
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const;

 private:
  struct Entry {
    std::string type;
    TensorShape shape;
    std::uint64_t begin;
    std::uint64_t end;
  };

  void parse_header(std::string_view header);
  void check_coverage() const;
  void read_bytes(const std::string& name, TensorType type, const TensorShape& shape,
                  std::span<std::byte> bytes) const;
  [[nodiscard]] const Entry& entry_of(const std::string& name) const;

  std::string file_;
  std::string contents_;
  std::string_view data_;
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::string> metadata_;
};
}  // namespace drey::trainer
