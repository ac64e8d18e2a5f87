// duckdb_library.hpp: the part of DuckDB's C API that reads Parquet files, from a library that is
// looked for when the first such file is read: a program that never reads one does not need it.
// Invariants: a library is loaded once a process and stays; it is loaded privately, as it brings
// 53,000 symbols of its own; it may not fetch anything from the network.
// Source: the declarations follow DuckDB's documented C API, equal from 1.4 to 1.5.
// Read next: parquet_reader.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace drey::trainer {
extern "C" {
using duckdb_idx = std::uint64_t;
/// A result as the caller holds it: passed by value to the call that fetches.
struct DuckdbResult {
  duckdb_idx unused[3];
  void* unused_columns;
  char* unused_error;
  void* rows;
};
}
static_assert(sizeof(DuckdbResult) == 48, "the size in DuckDB's C API");

/// Types of columns, by DuckDB's numbers; those that no bar has are left out.
enum class DuckdbType : int {
  kTinyInt = 2,
  kSmallInt = 3,
  kInteger = 4,
  kBigInt = 5,
  kUTinyInt = 6,
  kUSmallInt = 7,
  kUInteger = 8,
  kUBigInt = 9,
  kFloat = 10,
  kDouble = 11,
  kTimestamp = 12,
  kDate = 13,
  kTime = 14,
  kHugeInt = 16,
  kVarchar = 17,
  kDecimal = 19,
  kTimestampSeconds = 20,
  kTimestampMilliseconds = 21,
  kTimestampNanoseconds = 22,
  kEnum = 23,
  kTimestampZone = 31,
};

/// A text in a vector: up to 12 bytes beside its length, longer ones elsewhere.
struct DuckdbString {
  std::uint32_t length;
  char front[4];
  union {
    char rest[8];
    const char* pointer;
  };
};
static_assert(sizeof(DuckdbString) == 16, "the size in DuckDB's C API");

/// The functions that are used. 0 is success where an int is returned.
struct DuckdbApi {
  int (*create_config)(void** config);
  int (*set_config)(void* config, const char* name, const char* value);
  void (*destroy_config)(void** config);
  int (*open_ext)(const char* path, void** database, void* config, char** error);
  void (*close)(void** database);
  int (*connect)(void* database, void** connection);
  void (*disconnect)(void** connection);
  int (*query)(void* connection, const char* text, DuckdbResult* result);
  void (*destroy_result)(DuckdbResult* result);
  const char* (*result_error)(DuckdbResult* result);
  duckdb_idx (*column_count)(DuckdbResult* result);
  const char* (*column_name)(DuckdbResult* result, duckdb_idx column);
  DuckdbType (*column_type)(DuckdbResult* result, duckdb_idx column);
  void* (*fetch_chunk)(DuckdbResult result);
  void (*destroy_data_chunk)(void** chunk);
  duckdb_idx (*data_chunk_get_size)(void* chunk);
  void* (*data_chunk_get_vector)(void* chunk, duckdb_idx column);
  void* (*vector_get_data)(void* vector);
  std::uint64_t* (*vector_get_validity)(void* vector);
  void (*free)(void* memory);
  const char* (*library_version)();
};

/// Where the library is looked for, in this order: $DREY_DUCKDB_LIB alone if it is set; else the
/// lib folder beside the program's own; where scripts/get-parquet puts it in the project that the
/// program was built in; node_modules of that project; then the system's own search path.
[[nodiscard]] std::vector<std::string> duckdb_candidates();

/// The functions, from the first candidate that loads. Threads: any.
/// Fails: DataError about `path`, the file that was to be read, when none does: names the command
/// that brings the library, or what is wrong with $DREY_DUCKDB_LIB.
[[nodiscard]] const DuckdbApi& duckdb_api(const std::string& path);
}  // namespace drey::trainer
