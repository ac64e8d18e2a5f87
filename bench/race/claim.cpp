// claim.cpp: see claim.hpp.
// SPDX-License-Identifier: MIT
#include "race/claim.hpp"

#include "race/child.hpp"
#include "race/error.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace drey::bench {
namespace {
void require_program(const std::filesystem::path& path) {
  if (access(path.c_str(), X_OK) == 0) return;
  throw BadInput(
      "expected the program " + path.string() + ", found none; build it: cmake --build " +
      path.parent_path().parent_path().string() + " --target " + path.filename().string());
}

Racer racer_of(const std::string& key, const RaceOptions& options) {
  Racer racer;
  racer.key = key;
  racer.claim = key == "system" ? "glibc" : key;
  racer.trainer = options.bin_dir / (key == "drey" ? "drey-train" : "drey-train-" + key);
  racer.counted_trainer = options.bin_dir / ("drey-train-counted-" + key);
  racer.micro = options.bin_dir / ("drey-micro-" + key);
  return racer;
}
}  // namespace

AllocatorAnswer parse_answer(const std::string& program, const nlohmann::json& json) {
  try {
    return {json.at("name").get<std::string>(), json.at("version").get<std::string>(),
            json.at("how").get<std::string>()};
  } catch (const nlohmann::json::exception&) {
    throw RaceFailed(program + ": expected its allocator as {name, version, how}, found " +
                     json.dump());
  }
}

std::optional<std::string> find_lie(const std::string& claim, const AllocatorAnswer& answer) {
  if (answer.name == claim) return std::nullopt;
  const std::string version = answer.version.empty() ? "" : " " + answer.version;
  return "claims " + claim + ", but its malloc is " + answer.name + version + " (" + answer.how +
         ")";
}

AllocatorAnswer ask(const std::filesystem::path& program) {
  ChildCommand command;
  command.arguments = {program.string(), "--active-allocator"};
  const ChildResult result = run_child(command);
  if (!result.succeeded()) throw RaceFailed(program.string() + ": " + result.last_words());
  const auto json = nlohmann::json::parse(result.standard_output, nullptr, false);
  return parse_answer(program.string(), json);
}

std::vector<Racer> find_racers(const RaceOptions& options) {
  std::vector<Racer> racers;
  for (const char* key : {"drey", "system", "mimalloc"}) {
    for (const std::string& wanted : options.allocators) {
      if (wanted == key) racers.push_back(racer_of(key, options));
    }
  }
  for (const Racer& racer : racers) {
    if (options.trainer) {
      require_program(racer.trainer);
      require_program(racer.counted_trainer);
    }
    if (options.micro) require_program(racer.micro);
  }
  return racers;
}
}  // namespace drey::bench
