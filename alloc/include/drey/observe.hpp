// observe.hpp: observe.h for C++: the same functions as drey::, and a walk that takes any callable.
//
// Contract as observe.h: noexcept, nothing allocates. Read next: observe.h.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/observe.h>

#include <cstddef>
#include <type_traits>

namespace drey {
using Option = drey_option_t;
using ClassStats = drey_class_stats_t;
using Part = drey_part_t;

/// Sets an option by its name. Returns: 0, ENOENT or EINVAL.
inline int set_option(const char* name, const char* value) noexcept {
  return drey_option_set(name, value);
}

/// Calls visit(const Option&) for each row of the table.
template <typename Visit>
void for_each_option(Visit&& visit) {
  Option option;
  for (std::size_t index = 0; drey_option_at(index, &option); ++index) visit(option);
}

/// Calls visit(const Part&), which returns whether to go on, for each part and each live block.
/// Requires: visit throws nothing. Threads: as drey_walk(). Returns: false if visit ended it.
template <typename Visit>
bool walk_heap(drey_walk_scope_t scope, Visit&& visit) noexcept {
  using Callable = std::remove_reference_t<Visit>;
  const auto call = [](const Part* part, void* argument) -> bool {
    return (*static_cast<Callable*>(argument))(*part);
  };
  // The C function passes it back as it came, so constness is not lost on the way.
  return drey_walk(scope, call, const_cast<std::remove_const_t<Callable>*>(&visit));
}
}  // namespace drey
