// checkpoint_folder.cpp: see checkpoint_folder.hpp. Source: mkdir(2), rmdir(2).
// SPDX-License-Identifier: MIT
#include "trainer/program/checkpoint_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "trainer/data/error.hpp"
#include "trainer/files/output_file.hpp"

namespace drey::trainer {
std::string last_checkpoint(const std::string& folder) {
  return folder + "/last.safetensors";
}

std::string best_checkpoint(const std::string& folder) {
  return folder + "/best.safetensors";
}

CheckpointFolder::CheckpointFolder(const std::string& folder) {
  if (folder.empty()) return;
  struct stat status {};
  if (::stat(folder.c_str(), &status) == 0) {
    if (!S_ISDIR(status.st_mode)) throw SystemError(folder + ": expected a folder, found a file");
  } else if (::mkdir(folder.c_str(), 0777) == 0) {
    made_ = folder;
  } else {
    throw SystemError(folder + ": cannot make the folder: " + std::strerror(errno));
  }
  check_writable(last_checkpoint(folder));
  check_writable(best_checkpoint(folder));
}

CheckpointFolder::~CheckpointFolder() {
  if (!made_.empty()) ::rmdir(made_.c_str());  // fails, as it should, when something is in it
}
}  // namespace drey::trainer
