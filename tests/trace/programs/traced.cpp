// traced.cpp: what trace tests record: traced SCENARIO, or traced killed_anywhere TURNS. Blocks of ours have sizes from 90,000 on, so
// that they are told from the C library's own. Prints "ok" where there is something to check here.
// Read next: recorder_test.cpp.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {
constexpr std::size_t kFirst = 90'000;

void* keep(void* pointer) {
  asm volatile("" : "+r"(pointer)::"memory");
  return pointer;
}

void* block(std::size_t size) {
  return keep(std::malloc(size));
}

/// Each kind of call once, in two threads; recorder_test.cpp has the same list.
int known() {
  void* a = block(kFirst + 1);
  void* b = keep(std::calloc(10, 9'100));
  void* c = keep(std::aligned_alloc(256, kFirst + 112));
  void* d = nullptr;
  if (posix_memalign(&d, 64, kFirst + 3) != 0) return 1;
  a = keep(std::realloc(a, kFirst + 100'000));
  void* e = keep(std::realloc(nullptr, kFirst + 5));
  std::thread other([&] {
    void* const f = keep(::operator new(kFirst + 6));
    std::free(b);
    ::operator delete(f);
    b = block(kFirst + 7);
  });
  other.join();
  std::free(a);
  std::free(b);
  std::free(c);
  std::free(d);
  e = keep(std::realloc(e, 0));
  std::free(nullptr);
  if (keep(std::malloc(SIZE_MAX / 2)) != nullptr) return 1;
  return e == nullptr ? 0 : 1;
}

int forked() {
  void* const before = block(kFirst + 1);
  const pid_t child = fork();
  if (child == 0) {
    std::free(before);
    std::free(block(kFirst + 2));
    _exit(0);
  }
  std::free(block(kFirst + 3));
  int status = 0;
  waitpid(child, &status, 0);
  std::printf("%d\n", static_cast<int>(child));
  return status;
}

int killed() {
  for (int i = 0; i < 5'000; ++i) std::free(block(kFirst + 1));
  keep(std::malloc(kFirst + 2));
  raise(SIGKILL);
  return 1;
}

/// Killed by another thread, somewhere: `turns` is counted down by it first.
int killed_anywhere(long turns) {
  std::thread killer([turns] {
    for (long i = 0; i < turns; ++i) asm volatile("" ::: "memory");
    kill(getpid(), SIGKILL);
  });
  for (;;) std::free(block(kFirst + 1));
}

int short_threads() {
  for (std::size_t i = 0; i < 1'000; ++i) {
    std::thread([i] { std::free(block(kFirst + i)); }).join();
  }
  return 0;
}

int many() {
  for (int i = 0; i < 100'000; ++i) std::free(block(kFirst + 1));
  std::puts("ok");
  return 0;
}

/// Closes every descriptor and changes its folder, as daemons do; the trace has to grow after that.
int daemon_like() {
  for (int file = 3; file < 1'024; ++file) close(file);
  if (chdir("/") != 0) return 1;
  return many();
}

int errno_is_kept() {
  errno = 123;
  for (int i = 0; i < 100'000; ++i) {
    std::free(block(kFirst + 1));
    if (errno != 123) return 1;
  }
  std::puts("ok");
  return 0;
}

/// One thread makes blocks, another frees them, through a ring, as fast as they can.
int exchange() {
  constexpr std::size_t kBlocks = 50'000;
  static std::atomic<void*> ring[64];
  std::thread consumer([] {
    for (std::size_t i = 0; i < kBlocks; ++i) {
      void* taken = nullptr;
      while ((taken = ring[i % 64].exchange(nullptr)) == nullptr) std::this_thread::yield();
      std::free(taken);
    }
  });
  for (std::size_t i = 0; i < kBlocks; ++i) {
    void* const made = block(16 + i % 1'000);
    while (ring[i % 64].load() != nullptr) std::this_thread::yield();
    ring[i % 64].store(made);
  }
  consumer.join();
  return 0;
}

int failing_new() {
  std::size_t volatile size = SIZE_MAX / 4;
  try {
    keep(::operator new(size));
  } catch (const std::bad_alloc&) {
    std::puts("ok");
    return 0;
  }
  return 1;
}

struct Scenario {
  const char* name;
  int (*run)();
};
constexpr Scenario kScenarios[] = {{"known", known},
                                   {"forked", forked},
                                   {"killed", killed},
                                   {"short_threads", short_threads},
                                   {"many", many},
                                   {"daemon_like", daemon_like},
                                   {"errno_is_kept", errno_is_kept},
                                   {"exchange", exchange},
                                   {"failing_new", failing_new}};
}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) return killed_anywhere(std::atol(argv[2]));
  for (const Scenario& scenario : kScenarios) {
    if (argc == 2 && std::strcmp(argv[1], scenario.name) == 0) return scenario.run();
  }
  return 2;
}
