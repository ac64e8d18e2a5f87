// exit_reports.cpp: see exit_reports.hpp.
// SPDX-License-Identifier: MIT
#include "core/exit_reports.hpp"

#include "core/leak_report.hpp"
#include "core/options.hpp"
#include "core/profile.hpp"
#include "core/report_file.hpp"
#include "core/statistics.hpp"
#include "os/file.hpp"

#include <cstring>

namespace drey::core {
namespace {
/// One line, of any length.
template <typename Add>
void say(Add add) noexcept {
  char text[TextSetting::kBytesMax + 200];
  ReportWriter line(text, sizeof(text));
  line.add("drey: ");
  add(line);
  line.add("\n");
  static_cast<void>(os::write_all(os::kept_standard_error(), text, std::strlen(text)));
}

void write_to_setting(const TextSetting& setting, const char* what,
                      void (*add)(ReportWriter&) noexcept) noexcept {
  char path[TextSetting::kBytesMax];
  setting.copy_to(path);
  if (path[0] == '\0') return;
  const int error = write_report_file(path, add);
  if (error == 0) return;
  say([&](ReportWriter& line) {
    line.add("cannot write the ").add(what).add(" to ").add_quoted(path, TextSetting::kBytesMax);
    line.add(": ").add(os::error_text(error));
  });
}
}  // namespace

void prepare_exit_reports() noexcept {
  note_own_process();
  const bool wants_profile = options.profile.is_set();
  // Relaxed: read and set on one thread.
  if (wants_profile || options.show_stats.load(std::memory_order_relaxed) ||
      options.leak_report.load(std::memory_order_relaxed) || options.stats_json.is_set()) {
    os::keep_standard_error();
  }
  if (wants_profile && !start_profile()) {
    say([](ReportWriter& line) { line.add("no unwinder found: the profile has no stacks"); });
  }
}

void write_exit_reports() noexcept {
  write_to_setting(options.profile, "heap profile", add_profile);
  if (options.profile.is_set() && dropped_samples() != 0) {
    say([](ReportWriter& line) {
      line.add("heap profile: ").add(dropped_samples()).add(" samples left out: too many stacks");
    });
  }
  write_to_setting(options.stats_json, "statistics", add_statistics_json);
  const int descriptor = os::kept_standard_error();
  if (options.leak_report.load(std::memory_order_relaxed)) write_leak_report(descriptor, "at exit");
  if (options.show_stats.load(std::memory_order_relaxed)) {
    ReportWriter report(descriptor);
    add_statistics_text(report);
  }
}
}  // namespace drey::core
