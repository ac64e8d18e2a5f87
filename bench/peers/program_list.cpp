// program_list.cpp: see program_list.hpp.
// SPDX-License-Identifier: MIT
#include "peers/program_list.hpp"

#include "race/error.hpp"

#include <fstream>
#include <regex>
#include <sstream>

namespace drey::bench {
namespace {
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream text(line);
  for (std::string field; std::getline(text, field, '|');) fields.push_back(trimmed(field));
  return fields;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// A pattern with exactly one group.
std::string checked_pattern(const std::string& where, const std::string& pattern) {
  try {
    if (std::regex(pattern).mark_count() == 1) return pattern;
  } catch (const std::regex_error&) {
    throw BadInput(where + "expected a regular expression, found '" + pattern + "'");
  }
  throw BadInput(where + "expected a regular expression with one group, found '" + pattern + "'");
}

void add_extra(const std::string& where, const std::string& field, ProgramEntry& entry) {
  const std::size_t equals = field.find('=');
  const std::string key = field.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : field.substr(equals + 1);
  if (key == "stdin" && !value.empty()) {
    entry.standard_input = value;
  } else if (key == "time" && !value.empty()) {
    entry.time_pattern = checked_pattern(where, value);
  } else if (key == "count" && !value.empty()) {
    entry.count_pattern = checked_pattern(where, value);
  } else {
    throw BadInput(where + "expected stdin=, time= or count=, found '" + field + "'");
  }
}

ProgramEntry entry_of(const std::string& where, const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() < 3 || fields[0].empty()) {
    throw BadInput(where + "expected 'name | kind | command line', found '" + line + "'");
  }
  if (fields[1] != "heap" && fields[1] != "memory") {
    throw BadInput(where + "expected the kind heap or memory, found '" + fields[1] + "'");
  }
  ProgramEntry entry;
  entry.name = fields[0];
  entry.is_heap_bound = fields[1] == "heap";
  entry.command = words_of(fields[2]);
  if (entry.command.empty()) throw BadInput(where + "expected a command line, found none");
  for (std::size_t index = 3; index < fields.size(); ++index)
    add_extra(where, fields[index], entry);
  return entry;
}
}  // namespace

std::vector<ProgramEntry> read_program_list(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) throw BadInput(path.string() + ": expected a readable list of programs, found none");
  std::vector<ProgramEntry> entries;
  int line_number = 0;
  for (std::string line; std::getline(file, line);) {
    ++line_number;
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    entries.push_back(entry_of(path.string() + ":" + std::to_string(line_number) + ": ", line));
  }
  if (entries.empty()) throw BadInput(path.string() + ": expected a program, found none");
  return entries;
}
}  // namespace drey::bench
