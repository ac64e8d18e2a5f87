// misuse.cpp: see misuse.hpp.
// SPDX-License-Identifier: MIT
#include "core/misuse.hpp"

#include "core/entry.hpp"
#include "core/options.hpp"

#include <drey/base/assert.hpp>
#include <drey/base/text.hpp>

#include <atomic>

namespace drey::core {
namespace {
constinit std::atomic<const ForeignHooks*> foreign_hooks{nullptr};
}  // namespace

void report_finding(const char* what, const void* pointer, const char* finding) noexcept {
  Text<160> line;
  line.add(what).add(": ").add(pointer).add(" ").add(finding);
  if (options.on_error.load(std::memory_order_relaxed) == OnError::kAbort) fatal(line.c_str());
  Text<180> warning;
  warning.add("drey: ").add(line.c_str());
  write_line_to_stderr(warning.c_str());
}

void report_misuse(const char* what, const void* pointer) noexcept {
  const bool ours = slab_map.find(pointer) != nullptr;
  report_finding(what, pointer, ours ? "is not a live block" : "is not a block");
}

void report_corruption(const char* what, const void* pointer) noexcept {
  report_finding(what, pointer, "was given back twice, or its slab was overwritten");
}

void set_foreign_hooks(const ForeignHooks& hooks) noexcept {
  // Release: the hooks' contents; pairs with the acquires below.
  foreign_hooks.store(&hooks, std::memory_order_release);
}

void give_back_foreign(void* pointer) noexcept {
  const ForeignHooks* const hooks = foreign_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr) return hooks->free(pointer);
  report_misuse("invalid free", pointer);
}

void* reallocate_foreign(void* pointer, unsigned long size) noexcept {
  const ForeignHooks* const hooks = foreign_hooks.load(std::memory_order_acquire);
  if (hooks != nullptr) return hooks->reallocate(pointer, size);
  report_misuse("realloc of invalid pointer", pointer);
  return nullptr;
}
}  // namespace drey::core
