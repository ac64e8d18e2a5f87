// pool_reports.cpp: see pool_reports.hpp.
// SPDX-License-Identifier: MIT
#include "pool_reports.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>
#include <drey/pools/vector_pool.hpp>

#include <dlfcn.h>

namespace drey {
namespace {
using Line = Text<400>;

/// "0x55d0 (make_observation+0x12 in trader)", as far as the loader knows.
void add_site(Line& line, const void* site) noexcept {
  if (site == nullptr) {
    line.add("an unknown place");
    return;
  }
  line.add(site);
  Dl_info place{};
  if (dladdr(site, &place) == 0 || place.dli_fname == nullptr) return;
  const char* name = place.dli_fname;
  for (const char* letter = name; *letter != '\0'; ++letter) {
    if (*letter == '/') name = letter + 1;
  }
  const bool has_symbol = place.dli_sname != nullptr;
  const void* const base = has_symbol ? place.dli_saddr : place.dli_fbase;
  line.add(" (").add(has_symbol ? place.dli_sname : name).add("+");
  line.add_hex(
      static_cast<std::uint64_t>(static_cast<const char*>(site) - static_cast<const char*>(base)));
  if (has_symbol) line.add(" in ").add(name);
  line.add(")");
}

[[noreturn]] void end_with(const char* before, const void* vector, const char* behind) noexcept {
  Line line;
  line.add("vector pool: ").add(before).add(vector).add(behind);
  fatal(line.c_str());
}
}  // namespace

void report_stray_vector(const void* vector) noexcept {
  end_with("given back ", vector, ", which is no vector of this pool");
}

void report_given_back_twice(const void* vector) noexcept {
  end_with("vector ", vector, " given back twice");
}

void report_never_taken(const void* vector) noexcept {
  end_with("vector ", vector, " was never taken");
}

void report_twice_in_list(const void* vector) noexcept {
  end_with("vector ", vector, " was given back twice: it is free a second time while it is taken");
}

void report_written_while_free(const void* vector) noexcept {
  end_with("vector ", vector, " was written to after it was given back");
}

void report_written_behind(const void* vector, const void* site) noexcept {
  Line line;
  line.add("vector pool: written behind the values of vector ").add(vector).add(", taken at ");
  add_site(line, site);
  fatal(line.c_str());
}

void report_vectors_out(std::uint64_t taken_count) noexcept {
  Line line;
  line.add("vector pool: destroyed with ").add(taken_count);
  line.add(taken_count == 1 ? " vector out" : " vectors out");
  fatal(line.c_str());
}

void report_wrong_length(std::size_t expected, std::size_t found) noexcept {
  Line line;
  line.add("drey: vector pool: expected ").add(std::uint64_t{expected}).add(" values, found ");
  line.add(std::uint64_t{found});
  write_line_to_stderr(line.c_str());
}

void write_taken_line(const void* vector, const void* site) noexcept {
  Line line;
  line.add("drey: vector pool: vector ").add(vector).add(" is out, taken at ");
  add_site(line, site);
  write_line_to_stderr(line.c_str());
}
}  // namespace drey
