// bar_format.cpp: see bar_format.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_format.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "trainer/data/bar_file.hpp"
#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
using namespace std::string_view_literals;

constexpr std::size_t kFrontBytes = 16;

struct Known {
  std::string_view front;
  BarFormat format;
};
constexpr std::array<Known, 4> kKnown = {{{"PAR1"sv, BarFormat::kParquet},
                                          {"DBN"sv, BarFormat::kDbn},
                                          {"\x28\xB5\x2F\xFD"sv, BarFormat::kDbn},  // zstd
                                          {kBarFileMagic, BarFormat::kBarFile}}};

struct Foreign {
  std::string_view front;
  std::string_view name;
};
constexpr std::array<Foreign, 7> kForeign = {{{"PARE"sv, "an encrypted Parquet file"sv},
                                              {"ARROW1"sv, "an Arrow file"sv},
                                              {"FEA1"sv, "a Feather file"sv},
                                              {"PK\x03\x04"sv, "a zip archive or spreadsheet"sv},
                                              {"\xFD"
                                               "7zXZ"sv,
                                               "an xz archive"sv},
                                              {"\x89HDF"sv, "an HDF5 file"sv},
                                              {"SQLite format 3"sv, "an SQLite database"sv}}};

struct Promise {
  std::string_view ending;
  BarFormat format;
  std::string_view name;
};
constexpr std::array<Promise, 7> kPromises = {
    {{".parquet"sv, BarFormat::kParquet, "Parquet data"sv},
     {".pq"sv, BarFormat::kParquet, "Parquet data"sv},
     {".dbn"sv, BarFormat::kDbn, "DBN data"sv},
     {".dbz"sv, BarFormat::kDbn, "DBN data"sv},
     {".dbn.frag"sv, BarFormat::kDbn, "DBN data"sv},
     {".zst"sv, BarFormat::kDbn, "zstd data"sv},
     {".bars"sv, BarFormat::kBarFile, "a bar file"sv}}};

// Databento's legacy form begins with a zstd frame to be skipped; the reader refuses it by name.
bool is_skippable_frame(std::string_view front) {
  return front.size() >= 4 && (front[0] & 0xF0) == 0x50 && front.substr(1, 3) == "\x2A\x4D\x18"sv;
}

std::optional<BarFormat> format_of(std::string_view front) {
  // A version follows: "DBN" and a comma would be a header of CSV.
  const bool has_version = front.size() > 3 && static_cast<unsigned char>(front[3]) < ' ';
  for (const Known& known : kKnown) {
    if (front.starts_with(known.front) && (known.front != "DBN"sv || has_version))
      return known.format;
  }
  if (is_skippable_frame(front)) return BarFormat::kDbn;
  return std::nullopt;
}
}  // namespace

BarFormat find_format(const std::string& path) {
  const std::string front = first_bytes(path, kFrontBytes);
  if (const std::optional<BarFormat> format = format_of(front)) return *format;
  for (const Foreign& foreign : kForeign) {
    if (front.starts_with(foreign.front))
      throw_data_error({path}, "CSV, Parquet, DBN or a bar file", foreign.name);
  }
  if (front.empty()) return BarFormat::kCsv;
  for (const Promise& promise : kPromises) {
    if (!path.ends_with(promise.ending)) continue;
    if (path.ends_with(".dbn.frag")) return BarFormat::kDbn;  // begins with its first record
    throw_data_error(
        {path}, std::string(promise.name) + ", as the name ends in " + std::string(promise.ending),
        quoted(front) + " at its beginning");
  }
  return BarFormat::kCsv;
}
}  // namespace drey::trainer
