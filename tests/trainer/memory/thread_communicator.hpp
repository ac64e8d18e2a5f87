// thread_communicator.hpp: ranks that are threads of one process: what tests of several ranks run on.
// Every call copies through memory that all share, between two barriers.
// SPDX-License-Identifier: MIT
#pragma once

#include "trainer/parallel/communicator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace drey::test {
using trainer::Communicator;

/// What the ranks share.
class ThreadRanks {
 public:
  explicit ThreadRanks(std::size_t count)
      : barrier_(static_cast<std::ptrdiff_t>(count)), sent_(count), count_(count) {}

  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  friend class ThreadCommunicator;
  std::barrier<> barrier_;
  std::vector<std::span<const std::byte>> sent_;
  std::size_t count_;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(ThreadRanks& ranks, std::size_t rank) : ranks_(ranks), rank_(rank) {}

  [[nodiscard]] std::size_t rank() const override { return rank_; }
  [[nodiscard]] std::size_t size() const override { return ranks_.count_; }

  void exchange(std::span<const float> send, std::span<float> receive, std::size_t piece) override {
    share(std::as_bytes(send), [&] {
      for (std::size_t from = 0; from < size(); ++from) {
        std::memcpy(receive.data() + from * piece,
                    ranks_.sent_[from].data() + rank_ * piece * sizeof(float),
                    piece * sizeof(float));
      }
    });
  }
  void gather_all(std::span<const float> send, std::span<float> receive) override {
    share(std::as_bytes(send), [&] {
      for (std::size_t from = 0; from < size(); ++from) {
        std::memcpy(receive.data() + from * send.size(), ranks_.sent_[from].data(),
                    send.size_bytes());
      }
    });
  }
  void broadcast(std::span<std::byte> bytes, std::size_t root) override {
    share(bytes, [&] {
      if (rank_ == root) return;
      std::memcpy(bytes.data(), ranks_.sent_[root].data(), bytes.size());
    });
  }
  [[nodiscard]] bool all_agree(bool own) override {
    bool all = true;
    const auto byte = static_cast<std::byte>(own ? 1 : 0);
    share({&byte, 1}, [&] {
      for (const auto& sent : ranks_.sent_) all = all && sent[0] == static_cast<std::byte>(1);
    });
    return all;
  }
  void barrier() override { ranks_.barrier_.arrive_and_wait(); }
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  template <class Read>
  void share(std::span<const std::byte> own, Read read) {
    ranks_.sent_[rank_] = own;
    barrier();
    read();
    barrier();
  }

  ThreadRanks& ranks_;
  std::size_t rank_;
};

/// Runs body(communicator) on `count` ranks at once.
template <class Body>
void on_ranks(std::size_t count, Body body) {
  ThreadRanks ranks(count);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&ranks, &body, rank] {
      ThreadCommunicator communicator(ranks, rank);
      body(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
}  // namespace drey::test
