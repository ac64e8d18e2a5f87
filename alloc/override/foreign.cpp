// foreign.cpp: finds the C library's own malloc family, late and without recursion.
//
// Invariants: nothing is looked up before the first foreign pointer; dlsym may call malloc and free
// itself, so a thread inside it does not start a second search; a cached address never changes.
// Read next: foreign.hpp.
// SPDX-License-Identifier: MIT
#include "override/foreign.hpp"

#include "core/entry.hpp"

#include <drey/base/bits.hpp>
#include <drey/base/units.hpp>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include <dlfcn.h>
#include <malloc.h>

// Weak: a static program has no dynamic linker to ask, and must not pull one in for this.
extern "C" [[gnu::weak]] void* dlsym(void* handle, const char* name) noexcept;

namespace drey::override {
namespace {
using FreeFunction = void (*)(void*);
using ReallocateFunction = void* (*)(void*, std::size_t);
using UsableSizeFunction = std::size_t (*)(void*);
using InformationFunction = struct mallinfo2 (*)();

/// True while this thread is inside dlsym. Initial-exec: reading it must not allocate.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool searching = false;

/// One function of the next malloc after drey in the search order: the C library's.
template <typename Function>
class NextFunction {
 public:
  constexpr explicit NextFunction(const char* name) noexcept : name_(name) {}

  /// Fails: null when there is none, or while this thread is searching already.
  [[nodiscard]] Function find() noexcept {
    // Relaxed, pairs with the store below: the address is a constant and guards no other data.
    void* address = address_.load(std::memory_order_relaxed);
    if (address == nullptr && !searching && &::dlsym != nullptr) {
      const int saved_errno = errno;
      searching = true;
      address = ::dlsym(RTLD_NEXT, name_);
      searching = false;
      errno = saved_errno;
      address_.store(address, std::memory_order_relaxed);
    }
    return reinterpret_cast<Function>(address);
  }

 private:
  const char* name_;
  std::atomic<void*> address_{nullptr};
};

constinit NextFunction<FreeFunction> next_free("free");
constinit NextFunction<ReallocateFunction> next_reallocate("realloc");
constinit NextFunction<UsableSizeFunction> next_usable_size("malloc_usable_size");
constinit NextFunction<InformationFunction> next_information("mallinfo2");

/// Once the C library has handed out memory, any unknown pointer may be its own.
constinit std::atomic<bool> c_library_has_blocks{false};

/// True if the pointer may be a block of the C library. It has a free() that trusts what it reads
/// before the block, so a stray pointer must not get that far where it can be told apart.
[[nodiscard]] bool may_be_c_library_block(const void* pointer) noexcept {
  if (!is_aligned(pointer, kMinAlignmentBytes)) return false;
  // Relaxed on both sides: the flag only ever rises, and stands for nothing but itself.
  if (c_library_has_blocks.load(std::memory_order_relaxed)) return true;
  const InformationFunction ask = next_information.find();
  if (ask == nullptr) return true;  // a C library older than mallinfo2
  const struct mallinfo2 answer = ask();
  if (answer.arena == 0 && answer.hblkhd == 0) return false;
  c_library_has_blocks.store(true, std::memory_order_relaxed);
  return true;
}

constexpr core::ForeignHooks kHooks{.free = foreign_free, .reallocate = foreign_reallocate};

/// Before it has run the core reports foreign pointers, which cannot be the C library's then: only
/// a library opened at run time can bring some.
[[gnu::constructor]] void install_hooks() noexcept {
  core::set_foreign_hooks(kHooks);
}
}  // namespace

void foreign_free(void* pointer) noexcept {
  if (searching) return;  // freed by dlsym itself: a leak of a few bytes, once
  const FreeFunction next = next_free.find();
  if (next == nullptr || !may_be_c_library_block(pointer)) {
    core::report_misuse("invalid free", pointer);
    return;
  }
  const int saved_errno = errno;
  next(pointer);
  errno = saved_errno;
}

void* foreign_reallocate(void* pointer, std::size_t size) noexcept {
  const ReallocateFunction next = next_reallocate.find();
  if (next == nullptr || !may_be_c_library_block(pointer)) {
    core::report_misuse("realloc of invalid pointer", pointer);
    return nullptr;
  }
  return next(pointer, size);
}

std::size_t foreign_usable_bytes(void* pointer) noexcept {
  const UsableSizeFunction next = next_usable_size.find();
  return next != nullptr && may_be_c_library_block(pointer) ? next(pointer) : 0;
}
}  // namespace drey::override
