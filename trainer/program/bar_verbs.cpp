// bar_verbs.cpp: see bar_verbs.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/bar_verbs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include "trainer/data/bar_file.hpp"
#include "trainer/data/data_fault.hpp"
#include "trainer/data/data_summary.hpp"
#include "trainer/data/error.hpp"
#include "trainer/data/read_bars.hpp"
#include "trainer/data/synthetic_bars.hpp"
#include "trainer/files/output_file.hpp"
#include "trainer/program/log.hpp"
#include "trainer/program/verb_arguments.hpp"

namespace drey::trainer {
namespace {
using Words = std::span<const char* const>;

constexpr std::uint64_t kRowsMax = 50'000'000;

constexpr const char* kConvertHelp =
    "drey-train convert IN OUT [--symbol NAME]\n"
    "\n"
    "Writes the bars of IN to the bar file OUT, which is mapped when it is read: no library that\n"
    "reads the other formats is then part of a training run.\n"
    "  IN               a CSV, Parquet, DBN or bar file, a pattern ('dir/*.csv'), or a list with\n"
    "                   commas\n"
    "  OUT              usually NAME.bars; appears whole or not at all\n"
    "  --symbol NAME    this instrument's bars only (DBN: its number will do as well)\n";

constexpr const char* kGenerateHelp =
    "drey-train gen-bars --rows N [--seed S] OUT\n"
    "\n"
    "Writes one-minute bars that look like a market's, from a seed, to the bar file OUT: the bars\n"
    "of --data synthetic:N:S.\n"
    "  --rows N         how many, 1 to 50000000\n"
    "  --seed S         start of the random sequence (default 1)\n";

bool wants_help(Words words) {
  return std::any_of(words.begin(), words.end(),
                     [](std::string_view word) { return word == "--help" || word == "-h"; });
}

void write_bars(const std::string& path, const BarSeries& series) {
  const std::string header = bar_file_header(series);
  write_file(path, {header, bar_bytes(series)});
  log_line("%s: %s", path.c_str(), to_text(summarise(series)).c_str());
}

void require_other_file(const std::string& in, const std::string& out) {
  for (const std::string& file : find_bar_files(in)) {
    std::error_code error;
    if (file != out && !std::filesystem::equivalent(file, out, error)) continue;
    throw ConfigError("command line: expected OUT to be another file than IN, found " +
                      trainer::quoted(out));
  }
}

int convert(Words words) {
  std::string symbol;
  const std::array<VerbOption, 1> options = {{{"--symbol", &symbol}}};
  const auto names = read_verb_arguments(words, options, 2, "convert IN OUT [--symbol NAME]");
  const std::string& in = names[0];
  const std::string& out = names[1];
  require_other_file(in, out);
  check_writable(out);
  write_bars(out, read_bars(in, {symbol}));
  return 0;
}

int generate(Words words) {
  std::string rows;
  std::string seed = "1";
  const std::array<VerbOption, 2> options = {{{"--rows", &rows}, {"--seed", &seed}}};
  const auto names = read_verb_arguments(words, options, 1, "gen-bars --rows N [--seed S] OUT");
  const std::uint64_t count = read_whole_number("--rows", rows, 1, kRowsMax);
  const std::uint64_t start =
      read_whole_number("--seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  check_writable(names[0]);
  write_bars(names[0], synthetic_bars(count, start));
  return 0;
}

struct Verb {
  std::string_view name;
  const char* help;
  int (*run)(Words words);
};
constexpr std::array<Verb, 2> kVerbs = {
    {{"convert", kConvertHelp, convert}, {"gen-bars", kGenerateHelp, generate}}};
}  // namespace

std::optional<int> run_bar_verb(int argument_count, const char* const* arguments) {
  const Words words(arguments, static_cast<std::size_t>(std::max(argument_count, 0)));
  if (words.size() < 2) return std::nullopt;
  for (const Verb& verb : kVerbs) {
    if (words[1] != verb.name) continue;
    if (!wants_help(words.subspan(2))) return verb.run(words.subspan(2));
    std::fputs(verb.help, stdout);
    return 0;
  }
  return std::nullopt;
}
}  // namespace drey::trainer
