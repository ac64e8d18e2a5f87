// report_file.hpp: a report into a file that a person named.
// Threads: any. Read next: report_writer.hpp, exit_reports.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/report_writer.hpp"

namespace drey::core {
/// Writes `path`, with "%p" replaced by the process id. A child of a fork of the process that began
/// under this name writes `path`.ID instead, unless %p tells them apart already.
/// Returns: 0 or the error. Threads: any.
[[nodiscard]] int write_report_file(const char* path, void (*add)(ReportWriter&) noexcept) noexcept;

/// Notes who this process is; before that nobody is taken for a child.
void note_own_process() noexcept;
}  // namespace drey::core
