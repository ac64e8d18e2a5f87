// stack_trace.cpp: see stack_trace.hpp.
// SPDX-License-Identifier: MIT
#include "core/stack_trace.hpp"

#include <drey/base/bits.hpp>

#include <atomic>
#include <cerrno>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <unwind.h>

// Weak: a static program has no dynamic linker to ask, and a C program no unwinder of its own.
extern "C" {
[[gnu::weak]] void* dlopen(const char* name, int flags) noexcept;
[[gnu::weak]] void* dlsym(void* handle, const char* name) noexcept;
[[gnu::weak]] _Unwind_Reason_Code _Unwind_Backtrace(_Unwind_Trace_Fn visit, void* argument);
[[gnu::weak]] _Unwind_Ptr _Unwind_GetIP(_Unwind_Context* context);
// Defined by the linker: the first byte of this program or library, and the end of its code.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): the linker's names.
extern const char __ehdr_start [[gnu::visibility("hidden")]];
extern const char etext [[gnu::visibility("hidden")]];
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
}

namespace drey::core {
namespace {
using BacktraceFunction = _Unwind_Reason_Code (*)(_Unwind_Trace_Fn visit, void* argument);
using AddressFunction = _Unwind_Ptr (*)(_Unwind_Context* context);

/// Both or neither; address_of_frame is set first.
constinit std::atomic<AddressFunction> address_of_frame{nullptr};
constinit std::atomic<BacktraceFunction> backtrace{nullptr};

/// True if this code is part of a library, not of the program.
[[nodiscard]] bool is_in_library() noexcept {
  const std::uintptr_t program = ::getauxval(AT_PHDR);
  return program < address_of(&__ehdr_start) || program >= address_of(&etext);
}

struct Trace {
  std::uintptr_t* frames;
  std::size_t count_max;
  std::size_t count;
  std::uintptr_t own_first;  ///< frames between the two are drey's
  std::uintptr_t own_end;
  AddressFunction address_of_frame;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* argument) {
  auto& trace = *static_cast<Trace*>(argument);
  const std::uintptr_t address = trace.address_of_frame(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (trace.count == 0 && address >= trace.own_first && address < trace.own_end) {
    return _URC_NO_REASON;
  }
  trace.frames[trace.count++] = address;
  return trace.count == trace.count_max ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void publish(AddressFunction address_function, BacktraceFunction backtrace_function) noexcept {
  // Release: who sees the second sees the first; pairs with the acquire in take_stack_trace().
  address_of_frame.store(address_function, std::memory_order_relaxed);
  backtrace.store(backtrace_function, std::memory_order_release);
}
}  // namespace

bool open_stack_traces() noexcept {
  if (backtrace.load(std::memory_order_acquire) != nullptr) return true;
  if (&::_Unwind_Backtrace != nullptr && &::_Unwind_GetIP != nullptr) {
    publish(&::_Unwind_GetIP, &::_Unwind_Backtrace);
    return true;
  }
  if (&::dlopen == nullptr || &::dlsym == nullptr) return false;
  const int saved_errno = errno;
  void* const library = ::dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
  void* const address_function = library == nullptr ? nullptr : ::dlsym(library, "_Unwind_GetIP");
  void* const function = library == nullptr ? nullptr : ::dlsym(library, "_Unwind_Backtrace");
  errno = saved_errno;
  if (address_function == nullptr || function == nullptr) return false;
  publish(reinterpret_cast<AddressFunction>(address_function),
          reinterpret_cast<BacktraceFunction>(function));
  return true;
}

std::size_t take_stack_trace(std::uintptr_t* frames, std::size_t count_max) noexcept {
  // Acquire: pairs with the release in publish().
  const BacktraceFunction walk = backtrace.load(std::memory_order_acquire);
  if (walk == nullptr || count_max == 0) return 0;
  Trace trace{frames, count_max, 0, 0, 0, address_of_frame.load(std::memory_order_relaxed)};
  if (is_in_library()) {
    trace.own_first = address_of(&__ehdr_start);
    trace.own_end = address_of(&etext);
  }
  const int saved_errno = errno;
  walk(add_frame, &trace);
  errno = saved_errno;
  return trace.count;
}
}  // namespace drey::core
