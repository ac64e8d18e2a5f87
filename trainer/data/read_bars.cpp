// read_bars.cpp: see read_bars.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/read_bars.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "trainer/data/bar_file.hpp"
#include "trainer/data/bar_format.hpp"
#include "trainer/data/csv_reader.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/dbn_reader.hpp"
#include "trainer/data/parquet_reader.hpp"
#include "trainer/data/time_text.hpp"

namespace drey::trainer {
namespace {
bool exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

struct Matches {
  glob_t found{};
  Matches() = default;
  ~Matches() { ::globfree(&found); }
  Matches(const Matches&) = delete;
  Matches& operator=(const Matches&) = delete;
};

void add_matches(const std::string& pattern, std::vector<std::string>& files) {
  Matches matches;
  ::glob(pattern.c_str(), 0, nullptr, &matches.found);
  const std::size_t known = files.size();
  for (std::size_t i = 0; i < matches.found.gl_pathc; ++i) {
    if (!is_folder(matches.found.gl_pathv[i])) files.emplace_back(matches.found.gl_pathv[i]);
  }
  if (files.size() == known) throw_data_error({pattern}, "files that match this pattern", "none");
}

void add_word(const std::string& word, std::vector<std::string>& files) {
  const bool is_pattern = word.find_first_of("*?[") != std::string::npos;
  if (!is_pattern || exists(word)) {
    files.push_back(word);
  } else {
    add_matches(word, files);
  }
}

// Puts the series in the order of their first bars.
void sort_series(std::vector<BarSeries>& series) {
  std::stable_sort(series.begin(), series.end(), [](const BarSeries& a, const BarSeries& b) {
    return a.bars.front().timestamp_ns < b.bars.front().timestamp_ns;
  });
  for (std::size_t i = 1; i < series.size(); ++i) {
    const std::int64_t last_ns = series[i - 1].bars.back().timestamp_ns;
    const std::int64_t first_ns = series[i].bars.front().timestamp_ns;
    if (first_ns > last_ns) continue;
    throw_data_error({series[i].source},
                     "bars after " + format_time(last_ns) + ", the last of " + series[i - 1].source,
                     "an overlap: its first is of " + format_time(first_ns));
  }
}

BarSeries joined(std::vector<BarSeries> parts) {
  BarSeries whole;
  whole.instrument = parts.front().instrument;
  std::size_t count = 0;
  for (const BarSeries& part : parts) {
    count += part.bars.size();
    if (part.instrument != whole.instrument) whole.instrument.clear();
  }
  whole.bars.reserve(count);
  for (BarSeries& part : parts) {
    whole.bars.insert(whole.bars.end(), part.bars.begin(), part.bars.end());
    part.bars = {};  // given back at once
  }
  return whole;
}
}  // namespace

std::vector<std::string> find_bar_files(const std::string& data) {
  if (exists(data)) return {data};
  std::vector<std::string> files;
  std::size_t begin = 0;
  while (begin <= data.size()) {
    const std::size_t end = std::min(data.find(',', begin), data.size());
    const std::string word = data.substr(begin, end - begin);
    if (word.empty())
      throw_data_error({data}, "a file's name before and after each comma", "nothing");
    add_word(word, files);
    begin = end + 1;
  }
  return files;
}

BarSeries read_bar_source(const std::string& path, const ReadOptions& options) {
  switch (find_format(path)) {
    case BarFormat::kParquet:
      return read_parquet(path, options);
    case BarFormat::kDbn:
      return read_dbn(path, options);
    case BarFormat::kBarFile:
      return read_bar_file(path, options);
    case BarFormat::kCsv:
      break;
  }
  return read_csv(path, options);
}

BarSeries read_bars(const std::string& data, const ReadOptions& options) {
  const std::vector<std::string> files = find_bar_files(data);
  std::vector<BarSeries> parts;
  parts.reserve(files.size());
  for (const std::string& file : files) parts.push_back(read_bar_source(file, options));
  if (parts.size() == 1) return std::move(parts.front());
  sort_series(parts);
  BarSeries whole = joined(std::move(parts));
  whole.source = data;
  return whole;
}
}  // namespace drey::trainer
