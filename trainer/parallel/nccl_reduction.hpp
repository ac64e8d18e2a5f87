// nccl_reduction.hpp: the mean over all ranks of an array, summed by NCCL in device memory: what
// MeanReduction does over MPI. Ranks, votes, barriers and the end of a job stay with the Communicator; it
// also carries NCCL's unique id to the others.
// Invariants: (1) what can fail on one rank alone, library, driver, device, memory, is had before the first
// collective call, so that ranks can vote in between; (2) after a failure the connection is aborted, never
// waited for; (3) destroyed, it leaves nothing behind.
// NCCL chooses the order of the sums: all ranks have the same bits, but another number of ranks, or another
// way to connect them, gives other ones. MeanReduction's order is that of the ranks.
// Read next: nccl_library.hpp, reduction.hpp, device/driver_session.hpp. SPDX-License-Identifier: MIT
#pragma once

#include "trainer/device/driver_session.hpp"
#include "trainer/parallel/communicator.hpp"
#include "trainer/parallel/nccl_library.hpp"
#include "trainer/parallel/reduction.hpp"

#include <cstddef>
#include <span>

namespace drey::trainer {
/// Threads: one at a time, that which made `session`, whose context is current there.
class NcclReduction final : public Reduction {
 public:
  /// For arrays of `value_count` values; not collective. `session` outlives this. Fails: DeviceError.
  NcclReduction(const NcclApi& library, DriverSession& session, std::size_t value_count);
  ~NcclReduction() override;

  /// Collective: finds the other ranks; once. Fails: DeviceError naming the call. Without an id all
  /// ranks do; one that fails later than that has to end the job, as others may wait for it.
  void connect(Communicator& communicator);

  /// values[i] = (sum over the ranks of their values[i]) / ranks. Collective.
  /// Requires: connected; as many values as at construction. Fails: DeviceError naming the call; the
  /// values are as before, and the connection is gone: the job has to end.
  void average(std::span<float> values) override;
  /// Pinned.
  [[nodiscard]] std::size_t bytes() const override { return value_count_ * sizeof(float); }

  [[nodiscard]] bool is_connected() const { return comm_ != nullptr; }

 private:
  /// Device memory and pinned memory of as many bytes.
  class Memory {
   public:
    Memory(DriverSession& session, std::size_t bytes);
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory();
    [[nodiscard]] float* device() const { return static_cast<float*>(device_); }
    [[nodiscard]] float* staging() const { return static_cast<float*>(staging_); }

   private:
    DriverSession& session_;
    void* device_;
    void* staging_;
  };

  void check(const char* call, NcclResult result) const;
  void sum();
  void abort() noexcept;

  NcclApi library_;
  DriverSession& session_;
  std::size_t value_count_;
  Memory memory_;
  NcclComm* comm_ = nullptr;
  float share_ = 1.0f;  ///< 1 / ranks
};

/// Makes reductions that own what they need: the library that DREY_NCCL_LIBRARY names or libnccl.so.2, and a
/// session on device number `device`. They find the other ranks at their first average().
/// Fails, when one is made: ConfigError without the library, DeviceError without the device or memory.
[[nodiscard]] MakeReduction make_nccl_reduction(int device);
}  // namespace drey::trainer
