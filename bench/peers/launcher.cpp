// launcher.cpp: drey-launcher: runs one program and says what it cost.
//
//   drey-launcher NAME=VALUE... -- PROGRAM ARGUMENT...
//
// The variables are added to the program's environment. When it has ended, one line of JSON is the
// last on standard error; the exit code is the program's, or 128 + the signal that ended it.
// A process of its own, on libc alone: what the kernel calls the peak memory of a program starts
// with that of the process it was forked from, and drey-bench is larger than many programs.
// Read next: program_race.cpp.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
constexpr int kCouldNotStart = 127;

double seconds(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] void become(char** command) noexcept {
  execvp(command[0], command);
  std::fprintf(stderr, "%s: cannot be run: %s\n", command[0], std::strerror(errno));
  _exit(kCouldNotStart);
}

/// Waits for the child and reports. Returns its exit code.
int report_of(pid_t child) noexcept {
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0) {
    if (errno != EINTR) return EXIT_FAILURE;
  }
  std::fprintf(stderr,
               "\n{\"user_seconds\": %.6f, \"system_seconds\": %.6f, \"peak_rss_bytes\": %ld, "
               "\"minor_faults\": %ld, \"major_faults\": %ld}\n",
               seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss * 1024,
               usage.ru_minflt, usage.ru_majflt);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
}  // namespace

int main(int argc, char** argv) {
  int index = 1;
  while (index < argc && std::strcmp(argv[index], "--") != 0) ++index;
  if (index + 1 >= argc) {
    std::fputs("usage: drey-launcher NAME=VALUE... -- PROGRAM ARGUMENT...\n", stderr);
    return 2;
  }
  const pid_t child = fork();
  if (child < 0) return EXIT_FAILURE;
  if (child == 0) {
    for (int place = 1; place < index; ++place) putenv(argv[place]);
    become(argv + index + 1);
  }
  return report_of(child);
}
