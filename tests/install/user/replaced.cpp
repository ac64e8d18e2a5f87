// replaced.cpp: drey is the process's malloc; how is decided by what this is linked with.
// Read next: CMakeLists.txt beside this file.
// SPDX-License-Identifier: MIT
#include "owns_block.hpp"

#include <string>
#include <vector>

int main() {
  const std::vector<std::string> words(1000, std::string(900, 'w'));
  return drey_owns(words.data()) && drey_owns(words[7].data()) ? check_owner(true) : 1;
}
