// main.cpp: an ordinary program. It links drey::override, so its malloc and its new are drey's, as
// are those of every library it uses, the C library's own included.
// SPDX-License-Identifier: MIT
#include <drey/alloc.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

int main() {
  const auto number = std::make_unique<int>(225);
  const std::string text(1000, 'x');
  char* const copy = strdup("allocated inside the C library");
  void* const block = std::malloc(900);

  const bool ours =
      drey_owns(number.get()) && drey_owns(text.data()) && drey_owns(copy) && drey_owns(block);
  std::printf("malloc, new and strdup are %s's\n", ours ? "drey" : "somebody else");
  std::free(block);
  std::free(copy);
  return ours ? EXIT_SUCCESS : EXIT_FAILURE;
}
