// fake_racers.hpp: a folder of small shell scripts that answer as trainers and micro programs do,
// with figures we know; each can be made to lie, fail or do other work.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <stdlib.h>

namespace drey::bench {
/// Removed with its files when the test ends.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "drey-test.XXXXXX").string();
    path_ = mkdtemp(name.data()) != nullptr ? name : std::string();
  }
  ~TestFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Writes an executable file; returns its path.
  std::filesystem::path write_script(const std::string& name, const std::string& body) const {
    auto file_path = path_ / name;
    std::ofstream(file_path) << "#!/bin/sh\n" << body;
    std::filesystem::permissions(file_path, std::filesystem::perms::owner_all);
    return file_path;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string answer_text(const std::string& allocator) {
  return R"({"name": ")" + allocator + R"(", "version": "1.2.3", "how": "a script"})";
}

struct FakeTrainer {
  std::string allocator = "glibc";
  std::string hash = "00c0ffee";
  double steps_per_second = 2500;
  std::string heap_calls = "null";
};

inline void add_trainer(const TestFolder& folder, const std::string& name,
                        const FakeTrainer& trainer) {
  const std::string report =
      R"({"allocator": )" + answer_text(trainer.allocator) +
      R"(, "gradient_steps": 1000, "train_seconds": 0.4, "peak_rss_bytes": 52428800,)" +
      R"( "gradient_steps_per_second": )" + std::to_string(trainer.steps_per_second) +
      R"(, "weights_hash": ")" + trainer.hash + R"(", "heap_calls": )" + trainer.heap_calls + "}";
  folder.write_script(name, "echo \"$0 $*\" >> \"" + (folder.path() / "calls.log").string() +
                                "\"\nwhile [ \"$1\" != --stats-json ]; do shift; done\n"
                                "echo '" +
                                report + "' > \"$2\"\n");
}

/// A micro program with two cases, one of one thread, one of several.
inline void add_micro(const TestFolder& folder, const std::string& name,
                      const std::string& allocator, const std::string& pair_seconds) {
  const std::string escaped =
      R"({\"name\": \")" + allocator + R"(\", \"version\": \"1\", \"how\": \"a script\"})";
  const auto report = [&](const std::string& case_name) {
    return R"({"context": {"active_allocator": ")" + escaped + R"("}, "benchmarks": [{"name": ")" +
           case_name + R"(", "pair_seconds": )" + pair_seconds + "}]}";
  };
  folder.write_script(name,
                      "case \"$*\" in\n"
                      "*--active-allocator*) echo '" +
                          answer_text(allocator) +
                          "' ;;\n"
                          "*list_tests*) printf 'pair/64\\nthreads_exchange/real_time\\n' ;;\n"
                          "*threads_*) echo '" +
                          report("threads_exchange/real_time") +
                          "' ;;\n"
                          "*) echo '" +
                          report("pair/64") + "' ;;\nesac\n");
}

/// All programs of a race of three, honest and equal.
inline void add_honest_racers(const TestFolder& folder) {
  for (const char* key : {"drey", "system", "mimalloc"}) {
    const std::string suffix = key;
    const std::string allocator = suffix == "system" ? "glibc" : suffix;
    add_trainer(folder, suffix == "drey" ? "drey-train" : "drey-train-" + suffix, {allocator});
    FakeTrainer counted{allocator};
    counted.heap_calls = R"({"total": 12345, "in_steps_after_warmup": 0})";
    add_trainer(folder, "drey-train-counted-" + suffix, counted);
  }
  add_micro(folder, "drey-micro-drey", "drey", "4e-9");
  add_micro(folder, "drey-micro-system", "glibc", "8e-9");
  add_micro(folder, "drey-micro-mimalloc", "mimalloc", "4e-9");
}
}  // namespace drey::bench
