// duckdb_session.hpp: one DuckDB in memory, asked about one file; what it holds ends with it.
// Invariants: DuckDB sees the file by its open descriptor, so no character of its name (quotes,
// wildcards, a scheme such as s3:) means anything; nothing is installed or loaded from elsewhere.
// Read next: parquet_reader.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/duckdb_library.hpp"

namespace drey::trainer {
/// Threads: one at a time; DuckDB starts none of its own.
class DuckdbSession {
 public:
  /// Fails: DataError when `path` is missing, a directory or unreadable, or there is no library.
  explicit DuckdbSession(std::string path);
  ~DuckdbSession();
  DuckdbSession(const DuckdbSession&) = delete;
  DuckdbSession& operator=(const DuckdbSession&) = delete;

  [[nodiscard]] const DuckdbApi& api() const noexcept { return api_; }
  [[nodiscard]] void* connection() const noexcept { return connection_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// What stands for the file in a query.
  [[nodiscard]] std::string table() const;

  /// Fails: always, with a DataError of what DuckDB says about the file.
  [[noreturn]] void refuse(const char* text) const;

 private:
  void open();

  std::string path_;
  const DuckdbApi& api_;
  int file_ = -1;
  void* database_ = nullptr;
  void* connection_ = nullptr;
};

/// A query's result. Fails, when made: DataError of what DuckDB says.
class DuckdbRows {
 public:
  DuckdbRows(const DuckdbSession& session, const std::string& query);
  ~DuckdbRows();
  DuckdbRows(const DuckdbRows&) = delete;
  DuckdbRows& operator=(const DuckdbRows&) = delete;

  [[nodiscard]] std::vector<std::string> column_names();
  [[nodiscard]] std::vector<DuckdbType> column_types();

  /// Takes the next rows, at most 2,048. False at the end. The ones before are gone.
  [[nodiscard]] bool next();
  /// How many rows were taken.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// False: NULL.
  [[nodiscard]] bool is_valid(std::size_t column, std::size_t row) const noexcept {
    const std::uint64_t* const mask = columns_[column].validity;
    return mask == nullptr || ((mask[row / 64] >> (row % 64)) & 1) != 0;
  }
  /// Requires: `T` is the column's type in memory, and the value is valid.
  template <class T>
  [[nodiscard]] const T& value(std::size_t column, std::size_t row) const noexcept {
    return static_cast<const T*>(columns_[column].data)[row];
  }
  [[nodiscard]] std::string_view text(std::size_t column, std::size_t row) const noexcept;

 private:
  struct Column {
    const void* data;
    const std::uint64_t* validity;
  };
  void drop_chunk() noexcept;

  const DuckdbSession& session_;
  DuckdbResult result_{};
  void* chunk_ = nullptr;
  std::size_t size_ = 0;
  std::vector<Column> columns_;
};
}  // namespace drey::trainer
