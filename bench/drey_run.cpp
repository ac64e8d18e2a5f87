// drey_run.cpp: drey-run [--stats] [--trace FILE] [--verbose] program arguments...
// Runs a program with libdrey.so preloaded, so that drey is its malloc. What LD_PRELOAD held before
// stays behind it.
// Exit codes: the program's own; 127 if it is not found, 126 if it cannot be run; 2 for misuse.
// Read next: drey_library.hpp.
// SPDX-License-Identifier: MIT
#include "drey_library.hpp"
#include "trace_name.hpp"

#include <drey/base/version.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

namespace {
constexpr int kMisuse = 2;
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;
constexpr const char* kUsage =
    "usage: drey-run [--stats] [--trace FILE] [--verbose] [--] program arguments...";

struct Request {
  bool stats = false;
  bool verbose = false;
  std::string trace;         // empty: none
  char** program = nullptr;  // its arguments follow, then null
};

[[noreturn]] void misuse(const std::string& message) {
  std::fprintf(stderr, "drey-run: %s\n", message.c_str());
  std::exit(kMisuse);
}

Request parse(char** argument) {
  Request request;
  for (++argument; *argument != nullptr && **argument == '-'; ++argument) {
    const std::string option = *argument;
    if (option == "--") {
      ++argument;
      break;
    }
    if (option == "--help" || option == "-h") {
      std::printf(
          "%s\n  --stats    print drey's statistics when the program ends\n"
          "  --trace FILE  record every malloc and free (see drey-bench replay)\n"
          "  --verbose  say on standard error which library is preloaded\n",
          kUsage);
      std::exit(EXIT_SUCCESS);
    }
    if (option == "--version") {
      std::printf("drey-run %s\n", drey::kVersionText);
      std::exit(EXIT_SUCCESS);
    }
    if (option == "--stats") {
      request.stats = true;
    } else if (option == "--trace") {
      if (argument[1] == nullptr || *argument[1] == '\0') misuse("expected a file after --trace");
      request.trace = *++argument;
    } else if (option == "--verbose") {
      request.verbose = true;
    } else {
      misuse("expected --stats, --trace, --verbose or a program, found " + option);
    }
  }
  if (*argument == nullptr) misuse(std::string("expected a program, found none; ") + kUsage);
  request.program = argument;
  return request;
}

std::filesystem::path find_library(bool records) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  auto library = drey::bench::drey_library(error ? "." : self.parent_path());
  if (records) library.replace_filename("libdrey_trace.so");
  // The loader would only warn and go on with the system's malloc: so look first. It splits
  // LD_PRELOAD at spaces and colons.
  if (access(library.c_str(), R_OK) != 0) {
    misuse("expected drey's library at " + library.string() + ": " + std::strerror(errno) +
           " (DREY_LIBRARY names another place)");
  }
  auto path = std::filesystem::absolute(library);
  if (path.string().find_first_of(" :") != std::string::npos) {
    misuse("expected a library path without spaces and colons, found " + path.string());
  }
  return path;
}
}  // namespace

int main(int /*argc*/, char** argv) {
  const Request request = parse(argv);
  const std::filesystem::path library = find_library(!request.trace.empty());
  setenv("LD_PRELOAD", drey::bench::preload_with(library).c_str(), 1);
  if (request.stats) setenv("DREY_SHOW_STATS", "1", 1);
  if (!request.trace.empty()) {
    std::string error;
    const auto path = drey::bench::make_trace_name(request.trace, error);
    if (!error.empty()) misuse(error);
    setenv("DREY_TRACE", path.c_str(), 1);
  }
  if (request.verbose) {
    std::fprintf(stderr, "drey-run: malloc of %s: drey, preloaded: %s\n", request.program[0],
                 library.c_str());
  }
  execvp(request.program[0], request.program);
  const int reason = errno;
  std::fprintf(stderr, "drey-run: %s: %s\n", request.program[0], std::strerror(reason));
  return reason == ENOENT ? kNotFound : kCannotRun;
}
