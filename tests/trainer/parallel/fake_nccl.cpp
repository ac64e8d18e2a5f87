// fake_nccl.cpp: a library with NCCL's functions whose ranks are threads of one process. It checks what it
// is given, counts calls, fails where the test wants it, and adds in the order from the last rank to the
// first: NCCL promises none.
// Invariant: a sum begins when all ranks are there, and all have it before one goes on.
// Read next: fake_nccl.hpp. SPDX-License-Identifier: MIT
#include "trainer/parallel/fake_nccl.hpp"

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "trainer/parallel/nccl_library.hpp"

namespace drey::trainer {
namespace {
constexpr NcclResult kUnhandledCudaError = 1;
constexpr NcclResult kInvalidArgument = 4;

std::mutex mutex;
std::condition_variable changed;

/// The ranks that share an id.
struct Group {
  std::vector<float*> parts;  ///< of the sum that begins, by rank
  std::size_t arrived = 0;
  std::uint64_t sums = 0;
};
std::map<std::uint64_t, Group> groups;

test::FakeNccl& state() {
  static test::FakeNccl made;
  return made;
}

/// Requires: the lock.
NcclResult begin(const char* call) {
  ++state().calls[call];
  return state().failing == call ? state().result : kNcclSuccess;
}

void add_up(const Group& group, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    float sum = 0;
    for (std::size_t rank = group.parts.size(); rank-- > 0;) sum += group.parts[rank][index];
    for (float* const part : group.parts) part[index] = sum;
  }
}
}  // namespace

struct NcclComm {
  Group* group;
  std::size_t rank;
};
}  // namespace drey::trainer

using drey::trainer::begin;
using drey::trainer::NcclComm;
using drey::trainer::NcclResult;
using drey::trainer::NcclUniqueId;
using drey::trainer::state;
using Lock = std::unique_lock<std::mutex>;

extern "C" [[gnu::visibility("default")]] drey::test::FakeNccl* drey_fake_nccl() {
  return &state();
}

// NOLINTBEGIN(readability-identifier-naming): the names are NCCL's.
extern "C" [[gnu::visibility("default")]] NcclResult ncclGetVersion(int* version) {
  const Lock lock(drey::trainer::mutex);
  *version = state().version;
  return begin("ncclGetVersion");
}

extern "C" [[gnu::visibility("default")]] const char* ncclGetErrorString(NcclResult result) {
  return result == 6 ? "remote process exited" : "another error";
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclGetUniqueId(NcclUniqueId* id) {
  const Lock lock(drey::trainer::mutex);
  const NcclResult result = begin("ncclGetUniqueId");
  if (result != drey::trainer::kNcclSuccess) return result;
  const std::uint64_t number = drey::trainer::groups.size() + 1;
  std::memcpy(id->bytes, &number, sizeof(number));
  drey::trainer::groups[number];
  return result;
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclCommInitRank(NcclComm** comm,
                                                                      int rank_count,
                                                                      NcclUniqueId id, int rank) {
  const Lock lock(drey::trainer::mutex);
  const NcclResult result = begin("ncclCommInitRank");
  if (result != drey::trainer::kNcclSuccess) return result;
  std::uint64_t number = 0;
  std::memcpy(&number, id.bytes, sizeof(number));
  const auto group = drey::trainer::groups.find(number);
  if (group == drey::trainer::groups.end() || rank < 0 || rank >= rank_count) {
    return drey::trainer::kInvalidArgument;
  }
  group->second.parts.resize(static_cast<std::size_t>(rank_count));
  *comm = new NcclComm{&group->second, static_cast<std::size_t>(rank)};
  ++state().live;
  return result;
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclAllReduce(const void* send, void* receive,
                                                                   std::size_t count, int data_type,
                                                                   int operation, NcclComm* comm,
                                                                   drey::cuda::Stream stream) {
  Lock lock(drey::trainer::mutex);
  const NcclResult result = begin("ncclAllReduce");
  if (result != drey::trainer::kNcclSuccess) return result;
  const bool is_valid = comm != nullptr && stream != nullptr && send == receive && count != 0 &&
                        data_type == drey::trainer::kNcclFloat &&
                        operation == drey::trainer::kNcclSum;
  if (!is_valid) return drey::trainer::kInvalidArgument;
  if (state().submit(stream, receive, count * sizeof(float)) != drey::cuda::Result::kSuccess) {
    return drey::trainer::kUnhandledCudaError;
  }
  drey::trainer::Group& group = *comm->group;
  group.parts[comm->rank] = static_cast<float*>(receive);
  const std::uint64_t before = group.sums;
  if (++group.arrived == group.parts.size()) {
    drey::trainer::add_up(group, count);
    group.arrived = 0;
    ++group.sums;
    drey::trainer::changed.notify_all();
  }
  drey::trainer::changed.wait(lock, [&] { return group.sums != before; });
  return result;
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclCommGetAsyncError(NcclComm*,
                                                                           NcclResult* later) {
  const Lock lock(drey::trainer::mutex);
  *later = state().later_result;
  return begin("ncclCommGetAsyncError");
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclCommDestroy(NcclComm* comm) {
  const Lock lock(drey::trainer::mutex);
  delete comm;
  --state().live;
  return begin("ncclCommDestroy");
}

extern "C" [[gnu::visibility("default")]] NcclResult ncclCommAbort(NcclComm* comm) {
  const Lock lock(drey::trainer::mutex);
  delete comm;
  --state().live;
  return begin("ncclCommAbort");
}
// NOLINTEND(readability-identifier-naming)
