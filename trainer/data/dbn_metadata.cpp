// dbn_metadata.cpp: see dbn_metadata.hpp.
// Invariant: memory follows the bytes that are there, never a count that the file claims.
// SPDX-License-Identifier: MIT
#include "trainer/data/dbn_metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
constexpr std::size_t kPrefixBytes = 8;
constexpr std::size_t kLengthMin = 100;
constexpr std::size_t kStepBytes = 65'536;
constexpr std::size_t kSymbolBytesOfVersion1 = 22;

// By number, from 0 on.
constexpr std::array<std::string_view, 20> kSchemas = {
    "mbo",      "mbp-1",    "mbp-10",     "tbbo",       "trades", "ohlcv-1s",  "ohlcv-1m",
    "ohlcv-1h", "ohlcv-1d", "definition", "statistics", "status", "imbalance", "ohlcv-eod",
    "cmbp-1",   "cbbo-1s",  "cbbo-1m",    "tcbbo",      "bbo-1s", "bbo-1m"};

bool has_bars(std::uint16_t schema) {
  return schema == kSchemaMixed ||
         (schema < kSchemas.size() && kSchemas[schema].starts_with("ohlcv-"));
}

// Offsets are those of the file.
struct Metadata {
  std::string_view file;
  std::string bytes;
  std::size_t place = 0;

  void require(std::uint64_t count, std::string_view what) const {
    if (count <= bytes.size() - place) return;
    throw_data_error({file},
                     std::string(what) + " within the metadata of " +
                         std::to_string(bytes.size() - kPrefixBytes) + " bytes",
                     "one that goes past its end");
  }
  template <class T>
  T number(std::string_view what) {
    require(sizeof(T), what);
    const T result = little_endian_at<T>(bytes, place);
    place += sizeof(T);
    return result;
  }
  std::string_view symbol(std::size_t size, std::string_view what) {
    require(size, what);
    const std::string_view field = std::string_view(bytes).substr(place, size);
    place += size;
    return field.substr(0, field.find('\0'));
  }
  void skip_definition() {
    constexpr std::string_view kWhat = "a schema definition";
    const auto size = number<std::uint32_t>(kWhat);
    require(size, kWhat);
    place += size;
  }
  void skip_symbols(std::size_t symbol_bytes, std::string_view what) {
    const std::uint64_t size = std::uint64_t{number<std::uint32_t>(what)} * symbol_bytes;
    require(size, what);
    place += size;
  }
};

std::string read_rest(const std::string& path, std::string_view prefix, ByteSource& source) {
  const std::size_t length = little_endian_at<std::uint32_t>(prefix, 4);
  if (length < kLengthMin)
    throw_data_error({path}, "DBN metadata of 100 bytes or more", std::to_string(length));
  std::string bytes(prefix);
  while (bytes.size() < kPrefixBytes + length) {
    const std::size_t done = bytes.size();
    const std::size_t wanted = std::min(kStepBytes, kPrefixBytes + length - done);
    bytes.resize(done + wanted);
    const std::size_t got = source.read({bytes.data() + done, wanted});
    if (got < wanted)
      throw_data_error(
          {path}, "DBN metadata of " + std::to_string(length) + " bytes",
          "the end of the file after " + std::to_string(done + got - kPrefixBytes) + " of them");
  }
  return bytes;
}

std::optional<std::int64_t> day_ns(std::uint32_t date) {
  const std::string text = std::to_string(date);
  return text.size() == 8 ? parse_time(text) : std::nullopt;
}

void read_mappings(Metadata& metadata, std::size_t symbol_bytes, DbnMetadata& result) {
  constexpr std::string_view kWhat = "a symbol mapping";
  const auto count = metadata.number<std::uint32_t>(kWhat);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view name = metadata.symbol(symbol_bytes, kWhat);
    const auto interval_count = metadata.number<std::uint32_t>(kWhat);
    for (std::uint32_t j = 0; j < interval_count; ++j) {
      const auto first = day_ns(metadata.number<std::uint32_t>(kWhat));
      const auto end = day_ns(metadata.number<std::uint32_t>(kWhat));
      const std::string_view target = metadata.symbol(symbol_bytes, kWhat);
      std::uint32_t id = 0;
      const char* const last = target.data() + target.size();
      const auto parsed = std::from_chars(target.data(), last, id);
      // A target that is no number (another stype_out) names no records.
      if (!first || !end || target.empty() || parsed.ec != std::errc{} || parsed.ptr != last)
        continue;
      result.mappings[id].push_back({*first, *end, std::string(name)});
    }
  }
}
}  // namespace

std::string dbn_schema_name(std::uint16_t schema) {
  if (schema == kSchemaMixed) return "mixed";
  if (schema < kSchemas.size()) return std::string(kSchemas[schema]);
  return "number " + std::to_string(schema);
}

std::string_view DbnMetadata::symbol_at(std::uint32_t id, std::int64_t time_ns) const {
  const auto found = mappings.find(id);
  if (found == mappings.end()) return {};
  for (const DbnMapping& mapping : found->second) {
    if (time_ns >= mapping.first_day_ns && time_ns < mapping.end_day_ns) return mapping.symbol;
  }
  return found->second.front().symbol;  // a session may begin the evening before
}

DbnMetadata read_dbn_metadata(const std::string& path, std::string_view prefix,
                              ByteSource& source) {
  const auto version = static_cast<unsigned char>(prefix[3]);
  if (version < 1 || version > 3)
    throw_data_error({path}, "DBN of version 1, 2 or 3", "version " + std::to_string(version));
  Metadata metadata{path, read_rest(path, prefix, source)};
  DbnMetadata result;
  result.schema = little_endian_at<std::uint16_t>(metadata.bytes, 24);
  if (!has_bars(result.schema))
    throw_data_error({path}, "a schema of bars (ohlcv-1s, -1m, -1h, -1d or -eod)",
                     dbn_schema_name(result.schema));
  std::size_t symbol_bytes = kSymbolBytesOfVersion1;
  if (version >= 2) symbol_bytes = little_endian_at<std::uint16_t>(metadata.bytes, 53);
  if (symbol_bytes == 0) throw_data_error({path}, "symbols of 1 byte or more", "0");
  metadata.place = 108;
  if (metadata.bytes.size() == metadata.place) return result;  // no lists at all
  metadata.skip_definition();
  for (const char* const list : {"symbols", "partial symbols", "symbols not found"})
    metadata.skip_symbols(symbol_bytes, std::string("a list of ") + list);
  read_mappings(metadata, symbol_bytes, result);
  return result;
}
}  // namespace drey::trainer
