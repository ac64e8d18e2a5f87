#!/usr/bin/env bash
# tools_test.sh: get-bars, get-parquet, the version checks, the options of demo and test, the step table.
#
# Method: a pretend Debian (support.sh) with a pretend npm, cmake and compiler.
# SPDX-License-Identifier: MIT

set -euo pipefail
# shellcheck source=tests/scripts/support.sh
source "$(dirname "${BASH_SOURCE[0]}")/support.sh"

bars() { printf '%s' "$world/tree/build/data/sp500-2000.csv"; }

# inner TEXT: runs shell text with all of scripts/lib sourced; sets `output` and `code`.
inner() {
  code=0
  # shellcheck disable=SC2016 # expanded by the inner shell
  output="$(PATH="$world/bin" "$bash_path" -c '
    set -euo pipefail
    for part in common packages tools steps; do source "$0/scripts/lib/$part.sh"; done
    '"$1" "$world/tree" 2>&1 </dev/null)" || code=$?
}

# pretend_compiler MACRO VALUE...
pretend_compiler() { pretend c++ <<<"printf '#define %s %s\n' $*"; }

test_bars_without_npm_say_so_in_one_line() {
  script get-bars
  expect_code 2
  expect_output "npm not found"
  expect_one_line
}

test_bars_with_an_unreachable_registry_say_so_and_leave_nothing() {
  pretend npm <<<'exit 1'
  script get-bars
  expect_code 2
  expect_output "is the registry reachable?"
  [[ ! -e "$(bars)" ]] || fail_test "a file was left"
}

test_bars_of_another_content_are_refused_and_not_left() {
  pretend npm <<'END'
mkdir -p "$world/package/data"
for ((row = 0; row <= 5105; ++row)); do echo "$row"; done >"$world/package/data/sp500-2000.csv"
tar -czf "$4/vega-datasets.tgz" -C "$world" package
END
  script get-bars
  expect_code 1
  expect_output "expected sha256 9409e9342d06"
  [[ ! -e "$(bars)" ]] || fail_test "a file was left"
}

test_bars_that_were_cut_short_are_refused() {
  mkdir -p "$world/tree/build/data"
  printf 'date,open\n2000-01-03,1' >"$(bars)"
  script get-bars
  expect_code 1
  expect_output "expected 5105 bars, found 1"
}

duckdb() { printf '%s' "$world/tree/build/parquet/libduckdb.so"; }

test_parquet_without_npm_says_so_in_one_line() {
  pretend uname <<<'echo x86_64'
  script get-parquet
  expect_code 2
  expect_output "npm not found"
  expect_one_line
}

test_parquet_on_another_machine_names_the_way_out() {
  pretend uname <<<'echo riscv64'
  script get-parquet
  expect_code 2
  expect_output "no package is pinned for riscv64: DREY_DUCKDB_LIB"
  expect_one_line
}

test_parquet_with_an_unreachable_registry_says_so_and_leaves_nothing() {
  pretend uname <<<'echo x86_64'
  pretend npm <<<'exit 1'
  script get-parquet
  expect_code 2
  expect_output "is the registry reachable?"
  [[ ! -e "$(duckdb)" ]] || fail_test "a file was left"
}

test_parquet_from_another_package_is_refused_and_not_left() {
  pretend uname <<<'echo x86_64'
  pretend npm <<'END'
mkdir -p "$world/package"
echo other >"$world/package/libduckdb.so"
echo other >"$world/package/LICENSE"
tar -czf "$4/duckdb.tgz" -C "$world" package
END
  script get-parquet
  expect_code 1
  expect_output "expected sha512 8c14cbfd6bdf"
  [[ ! -e "$(duckdb)" ]] || fail_test "a file was left"
}

test_parquet_that_is_there_is_not_fetched_again() {
  mkdir -p "$world/tree/build/parquet"
  touch "$(duckdb)"
  script get-parquet
  expect_code 0
  expect_one_line
}

test_an_old_cmake_is_named_with_the_way_out() {
  pretend cmake <<<'echo "cmake version 3.22.1"'
  inner need_cmake
  expect_code 2
  expect_output "expected 3.25 or newer, found 3.22.1"
  expect_output "pip install"
}

test_a_new_cmake_passes() {
  pretend cmake <<<'echo "cmake version 3.100.0-rc1"'
  inner need_cmake
  expect_code 0
}

test_an_old_compiler_is_named_with_the_way_out() {
  pretend_compiler __GNUC__ 11
  inner need_compiler
  expect_code 2
  expect_output "expected g++ 12 or newer, found 11"
}

test_clang_is_judged_by_its_own_version() {
  pretend_compiler __GNUC__ 4 __clang_major__ 14
  inner need_compiler
  expect_code 0
  pretend_compiler __GNUC__ 4 __clang_major__ 13
  inner need_compiler
  expect_code 2
  expect_output "expected clang++ 14 or newer, found 13"
}

test_a_failing_step_stops_and_says_how_to_see_it_again() {
  inner 'step first true; step second bash -c "echo the reason; exit 3"; step third true'
  expect_code 1
  expect_output "the reason"
  expect_output "FAILED (3)"
  expect_output "To see it again: cd $world/tree && bash -c"
  [[ "$output" != *third* ]] || fail_test "the third step ran"
}

test_skipped_tests_are_listed_with_their_reasons() {
  mkdir -p "$world/tree/build/logs"
  cat >"$world/tree/build/logs/release-test.xml" <<'END'
<testsuite tests="4">
<testcase name="Gpu.Works" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>SKIPPED: no device</system-out></testcase>
<testcase name="Bars.AreRead" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>bars_test.cpp:12: Skipped
no file
</system-out></testcase>
<testcase name="Other.Says" status="notrun"><skipped message=""/><system-out></system-out></testcase>
<testcase name="preload" status="run"><system-out>
test_perl (real_programs.Interpreters.test_perl) ... ok
test_java (real_programs.Interpreters.test_java) ... skipped 'javac is not installed'
</system-out></testcase>
</testsuite>
END
  inner summary
  expect_code 0
  expect_output "tests run: 1, skipped: 3"
  expect_output "Gpu.Works: no device (release-test)"
  expect_output "Bars.AreRead: no file (release-test)"
  expect_output "Other.Says: no reason given (release-test)"
  expect_output "test_java of preload: javac is not installed (release-test)"
}

test_bad_arguments_are_one_line_and_code_2() {
  local line
  while IFS='|' read -r line expected; do
    # shellcheck disable=SC2086 # words on purpose
    script $line
    expect_code 2
    expect_output "$expected"
    expect_one_line
  done <<'END'
demo --bogus|unknown option '--bogus'
demo --epochs|--epochs: expected a value
demo --epochs 0|expected a whole number of at least 1, found '0'
demo --rounds many|found 'many'
demo --data /no/such/file|no such file
test everythin|unknown argument 'everythin'
get-bars now|unknown option 'now'
get-parquet now|unknown option 'now'
END
}

test_help_names_every_option() {
  script demo --help
  expect_code 0
  for option in --data --epochs --rounds --help; do expect_output "  $option"; done
  script test --help
  expect_code 0
  expect_output "scripts/test quick"
}

# readme_with_results_of_a_race: a README with the marks, and a raw file to fill them from.
readme_with_results_of_a_race() {
  mkdir -p "$world/tree/docs/results"
  printf '# drey\n<!-- results: begin -->\nno figures\n<!-- results: end -->\nbehind\n' >"$world/tree/README.md"
  printf '# B\n<!-- results: peers begin -->\n<!-- results: peers end -->\n%s\n%s\n' \
    '<!-- results: programs begin -->' '<!-- results: programs end -->' \
    '<!-- results: pools begin -->' '<!-- results: pools end -->' >"$world/tree/docs/BENCHMARKS.md"
  printf '<!-- results: %s begin -->\n<!-- results: %s end -->\n' steps steps fixes fixes learning learning \
    >"$world/tree/docs/TRAINER.md"
  cat >"$world/tree/docs/results/race.json" <<'END'
{"format": 1, "kind": "race", "date": "2026-01-02T03:04:05Z", "command": "drey-bench race --only micro",
 "options": {"rounds": 5}, "allocators": [{"key": "drey"}, {"key": "system"}],
 "machine": {"cpu": "a processor", "cores": 2, "distribution": "Debian", "compiler": "GNU 12"},
 "micro": {"geometric_mean_ratio": {"drey/system": 0.5}, "cases": [{"name": "pair/64", "pair_ns": {
   "drey": {"median": 5.26, "lower_quartile": 5.0, "upper_quartile": 6.0},
   "system": {"median": 14.0, "lower_quartile": 14.0, "upper_quartile": 14.0}}}]}}
END
}
results() {
  code=0
  output="$("$python_path" "$world/tree/scripts/results" "$@" 2>&1)" || code=$?
}

test_the_table_of_results_holds_median_and_quartiles_of_the_raw_file() {
  readme_with_results_of_a_race
  results "$world/tree/docs/results/race.json"
  expect_code 0
  output="$(cat "$world/tree/README.md")"
  expect_output "| pair/64, ns | 5.3 (5.0 to 6.0) | 14.0 |"
  expect_output "[docs/results/race.json](docs/results/race.json)"
  expect_output "behind"
  results --check
  expect_code 0
}

test_a_figure_that_is_not_in_the_raw_file_is_found() {
  readme_with_results_of_a_race
  results "$world/tree/docs/results/race.json"
  sed -i 's/14\.0/15.0/' "$world/tree/README.md"
  results --check
  expect_code 1
  sed -i 's/^no figures/| drey | 1 |/; s/docs.results.race.json//g' "$world/tree/README.md"
  results --check
  expect_code 1
}

# results_of_peers: a raw file of peers, and the tables written with it.
results_of_peers() {
  cat >"$world/tree/docs/results/peers.json" <<'END'
{"format": 1, "kind": "peers", "date": "2026-01-02T03:04:05Z", "command": "drey-bench peers",
 "goals": [{"target": "pair: each", "figure": "13 of 14", "met": false}],
 "rows": [{"name": "pair/64", "verdict": {"met": true}}, {"name": "pair/64, elapsed"}]}
END
  # shellcheck disable=SC2016  # Markdown, not a command
  printf '%s\n' '2026-01-02T03:04:05Z.' '`drey-bench peers`' '| pair: each | 13 of 14 | missed |' \
    '| pair/64 | 3.1 ns |' >"$world/tree/docs/results/peers.md"
}

test_the_tables_of_peers_are_put_between_their_marks() {
  readme_with_results_of_a_race
  results_of_peers
  results "$world/tree/docs/results/peers.json"
  expect_code 0
  output="$(cat "$world/tree/docs/BENCHMARKS.md")"
  expect_output "| pair/64 | 3.1 ns |"
  expect_output "[docs/results/peers.json](results/peers.json)"
  expect_output "<!-- results: programs begin -->"
  results --check
  expect_code 0
  sed -i 's/3\.1 ns/3.0 ns/' "$world/tree/docs/BENCHMARKS.md"
  results --check
  expect_code 1
  expect_output "BENCHMARKS.md: its results are not those of its raw file"
}

test_tables_that_are_not_of_the_raw_file_are_refused() {
  readme_with_results_of_a_race
  results_of_peers
  sed -i 's/13 of 14/14 of 14/' "$world/tree/docs/results/peers.md"
  results "$world/tree/docs/results/peers.json"
  expect_code 2
  expect_output "expected what peers.json says, found no '| pair: each | 13 of 14 | missed |'"
  rm "$world/tree/docs/results/peers.md"
  results "$world/tree/docs/results/peers.json"
  expect_code 2
  expect_output "expected peers.md beside it"
}

test_a_raw_file_outside_the_tree_is_refused() {
  readme_with_results_of_a_race
  results /dev/null
  expect_code 2
  expect_output "expected a file under docs/results"
}

run_all_tests
