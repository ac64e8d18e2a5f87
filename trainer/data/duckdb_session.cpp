// duckdb_session.cpp: see duckdb_session.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/data/duckdb_session.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
// Nothing from the network, no files beside the one that is read, no threads.
constexpr std::array<std::array<const char*, 2>, 4> kSettings = {
    {{"autoinstall_known_extensions", "false"},
     {"autoload_known_extensions", "false"},
     {"temp_directory", ""},
     {"threads", "1"}}};

std::string descriptor_path(int number) {
  return "/proc/self/fd/" + std::to_string(number);
}
}  // namespace

DuckdbSession::DuckdbSession(std::string path) : path_(std::move(path)), api_(duckdb_api(path_)) {
  require_file(path_);
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0)
    throw_data_error({path_}, "a readable file", std::generic_category().message(errno));
  try {
    open();
  } catch (...) {
    ::close(file_);
    throw;
  }
}

void DuckdbSession::open() {
  void* config = nullptr;
  bool is_set = api_.create_config(&config) == 0;
  for (const auto& [name, value] : kSettings)
    is_set = is_set && api_.set_config(config, name, value) == 0;
  char* error = nullptr;
  const bool is_open = is_set && api_.open_ext(nullptr, &database_, config, &error) == 0;
  api_.destroy_config(&config);
  const std::string reason = error != nullptr ? error : "DuckDB refuses a setting";
  if (error != nullptr) api_.free(error);
  if (is_open && api_.connect(database_, &connection_) == 0) return;
  api_.close(&database_);
  refuse(reason.c_str());
}

DuckdbSession::~DuckdbSession() {
  api_.disconnect(&connection_);
  api_.close(&database_);
  ::close(file_);
}

std::string DuckdbSession::table() const {
  // Texts that lack the mark of being text are taken as such: older writers leave it out.
  return "read_parquet('" + descriptor_path(file_) + "', binary_as_string = true)";
}

void DuckdbSession::refuse(const char* text) const {
  std::string reason = text != nullptr ? text : "an unknown fault";
  const std::string shown = descriptor_path(file_);
  for (const std::string& name : {" '" + shown + "'", " \"" + shown + "\"", " " + shown, shown}) {
    for (std::size_t at = reason.find(name); at != std::string::npos; at = reason.find(name))
      reason.erase(at, name.size());
  }
  throw_data_error({path_}, "a sound Parquet file", "damage (" + one_line(reason) + ")");
}

DuckdbRows::DuckdbRows(const DuckdbSession& session, const std::string& query) : session_(session) {
  const DuckdbApi& api = session_.api();
  if (api.query(session_.connection(), query.c_str(), &result_) == 0) return;
  const char* const error = api.result_error(&result_);
  const std::string text = error != nullptr ? error : "an unknown fault";
  api.destroy_result(&result_);
  session_.refuse(text.c_str());
}

DuckdbRows::~DuckdbRows() {
  drop_chunk();
  session_.api().destroy_result(&result_);
}

std::vector<std::string> DuckdbRows::column_names() {
  std::vector<std::string> names;
  const duckdb_idx count = session_.api().column_count(&result_);
  for (duckdb_idx i = 0; i < count; ++i)
    names.emplace_back(session_.api().column_name(&result_, i));
  return names;
}

std::vector<DuckdbType> DuckdbRows::column_types() {
  std::vector<DuckdbType> types;
  const duckdb_idx count = session_.api().column_count(&result_);
  for (duckdb_idx i = 0; i < count; ++i) types.push_back(session_.api().column_type(&result_, i));
  return types;
}

bool DuckdbRows::next() {
  const DuckdbApi& api = session_.api();
  drop_chunk();
  chunk_ = api.fetch_chunk(result_);
  if (chunk_ == nullptr) return false;
  size_ = static_cast<std::size_t>(api.data_chunk_get_size(chunk_));
  if (size_ == 0) return false;
  const duckdb_idx count = api.column_count(&result_);
  columns_.clear();
  for (duckdb_idx i = 0; i < count; ++i) {
    void* const vector = api.data_chunk_get_vector(chunk_, i);
    columns_.push_back({api.vector_get_data(vector), api.vector_get_validity(vector)});
  }
  return true;
}

std::string_view DuckdbRows::text(std::size_t column, std::size_t row) const noexcept {
  const auto& string = value<DuckdbString>(column, row);
  if (string.length <= sizeof(string.front) + sizeof(string.rest))
    return {string.front, string.length};
  return {string.pointer, string.length};
}

void DuckdbRows::drop_chunk() noexcept {
  if (chunk_ != nullptr) session_.api().destroy_data_chunk(&chunk_);
  chunk_ = nullptr;
  size_ = 0;
}
}  // namespace drey::trainer
