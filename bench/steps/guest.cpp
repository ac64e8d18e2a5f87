// guest.cpp: see guest.hpp.
// SPDX-License-Identifier: MIT
#include "steps/guest.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "race/child.hpp"
#include "race/error.hpp"

namespace drey::bench {
namespace {
constexpr int kStartSecondsMax = 60;

const nlohmann::json& field(const nlohmann::json& figures, const char* name, bool is_as_expected,
                            const std::string& program, const char* expected) {
  if (is_as_expected) return figures[name];
  const std::string found = figures.contains(name) ? figures[name].dump() : "nothing";
  throw RaceFailed(program + ": \"" + name + "\": expected " + expected + ", found " +
                   found.substr(0, 60));
}

bool is_text(const nlohmann::json& figures, const char* name) {
  if (!figures.contains(name) || !figures[name].is_string()) return false;
  const std::string& text = figures[name].get_ref<const std::string&>();
  return !text.empty() && text.size() <= 80 && text.find('\n') == std::string::npos;
}

bool is_number_from(double least, const nlohmann::json& figures, const char* name) {
  return figures.contains(name) && figures[name].is_number() && figures[name] >= least;
}
}  // namespace

std::filesystem::path guest_of(const std::filesystem::path& program) {
  std::filesystem::path guest = program;
  guest += "-torch";
  std::error_code unreadable;
  return std::filesystem::is_regular_file(guest, unreadable) ? guest : std::filesystem::path();
}

GuestFigures read_guest_figures(const std::string& program, const std::string& text) {
  const nlohmann::json figures = nlohmann::json::parse(text, nullptr, false);
  if (!figures.is_object()) {
    const std::string line = text.substr(0, std::min<std::size_t>(text.find('\n'), 60));
    throw RaceFailed(program + ": expected one JSON object, found \"" + line + "\"");
  }
  const auto text_of = [&](const char* name) {
    return field(figures, name, is_text(figures, name), program, "a line of at most 80 characters")
        .get<std::string>();
  };
  GuestFigures read;
  read.name = text_of("name");
  read.how = text_of("how");
  read.steps_per_second =
      field(figures, "steps_per_second", is_number_from(1e-6, figures, "steps_per_second"), program,
            "a number above 0")
          .get<double>();
  const char* const heap = "heap_calls_per_step";
  if (!figures.contains(heap) || figures[heap].is_null()) return read;
  read.heap_calls =
      field(figures, heap, is_number_from(0, figures, heap), program, "null or a number from 0")
          .get<double>();
  return read;
}

GuestFigures run_guest(const std::filesystem::path& program, double seconds, bool double_dqn) {
  ChildCommand command;
  command.arguments = {program.string(), "--seconds", std::to_string(seconds)};
  if (double_dqn) command.arguments.emplace_back("--double");
  for (const char* library : {"OMP", "OPENBLAS", "MKL"}) {
    command.environment.emplace_back(std::string(library) + "_NUM_THREADS", "1");
  }
  command.limit_seconds = kStartSecondsMax + static_cast<int>(std::ceil(10 * seconds));
  try {
    const ChildResult result = run_child(command);
    if (result.succeeded()) return read_guest_figures(program.string(), result.standard_output);
    throw RaceFailed(program.string() + ": exit code " + std::to_string(result.exit_code) + ": " +
                     result.last_words());
  } catch (const BadInput& error) {
    throw RaceFailed(error.what());  // it cannot be started: the others race on
  }
}
}  // namespace drey::bench
