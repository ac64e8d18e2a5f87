// dbn_reader.cpp: see dbn_reader.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/dbn_reader.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "trainer/data/bar_collector.hpp"
#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/dbn_metadata.hpp"
#include "trainer/data/dbn_records.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
constexpr std::string_view kSkippableMagicEnd = "\x2A\x4D\x18";  // after a byte from 50 to 5F
constexpr std::size_t kPrefixBytes = 8;
constexpr std::size_t kBarBytesMin = 56;
constexpr std::int64_t kUndefinedPrice = std::numeric_limits<std::int64_t>::max();
constexpr double kPriceUnits = 1e9;  // of the fixed-point prices, in 1

bool is_bar(std::uint8_t kind) {
  return kind == 0x11 || (kind >= 0x20 && kind <= 0x24);
}

// The kinds of records that there are: a fragment must begin with one.
bool is_known(std::uint8_t kind) {
  return kind <= 0x01 || kind == 0x0A || (kind >= 0x11 && kind <= 0x18) || is_bar(kind) ||
         kind == 0xA0 || kind == 0xB1 || (kind >= 0xC0 && kind <= 0xC4);
}

std::string kind_name(std::uint8_t kind) {
  constexpr std::array<std::string_view, 5> kNames = {"1 s", "1 min", "1 h", "1 d", "end of day"};
  return kind == 0x11 ? "bars of no stated length"
                      : "bars of " + std::string(kNames[kind - std::size_t{0x20}]);
}

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t number = 0;
  const char* const last = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), last, number);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != last) return std::nullopt;
  return number;
}

std::unique_ptr<ByteSource> open_dbn(const std::string& path) {
  const std::string front = first_bytes(path, 12);
  const bool skippable =
      front.size() == 12 && (front[0] & 0xF0) == 0x50 && front.substr(1, 3) == kSkippableMagicEnd;
  if (skippable && front.substr(8, 3) == "DBZ")
    throw_data_error({path}, "DBN of version 1, 2 or 3",
                     "legacy DBZ: Databento's 'dbn' program converts it");
  std::unique_ptr<ByteSource> source = open_bytes(path);
  if (skippable || front.starts_with(kZstdMagic)) return unpack_zstd(std::move(source), path);
  return source;
}

class DbnParse {
 public:
  DbnParse(const std::string& path, const ReadOptions& options)
      : records_(open(path)),
        collector_(path, options, "ts_event", "instrument_id"),
        wanted_id_(number_of(options.symbol)) {}

  BarSeries run() {
    std::string_view record;
    while (records_.next(record)) {
      const auto kind = static_cast<std::uint8_t>(record[1]);
      if (!is_bar(kind)) continue;
      ++bar_count_;
      read_bar(kind, record);
    }
    if (bar_count_ == 0)
      throw_data_error({collector_.path()}, "bars",
                       records_.row() == 0
                           ? "no records"
                           : std::to_string(records_.row()) + " records, none of them a bar");
    if (collector_.is_unfiltered() && collector_.instruments().size() > 1) throw_several();
    return collector_.finish(bar_count_, records_.row());
  }

 private:
  DbnRecords open(const std::string& path) {
    std::unique_ptr<ByteSource> source = open_dbn(path);
    std::array<char, kPrefixBytes> front{};
    const std::string_view prefix(front.data(), source->read(front));
    if (prefix.empty()) throw_data_error({path}, "DBN data", "an empty file");
    if (prefix.starts_with("DBN") && prefix.size() == kPrefixBytes) {
      metadata_ = read_dbn_metadata(path, prefix, *source);
      return {path, std::move(source), {}};
    }
    const bool is_record =
        prefix.size() == kPrefixBytes &&
        std::size_t{static_cast<unsigned char>(prefix[0])} * 4 >= kDbnHeaderBytes &&
        is_known(static_cast<std::uint8_t>(prefix[1]));
    if (!is_record)
      throw_data_error({path}, "DBN data: 'DBN' and a version, or a record", quoted(prefix));
    return {path, std::move(source), prefix};
  }

  void read_bar(std::uint8_t kind, std::string_view record) {
    const std::size_t row = records_.row();
    if (record.size() < kBarBytesMin)
      throw_data_error({collector_.path(), row, "length"}, "56 bytes or more of a bar",
                       std::to_string(record.size()));
    if (kind_ == 0) kind_ = kind;
    if (kind != kind_)
      throw_data_error({collector_.path(), row, "rtype"}, kind_name(kind_) + " as before",
                       kind_name(kind));
    Bar bar{};
    bar.timestamp_ns = time_of(record);
    const auto id = little_endian_at<std::uint32_t>(record, 4);
    const std::string_view name = metadata_.symbol_at(id, bar.timestamp_ns);
    id_text_ = name.empty() ? std::to_string(id) : std::string();
    const bool is_named = collector_.take_instrument(name.empty() ? id_text_ : name);
    if (!is_named && wanted_id_ != id) return;
    const std::array<double*, 4> targets = {&bar.open, &bar.high, &bar.low, &bar.close};
    for (std::size_t i = 0; i < targets.size(); ++i) *targets[i] = price_of(record, i);
    bar.volume = static_cast<double>(little_endian_at<std::uint64_t>(record, 48));
    const auto texts = [&] { return value_texts(bar); };
    const auto time_text = [&] { return format_time(bar.timestamp_ns); };
    if (!collector_.add(bar, row, texts, time_text)) throw_several();
  }

  [[nodiscard]] std::int64_t time_of(std::string_view record) const {
    const auto time = little_endian_at<std::uint64_t>(record, 8);
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> time_ns;
    if (time <= kMax) time_ns = scaled_time(static_cast<std::int64_t>(time), 1);
    if (!time_ns)
      throw_data_error({collector_.path(), records_.row(), "ts_event"}, "a time",
                       time == ~std::uint64_t{0} ? "an undefined one" : std::to_string(time));
    return *time_ns;
  }

  [[nodiscard]] double price_of(std::string_view record, std::size_t index) const {
    const auto price = static_cast<std::int64_t>(
        little_endian_at<std::uint64_t>(record, kDbnHeaderBytes + 8 * index));
    if (price == kUndefinedPrice)
      throw_data_error({collector_.path(), records_.row(), kPriceColumns[index]}, "a price",
                       "an undefined one");
    return static_cast<double>(price) / kPriceUnits;
  }

  // Names all of them, those of the records that are left included.
  [[noreturn]] void throw_several() {
    const std::size_t row = records_.row();
    std::string_view record;
    while (records_.next(record)) {
      if (!is_bar(static_cast<std::uint8_t>(record[1]))) continue;
      const auto id = little_endian_at<std::uint32_t>(record, 4);
      const std::string_view name = metadata_.symbol_at(id, time_of(record));
      id_text_ = std::to_string(id);
      collector_.take_instrument(name.empty() ? id_text_ : name);
    }
    throw_data_error(
        {collector_.path(), row, "instrument_id"}, "one instrument, or a symbol to select",
        std::to_string(collector_.instruments().size()) + ": " + listed(collector_.instruments()));
  }

  DbnMetadata metadata_;
  DbnRecords records_;
  BarCollector collector_;
  std::optional<std::uint32_t> wanted_id_;
  std::string id_text_;
  std::uint8_t kind_ = 0;  // of the first bar
  std::size_t bar_count_ = 0;
};
}  // namespace

BarSeries read_dbn(const std::string& path, const ReadOptions& options) {
  return DbnParse(path, options).run();
}
}  // namespace drey::trainer
