// subject.cpp: names the linked allocator and refuses to run if it is not the expected one.
// Read next: subject.hpp.
// SPDX-License-Identifier: MIT
#include "subject.hpp"

#include <drey/base/active_allocator.hpp>

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace drey::bench {
const char* claimed_allocator() noexcept {
  return DREY_BENCH_SUBJECT;
}

std::string active_allocator_json() {
  const ActiveAllocator active = active_allocator();
  const nlohmann::ordered_json answer = {
      {"name", active.name}, {"version", active.version.c_str()}, {"how", active.how.c_str()}};
  return answer.dump();
}

void require_claimed_allocator(int argc, char** argv) {
  for (int index = 1; index < argc; ++index) {
    if (std::strcmp(argv[index], "--active-allocator") != 0) continue;
    std::puts(active_allocator_json().c_str());
    std::exit(EXIT_SUCCESS);
  }
  const ActiveAllocator active = active_allocator();
  if (std::strcmp(active.name, claimed_allocator()) == 0) return;
  std::fprintf(stderr, "%s: built to measure %s, but malloc here is %s %s (%s); nothing measured\n",
               argv[0], claimed_allocator(), active.name, active.version.c_str(),
               active.how.c_str());
  std::exit(EXIT_FAILURE);
}
}  // namespace drey::bench
