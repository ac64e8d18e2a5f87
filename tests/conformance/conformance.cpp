// conformance.cpp: the lists of sizes, and the look-up of optional functions.
// Read next: conformance.hpp.
// SPDX-License-Identifier: MIT
#include "conformance/conformance.hpp"

#include <dlfcn.h>

extern "C" {
[[gnu::weak]] void free_sized(void* pointer, std::size_t size);
[[gnu::weak]] void free_aligned_sized(void* pointer, std::size_t alignment, std::size_t size);
[[gnu::weak]] void cfree(void* pointer);
}

namespace drey::test {
namespace {
/// Linked in, or else exported by some library; only one of both is visible in each case.
template <typename Function>
Function find(Function linked, const char* name) {
  if (linked != nullptr) return linked;
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}
}  // namespace

std::vector<std::size_t> sizes_of_every_class() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 1; size <= 1088; ++size) sizes.push_back(size);
  const auto add_around = [&sizes](std::size_t border) {
    for (std::size_t distance : {17, 1, 0}) sizes.push_back(border - distance);
    for (std::size_t distance : {1, 17}) sizes.push_back(border + distance);
  };
  for (std::size_t power = kKiB; power <= 256 * kKiB; power *= 2) {
    for (std::size_t eighth = 1; eighth <= 8; ++eighth) add_around(power + power / 8 * eighth);
  }
  for (std::size_t border : {kMiB, 2 * kMiB, 4 * kMiB, 16 * kMiB}) add_around(border);
  return sizes;
}

std::vector<std::size_t> some_sizes() {
  return {1,          8,         16,       24,           100,           512,
          900,        1000,      1024,     1025,         1800,          4096,
          5000,       16 * kKiB, 57600,    64 * kKiB,    64 * kKiB + 1, 100000,
          256 * kKiB, 1 * kMiB,  2 * kMiB, 3 * kMiB + 5, 5 * kMiB};
}

std::vector<std::size_t> impossible_sizes() {
  std::vector<std::size_t> sizes = {kObjectBytesMax - 4096, kObjectBytesMax - 1, kObjectBytesMax};
  for (std::size_t k = 1; k <= 4097; k += 256) sizes.push_back(kObjectBytesMax + k);
  for (std::size_t k = 0; k <= 5000; ++k) sizes.push_back(SIZE_MAX - k);
  for (std::size_t power = 65536; power <= std::size_t{1} << 40; power *= 4) {
    sizes.push_back(SIZE_MAX - power);
    sizes.push_back(SIZE_MAX - power + 1);
  }
  return sizes;
}

const OptionalFunctions& optional_functions() {
  static const OptionalFunctions functions = {find(free_sized, "free_sized"),
                                              find(free_aligned_sized, "free_aligned_sized"),
                                              find(cfree, "cfree"), &::reallocarray};
  return functions;
}
}  // namespace drey::test
