// fixed.cpp: nodes of one type, taken and given back by code that is inlined here.
//
// Build: g++ -std=c++20 -O2 fixed.cpp $(pkg-config --cflags --libs drey)
// SPDX-License-Identifier: MIT
#include <drey/alloc/fixed.hpp>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {
struct Node {
  Node* next;
  long value;
};

Node* push(Node* list, long value) {
  void* const place = drey::allocate_fixed<sizeof(Node)>();  // no call where it is a hit
  return place == nullptr ? list : new (place) Node{list, value};
}

long pop_all(Node* list) {
  long sum = 0;
  while (list != nullptr) {
    Node* const next = list->next;
    sum += list->value;
    drey::deallocate_fixed<sizeof(Node)>(list);
    list = next;
  }
  return sum;
}
}  // namespace

int main() {
  Node* list = nullptr;
  for (long value = 1; value <= 100'000; ++value) list = push(list, value);
  const long sum = pop_all(list);
  std::printf("100,000 nodes, sum %ld\n", sum);
  return sum == 5'000'050'000 ? EXIT_SUCCESS : EXIT_FAILURE;
}
