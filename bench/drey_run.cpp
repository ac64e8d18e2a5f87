// drey_run.cpp: drey-run [switches] program arguments...
// Runs a program with libdrey.so preloaded, so that drey is its malloc. What LD_PRELOAD held before
// stays behind it. The table of options that --help prints is the library's own.
// Exit codes: the program's own; 127 if it is not found, 126 if it cannot be run; 2 for misuse.
// Read next: run_request.cpp, drey_library.hpp.
// SPDX-License-Identifier: MIT
#include "drey_library.hpp"
#include "run_request.hpp"

#include <drey/base/version.hpp>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

namespace {
using drey::bench::Misuse;

constexpr int kMisuse = 2;
constexpr int kCannotRun = 126;
constexpr int kNotFound = 127;

/// `other`: the name of a file beside it, or empty.
std::filesystem::path find_library(const std::string& other) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  auto library = drey::bench::drey_library(error ? "." : self.parent_path());
  if (!other.empty()) library.replace_filename(other);
  // The loader would only warn and go on with the system's malloc: so look first. It splits
  // LD_PRELOAD at spaces and colons.
  if (access(library.c_str(), R_OK) != 0) {
    throw Misuse("expected drey's library at " + library.string() + ": " + std::strerror(errno) +
                 " (DREY_LIBRARY names another place)");
  }
  auto path = std::filesystem::absolute(library);
  if (path.string().find_first_of(" :") != std::string::npos) {
    throw Misuse("expected a library path without spaces and colons, found " + path.string());
  }
  return path;
}

/// What the library says of its options; it is opened beside this program's own malloc for that.
std::string table_of_options(const std::filesystem::path& library) {
  using TextFunction = std::size_t (*)(char* buffer, std::size_t size);
  void* const opened = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const found = opened == nullptr ? nullptr : dlsym(opened, "drey_options_text");
  if (found == nullptr) throw Misuse("expected drey at " + library.string() + ": " + dlerror());
  const auto write = reinterpret_cast<TextFunction>(found);
  std::string text(write(nullptr, 0) + 1, '\0');
  text.resize(write(text.data(), text.size()));
  return text;
}

int help() {
  // Options in force are for programs, not for the one that tells of them.
  for (const char* variable :
       {"DREY_PROFILE", "DREY_STATS_JSON", "DREY_LEAK_REPORT", "DREY_SHOW_STATS"}) {
    unsetenv(variable);
  }
  const std::string table = table_of_options(find_library(""));
  std::printf("%s\nOptions, read from the program's environment:\n%s",
              drey::bench::run_usage().c_str(), table.c_str());
  return EXIT_SUCCESS;
}

int run(const drey::bench::RunRequest& request) {
  const std::filesystem::path library = find_library(request.library);
  setenv("LD_PRELOAD", drey::bench::preload_with(library).c_str(), 1);
  for (const auto& [name, value] : request.variables) setenv(name.c_str(), value.c_str(), 1);
  if (request.verbose) {
    std::fprintf(stderr, "drey-run: malloc of %s: drey, preloaded: %s\n", request.program[0],
                 library.c_str());
  }
  execvp(request.program[0], request.program);
  const int reason = errno;
  std::fprintf(stderr, "drey-run: %s: %s\n", request.program[0], std::strerror(reason));
  return reason == ENOENT ? kNotFound : kCannotRun;
}
}  // namespace

int main(int /*argc*/, char** argv) {
  try {
    const drey::bench::RunRequest request = drey::bench::parse_run_request(argv);
    switch (request.verb) {
      case drey::bench::RunVerb::kHelp:
        return help();
      case drey::bench::RunVerb::kVersion:
        std::printf("drey-run %s\n", drey::kVersionText);
        return EXIT_SUCCESS;
      case drey::bench::RunVerb::kRun:
        break;
    }
    return run(request);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "drey-run: %s\n", error.what());
    return kMisuse;
  }
}
