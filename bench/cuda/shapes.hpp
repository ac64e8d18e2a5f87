// shapes.hpp: allocators of others as the benchmark drives them: a block is asked for by size and stream,
// and given back by address.
//
// PytorchShape and RmmShape are models of structure: the locks, tables, searches, statistics and driver
// calls that each design pays for on its way, without the rest. They say what a design costs, not what
// a product does.
// Threads: any, for every shape: that is part of what is measured.
// Read next: pytorch_shape.cpp, rmm_shape.cpp, cub_shape.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>

#include <cstddef>
#include <memory>

namespace drey::bench {
class AllocatorShape {
 public:
  AllocatorShape() = default;
  virtual ~AllocatorShape() = default;
  AllocatorShape(const AllocatorShape&) = delete;
  AllocatorShape& operator=(const AllocatorShape&) = delete;

  /// Never null: the driver that does nothing has memory without end.
  virtual void* allocate(std::size_t bytes, cuda::Stream stream) = 0;
  virtual void deallocate(void* block, std::size_t bytes, cuda::Stream stream) = 0;
};

[[nodiscard]] std::unique_ptr<AllocatorShape> make_drey_shape();
[[nodiscard]] std::unique_ptr<AllocatorShape> make_pytorch_shape();
[[nodiscard]] std::unique_ptr<AllocatorShape> make_rmm_shape();
/// The toolkit's, as it is. Null where there is no toolkit.
[[nodiscard]] std::unique_ptr<AllocatorShape> make_cub_shape();
}  // namespace drey::bench
