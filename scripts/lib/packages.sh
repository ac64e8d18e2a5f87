# packages.sh: which packages drey is built and tested with, and how the missing ones get installed.
#
# install_packages GROUP... works on Debian and Ubuntu (dpkg-query, apt-get). A package counts as there when
# dpkg has it or when the command it brings is already found, so a cmake from pip or an npm from elsewhere
# is left alone. Nothing missing: no call of apt-get. No right to install: the one command to run, exit 2.
# DREY_SKIP_INSTALL=1 leaves this step out (other distributions, machines managed by hand).
# Read next: tools.sh, which checks that what was found is new enough.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash

# package_rows GROUP: rows "package" or "package=command"; a leading ? means: only where the
# distribution has it (the checks that need it are skipped by name elsewhere).
package_rows() {
  case "$1" in
    build) # the library, the trainer, the benchmarks
      printf '%s\n' g++=c++ cmake=cmake ninja-build=ninja pkg-config=pkg-config python3=python3 \
        libbenchmark-dev libboost-dev libcli11-dev libeigen3-dev libgtest-dev libmimalloc-dev nlohmann-json3-dev \
        zlib1g-dev '?libtomlplusplus-dev' '?libzstd-dev'
      ;;
    bars) # the client that brings the market data
      printf '%s\n' npm=npm ca-certificates
      ;;
    checks) # what the tests use beside that
      printf '%s\n' git=git shellcheck=shellcheck spin=spin valgrind=valgrind libc6-dbg \
        '?lua5.4=lua5.4' '?redis-tools=redis-cli' '?libopenmpi-dev=mpicxx' '?openmpi-bin=mpirun' \
        '?clang-14=clang++-14' '?clang-tidy-14=clang-tidy-14' '?clang-format-14=clang-format-14'
      ;;
    *) stop "packages: no group named '$1'" ;;
  esac
}

# split_row ROW: sets `name` and `command` (empty: none replaces the package).
split_row() {
  name="${1#\?}"
  command=""
  if [[ "$name" == *=* ]]; then command="${name#*=}"; fi
  name="${name%%=*}"
}

# missing_rows ROW...: those of which neither the package nor the command is there.
missing_rows() {
  local row name command installed
  installed=$'\n'"$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' 2>/dev/null |
    sed -n 's/^[ih]i *//p')"$'\n'
  for row in "$@"; do
    split_row "$row"
    if [[ "$installed" == *$'\n'"$name"$'\n'* ]]; then continue; fi
    if [[ -n "$command" ]] && command -v "$command" >/dev/null; then continue; fi
    printf '%s\n' "$row"
  done
}

# wanted_names ROW...: their package names, without the optional ones that apt does not know.
wanted_names() {
  local row name command
  for row in "$@"; do
    split_row "$row"
    if [[ "$row" == \?* ]] && ! apt-cache show "$name" >/dev/null 2>&1; then continue; fi
    printf '%s\n' "$name"
  done
}

# become_root: sets `become` to what goes before a command that needs root. Fails: no way to be root.
become_root() {
  become=()
  if [[ "$(id -u)" == 0 ]]; then return 0; fi
  command -v sudo >/dev/null || return 1
  if ! sudo -n true 2>/dev/null && [[ ! -t 0 ]]; then return 1; fi # no password known, nobody to ask
  become=(sudo)
}

# install_packages GROUP...: installs what is missing of these groups.
install_packages() {
  local group row name command
  local -a rows missing names=() become
  if [[ -n "${DREY_SKIP_INSTALL:-}" ]]; then
    say "packages: not checked (DREY_SKIP_INSTALL is set)"
    return 0
  fi
  mapfile -t rows < <(for group in "$@"; do package_rows "$group"; done)
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    for row in "${rows[@]}"; do split_row "$row" && names+=("$name"); done
    stop "no apt-get here: install what matches ${names[*]}, then set DREY_SKIP_INSTALL=1"
  fi

  mapfile -t missing < <(missing_rows "${rows[@]}")
  mapfile -t names < <(wanted_names "${missing[@]}")
  if ((${#names[@]} == 0)); then
    say "packages: all there$(left_out "${missing[@]}")"
    return 0
  fi
  if ! become_root; then
    say "packages: missing, and no right to install them. Run this once, then ${0##*/} again:" >&2
    say "  sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends ${names[*]}'" >&2
    exit 2
  fi
  say "packages: apt-get update"
  logged apt-update "${become[@]}" apt-get update || stop "apt-get update failed: is the network there?"
  mapfile -t names < <(wanted_names "${missing[@]}") # an empty list of packages has just been filled
  say "packages: apt-get install ${names[*]}"
  logged apt-install "${become[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${names[@]}" || stop "apt-get install failed"
  mapfile -t missing < <(missing_rows "${rows[@]}")
  say "packages: all there$(left_out "${missing[@]}")"
}

# left_out ROW...: says which optional packages this distribution does not have.
left_out() {
  local row name command text=""
  for row in "$@"; do split_row "$row" && text+=" $name"; done
  if [[ -n "$text" ]]; then printf ' but for%s, which this distribution does not have' "$text"; fi
}
