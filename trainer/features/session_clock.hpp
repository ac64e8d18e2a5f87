// session_clock.hpp: where a bar stands in its day, week, year and trading session, UTC.
// A session is a run of bars on one UTC day without a gap above max(30 minutes, 1.5 bars): it needs
// no exchange calendar, and daily bars are sessions of one bar. When it will close is not known
// while it runs: the length of the last one that opened in the same hour of the day is expected,
// else of the last one, else the end of the day.
// Regular hours are New York's, 09:30 to 16:00, Monday to Friday, by the daylight-saving rules of
// 1987 to 2006 and from 2007; a bar counts when any part of it lies inside, so daily bars do.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>

#include "trainer/data/bars.hpp"

namespace drey::trainer {
/// The present bar's place. Units: minutes where nothing else is said.
struct SessionPlace {
  double minute_of_day = 0.0;  ///< of the bar's opening, with the fraction of a minute
  double since_open = 0.0;
  double to_close = 0.0;  ///< expected; 0 when the session runs longer than that
  int weekday = 0;        ///< 0 is Monday
  int month = 1;          ///< 1 is January
  bool opens_session = false;
  bool after_gap = false;
  bool regular_hours = false;
};

class SessionClock {
 public:
  explicit SessionClock(std::int64_t bar_length_ns);

  /// Bars come in order of time.
  void push(const Bar& bar);
  [[nodiscard]] const SessionPlace& place() const { return place_; }

 private:
  void enter_day(std::int64_t day);
  [[nodiscard]] double expected_length() const;

  std::int64_t bar_length_ns_;
  std::int64_t gap_ns_;  // a longer step ends the session
  std::int64_t day_ = INT64_MIN;
  std::int64_t last_ns_ = 0;
  std::int64_t open_ns_ = 0;
  std::int64_t regular_open_ns_ = 0;  // after midnight UTC of day_
  double last_length_ = -1.0;
  std::array<double, 24> length_by_hour_;  // of the last session opened in that hour; -1 unknown
  SessionPlace place_;
};
}  // namespace drey::trainer
