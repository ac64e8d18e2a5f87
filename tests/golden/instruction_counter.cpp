// instruction_counter.cpp: counts the instructions of malloc and free hits, exactly.
//
//   instruction_counter LIBRARY      prints "malloc SIZE COUNT" and "free SIZE COUNT" lines
// It runs itself with LIBRARY preloaded, stops the copy at each mark (int3) and single-steps it to
// the next one; what lies in the library's own text is counted. So the numbers depend on neither
// the machine nor its load. Each pair is measured five times, warm; the least is printed.
// Read next: fast_path_golden.py.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
constexpr std::array<std::size_t, 11> kSizes = {16, 32, 48, 64, 128, 256, 384, 512, 768, 900, 1024};
constexpr int kRounds = 5;

void mark() {
  asm volatile("int3" ::: "memory");
}

void* hide(void* pointer) {
  asm volatile("" : "+r"(pointer)::"memory");
  return pointer;
}

/// What the traced copy does: three marks a round, around one malloc and one free.
int be_the_subject() {
  for (const std::size_t size : kSizes) {
    std::array<void*, 40> neighbours;
    for (void*& block : neighbours) block = hide(std::malloc(size));
    for (std::size_t i = 0; i < neighbours.size(); i += 2) std::free(neighbours[i]);
    for (int round = 0; round < kRounds; ++round) {
      mark();
      void* const block = hide(std::malloc(size));
      mark();
      std::free(block);
      mark();
    }
    for (std::size_t i = 1; i < neighbours.size(); i += 2) std::free(neighbours[i]);
  }
  return 0;
}

struct Range {
  unsigned long first = 0;
  unsigned long end = 0;
};

/// Where the library's text lies in the traced process.
Range text_of(pid_t process, const std::string& library) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string row; std::getline(maps, row);) {
    Range range;
    std::array<char, 5> permissions{};
    const int fields =
        std::sscanf(row.c_str(), "%lx-%lx %4s", &range.first, &range.end, permissions.data());
    const bool is_of_library =
        row.size() > library.size() &&
        row.compare(row.size() - library.size(), library.size(), library) == 0;
    if (fields == 3 && is_of_library && permissions[2] == 'x') return range;
  }
  return {};
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "instruction_counter: %s\n", what);
  std::exit(1);
}

/// Waits for the process to stop. Returns false when it has ended.
bool wait_for_stop(pid_t process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) fail("the traced copy is gone");
  if (WIFEXITED(status)) return false;
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) fail("the traced copy failed");
  return true;
}

unsigned long instruction_pointer(pid_t process) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, process, nullptr, &registers) != 0) fail("no registers");
  return registers.rip;
}

bool stopped_at_a_mark(pid_t process, unsigned long address) {
  const unsigned long word = static_cast<unsigned long>(
      ptrace(PTRACE_PEEKTEXT, process, reinterpret_cast<void*>(address - 1), nullptr));
  return (word & 0xff) == 0xcc;
}

/// Instructions of the library executed from this mark to the next.
long count_to_next_mark(pid_t process, const Range& text) {
  long count = 0;
  for (;;) {
    const unsigned long before = instruction_pointer(process);
    if (ptrace(PTRACE_SINGLESTEP, process, nullptr, nullptr) != 0) fail("cannot single-step");
    if (!wait_for_stop(process)) fail("the traced copy ended early");
    const unsigned long after = instruction_pointer(process);
    if (before >= text.first && before < text.end) ++count;
    if (stopped_at_a_mark(process, after)) return count;
  }
}

void run_to_next_mark(pid_t process) {
  if (ptrace(PTRACE_CONT, process, nullptr, nullptr) != 0) fail("cannot continue");
  if (!wait_for_stop(process)) fail("the traced copy ended early");
}

pid_t start(const char* self, const char* library) {
  const pid_t process = fork();
  if (process == 0) {
    setenv("LD_PRELOAD", library, 1);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execl("/proc/self/exe", self, "--subject", static_cast<char*>(nullptr));
    _exit(127);
  }
  if (process < 0 || !wait_for_stop(process)) fail("cannot start the traced copy");
  return process;
}
}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) fail("expected one argument: the library");
  if (std::strcmp(arguments[1], "--subject") == 0) return be_the_subject();
  const pid_t process = start(arguments[0], arguments[1]);
  Range text;
  for (const std::size_t size : kSizes) {
    long malloc_least = -1;
    long free_least = -1;
    for (int round = 0; round < kRounds; ++round) {
      run_to_next_mark(process);
      if (text.end == 0) text = text_of(process, arguments[1]);
      if (text.end == 0) fail("the library is not loaded in the traced copy");
      const long malloc_count = count_to_next_mark(process, text);
      const long free_count = count_to_next_mark(process, text);
      if (malloc_least < 0 || malloc_count < malloc_least) malloc_least = malloc_count;
      if (free_least < 0 || free_count < free_least) free_least = free_count;
    }
    std::printf("malloc %zu %ld\nfree %zu %ld\n", size, malloc_least, size, free_least);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return 0;
}
