// report_file.cpp: see report_file.hpp.
// SPDX-License-Identifier: MIT
#include "core/report_file.hpp"

#include "os/file.hpp"

#include <cerrno>
#include <cstdint>

namespace drey::core {
namespace {
constexpr std::size_t kPathBytesMax = 2048;

/// Written while there is one thread.
constinit int own_process_id = 0;

void add_path(ReportWriter& name, const char* path) noexcept {
  const int process_id = os::process_id();
  bool tells_apart = false;
  for (; *path != '\0'; ++path) {
    if (path[0] == '%' && path[1] == 'p') {
      name.add(static_cast<std::uint64_t>(process_id));
      tells_apart = true;
      ++path;
      continue;
    }
    const char character[] = {*path, '\0'};
    name.add(character);
  }
  if (!tells_apart && own_process_id != 0 && process_id != own_process_id) {
    name.add(".").add(static_cast<std::uint64_t>(process_id));
  }
}
}  // namespace

int write_report_file(const char* path, void (*add)(ReportWriter&) noexcept) noexcept {
  char name[kPathBytesMax];
  {
    ReportWriter name_writer(name, sizeof(name));
    add_path(name_writer, path);
    if (name_writer.length() >= sizeof(name)) return ENAMETOOLONG;
  }
  const int descriptor = os::open_to_write(name);
  if (descriptor < 0) return -descriptor;
  ReportWriter report(descriptor);
  add(report);
  const int write_error = report.finish();
  const int close_error = os::close_file(descriptor);
  return write_error != 0 ? write_error : close_error;
}

void note_own_process() noexcept {
  own_process_id = os::process_id();
}
}  // namespace drey::core
