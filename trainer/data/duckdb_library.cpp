// duckdb_library.cpp: see duckdb_library.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/duckdb_library.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>

#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kName = "libduckdb.so";
constexpr const char* kPackage = "node_modules/@duckdb/node-bindings-linux-x64";

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool find_functions(void* library, DuckdbApi& api) {
  return find_function(library, "duckdb_create_config", api.create_config) &&
         find_function(library, "duckdb_set_config", api.set_config) &&
         find_function(library, "duckdb_destroy_config", api.destroy_config) &&
         find_function(library, "duckdb_open_ext", api.open_ext) &&
         find_function(library, "duckdb_close", api.close) &&
         find_function(library, "duckdb_connect", api.connect) &&
         find_function(library, "duckdb_disconnect", api.disconnect) &&
         find_function(library, "duckdb_query", api.query) &&
         find_function(library, "duckdb_destroy_result", api.destroy_result) &&
         find_function(library, "duckdb_result_error", api.result_error) &&
         find_function(library, "duckdb_column_count", api.column_count) &&
         find_function(library, "duckdb_column_name", api.column_name) &&
         find_function(library, "duckdb_column_type", api.column_type) &&
         find_function(library, "duckdb_fetch_chunk", api.fetch_chunk) &&
         find_function(library, "duckdb_destroy_data_chunk", api.destroy_data_chunk) &&
         find_function(library, "duckdb_data_chunk_get_size", api.data_chunk_get_size) &&
         find_function(library, "duckdb_data_chunk_get_vector", api.data_chunk_get_vector) &&
         find_function(library, "duckdb_vector_get_data", api.vector_get_data) &&
         find_function(library, "duckdb_vector_get_validity", api.vector_get_validity) &&
         find_function(library, "duckdb_free", api.free) &&
         find_function(library, "duckdb_library_version", api.library_version);
}

// What was wrong is left in `reason`.
std::optional<DuckdbApi> load(const std::string& path, std::string& reason) {
  void* const library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  DuckdbApi api{};
  if (library != nullptr && find_functions(library, api)) return api;
  const char* const text = ::dlerror();
  reason = text != nullptr ? text : "it lacks a function of DuckDB's C API";
  if (library != nullptr) ::dlclose(library);
  return std::nullopt;
}

std::optional<DuckdbApi> load_first(const std::string& path) {
  std::string reason;
  for (const std::string& candidate : duckdb_candidates()) {
    std::error_code error;
    const bool is_path = candidate.find('/') != std::string::npos;
    const bool is_chosen = std::getenv("DREY_DUCKDB_LIB") != nullptr;
    if (is_path && !is_chosen && !std::filesystem::exists(candidate, error)) continue;
    if (std::optional<DuckdbApi> api = load(candidate, reason)) return api;
    if (is_chosen)
      throw_data_error({path}, "DuckDB's library at DREY_DUCKDB_LIB", one_line(reason));
  }
  return std::nullopt;
}
}  // namespace

std::vector<std::string> duckdb_candidates() {
  if (const char* const chosen = std::getenv("DREY_DUCKDB_LIB")) return {chosen};
  std::vector<std::string> candidates;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const std::filesystem::path folder = program.parent_path();
    const std::filesystem::path prefix = folder.parent_path();
    const std::filesystem::path project = prefix.parent_path().parent_path();  // of build/NAME/bin
    candidates.push_back((prefix / "lib" / kName).string());
    candidates.push_back((project / "build/parquet" / kName).string());
    candidates.push_back((project / kPackage / kName).string());
  }
  candidates.emplace_back(kName);
  return candidates;
}

const DuckdbApi& duckdb_api(const std::string& path) {
  static std::mutex mutex;
  static std::optional<DuckdbApi> api;
  const std::lock_guard<std::mutex> lock(mutex);
  if (!api) api = load_first(path);
  if (!api)
    throw_data_error({path}, "DuckDB's library, which reads Parquet",
                     "none: scripts/get-parquet brings it, or DREY_DUCKDB_LIB names one");
  return *api;
}
}  // namespace drey::trainer
