// checkpoint_folder.hpp: the folder of --checkpoint-dir: last.safetensors and best.safetensors.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace drey::trainer {
[[nodiscard]] std::string last_checkpoint(const std::string& folder);
[[nodiscard]] std::string best_checkpoint(const std::string& folder);

/// Makes the folder where it is missing; takes it away again, at its end, if nothing was put in.
class CheckpointFolder {
 public:
  /// An empty name is no folder. Fails: SystemError when it cannot be made, is no folder, or no
  /// file can be made in it.
  explicit CheckpointFolder(const std::string& folder);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

 private:
  std::string made_;  ///< empty when it was there before
};
}  // namespace drey::trainer
