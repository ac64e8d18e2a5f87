// child.cpp: fork, bind to a core, exec, wait4. The output goes to memory files, read afterwards.
// Read next: child.hpp.
// SPDX-License-Identifier: MIT
#include "race/child.hpp"

#include "race/error.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drey::bench {
namespace {
constexpr int kCouldNotStart = 127;

/// A file in memory; closed with its owner.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) throw RaceFailed(std::string("memfd_create: ") + std::strerror(errno));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

  [[nodiscard]] std::string contents() const {
    std::string text;
    std::array<char, 65536> buffer{};
    for (off_t offset = 0;;) {
      const ssize_t count = pread(descriptor_, buffer.data(), buffer.size(), offset);
      if (count <= 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
      offset += count;
    }
  }

 private:
  int descriptor_;
};

/// Argument and environment vectors as exec wants them. Points into the strings it was made from.
std::vector<char*> pointers_to(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> merged_environment(const ChildCommand& command) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool is_replaced = false;
    for (const auto& [key, value] : command.environment) is_replaced |= key == name;
    if (!is_replaced) merged.push_back(text);
  }
  for (const auto& [key, value] : command.environment) {
    merged.push_back(std::string(key).append("=").append(value));
  }
  return merged;
}

void bind_to(int core) noexcept {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(core), &cores);
  // Refused in some containers; the race is then noisier, not wrong.
  [[maybe_unused]] const int result = sched_setaffinity(0, sizeof cores, &cores);
}

/// In the child: `path` becomes its standard input; an empty one leaves ours.
bool redirect_input(const std::filesystem::path& path) noexcept {
  if (path.empty()) return true;
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  return descriptor >= 0 && dup2(descriptor, STDIN_FILENO) >= 0;
}

/// In the child, between fork and exec.
[[noreturn]] void become(const ChildCommand& command, char** arguments, char** environment,
                         const MemoryFile& output, const MemoryFile& error, int failure_pipe) {
  std::signal(SIGINT, SIG_DFL);
  if (command.bind_to_one_core) bind_to(bound_core());
  const bool is_ready = (command.folder.empty() || chdir(command.folder.c_str()) == 0) &&
                        redirect_input(command.standard_input) &&
                        dup2(output.descriptor(), STDOUT_FILENO) >= 0 &&
                        dup2(error.descriptor(), STDERR_FILENO) >= 0;
  if (is_ready) execve(arguments[0], arguments, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = write(failure_pipe, &reason, sizeof reason);
  _exit(kCouldNotStart);
}

/// Waits for the end of the child or of its time. Returns false if the time ended first.
bool ended_within(pid_t child, int limit_seconds) noexcept {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (descriptor < 0) return true;  // a kernel before 5.3: wait without limit
  pollfd wanted{descriptor, POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&wanted, 1, limit_seconds * 1000);
  } while (ready < 0 && errno == EINTR);
  close(descriptor);
  return ready != 0;
}

double seconds(const timeval& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// Ctrl-C reaches the child; we outlive it to remove half-made files.
class InterruptsGoToChild {
 public:
  InterruptsGoToChild() noexcept : previous_(std::signal(SIGINT, SIG_IGN)) {}
  ~InterruptsGoToChild() { std::signal(SIGINT, previous_); }
  InterruptsGoToChild(const InterruptsGoToChild&) = delete;
  InterruptsGoToChild& operator=(const InterruptsGoToChild&) = delete;

 private:
  void (*previous_)(int);
};

/// Reaps the child and fills in what it cost.
void collect(pid_t child, ChildResult& result) {
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) continue;
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// What execve said if it failed; 0 if it did not.
int start_failure(int failure_pipe) noexcept {
  int reason = 0;
  const ssize_t count = read(failure_pipe, &reason, sizeof reason);
  close(failure_pipe);
  return count == static_cast<ssize_t>(sizeof reason) ? reason : 0;
}
}  // namespace

std::string ChildResult::last_words() const {
  const std::size_t end = standard_error.find_last_not_of('\n');
  if (end == std::string::npos) return "(it said nothing)";
  const std::size_t start = standard_error.rfind('\n', end);
  const std::size_t first = start == std::string::npos ? 0 : start + 1;
  return standard_error.substr(first, end + 1 - first);
}

int bound_core() noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 0;
  int last = 0;
  for (unsigned core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) last = static_cast<int>(core);
  }
  return last;
}

ChildResult run_child(const ChildCommand& command) {
  const MemoryFile output("standard output");
  const MemoryFile error("standard error");
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = merged_environment(command);
  const std::vector<char*> argument_pointers = pointers_to(arguments);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  std::array<int, 2> failure_pipe{};
  if (pipe2(failure_pipe.data(), O_CLOEXEC) != 0) throw RaceFailed("pipe2 failed");

  const InterruptsGoToChild guard;
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child < 0) throw RaceFailed(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    become(command, const_cast<char**>(argument_pointers.data()),
           const_cast<char**>(environment_pointers.data()), output, error, failure_pipe[1]);
  }
  close(failure_pipe[1]);
  const int reason = start_failure(failure_pipe[0]);
  const bool ended = ended_within(child, command.limit_seconds);
  if (!ended) kill(child, SIGKILL);
  ChildResult result;
  collect(child, result);
  result.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.standard_output = output.contents();
  result.standard_error = error.contents();

  const std::string& program = arguments[0];
  if (reason != 0) throw BadInput(program + ": cannot be run: " + std::strerror(reason));
  if (!ended) {
    throw RaceFailed(program + ": killed after " + std::to_string(command.limit_seconds) + " s");
  }
  if (result.exit_code == 128 + SIGINT) throw RaceFailed("interrupted");
  return result;
}
}  // namespace drey::bench
