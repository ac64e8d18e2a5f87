// assert.hpp: what is checked, and what happens when it is not so.
//
// DREY_ASSERT(fact)         programming errors; compiled out unless DREY_ASSERTS is set.
// DREY_CHECK(fact, text)    corruption and misuse by the caller; always on, so off the hot path.
// fatal(text)               one line to standard error, then abort. Neither allocates nor locks.
// Read next: text.hpp.
// SPDX-License-Identifier: MIT
#pragma once

namespace drey {
/// Writes "drey: <text>\n" to standard error in one write and aborts. Async-signal-safe.
[[noreturn, gnu::cold]] void fatal(const char* text) noexcept;

/// As fatal(), for a broken DREY_ASSERT or DREY_CHECK: adds where.
[[noreturn, gnu::cold]] void fatal_at(const char* text, const char* file, int line) noexcept;

/// Writes `text` and a newline to standard error in one write; keeps errno.
[[gnu::cold]] void write_line_to_stderr(const char* text) noexcept;
}  // namespace drey

#define DREY_CHECK(fact, text) \
  ((fact) ? static_cast<void>(0) : ::drey::fatal_at(text, __FILE__, __LINE__))

#if defined(DREY_ASSERTS) && DREY_ASSERTS
#define DREY_ASSERT(fact) DREY_CHECK(fact, "assertion failed: " #fact)
#else
#define DREY_ASSERT(fact) static_cast<void>(sizeof((fact) ? 1 : 0))
#endif
