// bar_collector.cpp: see bar_collector.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/bar_collector.hpp"

#include <utility>

#include "trainer/data/time_text.hpp"

namespace drey::trainer {
BarCollector::BarCollector(std::string path, const ReadOptions& options, std::string time_column,
                           std::string symbol_column)
    : path_(std::move(path)),
      symbol_(options.symbol),
      time_column_(std::move(time_column)),
      symbol_column_(std::move(symbol_column)) {
  series_.source = path_;
}

bool BarCollector::take_instrument(std::string_view name) {
  if (instruments_.empty() || name != instruments_[instrument_index_]) {
    instrument_changed_ = !instruments_.empty();
    change_count_ += instrument_changed_ ? 1 : 0;
    const auto known = indices_.find(name);
    instrument_index_ = known != indices_.end() ? known->second : instruments_.size();
    if (known == indices_.end()) {
      indices_.emplace(name, instruments_.size());
      instruments_.emplace_back(name);
    }
  }
  return symbol_.empty() || name == symbol_;
}

void BarCollector::throw_not_later(std::int64_t time_ns, std::size_t row,
                                   std::string_view text) const {
  const std::int64_t last_ns = series_.bars.back().timestamp_ns;
  const std::string what = time_ns == last_ns ? "the same time again: " : "an earlier time: ";
  throw_data_error({path_, row, time_column_}, "a time after " + format_time(last_ns),
                   what + quoted(text));
}

void BarCollector::throw_interleaved(std::size_t row) const {
  throw_data_error({path_, row, symbol_column_}, "one instrument at a time, or a symbol to select",
                   std::to_string(instruments_.size()) + " interleaved: " + listed(instruments_));
}

BarSeries BarCollector::finish(std::size_t row_count, std::size_t row) {
  if (series_.bars.empty()) {
    if (row_count == 0) throw_data_error({path_, row}, "bars", "none");
    throw_data_error({path_, 0, symbol_column_}, "rows of " + quoted(symbol_),
                     "only " + listed(instruments_));
  }
  // A contract roll changes the symbol now and then; instruments that take turns change it often.
  if (is_unfiltered() && change_count_ >= 2 && change_count_ > row_count / 10)
    throw_interleaved(row);
  if (!is_unfiltered()) {
    series_.instrument = symbol_;
  } else if (instruments_.size() == 1) {
    series_.instrument = instruments_.front();
  }
  return std::move(series_);
}
}  // namespace drey::trainer
