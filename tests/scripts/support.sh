# support.sh: a pretend Debian for the script tests: its package tools, and a copy of scripts/.
#
# run_all_tests  calls each test_* function in a fresh world and a subshell of its own; one line each;
#                exit code 1 if any failed
# In a test: `world` is its folder; PATH holds only world/bin (a few real tools and the pretend ones);
# `installed`, `known` (files in world, one name a line) are what dpkg has and what apt could bring;
# world/calls records each call of apt-get and sudo. Nothing outside world is written.
# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2016 # the pretend commands expand their own words

source_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
bash_path="$(command -v bash)"
python_path="$(python3 -c 'import sys; print(sys.executable)')"

# pretend NAME: makes the command NAME of the shell text on standard input.
pretend() {
  { printf '#!%s\nworld=%q\n' "$bash_path" "$world" && cat; } >"$world/bin/$1"
  chmod +x "$world/bin/$1"
}

# new_world: everything installed, user id 1000, no sudo, no network needed.
new_world() {
  local -a tools
  mapfile -t tools < <(type -P bash cat cut dirname env grep head mkdir mktemp mv nproc realpath rm sed \
    sha256sum sha512sum sort tail tar touch gzip)
  mkdir -p "$world/bin" "$world/tree"
  cp -R "$source_root/scripts" "$world/tree/scripts"
  ln -s "${tools[@]}" "$world/bin"
  # Not the command itself: it may be a script that looks for the real one in PATH.
  ln -s "$python_path" "$world/bin/python3"
  touch "$world/calls" "$world/installed" "$world/known"
  pretend dpkg-query <<<'sed "s/^/ii  /" "$world/installed"'
  pretend apt-cache <<<'grep -qxF -- "$2" "$world/known"'
  pretend id <<<'echo 1000'
  pretend apt-get <<'END'
echo "apt-get $*" >>"$world/calls"
if [[ "$1" != install ]]; then exit 0; fi
for name in "$@"; do
  if [[ "$name" == -* || "$name" == install ]]; then continue; fi
  grep -qxF -- "$name" "$world/known" || exit 100
  echo "$name" >>"$world/installed"
done
END
}

# packages GROUP...: calls install_packages as a script of ours does; sets `output` and `code`.
packages() {
  code=0
  output="$(PATH="$world/bin" "$bash_path" -c '
    set -euo pipefail
    source "$0/scripts/lib/common.sh"
    source "$0/scripts/lib/packages.sh"
    install_packages "$@"' "$world/tree" "$@" 2>&1 </dev/null)" || code=$?
}

# script NAME ARGUMENT...: runs a script of the copied tree; sets `output` and `code`.
script() {
  local name="$1"
  shift
  code=0
  output="$(PATH="$world/bin" "$bash_path" "$world/tree/scripts/$name" "$@" 2>&1 </dev/null)" || code=$?
}

fail_test() {
  printf '    %s\n    output (code %s): %s\n' "$1" "${code:-}" "${output:-}"
  exit 1
}
expect_code() { [[ "$code" == "$1" ]] || fail_test "expected exit code $1"; }
expect_output() { [[ "$output" == *"$1"* ]] || fail_test "expected in the output: $1"; }
expect_one_line() { [[ "$output" != *$'\n'* ]] || fail_test "expected one line"; }
expect_no_calls() { [[ ! -s "$world/calls" ]] || fail_test "expected no call, found: $(cat "$world/calls")"; }
expect_call() { grep -qxF -- "$1" "$world/calls" || fail_test "expected call: $1; found: $(cat "$world/calls")"; }

run_all_tests() {
  local name failed=0
  for name in $(compgen -A function test_); do
    world="$(mktemp -d)"
    if (new_world && "$name"); then
      printf 'passed  %s\n' "${name#test_}"
    else
      printf 'FAILED  %s\n' "${name#test_}"
      failed=1
    fi
    rm -rf "$world"
  done
  return "$failed"
}
