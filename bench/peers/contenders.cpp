// contenders.cpp: see contenders.hpp.
// SPDX-License-Identifier: MIT
#include "peers/contenders.hpp"

#include "drey_library.hpp"
#include "race/child.hpp"
#include "race/error.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <unistd.h>

namespace drey::bench {
namespace {
Contender peer_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw BadInput("--peer: expected NAME=LIBRARY.so or NAME=LIBRARY.so,VERSION, found '" + text +
                   "'");
  }
  const std::size_t comma = text.find(',', equals);
  Contender peer{text.substr(0, equals), text.substr(equals + 1, comma - equals - 1), "", {}};
  if (comma != std::string::npos) peer.version = text.substr(comma + 1);
  if (access(peer.library.c_str(), R_OK) != 0) {
    throw BadInput("--peer " + peer.name + ": expected a readable library, found '" +
                   peer.library.string() + "'");
  }
  peer.library = std::filesystem::absolute(peer.library);
  return peer;
}

bool is_the_same_library(const Contender& contender, const std::string& found) {
  if (contender.library.empty()) {
    return std::filesystem::path(found).filename().string().rfind("libc.", 0) == 0;
  }
  std::error_code ignored;
  return std::filesystem::equivalent(contender.library, found, ignored);
}

/// Asks a process that has the library preloaded.
void admit(Contender& contender, const std::filesystem::path& program) {
  ChildCommand command;
  command.arguments = {program.string(), "whose"};
  command.environment = {{"LD_PRELOAD", contender.library.string()}};
  const ChildResult result = run_child(command);
  const auto answer = nlohmann::json::parse(result.standard_output, nullptr, false);
  if (!result.succeeded() || !answer.is_object()) {
    throw BadInput(contender.name + ": no program runs with " + contender.library.string() +
                   " preloaded: " + result.last_words());
  }
  const std::string library = answer.value("library", std::string());
  if (!is_the_same_library(contender, library)) {
    throw BadInput(contender.name + ": expected malloc in " +
                   (contender.library.empty() ? "the C library" : contender.library.string()) +
                   ", found it in " + library);
  }
  contender.answer = {answer.value("name", std::string()), answer.value("version", std::string()),
                      contender.library.filename().string()};
}

void require_distinct(const std::vector<Contender>& contenders) {
  for (auto one = contenders.begin(); one != contenders.end(); ++one) {
    const bool is_twice = std::any_of(
        contenders.begin(), one, [&](const Contender& other) { return other.name == one->name; });
    if (is_twice) throw BadInput("--peer: the name " + one->name + " is given twice");
  }
}
}  // namespace

void require_program(const std::filesystem::path& program) {
  if (access(program.c_str(), X_OK) == 0) return;
  throw BadInput("expected the program " + program.string() + ", found none; build the target " +
                 program.filename().string());
}

void require_library(const Contender& contender, const std::string& library) {
  if (is_the_same_library(contender, library)) return;
  throw RaceFailed(contender.name + ": malloc was found in " + library + " while it measured");
}

std::vector<Contender> find_contenders(const PeerOptions& options) {
  const auto program = options.bin_dir / "drey-peer-cases";
  require_program(program);
  std::vector<Contender> contenders = {
      {kSubject, std::filesystem::absolute(drey_library(options.bin_dir)), "", {}},
      {kSystem, {}, "", {}}};
  for (const std::string& text : options.peers) contenders.push_back(peer_of(text));
  require_distinct(contenders);
  const bool has_reference =
      std::any_of(contenders.begin(), contenders.end(),
                  [&](const Contender& one) { return one.name == options.reference; });
  if (!has_reference) {
    throw BadInput("--reference: expected system or the name of a peer, found '" +
                   options.reference + "'");
  }
  for (Contender& contender : contenders) admit(contender, program);
  return contenders;
}
}  // namespace drey::bench
