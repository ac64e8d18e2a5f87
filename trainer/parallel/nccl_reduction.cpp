// nccl_reduction.cpp: see nccl_reduction.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/nccl_reduction.hpp"

#include <drey/base/assert.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace drey::trainer {
namespace {
/// What rank 0 tells the others.
struct Invitation {
  NcclResult result = kNcclSuccess;
  NcclUniqueId id{};
};

class NcclOnDevice final : public Reduction {
 public:
  NcclOnDevice(int device, Communicator& communicator, std::size_t value_count)
      : communicator_(communicator),
        library_(load_nccl()),
        session_(device),
        reduction_(library_, session_, value_count) {}

  void average(std::span<float> values) override {
    if (!reduction_.is_connected()) reduction_.connect(communicator_);
    reduction_.average(values);
  }
  [[nodiscard]] std::size_t bytes() const override { return reduction_.bytes(); }

 private:
  Communicator& communicator_;
  NcclApi library_;
  DriverSession session_;
  NcclReduction reduction_;
};
}  // namespace

MakeReduction make_nccl_reduction(int device) {
  return [device](Communicator& communicator, std::size_t value_count) {
    return std::make_unique<NcclOnDevice>(device, communicator, value_count);
  };
}

NcclReduction::Memory::Memory(DriverSession& session, std::size_t bytes)
    : session_(session), device_(session.take(bytes)), staging_(nullptr) {
  try {
    staging_ = session.take_staging(bytes);
  } catch (...) {
    session.give(device_);
    throw;
  }
}

NcclReduction::Memory::~Memory() {
  session_.give_staging(staging_);
  session_.give(device_);
}

NcclReduction::NcclReduction(const NcclApi& library, DriverSession& session,
                             std::size_t value_count)
    : library_(library),
      session_(session),
      value_count_(value_count),
      memory_(session, value_count * sizeof(float)) {}

NcclReduction::~NcclReduction() {
  if (comm_ == nullptr) return;
  // average() has waited for the last sum, so there is nothing that this could wait for.
  static_cast<void>(library_.comm_destroy(comm_));
}

void NcclReduction::check(const char* call, NcclResult result) const {
  if (result == kNcclSuccess) return;
  throw DeviceError(std::string("averaging by NCCL: ") + call + ": " +
                    library_.get_error_string(result));
}

void NcclReduction::connect(Communicator& communicator) {
  DREY_ASSERT(comm_ == nullptr);
  Invitation invitation;
  if (communicator.rank() == 0) invitation.result = library_.get_unique_id(&invitation.id);
  communicator.broadcast(std::as_writable_bytes(std::span(&invitation, 1)), 0);
  check("ncclGetUniqueId", invitation.result);
  NcclComm* comm = nullptr;
  check("ncclCommInitRank",
        library_.comm_init_rank(&comm, static_cast<int>(communicator.size()), invitation.id,
                                static_cast<int>(communicator.rank())));
  comm_ = comm;
  share_ = 1.0f / static_cast<float>(communicator.size());
}

void NcclReduction::sum() {
  const std::size_t bytes = value_count_ * sizeof(float);
  session_.copy(memory_.device(), memory_.staging(), bytes);
  check("ncclAllReduce", library_.all_reduce(memory_.device(), memory_.device(), value_count_,
                                             kNcclFloat, kNcclSum, comm_, session_.stream()));
  session_.copy(memory_.staging(), memory_.device(), bytes);
  session_.wait();
  NcclResult later = kNcclSuccess;
  check("ncclCommGetAsyncError", library_.comm_get_async_error(comm_, &later));
  check("ncclAllReduce", later);
}

void NcclReduction::average(std::span<float> values) {
  DREY_ASSERT(is_connected() && values.size() == value_count_);
  std::copy(values.begin(), values.end(), memory_.staging());
  try {
    sum();
  } catch (...) {
    abort();
    throw;
  }
  std::transform(memory_.staging(), memory_.staging() + value_count_, values.begin(),
                 [this](float sum) { return sum * share_; });
}

void NcclReduction::abort() noexcept {
  // Its failure cannot be mended: the job is about to end.
  static_cast<void>(library_.comm_abort(std::exchange(comm_, nullptr)));
}
}  // namespace drey::trainer
