// bar_file.hpp: bars in the form in which a program has them in memory, to be mapped and used as
// they lie: a header of 128 bytes, then 48 bytes a bar (struct Bar). Any other format is converted
// once, and the libraries that read it are then not part of a training run.
// Invariants: a file is as long as its header says; the header and the bars have the checksums that
// it names; the bars keep the promises of BarSeries.
// Read next: bars.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
inline constexpr std::string_view kBarFileMagic = "DREYBARS";
inline constexpr std::uint32_t kBarFileVersion = 1;
inline constexpr std::uint32_t kByteOrderMark = 0x01020304;
inline constexpr std::size_t kInstrumentBytesMax = 63;

static_assert(sizeof(Bar) == 48 && alignof(Bar) == 8, "the layout of the file");

/// The bars of a file as they lie in the page cache: nothing is copied. Threads: any number reads.
class MappedBars {
 public:
  /// Maps `path` and checks all of it. Fails: DataError naming file, expected and found, for a file
  /// that is no bar file, of another version, byte order or size of a bar, cut off, longer than its
  /// header says, or damaged; and, with its row, for a bar against the rules.
  /// Cost: one pass over the bytes.
  explicit MappedBars(std::string path);
  ~MappedBars();
  MappedBars(const MappedBars&) = delete;
  MappedBars& operator=(const MappedBars&) = delete;

  [[nodiscard]] std::span<const Bar> bars() const noexcept { return bars_; }
  [[nodiscard]] const std::string& instrument() const noexcept { return instrument_; }

 private:
  void check();
  void check_header();
  void check_bars() const;

  std::string path_;
  void* start_ = nullptr;
  std::size_t size_ = 0;
  std::span<const Bar> bars_;
  std::string instrument_;
};

/// The bars of `path`, copied once. ReadOptions::symbol must be the instrument that the file names.
/// Fails: as MappedBars.
[[nodiscard]] BarSeries read_bar_file(const std::string& path, const ReadOptions& options = {});

/// What stands before the bars of `series` in a file; after it come bar_bytes().
/// Fails: DataError for an instrument's name of more than 63 bytes.
[[nodiscard]] std::string bar_file_header(const BarSeries& series);

/// The bars of `series` as a file holds them. Valid as long as `series` is unchanged.
[[nodiscard]] std::string_view bar_bytes(const BarSeries& series) noexcept;
}  // namespace drey::trainer
