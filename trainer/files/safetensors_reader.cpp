// safetensors_reader.cpp: the reading half of safetensors.hpp. Believes nothing in the file.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include <drey/base/assert.hpp>
#include <drey/base/units.hpp>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"
#include "trainer/files/safetensors.hpp"

namespace drey::trainer {
namespace {
using Json = nlohmann::json;
constexpr std::uint64_t kHeaderBytesMax = 100'000'000;  // the format's own limit

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t index = bytes.size(); index-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[index]);
  }
  return value;
}

std::optional<std::uint64_t> bytes_of(std::string_view type) {
  constexpr std::pair<std::string_view, std::uint64_t> kSizes[] = {
      {"F64", 8},  {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
      {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
  for (const auto& [name, size] : kSizes) {
    if (name == type) return size;
  }
  return std::nullopt;
}

bool is_count_list(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& element) {
           return element.is_number_unsigned();
         });
}

/// Bytes of an array of this shape; nothing when that is not a number of 64 bits.
std::optional<std::uint64_t> bytes_of(const TensorShape& shape, std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}
}  // namespace

TensorReader::TensorReader(std::string file, std::string contents)
    : file_(std::move(file)), contents_(std::move(contents)) {
  const std::string_view all = contents_;
  if (all.size() < 8) refuse("at least 8 bytes", std::to_string(all.size()) + " bytes");
  const std::uint64_t header_bytes = little_endian(all.substr(0, 8));
  if (header_bytes > kHeaderBytesMax || header_bytes > all.size() - 8) {
    refuse("a safetensors header that fits into " + std::to_string(all.size()) + " bytes",
           "one of " + std::to_string(header_bytes) + " bytes");
  }
  data_ = all.substr(8 + header_bytes);
  parse_header(all.substr(8, header_bytes));
  check_coverage();
}

void TensorReader::parse_header(std::string_view header) {
  const Json root = Json::parse(header.begin(), header.end(), nullptr, false);
  if (!root.is_object())
    refuse("a safetensors header in JSON", trainer::quoted(header.substr(0, 60)));
  for (const auto& [name, value] : root.items()) {
    if (!value.is_object()) refuse("an object for " + trainer::quoted(name), "another value");
    if (name == "__metadata__") {
      for (const auto& [key, text] : value.items()) {
        if (!text.is_string()) refuse("text for metadata " + trainer::quoted(key), "another value");
        metadata_[key] = text.get<std::string>();
      }
      continue;
    }
    const Json type = value.value("dtype", Json());
    const Json shape = value.value("shape", Json());
    const Json offsets = value.value("data_offsets", Json());
    if (!type.is_string() || !is_count_list(shape) || !is_count_list(offsets) ||
        offsets.size() != 2) {
      refuse("dtype, shape and data_offsets for array " + trainer::quoted(name), "other members");
    }
    entries_[name] = {type.get<std::string>(), shape.get<TensorShape>(),
                      offsets[0].get<std::uint64_t>(), offsets[1].get<std::uint64_t>()};
  }
}

void TensorReader::check_coverage() const {
  std::vector<const Entry*> in_order;
  for (const auto& [name, entry] : entries_) {
    const std::optional<std::uint64_t> element_bytes = bytes_of(entry.type);
    if (!element_bytes)
      refuse("a known dtype for array " + trainer::quoted(name), trainer::quoted(entry.type));
    const std::optional<std::uint64_t> bytes = bytes_of(entry.shape, *element_bytes);
    if (entry.begin > entry.end || bytes != entry.end - entry.begin) {
      refuse("data_offsets that fit shape " + text_of(entry.shape) + " of array " +
                 trainer::quoted(name),
             text_of(TensorShape{entry.begin, entry.end}));
    }
    in_order.push_back(&entry);
  }
  std::sort(in_order.begin(), in_order.end(), [](const Entry* left, const Entry* right) {
    return std::pair(left->begin, left->end) < std::pair(right->begin, right->end);
  });
  std::uint64_t covered = 0;
  for (const Entry* const entry : in_order) {
    if (entry->begin != covered) {
      refuse("an array that begins at byte " + std::to_string(covered) + " of the data",
             "byte " + std::to_string(entry->begin));
    }
    covered = entry->end;
  }
  if (covered != data_.size()) {
    refuse(std::to_string(covered) + " bytes of data",
           std::to_string(data_.size()) + " (the file is cut or has more)");
  }
}

const TensorReader::Entry& TensorReader::entry_of(const std::string& name) const {
  const auto found = entries_.find(name);
  if (found == entries_.end()) refuse("an array " + trainer::quoted(name), "none");
  return found->second;
}

const TensorShape& TensorReader::shape_of(const std::string& name) const {
  return entry_of(name).shape;
}

const std::string& TensorReader::metadata(const std::string& key) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) refuse("metadata " + trainer::quoted(key), "none");
  return found->second;
}

void TensorReader::read_bytes(const std::string& name, TensorType type, const TensorShape& shape,
                              std::span<std::byte> bytes) const {
  const Entry& entry = entry_of(name);
  if (entry.type != name_of(type)) {
    refuse(std::string("dtype ") + name_of(type) + " for array " + trainer::quoted(name),
           trainer::quoted(entry.type));
  }
  if (entry.shape != shape) {
    refuse("shape " + text_of(shape) + " for array " + trainer::quoted(name), text_of(entry.shape));
  }
  DREY_ASSERT(bytes.size() == entry.end - entry.begin);
  if (!bytes.empty()) std::memcpy(bytes.data(), data_.data() + entry.begin, bytes.size());
}

void TensorReader::refuse(const std::string& expected, const std::string& found) const {
  throw CheckpointError(file_ + ": expected " + expected + ", found " + found);
}
}  // namespace drey::trainer
