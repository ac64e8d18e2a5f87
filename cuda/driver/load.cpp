// load.cpp: see driver_table.hpp. Only cuGetProcAddress is looked up by name; it hands out the rest
// in the version asked for, as the names in the library alone would not say.
// SPDX-License-Identifier: MIT
#include <drey/cuda/driver_table.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <dlfcn.h>

namespace drey::cuda {
namespace {
// Since 12.0, and as 11.3 had it.
using FindFunction = Result (*)(const char* name, void** function, int version, std::uint64_t flags,
                                int* found);
using OldFindFunction = Result (*)(const char* name, void** function, int version,
                                   std::uint64_t flags);

class Finder {
 public:
  explicit Finder(void* library) noexcept
      : find_(reinterpret_cast<FindFunction>(::dlsym(library, "cuGetProcAddress_v2"))),
        old_find_(reinterpret_cast<OldFindFunction>(::dlsym(library, "cuGetProcAddress"))) {}

  [[nodiscard]] bool is_usable() const noexcept { return find_ != nullptr || old_find_ != nullptr; }

  [[nodiscard]] void* find(const EntryPoint& entry) const noexcept {
    void* function = nullptr;
    int found = 0;
    const Result result = find_ != nullptr ? find_(entry.name, &function, entry.version, 0, &found)
                                           : old_find_(entry.name, &function, entry.version, 0);
    return result == Result::kSuccess ? function : nullptr;
  }

 private:
  FindFunction find_;
  OldFindFunction old_find_;
};

void set_function(DriverTable& table, const EntryPoint& entry, void* function) noexcept {
  std::memcpy(reinterpret_cast<char*>(&table) + entry.offset, &function, sizeof(function));
}

LoadedDriver no_driver(const char* what, const char* detail, const char* library) noexcept {
  LoadedDriver nothing;
  nothing.reason.add("no CUDA driver: ").add(what).add(detail).add(library);
  return nothing;
}
}  // namespace

LoadedDriver load_driver(const char* library) noexcept {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return no_driver("cannot load ", "", library);
  const Finder finder(handle);
  if (!finder.is_usable()) {
    ::dlclose(handle);
    return no_driver("no cuGetProcAddress", " in ", library);
  }
  // From here on the library stays: it may have started threads.
  LoadedDriver loaded;
  for (const EntryPoint& entry : entry_points()) {
    void* const function = finder.find(entry);
    if (function == nullptr && entry.is_required)
      return no_driver(entry.name, " is missing in ", library);
    set_function(loaded.table, entry, function);
  }
  if (loaded.table.driver_get_version(&loaded.version) != Result::kSuccess)
    return no_driver("no version told by ", "", library);
  return loaded;
}

LoadedDriver load_driver() noexcept {
  const char* const chosen = std::getenv("DREY_CUDA_LIBRARY");
  return load_driver(chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1");
}

const char* name_of(const DriverTable& table, Result result) noexcept {
  const char* name = nullptr;
  if (table.get_error_name == nullptr || table.get_error_name(result, &name) != Result::kSuccess ||
      name == nullptr)
    return "error";
  return name;
}
}  // namespace drey::cuda
