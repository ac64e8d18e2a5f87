// main.cpp: drey-pool-cases: measures one case in one way.
//
//   drey-pool-cases list                   {"group", "name", "way", "threads"} a line
//   drey-pool-cases run NAME WAY SECONDS   {"case", "library", "figures": {...}}
//
// Run by `drey-bench pools`; the way "malloc" under LD_PRELOAD of each allocator library.
// Read next: pool_cases.hpp.
// SPDX-License-Identifier: MIT
#include "pools/cases/pool_cases.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace drey::bench {
namespace {
PoolCaseList all_cases() {
  PoolCaseList cases;
  add_vector_times(cases);
  add_vector_threads(cases);
  add_vector_memory(cases);
  add_arena_times(cases);
  add_object_times(cases);
  add_gather_times(cases);
  return cases;
}

/// The file whose malloc this process calls.
const char* library_of_malloc() noexcept {
  Dl_info place{};
  void* const address = dlsym(RTLD_DEFAULT, "malloc");
  const bool is_known = address != nullptr && dladdr(address, &place) != 0;
  return is_known && place.dli_fname != nullptr ? place.dli_fname : "unknown";
}

int list() {
  for (const PoolCase& one : all_cases()) {
    std::printf(R"({"group": "%s", "name": "%s", "way": "%s", "threads": %s})"
                "\n",
                one.group.c_str(), one.name.c_str(), one.way.c_str(),
                one.needs_threads ? "true" : "false");
  }
  return EXIT_SUCCESS;
}

int run(const char* name, const char* way, double seconds) {
  const PoolCaseList cases = all_cases();
  const auto found = std::find_if(cases.begin(), cases.end(), [&](const PoolCase& one) {
    return one.name == name && one.way == way;
  });
  if (found == cases.end()) {
    std::fprintf(stderr, "drey-pool-cases: expected a case and a way, found '%s' '%s'\n", name,
                 way);
    return 2;
  }
  const Figures figures = found->measure(seconds);
  std::printf(R"({"case": "%s", "library": "%s", "figures": {)", name, library_of_malloc());
  const char* separator = "";
  for (const auto& [figure, value] : figures) {
    std::printf(R"(%s"%s": %.9g)", separator, figure.c_str(), value);
    separator = ", ";
  }
  std::puts("}}");
  return EXIT_SUCCESS;
}
}  // namespace
}  // namespace drey::bench

int main(int argc, char** argv) {
  using namespace drey::bench;  // NOLINT: two functions of this file
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) return list();
  if (argc == 5 && std::strcmp(argv[1], "run") == 0) {
    const double seconds = std::strtod(argv[4], nullptr);
    if (seconds > 0) return run(argv[2], argv[3], seconds);
  }
  std::fputs("usage: drey-pool-cases list | run NAME WAY SECONDS\n", stderr);
  return 2;
}
