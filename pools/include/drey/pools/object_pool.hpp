// object_pool.hpp: objects of one type, constructed and destroyed in place, memory kept.
//
// A pool for one thread: an acquire is a load of the free list and the constructor. For vectors that
// threads share there is VectorPool.
// Invariants: those of BlockPool; a block is taken exactly while an object lives in it.
// Read next: block_pool.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/pools/block_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

namespace drey {
template <typename T>
class ObjectPool;

/// What a pool does at its end with objects that are still alive.
enum class LeftoverObjects : std::uint8_t {
  kReport,   ///< their number to standard error, then abort: somebody still holds them
  kDestroy,  ///< their destructors run, in the order of their places; nobody may hold them then
};

/// Owns one object of a pool, or none; destroys it when it ends. Threads: as the pool.
template <typename T>
class [[nodiscard]] PooledObject {
 public:
  PooledObject() noexcept = default;
  PooledObject(PooledObject&& other) noexcept : object_(other.detach()), pool_(other.pool_) {}
  PooledObject& operator=(PooledObject&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = other.detach();
      pool_ = other.pool_;
    }
    return *this;
  }
  PooledObject(const PooledObject&) = delete;
  PooledObject& operator=(const PooledObject&) = delete;
  ~PooledObject() { reset(); }

  /// Destroys the object now. Nothing happens if there is none.
  void reset() noexcept {
    if (T* const object = detach(); object != nullptr) pool_->destroy(object);
  }

  /// Leaves the object to the caller, who ends it with ObjectPool::destroy().
  [[nodiscard]] T* detach() noexcept { return std::exchange(object_, nullptr); }

  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }
  [[nodiscard]] T* get() const noexcept { return object_; }
  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  [[nodiscard]] T* operator->() const noexcept { return object_; }

 private:
  friend ObjectPool<T>;
  PooledObject(T* object, ObjectPool<T>& pool) noexcept : object_(object), pool_(&pool) {}

  T* object_ = nullptr;
  ObjectPool<T>* pool_ = nullptr;  // means nothing while object_ is null
};

/// Threads: one at a time, for everything, handles included.
template <typename T>
class ObjectPool {
 public:
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && std::is_nothrow_destructible_v<T>);

  /// Units: objects at most. Fails: as BlockPool: capacity() is 0, and construct() gives null.
  explicit ObjectPool(std::size_t capacity, PoolGrowth growth = PoolGrowth::kFixed,
                      LeftoverObjects leftovers = LeftoverObjects::kReport) noexcept
      : blocks_(sizeof(T), alignof(T), capacity, growth, "object pool"), leftovers_(leftovers) {}

  /// Ends what is left as `leftovers` says.
  ~ObjectPool() {
    if (leftovers_ == LeftoverObjects::kDestroy) clear();
  }
  ObjectPool(const ObjectPool&) = delete;
  ObjectPool& operator=(const ObjectPool&) = delete;

  /// A new object. Fails: null if the pool is exhausted; counted. What T's constructor throws comes
  /// through, and the place is free again.
  template <typename... Arguments>
  [[nodiscard, gnu::always_inline]] T* construct(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    void* const place = blocks_.take_of(sizeof(T));
    if (place == nullptr) return nullptr;
    if constexpr (std::is_nothrow_constructible_v<T, Arguments...>) {
      return ::new (place) T(std::forward<Arguments>(arguments)...);
    } else {
      PlaceGuard guard{blocks_, place};
      T* const object = ::new (place) T(std::forward<Arguments>(arguments)...);
      guard.place = nullptr;
      return object;
    }
  }

  /// The same with an owner. Fails: an empty handle.
  template <typename... Arguments>
  [[nodiscard]] PooledObject<T> make(Arguments&&... arguments) noexcept(
      std::is_nothrow_constructible_v<T, Arguments...>) {
    T* const object = construct(std::forward<Arguments>(arguments)...);
    return object == nullptr ? PooledObject<T>() : PooledObject<T>(object, *this);
  }

  /// Ends an object of this pool; null does nothing.
  /// Fails: a pointer that is no object of this pool, or one destroyed already, is reported before
  /// any destructor runs, and the process aborts.
  [[gnu::always_inline]] void destroy(T* object) noexcept {
    if (object == nullptr) return;
    const std::uint32_t index = blocks_.checked_index(object, sizeof(T));
    object->~T();
    blocks_.release(index, object);
  }

  /// Ends all objects. Requires: no handle to one. Cost: linear in the objects ever alive at once.
  void clear() noexcept {
    for (std::uint32_t index = 0; index < blocks_.carved_; ++index) {
      if (!blocks_.is_taken(index)) continue;
      auto* const object = static_cast<T*>(blocks_.block_at(index, sizeof(T)));
      object->~T();
      blocks_.release(index, object);
    }
  }

  /// True for an object that lives in this pool.
  [[nodiscard]] bool owns(const T* object) const noexcept {
    const std::uint32_t index = blocks_.index_of(object, sizeof(T));
    return index < blocks_.carved_ && blocks_.is_taken(index);
  }

  [[nodiscard]] std::size_t capacity() const noexcept { return blocks_.capacity(); }  ///< objects
  [[nodiscard]] std::size_t live() const noexcept { return blocks_.taken(); }         ///< objects
  [[nodiscard]] BlockPoolStatistics statistics() const noexcept { return blocks_.statistics(); }
  [[nodiscard]] bool invariants_hold() const noexcept { return blocks_.invariants_hold(); }

 private:
  /// Gives a place back whose constructor has thrown.
  struct PlaceGuard {
    BlockPool& blocks;
    void* place;
    ~PlaceGuard() { blocks.give_back(place); }
  };

  BlockPool blocks_;
  const LeftoverObjects leftovers_;
};
}  // namespace drey
