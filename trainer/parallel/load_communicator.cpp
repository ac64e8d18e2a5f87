// load_communicator.cpp: see load_communicator.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/load_communicator.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include <dlfcn.h>

#include "trainer/data/error.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kLibraryVariable = "DREY_MPI_LIBRARY";
constexpr const char* kLibraryName = "libdrey_mpi.so";

std::vector<std::string> places() {
  if (const char* const named = std::getenv(kLibraryVariable)) return {named};
  std::vector<std::string> found;
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    found.push_back((program.parent_path() / kLibraryName).string());
    found.push_back((program.parent_path().parent_path() / "lib" / kLibraryName).string());
  }
  found.emplace_back(kLibraryName);
  return found;
}

/// The first that opens. Fails: ConfigError with what the loader said of the last that is there.
void* open_library() {
  std::string complaint;
  for (const std::string& place : places()) {
    // Global: OpenMPI's own plug-ins look up its symbols.
    if (void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    complaint = dlerror();
    std::error_code error;
    if (std::filesystem::exists(place, error)) break;  // it is there, but something is wrong
  }
  throw ConfigError(
      "several ranks: expected " + std::string(kLibraryName) +
      ", which is built where MPI is installed (apt: libopenmpi-dev), or its path in " +
      kLibraryVariable + ", found none that opens: " + complaint);
}
/// The first of these variables that is a whole number; 0 if none is.
std::size_t number_in(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    std::size_t number = 0;
    const char* const end = text + std::strlen(text);
    const auto result = std::from_chars(text, end, number);
    if (result.ec == std::errc{} && result.ptr == end) return number;
  }
  return 0;
}
}  // namespace

std::size_t launched_rank_count() {
  const std::size_t count = number_in({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  return count == 0 ? 1 : count;
}

std::size_t launched_rank() {
  return number_in({"OMPI_COMM_WORLD_RANK", "PMI_RANK"});
}

std::unique_ptr<Communicator> load_communicator() {
  void* const library = open_library();
  using Make = Communicator* (*)(std::uint32_t);
  const auto make = reinterpret_cast<Make>(dlsym(library, "drey_make_communicator"));
  Communicator* const made = make != nullptr ? make(kCommunicatorVersion) : nullptr;
  if (made == nullptr) {
    throw ConfigError("several ranks: expected a " + std::string(kLibraryName) +
                      " built with this program, found another version");
  }
  return std::unique_ptr<Communicator>(made);
}
}  // namespace drey::trainer
