// observe_api.cpp: the functions of drey/observe.h.
//
// Each is a few lines on the core; nothing here holds state.
// Read next: core/options.hpp, core/statistics.hpp, core/walk.hpp.
// SPDX-License-Identifier: MIT
#include "core/leak_report.hpp"
#include "core/option_text.hpp"
#include "core/options.hpp"
#include "core/profile.hpp"
#include "core/purge_thread.hpp"
#include "core/report_file.hpp"
#include "core/statistics.hpp"
#include "core/survey.hpp"
#include "core/walk.hpp"
#include "os/file.hpp"

#include <drey/observe.h>

#include <cerrno>
#include <cstddef>

namespace core = drey::core;

namespace {
constexpr const char* kKindNames[] = {"integer", "bytes", "bool", "choice", "path"};

/// Runs `add` on a buffer as snprintf would. Returns: the whole length.
template <typename Add>
std::size_t write_to(char* buffer, std::size_t size, Add add) noexcept {
  core::ReportWriter report(buffer, size);
  add(report);
  return report.length();
}
}  // namespace

extern "C" {
int drey_option_set(const char* name, const char* value) {
  core::read_options();  // or the environment would come after, and win
  const core::OptionRow* const row = core::find_option(name);
  if (row == nullptr) return ENOENT;
  if (!core::set_option(*row, value)) return EINVAL;
  core::start_purge_thread_if_asked();  // the process may be about to sleep
  return 0;
}

size_t drey_option_get(const char* name, char* value, size_t size) {
  core::read_options();
  const core::OptionRow* const row = core::find_option(name);
  return write_to(value, size, [row](core::ReportWriter& report) {
    if (row != nullptr) core::add_present(report, *row);
  });
}

bool drey_option_at(size_t index, drey_option_t* option) {
  if (index >= core::option_rows().size()) return false;
  const core::OptionRow& row = core::option_rows()[index];
  *option = {row.name,    kKindNames[static_cast<std::size_t>(row.kind)],
             row.unit,    row.sentence,
             row.min,     row.max,
             row.fallback};
  return true;
}

size_t drey_options_text(char* buffer, size_t size) {
  return write_to(buffer, size, core::add_option_table);
}

size_t drey_stats_json(char* buffer, size_t size) {
  return write_to(buffer, size, core::add_statistics_json);
}

size_t drey_stats_text(char* buffer, size_t size) {
  return write_to(buffer, size, core::add_statistics_text);
}

size_t drey_stats_map(char* buffer, size_t size) {
  return write_to(buffer, size, core::add_class_map);
}

size_t drey_stats_classes(drey_class_stats_t* classes, size_t count) {
  core::Survey survey;
  core::take_survey(survey);
  std::size_t filled = 0;
  for (std::size_t index = 1; index < core::kClassCount; ++index) {
    const core::ClassCounts& counts = survey.classes[index];
    if (counts.slabs == 0) continue;
    if (filled < count) {
      const std::size_t block_bytes = core::size_of(static_cast<core::SizeClass>(index));
      const std::size_t live_bytes = counts.live * block_bytes;
      classes[filled] = {block_bytes,
                         counts.slabs,
                         counts.slab_bytes,
                         counts.live,
                         counts.capacity - counts.live,
                         live_bytes,
                         counts.slab_bytes - live_bytes};
    }
    ++filled;
  }
  return filled;
}

bool drey_profile_start(void) {
  return core::start_profile();
}

void drey_profile_stop(void) {
  core::stop_profile();
}

int drey_profile_write(const char* path) {
  return core::write_report_file(path, core::add_profile);
}

void drey_leak_report(void) {
  core::write_leak_report(drey::os::kStandardError, "now");
}

bool drey_walk(drey_walk_scope_t scope, drey_walk_callback_t callback, void* argument) {
  return callback != nullptr && core::walk_heap(scope, callback, argument);
}
}  // extern "C"
