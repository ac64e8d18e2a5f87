// pools_counter.cpp: counts the instructions of the inlined hits of arenas and object pools.
//
//   pools_counter      prints "arena_allocate SIZE COUNT" lines, and so on
// Everything between two marks in this program's own text is counted. Objects of SIZE bytes are
// left unwritten. Each is measured five times, warm; the least is printed.
// Read next: single_step.hpp, fast_path_golden.py.
// SPDX-License-Identifier: MIT
#include "golden/single_step.hpp"

#include <drey/pools/arena.hpp>
#include <drey/pools/frame_arena.hpp>
#include <drey/pools/object_pool.hpp>
#include <drey/pools/shared_arena.hpp>

#include <array>
#include <climits>
#include <cstdio>
#include <cstring>

using namespace drey::test;  // NOLINT(google-build-using-namespace): marks and steps

namespace {
constexpr int kRounds = 5;
constexpr std::array<const char*, 6> kCalls = {"arena_allocate",   "frame_allocate",
                                               "slice_allocate",   "shared_allocate",
                                               "object_construct", "object_destroy"};
/// Its constructor writes nothing.
template <std::size_t Size>
struct Object {
  Object() noexcept {}  // NOLINT: not defaulted, or it would be zeroed
  char bytes[Size];
};

template <std::size_t Size>
struct Subjects {
  drey::Arena arena;
  drey::FrameArena frames;
  drey::SharedArena shared;
  drey::SharedArenaSlice slice{shared};
  drey::ObjectPool<Object<Size>> objects{64};
};

/// One mark before each call of kCalls, one after the last.
template <std::size_t Size>
[[gnu::noinline]] void measure_once(Subjects<Size>& subjects) {
  mark();
  hide(subjects.arena.allocate(Size));
  mark();
  hide(subjects.frames.allocate(Size));
  mark();
  hide(subjects.slice.allocate(Size));
  mark();
  hide(subjects.shared.allocate(Size));
  mark();
  auto* const object = static_cast<Object<Size>*>(hide(subjects.objects.construct()));
  mark();
  subjects.objects.destroy(object);
  mark();
}

template <std::size_t Size>
void measure() {
  Subjects<Size> subjects;
  hide(subjects.arena.allocate(Size));
  hide(subjects.frames.allocate(Size));
  hide(subjects.slice.allocate(Size));
  Object<Size>* const live = subjects.objects.construct();
  subjects.objects.destroy(subjects.objects.construct());
  for (int round = 0; round < kRounds; ++round) measure_once<Size>(subjects);
  subjects.objects.destroy(live);
}

int be_the_subject() {
  measure<16>();
  measure<64>();
  measure<225>();
  return 0;
}

void print_size(pid_t process, const Range& text, std::size_t size) {
  std::array<long, kCalls.size()> least;
  least.fill(LONG_MAX);
  for (int round = 0; round < kRounds; ++round) {
    run_to_next_mark(process);
    for (long& count : least) {
      // Less the mark at the end.
      const long counted = count_to_next_mark(process, text) - 1;
      if (counted < count) count = counted;
    }
  }
  for (std::size_t call = 0; call < kCalls.size(); ++call) {
    std::printf("%s %zu %ld\n", kCalls[call], size, least[call]);
  }
}
}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && std::strcmp(arguments[1], "--subject") == 0) return be_the_subject();
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) < 0)
    fail("no path of its own");
  const pid_t process = start(arguments[0], nullptr);
  const Range text = text_of(process, program.data());
  if (text.end == 0) fail("no text of the traced copy");
  for (const std::size_t size : {std::size_t{16}, std::size_t{64}, std::size_t{225}}) {
    print_size(process, text, size);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return 0;
}
