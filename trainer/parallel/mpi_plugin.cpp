// mpi_plugin.cpp: libdrey_mpi.so: the Communicator over MPI. The only file that knows MPI.
// Invariant: MPI's default error handler stays: a call that fails ends all ranks with a message, so no
// rank waits for one that is gone. Read next: communicator.hpp, load_communicator.cpp.
// SPDX-License-Identifier: MIT
#include "trainer/parallel/communicator.hpp"

#include <mpi.h>

#include <cstdlib>

namespace drey::trainer {
namespace {
int count_of(std::size_t value) {
  return static_cast<int>(value);
}

class MpiCommunicator final : public Communicator {
 public:
  MpiCommunicator() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiCommunicator() override { MPI_Finalize(); }

  [[nodiscard]] std::size_t rank() const override { return static_cast<std::size_t>(rank_); }
  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(size_); }

  void exchange(std::span<const float> send, std::span<float> receive, std::size_t piece) override {
    MPI_Alltoall(send.data(), count_of(piece), MPI_FLOAT, receive.data(), count_of(piece),
                 MPI_FLOAT, MPI_COMM_WORLD);
  }
  void gather_all(std::span<const float> send, std::span<float> receive) override {
    MPI_Allgather(send.data(), count_of(send.size()), MPI_FLOAT, receive.data(),
                  count_of(send.size()), MPI_FLOAT, MPI_COMM_WORLD);
  }
  void broadcast(std::span<std::byte> bytes, std::size_t root) override {
    MPI_Bcast(bytes.data(), count_of(bytes.size()), MPI_BYTE, count_of(root), MPI_COMM_WORLD);
  }
  [[nodiscard]] bool all_agree(bool own) override {
    int mine = own ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all == 1;
  }
  void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
  [[noreturn]] void abort(int exit_status) override {
    MPI_Abort(MPI_COMM_WORLD, exit_status);
    std::_Exit(exit_status);  // MPI's does not return, but does not say so
  }

 private:
  int rank_ = 0;
  int size_ = 1;
};
}  // namespace
}  // namespace drey::trainer

extern "C" [[gnu::visibility("default")]] drey::trainer::Communicator* drey_make_communicator(
    std::uint32_t version) {
  if (version != drey::trainer::kCommunicatorVersion) return nullptr;
  return new drey::trainer::MpiCommunicator();
}
