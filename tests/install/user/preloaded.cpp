// preloaded.cpp: knows nothing of drey when it is built; finds it when it was preloaded.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#include <cstdlib>

#include <dlfcn.h>

int main() {
  const auto owns = reinterpret_cast<bool (*)(const void*)>(dlsym(RTLD_DEFAULT, "drey_owns"));
  void* volatile block = std::malloc(900);
  const bool owned = owns != nullptr && owns(block);
  std::free(block);
  return owned ? 0 : 1;
}
