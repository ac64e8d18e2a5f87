// nccl_library.cpp: see nccl_library.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/nccl_library.hpp"

#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kLibraryVariable = "DREY_NCCL_LIBRARY";
constexpr const char* kLibraryName = "libnccl.so.2";

[[noreturn]] void refuse(const std::string& expected, const std::string& found) {
  throw ConfigError("averaging by NCCL: expected " + expected + ", found " + found);
}

/// Closes the library unless it is kept.
class OpenLibrary {
 public:
  explicit OpenLibrary(const char* path) : handle_(::dlopen(path, RTLD_NOW | RTLD_LOCAL)) {}
  OpenLibrary(const OpenLibrary&) = delete;
  OpenLibrary& operator=(const OpenLibrary&) = delete;
  ~OpenLibrary() {
    if (handle_ != nullptr) ::dlclose(handle_);
  }
  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  void keep() { handle_ = nullptr; }

  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr) refuse(std::string("a library with ") + name, "one without it");
  }

 private:
  void* handle_;
};

/// Before 2.9 a version is major * 1000 + ..., from there on major * 10000 + ...
[[nodiscard]] int major_of(int version) {
  return version < 10000 ? version / 1000 : version / 10000;
}
}  // namespace

NcclApi load_nccl() {
  const char* const named = std::getenv(kLibraryVariable);
  OpenLibrary library(named != nullptr ? named : kLibraryName);
  if (!library.is_open()) {
    const char* const reason = ::dlerror();
    refuse(std::string(kLibraryName) + ", or its path in " + kLibraryVariable,
           std::string("none that opens: ") + (reason != nullptr ? reason : "no reason is given"));
  }
  NcclApi api{};
  library.find("ncclGetVersion", api.get_version);
  library.find("ncclGetErrorString", api.get_error_string);
  library.find("ncclGetUniqueId", api.get_unique_id);
  library.find("ncclCommInitRank", api.comm_init_rank);
  library.find("ncclAllReduce", api.all_reduce);
  library.find("ncclCommGetAsyncError", api.comm_get_async_error);
  library.find("ncclCommDestroy", api.comm_destroy);
  library.find("ncclCommAbort", api.comm_abort);
  int version = 0;
  const NcclResult result = api.get_version(&version);
  if (result != kNcclSuccess) {
    refuse("a version from ncclGetVersion", api.get_error_string(result));
  }
  if (major_of(version) != 2) refuse("version 2", "version number " + std::to_string(version));
  library.keep();
  return api;
}
}  // namespace drey::trainer
