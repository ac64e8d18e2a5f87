// run_request.cpp: the switches of drey-run: one row each, which sets one variable for the program.
// Read next: run_request.hpp.
// SPDX-License-Identifier: MIT
#include "run_request.hpp"

#include "trace_name.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace drey::bench {
namespace {
constexpr const char* kUsage =
    "usage: drey-run [switches] [--] program arguments...\n"
    "Runs a program with drey as its malloc.\n";

struct Switch {
  const char* name;
  const char* file;  ///< what its value is called; null: it has none
  const char* variable;
  const char* sentence;
  const char* library =
      nullptr;  ///< another library that does it, beside libdrey.so; null: that one
};

constexpr std::array kSwitches = {
    Switch{"--stats", nullptr, "DREY_SHOW_STATS", "print drey's statistics when the program ends"},
    Switch{"--stats-json", "FILE", "DREY_STATS_JSON", "write them as JSON into FILE"},
    Switch{"--profile", "FILE", "DREY_PROFILE", "write pprof's heap profile into FILE"},
    Switch{"--trace", "FILE", "DREY_TRACE", "record every malloc and free (see drey-bench replay)",
           "libdrey_trace.so"},
    Switch{"--leaks", nullptr, "DREY_LEAK_REPORT", "tell what is still live when the program ends"},
};

const Switch* find_switch(const std::string& name) {
  for (const Switch& one : kSwitches) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

/// The file's name from anywhere, since the program may go elsewhere before it is written.
std::string checked_file(const std::string& name, const char* file) {
  if (file == nullptr || *file == '\0')
    throw Misuse(name + ": expected the name of a file, found none");
  const auto path = std::filesystem::absolute(file).lexically_normal();
  if (std::filesystem::is_directory(path)) {
    throw Misuse(name + " " + file + ": expected the name of a file, found a folder");
  }
  const bool is_there = access(path.c_str(), F_OK) == 0;
  if (access(is_there ? path.c_str() : path.parent_path().c_str(), W_OK) != 0) {
    throw Misuse(name + " " + file + ": cannot be written: " + std::strerror(errno));
  }
  return path.string();
}

std::string names_of_switches() {
  std::string names;
  for (const Switch& one : kSwitches) names += std::string(one.name) + ", ";
  return names + "--verbose";
}

/// Reads one switch; leaves `argument` on the last word that belongs to it.
void read_switch(char**& argument, RunRequest& request) {
  std::string name = *argument;
  if (name == "--verbose") {
    request.verbose = true;
    return;
  }
  const std::size_t equals = name.find('=');
  const char* value = nullptr;
  if (equals != std::string::npos) {
    value = *argument + equals + 1;
    name.resize(equals);
  }
  const Switch* const found = find_switch(name);
  if (found == nullptr) {
    throw Misuse("expected " + names_of_switches() + " or a program, found " + *argument);
  }
  if (found->library != nullptr) request.library = found->library;
  if (found->file == nullptr) {
    if (value != nullptr) throw Misuse(name + ": expected no value, found " + value);
    request.variables.emplace_back(found->variable, "1");
    return;
  }
  if (value == nullptr && argument[1] != nullptr) value = *++argument;
  std::string file = checked_file(name, value);
  if (name == "--trace") {
    std::string error;
    file = make_trace_name(file, error).string();
    if (!error.empty()) throw Misuse(error);
  }
  request.variables.emplace_back(found->variable, file);
}
}  // namespace

RunRequest parse_run_request(char** arguments) {
  RunRequest request;
  char** argument = arguments + 1;
  for (; *argument != nullptr && **argument == '-'; ++argument) {
    const std::string name = *argument;
    if (name == "--help" || name == "-h" || name == "--version") {
      request.verb = name == "--version" ? RunVerb::kVersion : RunVerb::kHelp;
      return request;
    }
    if (name == "--") {
      ++argument;
      break;
    }
    read_switch(argument, request);
  }
  if (*argument == nullptr) {
    throw Misuse(
        "expected a program, found none; usage: drey-run [switches] [--] program arguments...");
  }
  request.program = argument;
  return request;
}

std::string run_usage() {
  std::string text = kUsage;
  const auto add = [&text](std::string name, const char* sentence) {
    name.resize(20, ' ');
    text += "  " + name + " " + sentence + "\n";
  };
  for (const Switch& one : kSwitches) {
    add(one.file == nullptr ? one.name : std::string(one.name) + " " + one.file, one.sentence);
  }
  add("--verbose", "say on standard error which library is preloaded");
  add("--help, --version", "say so and end");
  return text;
}
}  // namespace drey::bench
