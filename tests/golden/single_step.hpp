// single_step.hpp: runs a copy of this program from mark to mark (int3) and counts instructions.
//
// What lies in the range that is asked for is counted, the int3 of the mark itself included where
// that is in the range. So the numbers depend on neither the machine nor its load.
// Read next: instruction_counter.cpp, surface_counter.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

namespace drey::test {
inline void mark() {
  asm volatile("int3" ::: "memory");
}

inline void* hide(void* pointer) {
  asm volatile("" : "+r"(pointer)::"memory");
  return pointer;
}

struct Range {
  unsigned long first = 0;
  unsigned long end = 0;
};

/// Where the library's text lies in the traced process.
inline Range text_of(pid_t process, const std::string& library) {
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

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "counter: %s\n", what);
  std::exit(1);
}

/// Waits for the process to stop. Returns false when it has ended.
inline bool wait_for_stop(pid_t process) {
  int status = 0;
  if (waitpid(process, &status, 0) != process) fail("the traced copy is gone");
  if (WIFEXITED(status)) return false;
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP) fail("the traced copy failed");
  return true;
}

inline unsigned long instruction_pointer(pid_t process) {
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, process, nullptr, &registers) != 0) fail("no registers");
  return registers.rip;
}

inline bool stopped_at_a_mark(pid_t process, unsigned long address) {
  const unsigned long word = static_cast<unsigned long>(
      ptrace(PTRACE_PEEKTEXT, process, reinterpret_cast<void*>(address - 1), nullptr));
  return (word & 0xff) == 0xcc;
}

/// Instructions of the library executed from this mark to the next.
inline long count_to_next_mark(pid_t process, const Range& text) {
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

inline void run_to_next_mark(pid_t process) {
  if (ptrace(PTRACE_CONT, process, nullptr, nullptr) != 0) fail("cannot continue");
  if (!wait_for_stop(process)) fail("the traced copy ended early");
}

/// Starts this program again as "--subject", with `library` preloaded unless it is null.
inline pid_t start(const char* self, const char* library) {
  const pid_t process = fork();
  if (process == 0) {
    if (library != nullptr) setenv("LD_PRELOAD", library, 1);
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    execl("/proc/self/exe", self, "--subject", static_cast<char*>(nullptr));
    _exit(127);
  }
  if (process < 0 || !wait_for_stop(process)) fail("cannot start the traced copy");
  return process;
}
}  // namespace drey::test
