// command_line.cpp: see command_line.hpp. CLI11 finds the options; values are read by
// option_value.hpp, so that every complaint has the same form.
// SPDX-License-Identifier: MIT
#include "trainer/program/command_line.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <algorithm>
#include <map>
#include <type_traits>
#include <vector>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"
#include "trainer/program/config_file.hpp"
#include "trainer/program/device_options.hpp"

namespace drey::trainer {
namespace {
using Texts = std::map<std::string, std::string>;  // option to what was given

/// "--no-double" of "--double".
std::string negated(const std::string& option) {
  return "--no-" + option.substr(2);
}

void add_flag(CLI::App& app, const std::string& option, const Flag& kind, const std::string& group,
              const std::string& sentence, Texts& texts) {
  app.add_flag_callback(
         option, [&texts, option] { texts[option] = "true"; }, sentence)
      ->group(group);
  if (kind.off_sentence == nullptr) return;
  app.add_flag_callback(
         negated(option), [&texts, option] { texts[option] = "false"; }, kind.off_sentence)
      ->excludes(option)
      ->group(group);
}

/// Rows of a table as options of `app` that note in `texts` what was given for them.
auto adder(CLI::App& app, const std::string& group, Texts& texts) {
  return [&app, group, &texts](const std::string& option, const auto& value, const auto& kind,
                               const std::string& unit, const std::string& sentence) {
    if constexpr (std::is_same_v<std::decay_t<decltype(kind)>, Flag>) {
      const bool is_default = text_of(value, kind) == "true";
      add_flag(app, option, kind, group, sentence + (is_default ? " The default." : ""), texts);
    } else {
      CLI::Option* const added = app.add_option_function<std::string>(
          option, [&texts, option](const std::string& text) { texts[option] = text; },
          sentence + " " + hint_of(kind, unit));
      added->type_name(type_of(kind))->group(group);
      const std::string standard = text_of(value, kind);
      if (standard != "0" && !standard.empty()) added->default_str(standard);
    }
  };
}

/// Reads what was given into `config`, and notes it.
void take(const Texts& texts, CommandLine& line) {
  for_each_option(line.config,
                  [&](const std::string& option, auto& value, const auto& kind, auto, auto) {
                    const auto found = texts.find(option);
                    if (found == texts.end()) return;
                    if (!read_text(found->second, value, kind)) {
                      refuse_option(option, expected_of(kind), trainer::quoted(found->second));
                    }
                    line.given.insert(option);
                  });
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

void check_files(const RunOptions& run) {
  const std::pair<const char*, std::string> files[] = {{"--data", run.data},
                                                       {"--checkpoint", run.checkpoint},
                                                       {"--checkpoint-dir", run.checkpoint_folder},
                                                       {"--metrics", run.metrics},
                                                       {"--stats-json", run.stats_json},
                                                       {"--report", run.report},
                                                       {"--onnx", run.onnx},
                                                       {"--tensorboard", run.tensorboard}};
  for (const auto& [option, name] : files) {
    for (const auto& [other, other_name] : files) {
      if (option == other) break;
      if (!name.empty() && name == other_name) {
        refuse_option(option, std::string("another file than ") + other, trainer::quoted(name));
      }
    }
  }
}

/// What stands beside the tables: options that are about the options.
struct Requests {
  std::string config_file;
  bool wants_version = false;
  bool wants_dump = false;
};

void add_options(CLI::App& app, const Config& defaults, Texts& texts, Requests& requests) {
  app.set_help_flag("-h,--help", "Print this and stop.");
  app.allow_extras();  // to name them in our own words
  app.add_flag("--version", requests.wants_version, "Print version and allocator and stop.");
  app.add_option_function<std::string>(
         "--config", [&](const std::string& name) { requests.config_file = name; },
         "Take options from there (TOML, keys as the options are called); the command line wins.")
      ->type_name("FILE");
  app.add_flag("--dump-config", requests.wants_dump,
               "Print the options that would be used, as such a file, and stop.");
  for_each_run_option(defaults.run, adder(app, "Options", texts));
  for_each_hyperparameter(defaults.hyper, adder(app, "Hyperparameters", texts));
}
}  // namespace

void refuse_option(const std::string& option, const std::string& expected,
                   const std::string& found) {
  throw ConfigError("option " + option + ": expected " + expected + ", found " + found);
}

void check_together(const Config& config) {
  const RunOptions& run = config.run;
  if (config.hyper.environment == "trading" && run.data.empty()) {
    refuse_option("--data", "a file of bars or synthetic:ROWS:SEED", "nothing");
  }
  if (run.evaluate_only && run.resume.empty()) {
    refuse_option("--eval", "a checkpoint given by --resume", "none");
  }
  if (!run.evaluate_only && run.epochs == 0) {
    refuse_option("--epochs", expected_of(kEpochLimits), "nothing");
  }
  if (config.hyper.epsilon_end > config.hyper.epsilon_start) {
    refuse_option("--eps-end", "at most --eps-start, " + text_of(config.hyper.epsilon_start),
                  text_of(config.hyper.epsilon_end));
  }
  check_files(run);
  check_device_options(config);
}

CommandLine parse_command_line(int argument_count, const char* const* arguments) {
  CommandLine line;
  Texts texts;
  Requests requests;
  CLI::App app("Trains a deep Q-network, on market bars unless --env says otherwise.",
               "drey-train");
  add_options(app, line.config, texts, requests);
  app.footer(
      "Verbs: drey-train convert IN OUT [--symbol NAME]; drey-train gen-bars --rows N [--seed S] "
      "OUT (--help says more).");
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
  if (requests.wants_version) {
    line.request = Request::kVersion;
    return line;
  }
  if (!requests.config_file.empty()) {
    read_config_file(requests.config_file, line.config, line.given);
  }
  take(texts, line);
  if (requests.wants_dump) line.request = Request::kDumpConfig;
  if (line.config.run.resume.empty() && !requests.wants_dump) check_together(line.config);
  return line;
}
}  // namespace drey::trainer
