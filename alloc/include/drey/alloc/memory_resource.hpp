// memory_resource.hpp: drey for std::pmr containers: the process's heap, or one of the program's.
//
// Contract: as std::pmr::memory_resource: std::bad_alloc where memory runs out; two are equal where
// memory of one may be given back through the other.
// Read next: heap.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/heap.hpp>
#include <drey/alloc/std_allocator.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>

namespace drey {
namespace detail {
/// `resource` as a Resource, or null. Without run-time type information only the address tells, so
/// equal resources may be called different there, never the reverse.
#if defined(__cpp_rtti)
template <typename Resource>
[[nodiscard]] const Resource* as_resource(const std::pmr::memory_resource& resource,
                                          const Resource& /*self*/) noexcept {
  return dynamic_cast<const Resource*>(&resource);
}
#else
template <typename Resource>
[[nodiscard]] const Resource* as_resource(const std::pmr::memory_resource& resource,
                                          const Resource& self) noexcept {
  return &resource == &self ? &self : nullptr;
}
#endif

/// Blocks of drey_malloc.
class ProcessResource final : public std::pmr::memory_resource {
 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    return allocate_or_throw(bytes, alignment);
  }
  void do_deallocate(void* pointer, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    drey_free(pointer);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return as_resource(other, *this) != nullptr;
  }
};
}  // namespace detail

/// The resource whose blocks are drey_malloc's. Never ends; every copy in a process is equal.
/// Threads: any, at any time.
[[nodiscard]] inline std::pmr::memory_resource* memory_resource() noexcept {
  alignas(detail::ProcessResource) static std::byte place[sizeof(detail::ProcessResource)];
  static auto* const resource =
      new (place) detail::ProcessResource;  // no destructor: it is for ever
  return resource;
}

/// Blocks of a heap. Equal to another of the same heap. Threads: as the heap: one at a time, for
/// deallocation too. Requires: the heap lives as long as what was taken through this is used; the
/// heap may free everything at once, and containers that are never used again need not be destroyed.
class HeapResource final : public std::pmr::memory_resource {
 public:
  /// Requires: not an empty heap.
  explicit HeapResource(Heap& heap) noexcept : heap_(heap.native_handle()) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    void* const block = alignment > alignof(std::max_align_t)
                            ? drey_heap_aligned_alloc(heap_, alignment, bytes)
                            : drey_heap_malloc(heap_, bytes);
    if (block == nullptr) detail::throw_bad_alloc();
    return block;
  }
  void do_deallocate(void* pointer, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    drey_heap_free(heap_, pointer);
  }
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const HeapResource* const same_kind = detail::as_resource(other, *this);
    return same_kind != nullptr && same_kind->heap_ == heap_;
  }

  drey_heap_t* heap_;
};
}  // namespace drey
