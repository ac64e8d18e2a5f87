// library.cpp: the other ways into the heap, and the C++ library on top of it.
// Read next: growth.cpp.
// SPDX-License-Identifier: MIT
#include "peers/cases/all_cases.hpp"

#include <cstdlib>
#include <map>
#include <new>
#include <unordered_map>

namespace drey::bench {
namespace {
constexpr std::size_t kMapKeys = 20000;
constexpr std::size_t kMapKeyStep = 1 << 20;
constexpr std::size_t kStrings = 20000;

using Loop = void (*)(std::size_t bytes, std::size_t count);

void sized_delete(std::size_t bytes, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    void* const block = ::operator new(bytes);
    keep(block);
    ::operator delete(block, bytes);
  }
}

void aligned_new(std::size_t bytes, std::size_t count) {
  constexpr std::align_val_t kAlignment{64};
  for (std::size_t index = 0; index < count; ++index) {
    void* const block = ::operator new(bytes, kAlignment);
    keep(block);
    ::operator delete(block, bytes, kAlignment);
  }
}

void zeroed(std::size_t bytes, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    void* const block = std::calloc(1, bytes);
    keep(block);
    std::free(block);
  }
}

void vector_of_225_floats(std::size_t, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    const std::vector<float> observation(225);
    keep(const_cast<float*>(observation.data()));
  }
}

/// Keys come and the least one goes: a tree that stays about as large. Keys come from a window that
/// moves on: of keys from everywhere ever fewer would stay, and an operation cost the less the more of
/// them there were. The tree has its size before the clock runs.
Figures map_churn(double seconds) {
  std::map<std::size_t, std::size_t> tree;
  Random random;
  std::size_t window_start = 0;
  const auto churn = [&](std::size_t count) {
    for (std::size_t index = 0; index < count; ++index) {
      window_start += kMapKeyStep;
      tree[window_start + random.below(kMapKeys * kMapKeyStep)] = index;
      if (tree.size() > kMapKeys) tree.erase(tree.begin());
    }
  };
  churn(4 * kMapKeys);
  return cost_of(seconds, 1, churn);
}

/// A table of long strings filled and dropped; an operation is one entry.
Figures string_churn(double seconds) {
  return cost_of(seconds, static_cast<double>(kStrings), [](std::size_t count) {
    for (std::size_t round = 0; round < count; ++round) {
      std::unordered_map<std::string, std::string> table;
      for (std::size_t index = 0; index < kStrings; ++index) {
        const std::string number = std::to_string(index);
        table["a key too long to be stored in place " + number] =
            number + " is the beginning of a value too long for it, too";
      }
      keep(&table);
    }
  });
}

void add_loop(CaseList& cases, const std::string& name, std::size_t bytes, Loop loop) {
  cases.push_back({"library", name, [=](double seconds) {
                     return cost_of(seconds, 1, [=](std::size_t count) { loop(bytes, count); });
                   }});
}
}  // namespace

void add_library(CaseList& cases) {
  for (const std::size_t bytes : {64, 900}) {
    const std::string size = std::to_string(bytes);
    add_loop(cases, "library/sized_delete/" + size, bytes, sized_delete);
    add_loop(cases, "library/aligned_new_64/" + size, bytes, aligned_new);
  }
  for (const std::size_t bytes : {64, 900, 57600, 16777216}) {
    add_loop(cases, "library/calloc/" + std::to_string(bytes), bytes, zeroed);
  }
  add_loop(cases, "library/vector_of_225_floats", 0, vector_of_225_floats);
  cases.push_back({"library", "library/map_churn", map_churn});
  cases.push_back({"library", "library/string_churn", string_churn});
}
}  // namespace drey::bench
