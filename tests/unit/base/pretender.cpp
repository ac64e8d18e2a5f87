// pretender.cpp: a malloc that belongs to nobody, in a program where drey's names exist too.
// Blocks come from one array and are never reused; a size header lets realloc copy. The hidden
// drey_owns() answers what the build says: false is what a linked drey::alloc would say of them.
// SPDX-License-Identifier: MIT
#include <atomic>
#include <cstddef>
#include <cstring>

namespace {
constexpr std::size_t kHeaderBytes = 16;
alignas(16) char arena[1 << 22];
std::atomic<std::size_t> used_bytes{0};

std::size_t& size_of(void* block) {
  return *reinterpret_cast<std::size_t*>(static_cast<char*>(block) - kHeaderBytes);
}
}  // namespace

extern "C" {
void* malloc(std::size_t size) noexcept {
  const std::size_t step = kHeaderBytes + (size + 15) / 16 * 16;
  // Relaxed: the sum alone decides; pairs with itself.
  const std::size_t start = used_bytes.fetch_add(step, std::memory_order_relaxed);
  if (start + step > sizeof arena) return nullptr;
  void* const block = arena + start + kHeaderBytes;
  size_of(block) = size;
  return block;
}

void free(void* /*block*/) noexcept {}

void* calloc(std::size_t count, std::size_t size) noexcept {
  return malloc(count * size);
}

void* realloc(void* block, std::size_t size) noexcept {
  void* const larger = malloc(size);
  if (block == nullptr || larger == nullptr) return larger;
  return std::memcpy(larger, block, size < size_of(block) ? size : size_of(block));
}

[[gnu::visibility("hidden")]] const char* drey_version() {
  return "9.9.9";
}
[[gnu::visibility("hidden")]] bool drey_owns(const void* /*block*/) {
  return DREY_PRETENDER_OWNS;
}
}
