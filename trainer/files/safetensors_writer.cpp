// safetensors_writer.cpp: the writing half of safetensors.hpp.
// SPDX-License-Identifier: MIT
#include <bit>
#include <nlohmann/json.hpp>

#include <drey/base/assert.hpp>

#include "trainer/files/safetensors.hpp"

namespace drey::trainer {
static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

const char* name_of(TensorType type) {
  switch (type) {
    case TensorType::kF32:
      return "F32";
    case TensorType::kF64:
      return "F64";
    case TensorType::kI64:
      return "I64";
    case TensorType::kI32:
      return "I32";
    case TensorType::kU8:
      return "U8";
  }
  return "?";
}

std::string text_of(const TensorShape& shape) {
  std::string text = "[";
  for (const std::uint64_t extent : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(extent);
  }
  return text + "]";
}

void TensorWriter::add_bytes(const std::string& name, TensorType type, const TensorShape& shape,
                             std::span<const std::byte> bytes) {
  DREY_ASSERT(!entries_.contains(name));
  const std::size_t begin = data_.size();
  data_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  entries_[name] = {type, shape, begin, data_.size()};
}

std::string TensorWriter::file_contents() const {
  nlohmann::json header;
  for (const auto& [name, entry] : entries_) {
    header[name] = {{"dtype", name_of(entry.type)},
                    {"shape", entry.shape},
                    {"data_offsets", {entry.begin, entry.end}}};
  }
  header["__metadata__"] = metadata_;
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');
  std::string contents;
  contents.reserve(8 + text.size() + data_.size());
  for (unsigned byte = 0; byte < 8; ++byte) {
    contents.push_back(static_cast<char>(text.size() >> (8 * byte) & 0xff));
  }
  return contents.append(text).append(data_);
}
}  // namespace drey::trainer
