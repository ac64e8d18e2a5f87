// containers.cpp: containers, strings, exceptions and threads; prints sums that do not vary.
// Read next: ../real_programs.py.
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <regex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

extern "C" void finish_here() {
  std::puts("done");
}

namespace {
unsigned long work(unsigned seed) {
  std::map<std::string, std::vector<int>> ordered;
  std::unordered_map<int, std::unique_ptr<std::string>> table;
  unsigned long sum = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const unsigned number = i * seed % 7919;
    ordered["key" + std::to_string(number % 500)].push_back(static_cast<int>(number));
    table[static_cast<int>(number)] = std::make_unique<std::string>(number % 200, 'x');
    try {
      if (number % 100 == 0) throw std::runtime_error("hundred " + std::to_string(number));
    } catch (const std::exception& error) {
      sum += std::string(error.what()).size();
    }
  }
  for (const auto& [key, values] : ordered) sum += key.size() * values.size();
  for (const auto& [key, text] : table) sum += text->size();
  return sum;
}
}  // namespace

int main() {
  std::vector<std::thread> threads;
  std::vector<unsigned long> sums(6);
  for (unsigned i = 0; i < sums.size(); ++i)
    threads.emplace_back([&sums, i] { sums[i] = work(3 + 2 * i); });
  for (auto& thread : threads) thread.join();
  for (unsigned long sum : sums) std::printf("%lu\n", sum);
  const std::regex pattern("([a-z]+)([0-9]+)");
  std::smatch match;
  const std::string text = "sentence42";
  if (std::regex_match(text, match, pattern)) std::printf("%s\n", match[2].str().c_str());
  finish_here();
}
