// replay_program.cpp: drey-replay PLAN timed|sampled|empty: replays a plan against the malloc it finds
// in this process, and prints one JSON object. Run by `drey-bench replay`, under LD_PRELOAD.
//
//   timed    processor time of everything; each block is written: first byte, last byte, each page
//   sampled  the same, with resident memory a thousand times on the way, and the blocks' bytes checked
//   empty    the same work without malloc and without blocks: what the replay itself costs
// Waiting for another thread's block is timed and taken off. Stands on libc alone, with its tables in
// mappings of its own, all touched before the first event.
// Read next: plan_format.hpp, replay_thread.hpp.
// SPDX-License-Identifier: MIT
#include "replay/plan_format.hpp"
#include "replay/replay_thread.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drey::bench {
namespace {
constexpr std::uint64_t kSamples = 1000;

[[nodiscard]] void* map_table(std::size_t bytes) noexcept {
  void* const table = mmap(nullptr, bytes + 1, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (table == MAP_FAILED) stop_replay("out of memory for the tables");
  return table;
}

void load_plan(const char* path, Replay& replay) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) stop_replay("the plan cannot be read");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const start = mmap(nullptr, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  if (start == MAP_FAILED || bytes < sizeof(PlanHeader)) stop_replay("the plan cannot be mapped");
  replay.plan = static_cast<const PlanHeader*>(start);
  if (replay.plan->magic != kPlanMagic) stop_replay("this is no plan");
  replay.threads = reinterpret_cast<const PlanThread*>(replay.plan + 1);
  replay.operations =
      reinterpret_cast<const Operation*>(replay.threads + replay.plan->thread_count);
}

void make_tables(Replay& replay) noexcept {
  replay.slots = static_cast<Slot*>(map_table(replay.plan->slot_count * sizeof(Slot)));
  replay.progress = static_cast<Progress*>(map_table(replay.plan->thread_count * sizeof(Progress)));
  set_progress(replay);
  replay.sample_interval = replay.plan->event_count / kSamples + 1;
  replay.samples_max = replay.plan->event_count / replay.sample_interval + 2;
  replay.samples = static_cast<Sample*>(map_table(replay.samples_max * sizeof(Sample)));
}

void print_report(const Replay& replay, std::uint64_t cpu_ns, std::uint64_t wall_ns) noexcept {
  Dl_info malloc_of{};
  const bool is_known = dladdr(reinterpret_cast<const void*>(&std::malloc), &malloc_of) != 0;
  std::printf(
      "{\"malloc\": \"%s\", \"cpu_ns\": %llu, \"wait_ns\": %llu, \"wall_ns\": %llu, "
      "\"samples\": [",
      is_known ? malloc_of.dli_fname : "", static_cast<unsigned long long>(cpu_ns),
      static_cast<unsigned long long>(replay.wait_ns.load()),
      static_cast<unsigned long long>(wall_ns));
  bool is_first = true;
  for (std::uint64_t index = 0; index < replay.samples_max; ++index) {
    const Sample& sample = replay.samples[index];
    if (sample.events == 0) continue;
    std::printf("%s[%llu,%llu,%lld,%lld]", is_first ? "" : ",",
                static_cast<unsigned long long>(sample.events),
                static_cast<unsigned long long>(sample.wall_ns),
                static_cast<long long>(sample.live_bytes),
                static_cast<long long>(sample.resident_bytes));
    is_first = false;
  }
  std::puts("]}");
}

int run(const char* plan, const char* mode) noexcept {
  static Replay replay;
  if (std::strcmp(mode, "empty") == 0) replay.mode = Mode::kEmpty;
  if (std::strcmp(mode, "sampled") == 0) replay.mode = Mode::kSampled;
  load_plan(plan, replay);
  make_tables(replay);
  // An allocator is at rest once it has been asked: its start is not part of any event.
  void* volatile first = std::malloc(1);
  std::free(first);
  replay.resident_before_bytes = resident_bytes();
  const std::uint64_t wall_start_ns = clock_ns(CLOCK_MONOTONIC);
  replay.wall_start_ns = wall_start_ns;
  const std::uint64_t cpu_start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  replay_all(replay);
  const std::uint64_t cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_start_ns;
  const std::uint64_t wall_ns = clock_ns(CLOCK_MONOTONIC) - wall_start_ns;
  if (replay.mode == Mode::kSampled) {
    take_sample(replay, replay.samples_max - 1, replay.events.load());
  }
  print_report(replay, cpu_ns, wall_ns);
  return EXIT_SUCCESS;
}
}  // namespace
}  // namespace drey::bench

int main(int argc, char** argv) {
  if (argc != 3) drey::bench::stop_replay("expected PLAN and timed, sampled or empty");
  return drey::bench::run(argv[1], argv[2]);
}
