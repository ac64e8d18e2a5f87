// main.cpp: drey-peer-cases: measures one case under whatever malloc it has been given.
//
//   drey-peer-cases list                 {"group", "name", "threads", "big"} a line
//   drey-peer-cases whose                {"name", "version", "library"}: whose malloc this is
//   drey-peer-cases run NAME SECONDS     {"case", "library", "figures": {...}}
//
// Run by `drey-bench peers`, under LD_PRELOAD. Plain calls of malloc and free: it is built without
// the compiler's knowledge of them. "library" is the file that malloc was found in, asked of the
// loader by the very process that measures.
// Read next: harness.hpp, all_cases.hpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <drey/base/active_allocator.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace drey::bench {
namespace {
CaseList all_cases() {
  CaseList cases;
  add_pairs(cases);
  add_bursts(cases);
  add_mixed(cases);
  add_threads(cases);
  add_cache_lines(cases);
  add_library(cases);
  add_growth(cases);
  add_memory(cases);
  add_thread_memory(cases);
  add_scaling(cases);
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
  for (const Case& one : all_cases()) {
    std::printf(R"({"group": "%s", "name": "%s", "threads": %s, "big": %s})"
                "\n",
                one.group.c_str(), one.name.c_str(), one.needs_threads ? "true" : "false",
                one.is_big ? "true" : "false");
  }
  return EXIT_SUCCESS;
}

int whose() {
  const ActiveAllocator active = active_allocator();
  std::printf(R"({"name": "%s", "version": "%s", "library": "%s"})"
              "\n",
              active.name, active.version.c_str(), library_of_malloc());
  return EXIT_SUCCESS;
}

int run(const char* name, double seconds) {
  const CaseList cases = all_cases();
  const auto found = std::find_if(cases.begin(), cases.end(),
                                  [name](const Case& one) { return one.name == name; });
  if (found == cases.end()) {
    std::fprintf(stderr, "drey-peer-cases: expected a case, found '%s'\n", name);
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
  using namespace drey::bench;  // NOLINT: three functions of this file
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) return list();
  if (argc == 2 && std::strcmp(argv[1], "whose") == 0) return whose();
  if (argc == 4 && std::strcmp(argv[1], "run") == 0) {
    const double seconds = std::strtod(argv[3], nullptr);
    if (seconds > 0) return run(argv[2], seconds);
  }
  std::fputs("usage: drey-peer-cases list | whose | run NAME SECONDS\n", stderr);
  return 2;
}
