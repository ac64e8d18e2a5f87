// command_line.cpp: see command_line.hpp. CLI11 finds the options; values are read here, so that
// every complaint has the same form.
// SPDX-License-Identifier: MIT
#include "trainer/program/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
constexpr std::uint64_t kEpochsMax = 1'000'000;
constexpr std::uint64_t kStepsMax = 1'000'000'000'000;

/// The shortest text that reads back as the same number.
template <class Number>
std::string text_of(Number number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return std::string(buffer.data(), end);
}

template <class Number>
std::string text_of(const Limits<Number>& limits) {
  return "from " + text_of(limits.low) + " to " + text_of(limits.high);
}

/// "(1 to 1000000 epochs)".
template <class Number>
std::string bounds_text(const Limits<Number>& limits, const std::string& unit) {
  return "(" + text_of(limits.low) + " to " + text_of(limits.high) +
         (unit.empty() ? "" : " " + unit) + ")";
}

[[noreturn]] void refuse(const std::string& option, const std::string& expected,
                         const std::string& found) {
  throw ConfigError("option " + option + ": expected " + expected + ", found " + found);
}

template <class Number>
Number read_number(const std::string& option, const std::string& text,
                   const Limits<Number>& limits) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  const bool is_inside = number >= limits.low && number <= limits.high;  // false for NaN
  if (result.ec != std::errc{} || result.ptr != end || !is_inside) {
    const char* const kind = std::is_floating_point_v<Number> ? "a number " : "a whole number ";
    refuse(option, kind + text_of(limits), trainer::quoted(text));
  }
  return number;
}

template <class Number>
CLI::Option* add_number(CLI::App& app, const std::string& option, Number& value,
                        const Limits<Number>& limits, const std::string& unit,
                        const std::string& sentence) {
  CLI::Option* const added = app.add_option_function<std::string>(
      option,
      [&value, option, limits](const std::string& text) {
        value = read_number(option, text, limits);
      },
      sentence + " " + bounds_text(limits, unit));
  return added->type_name(std::is_floating_point_v<Number> ? "X" : "N");
}

void add_text(CLI::App& app, const std::string& option, std::string& value, const std::string& type,
              const std::string& sentence) {
  app.add_option_function<std::string>(
         option,
         [&value, option](const std::string& text) {
           if (text.empty()) refuse(option, "a name", "nothing");
           value = text;
         },
         sentence)
      ->type_name(type);
}

void add_hyperparameters(CLI::App& app, CommandLine& line) {
  for_each_hyperparameter(line.config.hyper, [&](const char* option, auto& value, auto limits,
                                                 const char* unit, const char* sentence) {
    add_number(app, option, value, limits, unit, sentence)
        ->default_str(text_of(value))
        ->group("Hyperparameters");
  });
  app.add_flag_callback(
         "--double", [&line] { line.config.hyper.double_dqn = true; },
         "Double DQN: the network chooses, its target values (the default).")
      ->group("Hyperparameters");
  app.add_flag_callback(
         "--no-double", [&line] { line.config.hyper.double_dqn = false; },
         "DQN: the target network does both.")
      ->excludes("--double")
      ->group("Hyperparameters");
}

void add_run_options(CLI::App& app, RunOptions& run) {
  add_text(app, "--data", run.data, "FILE",
           "Bars: CSV, Parquet, DBN or bar files (one, 'dir/*.csv', or a list with commas), or "
           "synthetic:ROWS:SEED.");
  add_text(app, "--symbol", run.symbol, "NAME", "Use this symbol's rows only.");
  add_number(app, "--epochs", run.epochs, Limits<std::uint64_t>{1, kEpochsMax}, "",
             "Passes over the training bars, those of a resumed run included.");
  add_number(app, "--max-steps", run.steps_max, Limits<std::uint64_t>{1, kStepsMax},
             "gradient steps", "Stop there, even within a pass.");
  add_text(app, "--checkpoint", run.checkpoint, "FILE",
           "Write the whole state there, after epochs and at the end (safetensors).");
  add_number(app, "--checkpoint-every", run.checkpoint_every, Limits<std::uint64_t>{1, kEpochsMax},
             "epochs", "How often.")
      ->default_str(text_of(run.checkpoint_every));
  add_text(app, "--resume", run.resume, "FILE",
           "Go on from that checkpoint; hyperparameters left out are taken from it.");
  app.add_flag("--eval", run.evaluate_only,
               "Do not train: evaluate the checkpoint of --resume on the validation bars.");
  add_text(app, "--metrics", run.metrics, "FILE", "Write one CSV row per epoch there.");
  add_text(app, "--stats-json", run.stats_json, "FILE", "Write the run's figures there.");
  app.add_flag_callback(
      "--progress", [&run] { run.progress = ProgressMode::kOn; },
      "Draw a bar on standard error (the default on a terminal).");
  app.add_flag_callback(
         "--no-progress", [&run] { run.progress = ProgressMode::kOff; }, "Draw none.")
      ->excludes("--progress");
}

void refuse_unknown(const std::vector<std::string>& unknown) {
  const auto is_option = [](const std::string& word) { return word.rfind('-', 0) == 0; };
  const auto option = std::find_if(unknown.begin(), unknown.end(), is_option);
  if (option != unknown.end()) {
    throw ConfigError("unknown option " + trainer::quoted(*option) + " (see --help)");
  }
  if (!unknown.empty()) {
    throw ConfigError("unexpected argument " + trainer::quoted(unknown.front()) + " (see --help)");
  }
}

/// One line for the user out of what CLI11 says.
std::string explain(const CLI::ParseError& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "command line: " + text;
}

void note_given(const CLI::App& app, CommandLine& line) {
  for_each_hyperparameter(line.config.hyper, [&](const char* option, auto&, auto, auto, auto) {
    if (app.count(option) != 0) line.given.insert(option);
  });
  if (app.count("--double") + app.count("--no-double") != 0) line.given.insert("--double");
}

void check_files(const RunOptions& run) {
  const std::array<const std::string*, 4> names = {&run.data, &run.checkpoint, &run.metrics,
                                                   &run.stats_json};
  const std::array<const char*, 4> options = {"--data", "--checkpoint", "--metrics",
                                              "--stats-json"};
  for (std::size_t index = 1; index < names.size(); ++index) {
    for (std::size_t other = 0; other < index; ++other) {
      if (!names[index]->empty() && *names[index] == *names[other]) {
        refuse(options[index], std::string("another file than ") + options[other],
               trainer::quoted(*names[index]));
      }
    }
  }
}
}  // namespace

void check_together(const Config& config) {
  const RunOptions& run = config.run;
  if (run.data.empty()) refuse("--data", "a file of bars or synthetic:ROWS:SEED", "nothing");
  if (run.evaluate_only && run.resume.empty()) {
    refuse("--eval", "a checkpoint given by --resume", "none");
  }
  if (!run.evaluate_only && run.epochs == 0) {
    refuse("--epochs", "a whole number from 1 to " + text_of(kEpochsMax), "nothing");
  }
  if (config.hyper.epsilon_end > config.hyper.epsilon_start) {
    refuse("--eps-end", "at most --eps-start, " + text_of(config.hyper.epsilon_start),
           text_of(config.hyper.epsilon_end));
  }
  check_files(run);
}

CommandLine parse_command_line(int argument_count, const char* const* arguments) {
  CommandLine line;
  CLI::App app("Trains a deep Q-network to trade market bars.", "drey-train");
  app.footer(
      "Verbs: drey-train convert IN OUT [--symbol NAME]; drey-train gen-bars --rows N [--seed S] "
      "OUT "
      "(--help says more).");
  app.set_help_flag("-h,--help", "Print this and stop.");
  app.allow_extras();  // to name them in our own words
  bool wants_version = false;
  app.add_flag("--version", wants_version, "Print version and allocator and stop.");
  add_run_options(app, line.config.run);
  add_hyperparameters(app, line);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::CallForHelp&) {
    line.request = Request::kHelp;
    line.help = app.help();
    return line;
  } catch (const CLI::ParseError& error) {
    throw ConfigError(explain(error));
  }
  refuse_unknown(app.remaining());
  if (wants_version) {
    line.request = Request::kVersion;
    return line;
  }
  note_given(app, line);
  if (line.config.run.resume.empty()) check_together(line.config);
  return line;
}
}  // namespace drey::trainer
