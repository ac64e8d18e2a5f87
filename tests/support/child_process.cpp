// child_process.cpp: fork, two pipes, poll, wait.
// Read next: child_process.hpp.
// SPDX-License-Identifier: MIT
#include "support/child_process.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drey::test {
namespace {
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  bool open() { return ::pipe(ends.data()) == 0; }
  void close_end(int index) {
    if (ends[static_cast<std::size_t>(index)] >= 0) ::close(ends[static_cast<std::size_t>(index)]);
    ends[static_cast<std::size_t>(index)] = -1;
  }
};

bool read_some(int file, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t length = ::read(file, buffer.data(), buffer.size());
  if (length > 0) text.append(buffer.data(), static_cast<std::size_t>(length));
  return length > 0;
}

void read_both(Pipe& output, Pipe& error_output, ChildResult& result) {
  std::array<pollfd, 2> files = {pollfd{output.ends[0], POLLIN, 0},
                                 pollfd{error_output.ends[0], POLLIN, 0}};
  while (files[0].fd >= 0 || files[1].fd >= 0) {
    if (::poll(files.data(), files.size(), -1) < 0) continue;
    if (files[0].revents != 0 && !read_some(files[0].fd, result.output)) files[0].fd = -1;
    if (files[1].revents != 0 && !read_some(files[1].fd, result.error_output)) files[1].fd = -1;
  }
}

ChildResult run(const std::function<int()>& body, unsigned limit_seconds) {
  ChildResult result;
  Pipe output;
  Pipe error_output;
  if (!output.open() || !error_output.open()) return result;
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(output.ends[1], STDOUT_FILENO);
    ::dup2(error_output.ends[1], STDERR_FILENO);
    for (int index : {0, 1}) {
      output.close_end(index);
      error_output.close_end(index);
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::alarm(limit_seconds);
    ::_exit(body());
  }
  output.close_end(1);
  error_output.close_end(1);
  read_both(output, error_output, result);
  output.close_end(0);
  error_output.close_end(0);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return result;
  if (WIFSIGNALED(status)) result.signal_number = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_status = WEXITSTATUS(status);
  return result;
}
}  // namespace

std::string ChildResult::summary() const {
  std::string text = signal_number != 0
                         ? std::string("ended by signal ") + ::strsignal(signal_number)
                         : std::string("exit status ") + std::to_string(exit_status);
  return text + "; output: '" + output + "'; error output: '" + error_output + "'";
}

ChildResult run_forked(const std::function<int()>& body, unsigned limit_seconds) {
  return run(body, limit_seconds);
}

ChildResult run_program(const std::vector<std::string>& arguments,
                        const std::vector<std::pair<std::string, std::string>>& environment,
                        unsigned limit_seconds) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments)
    pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  return run(
      [&] {
        for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
        ::execvp(pointers[0], pointers.data());
        return 127;
      },
      limit_seconds);
}
}  // namespace drey::test
