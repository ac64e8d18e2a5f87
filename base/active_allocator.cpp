// active_allocator.cpp: asks the process for its allocator.
//
// 1. The address the calls of this program reach is &malloc: this file is position-independent, so
//    it is what the loader bound, be that the program's own definition, a preloaded one or libc's.
// 2. Each allocator is asked in its own words. Those that can tell their blocks from others' must
//    own a block from malloc; of the rest the version function must lie in malloc's own object.
// 3. Symbols are sought by weak reference (finds what is linked in but not exported) and in the
//    object that defines malloc (finds what was preloaded).
// Read next: include/drey/base/active_allocator.hpp.
// SPDX-License-Identifier: MIT
#include <drey/base/active_allocator.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <sys/auxv.h>

extern "C" {
[[gnu::weak]] const char* drey_version();
[[gnu::weak]] bool drey_owns(const void* pointer);
[[gnu::weak]] int mi_version() noexcept;
[[gnu::weak]] bool mi_is_in_heap_region(const void* pointer) noexcept;
[[gnu::weak]] int mallctl(const char* name, void* old_value, std::size_t* old_bytes,
                          void* new_value, std::size_t new_bytes) noexcept;
[[gnu::weak]] const char* tc_version(int* major, int* minor, const char** patch) noexcept;
// Programs that count their heap calls define malloc, and say here whose malloc it passes them to.
[[gnu::weak]] const void* drey_counted_malloc() noexcept;
}

namespace drey {
namespace {
/// The loaded file an address lies in: where it starts in memory, and its path.
struct Object {
  const void* base = nullptr;
  const char* path = "";
};

Object object_of(const void* address) noexcept {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0) return {};
  return {info.dli_fbase, info.dli_fname != nullptr ? info.dli_fname : ""};
}

/// The program itself, by its program headers, whatever object this code was linked into.
Object program() noexcept {
  return object_of(reinterpret_cast<const void*>(getauxval(AT_PHDR)));  // NOLINT: kernel's number
}

/// Keeps a malloc and free pair from being optimised away.
void* launder(void* pointer) noexcept {
  asm volatile("" : "+r"(pointer) : : "memory");
  return pointer;
}

template <typename Function>
const void* address_of_function(Function* function) noexcept {
  return reinterpret_cast<const void*>(function);
}

const void* address_of_malloc() noexcept {
  if (&drey_counted_malloc != nullptr) return drey_counted_malloc();
  return address_of_function(&std::malloc);
}

/// Where to ask: malloc's object, open for look-ups, and a block of malloc's as evidence.
class Witness {
 public:
  Witness() noexcept : object(object_of(address_of_malloc())), block(launder(std::malloc(1))) {
    const bool is_program = object.base == program().base;
    handle_ = dlopen(is_program ? nullptr : object.path, RTLD_LAZY | RTLD_NOLOAD);
  }
  ~Witness() {
    if (handle_ != nullptr) dlclose(handle_);
    std::free(block);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// The symbol as malloc's object sees it; null where there is none.
  template <typename Function>
  [[nodiscard]] Function* find(const char* name) const noexcept {
    if (handle_ == nullptr) return nullptr;
    return reinterpret_cast<Function*>(dlsym(handle_, name));
  }

  /// True if the function is there and lies in the same object as malloc.
  template <typename Function>
  [[nodiscard]] bool is_beside_malloc(Function* function) const noexcept {
    return function != nullptr && object_of(address_of_function(function)).base == object.base;
  }

  const Object object;
  void* const block;

 private:
  void* handle_ = nullptr;
};

using Version = Text<64>;
using Ask = bool(const Witness&, Version&) noexcept;

bool is_drey_by(const Witness& witness, decltype(drey_version)* version, decltype(drey_owns)* owns,
                Version& text) noexcept {
  if (version == nullptr || owns == nullptr || !owns(witness.block)) return false;
  text.add(version());
  return true;
}

bool is_drey(const Witness& witness, Version& text) noexcept {
  return is_drey_by(witness, &drey_version, &drey_owns, text) ||
         is_drey_by(witness, witness.find<decltype(drey_version)>("drey_version"),
                    witness.find<decltype(drey_owns)>("drey_owns"), text);
}

/// mimalloc's one number: 209 is 2.0.9; from 10,000 on two digits a part.
void add_mimalloc_version(std::uint64_t number, Version& text) noexcept {
  const std::uint64_t base = number < 1000 ? 10 : 100;
  text.add(number / (base * base)).add(".").add(number / base % base).add(".").add(number % base);
}

bool is_mimalloc_by(const Witness& witness, decltype(mi_version)* version,
                    decltype(mi_is_in_heap_region)* owns, Version& text) noexcept {
  if (version == nullptr || owns == nullptr || !owns(witness.block)) return false;
  add_mimalloc_version(static_cast<std::uint64_t>(version()), text);
  return true;
}

bool is_mimalloc(const Witness& witness, Version& text) noexcept {
  return is_mimalloc_by(witness, &mi_version, &mi_is_in_heap_region, text) ||
         is_mimalloc_by(witness, witness.find<decltype(mi_version)>("mi_version"),
                        witness.find<decltype(mi_is_in_heap_region)>("mi_is_in_heap_region"), text);
}

bool is_jemalloc(const Witness& witness, Version& text) noexcept {
  auto* control = &mallctl;
  if (!witness.is_beside_malloc(control)) control = witness.find<decltype(mallctl)>("mallctl");
  if (!witness.is_beside_malloc(control)) return false;
  const char* version = nullptr;
  std::size_t bytes = sizeof version;
  if (control("version", &version, &bytes, nullptr, 0) != 0 || version == nullptr) return false;
  // "5.3.0-0-g54eaed1d...": the release is what comes before the first dash.
  for (; *version != '\0' && *version != '-'; ++version) {
    const char character[2] = {*version, '\0'};
    text.add(character);
  }
  return true;
}

bool is_tcmalloc(const Witness& witness, Version& text) noexcept {
  auto* version = &tc_version;
  if (!witness.is_beside_malloc(version))
    version = witness.find<decltype(tc_version)>("tc_version");
  if (!witness.is_beside_malloc(version)) return false;
  int major = 0;
  int minor = 0;
  const char* patch = "";
  version(&major, &minor, &patch);
  text.add(static_cast<std::uint64_t>(major)).add(".").add(static_cast<std::uint64_t>(minor));
  text.add(patch);
  return true;
}

bool is_glibc(const Witness& witness, Version& text) noexcept {
  // In a fully static program everything lies in one object: then a malloc of its own and libc's
  // look alike, and the one nobody else claimed is taken for libc's.
  if (!witness.is_beside_malloc(&gnu_get_libc_version)) return false;
  text.add(gnu_get_libc_version());
  return true;
}

const char* file_name(const char* path) noexcept {
  const char* const slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

/// True if LD_PRELOAD names `path`. The loader keeps the name as given, so the last parts are
/// equal.
bool is_preloaded(const char* path) noexcept {
  const char* list = std::getenv("LD_PRELOAD");
  if (list == nullptr) return false;
  const char* const wanted = file_name(path);
  while (*list != '\0') {
    const std::size_t length = std::strcspn(list, ": ");
    const char* start = list;
    for (const char* at = list; at != list + length; ++at) {
      if (*at == '/') start = at + 1;
    }
    const auto name_length = static_cast<std::size_t>(list + length - start);
    if (std::strlen(wanted) == name_length && std::strncmp(wanted, start, name_length) == 0) {
      return true;
    }
    list += length;
    list += std::strspn(list, ": ");
  }
  return false;
}

void describe_how(const Witness& witness, Text<512>& how) noexcept {
  if (&drey_counted_malloc != nullptr) how.add("counted, ");
  if (witness.object.base == program().base) {
    how.add("linked into the program");
  } else if (witness.is_beside_malloc(&gnu_get_libc_version)) {
    how.add("the C library");
  } else {
    how.add(is_preloaded(witness.object.path) ? "preloaded: " : "shared library: ");
    how.add(witness.object.path);
  }
}
}  // namespace

ActiveAllocator active_allocator() noexcept {
  struct Candidate {
    const char* name;
    Ask* ask;
  };
  constexpr Candidate kCandidates[] = {{"drey", is_drey},
                                       {"mimalloc", is_mimalloc},
                                       {"jemalloc", is_jemalloc},
                                       {"tcmalloc", is_tcmalloc},
                                       {"glibc", is_glibc}};
  const Witness witness;
  ActiveAllocator answer{"unknown", {}, {}};
  describe_how(witness, answer.how);
  for (const Candidate& candidate : kCandidates) {
    if (!candidate.ask(witness, answer.version)) continue;
    answer.name = candidate.name;
    break;
  }
  return answer;
}
}  // namespace drey
