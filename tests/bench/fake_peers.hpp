// fake_peers.hpp: a folder with scripts that answer as drey-peer-cases and drey-footprint-probe do,
// with figures we know by the library they were given: a library is an empty file, and the scripts
// read its name from LD_PRELOAD (the loader says that it cannot use it, and goes on).
// SPDX-License-Identifier: MIT
#pragma once

#include "bench/command.hpp"
#include "bench/fake_racers.hpp"

#include <string>
#include <vector>

namespace drey::bench {
/// Time of a pair in nanoseconds: drey 3, system 8, fast 2, slow 6. Resident bytes at rest: 3 MB, but
/// 2 MB with the system's malloc. A scale case takes 5 ns, but 9 with many threads.
inline const char* const kFakeCases = R"(
case "$1 $2" in
"list ")
  echo '{"group": "pair", "name": "pair/64", "threads": false, "big": false}'
  echo '{"group": "mixed", "name": "mixed/1", "threads": false, "big": false}'
  echo '{"group": "mixed", "name": "mixed/huge", "threads": false, "big": true}'
  echo '{"group": "scale", "name": "scale/threads/1", "threads": true, "big": false}'
  echo '{"group": "scale", "name": "scale/threads/9", "threads": true, "big": false}'
  exit ;;
esac
library=${LD_PRELOAD:-/lib/libc.so.6}
case "$library" in
*drey.so) ns=3 ;; *fast.so) ns=2 ;; *slow.so) ns=6 ;; *) ns=8 ;;
esac
case "$1 $2" in
"whose ") echo "{\"name\": \"unknown\", \"version\": \"\", \"library\": \"$library\"}" ; exit ;;
*scale/threads/1) ns=5 ;;
*scale/threads/9) ns=9 ;;
esac
echo "$2 ${library##*/}" >> "$(dirname "$0")/calls.log"
echo "{\"case\": \"$2\", \"library\": \"$library\"," \
  "\"figures\": {\"cpu_ns\": $ns, \"wall_ns\": 99, \"faults\": 0}}"
)";

class FakePeers {
 public:
  FakePeers() {
    folder_.write_script("drey-peer-cases", kFakeCases);
    folder_.write_script("drey-footprint-probe",
                         "[ -n \"$LD_PRELOAD\" ] && bytes=3145728 || bytes=2097152\n"
                         "echo \"{\\\"rest_bytes\\\": $bytes}\"\n");
    for (const char* name : {"drey.so", "fast.so", "slow.so"}) std::ofstream(path(name)) << "";
    std::filesystem::copy(std::filesystem::path(DREY_TEST_BIN_FOLDER) / "drey-launcher",
                          path("drey-launcher"));
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_.path() / name).string();
  }
  [[nodiscard]] const TestFolder& folder() const noexcept { return folder_; }

  /// drey-bench with the fake programs and two peers, fast and slow.
  [[nodiscard]] ChildResult run(const std::string& verb,
                                const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {DREY_TEST_BENCH, verb,
                                          "--bin-dir",     folder_.path().string(),
                                          "--rounds",      "2",
                                          "--peer",        "fast=" + path("fast.so"),
                                          "--peer",        "slow=" + path("slow.so") + ",slow 1.2",
                                          "--reference",   "slow"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments, {{"DREY_LIBRARY", path("drey.so")}});
  }

 private:
  TestFolder folder_;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
}  // namespace drey::bench
