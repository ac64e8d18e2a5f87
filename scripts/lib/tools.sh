# tools.sh: are the compiler and CMake that are found new enough?
#
# need_tools says in one line what is too old and what to do about it, and leaves with 2. Oldest versions
# that drey is tested with: g++ 12, clang 14, CMake 3.25.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

# at_least FOUND WANTED: compares versions number by number.
at_least() { [[ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

# need_cmake: Ubuntu 22.04 has 3.22, Debian 12 and Ubuntu 24.04 have enough.
need_cmake() {
  local found
  found="$(cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')"
  [[ -n "$found" ]] || stop "cmake: expected 3.25 or newer, found none"
  at_least "$found" 3.25 || stop "cmake: expected 3.25 or newer, found $found: take one from" \
    "https://apt.kitware.com or by 'pip install --user cmake' (and put ~/.local/bin into PATH)"
}

# need_compiler: the one CMake will take: $CXX, else c++.
need_compiler() {
  local compiler="${CXX:-c++}" macros major wanted=12 name=g++
  macros="$("$compiler" -dM -E -x c++ /dev/null 2>/dev/null)" ||
    stop "compiler: '$compiler' does not run"
  major="$(sed -n 's/^#define __GNUC__ //p' <<<"$macros")"
  if grep -q '__clang_major__' <<<"$macros"; then
    name=clang++
    wanted=14
    major="$(sed -n 's/^#define __clang_major__ //p' <<<"$macros")"
  fi
  ((major >= wanted)) || stop "compiler: expected $name $wanted or newer, found $major: install" \
    "$name-$wanted and call 'CXX=$name-$wanted $0'"
}

need_tools() {
  need_cmake
  need_compiler
}
