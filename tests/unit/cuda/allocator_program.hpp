// allocator_program.hpp: a program that uses a device allocator in every way at random and keeps the contract:
// streams of all kinds that come and go, blocks used on several streams, all forms of free, waits of its own,
// trims, sleeps, misuse. The simulated device knows the true order and finds every hazard.
//
// Invariants: one seed, one program. After each failure for want of memory it is checked that there was none.
// Read next: allocator_random_test.cpp, allocator_mutants_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/seed.hpp"
#include "unit/cuda/allocator_fixture.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace drey::cuda {
struct ProgramOptions {
  std::uint64_t seed = 1;
  sim::Schedule schedule = sim::Schedule::kNever;
  AllocatorConfig config;
  std::uint64_t device_pages = 48;
  std::size_t blocks = 64;
  std::size_t bytes_max = 12 * kMiB;
  bool sleeps = true;
};

class AllocatorProgram {
 public:
  explicit AllocatorProgram(const ProgramOptions& options, const DriverTable* table = nullptr)
      : options_(options), device(device_config(options)), random_(options.seed) {
    const Outcome opened =
        allocator.open(table != nullptr ? *table : device.driver, options.config);
    EXPECT_TRUE(opened.is_ok()) << text_of(opened.status);
    streams_ = {nullptr, legacy_stream(), per_thread_stream()};
    for (const unsigned flags : {0U, 1U, 1U, 1U, 1U, 1U}) streams_.push_back(new_stream(flags));
    blocks_.resize(options.blocks);
    event_ = device.new_event();
  }
  ~AllocatorProgram() { static_cast<void>(allocator.close()); }
  AllocatorProgram(const AllocatorProgram&) = delete;
  AllocatorProgram& operator=(const AllocatorProgram&) = delete;

  void step() {
    const std::size_t kind = random_.below(1000);
    Block& block = blocks_[random_.below(blocks_.size())];
    ++steps_;
    if (kind < 8) {
      replace_stream();
    } else if (kind < 40) {
      wait_of_the_program();
    } else if (kind < 44) {
      trim();
    } else if (kind < 46 && options_.sleeps) {
      sleep_and_wake();
    } else if (kind < 56) {
      misuse(block);
    } else if (block.pointer == nullptr) {
      allocate(block);
    } else if (kind < 450) {
      use(block);
    } else {
      free(block);
    }
    if (steps_ % 1024 == 0 && !allocator.invariants_hold()) broken_ = "invariants do not hold";
  }

  /// Empty as long as nothing is wrong.
  [[nodiscard]] std::string trouble() const {
    const std::string report = device.simulator.report();
    return report.empty() ? broken_ : report;
  }
  [[nodiscard]] std::uint64_t out_of_memory() const { return out_of_memory_; }

 private:
  struct Block {
    void* pointer = nullptr;
    std::size_t bytes = 0;
    Stream stream = nullptr;
    bool is_orphan = false;  // its stream was destroyed: no more uses
  };

  static sim::Config device_config(const ProgramOptions& options) {
    sim::Config config = allocator_device(options.device_pages, options.schedule);
    config.seed = options.seed;
    return config;
  }
  static DevicePointer number_of(const void* pointer) {
    return reinterpret_cast<DevicePointer>(pointer);
  }
  Stream new_stream(unsigned flags) const { return device.new_stream(flags); }
  Stream any_stream() { return streams_[random_.below(streams_.size())]; }
  void demand(const Outcome& outcome, const char* what) {
    if (!outcome.is_ok()) broken_ = std::string(what) + ": " + text_of(outcome.status);
  }

  std::size_t any_size() {
    const std::size_t kind = random_.below(10);
    if (kind < 5) return 1 + random_.below(16 * kKiB);
    if (kind < 8) return 1 + random_.below(kMiB);
    return 1 + random_.below(options_.bytes_max);
  }

  void allocate(Block& block) {
    block.bytes = any_size();
    block.stream = any_stream();
    block.is_orphan = false;
    const std::size_t alignment =
        random_.below(20) == 0 ? std::size_t{1} << random_.below(22) : 256;
    const Allocation made = allocator.try_allocate(block.bytes, alignment, block.stream, &report_);
    block.pointer = made.pointer;
    if (made.outcome.status == Status::kOutOfMemory) {
      ++out_of_memory_;
      if (options_.config.pages_of_large == 1 && alignment <= 512) check_that_it_was_full(block);
      return;
    }
    if (!made.outcome.is_ok()) return demand(made.outcome, "allocate");
    device.simulator.block_allocated(number_of(made.pointer), block.bytes, block.stream);
    launch(block.stream, block);
  }

  // The limit, less the pages that live blocks lie on, is less than the request.
  void check_that_it_was_full(const Block& block) {
    std::set<std::uint64_t> pages;
    allocator.visit_blocks(
        [](void* context, const BlockView& view) noexcept {
          if (view.kind != BlockKind::kLive) return;
          const DevicePointer first = number_of(view.pointer);
          for (DevicePointer at = first / kPageBytes; at <= (first + view.bytes - 1) / kPageBytes;
               ++at)
            static_cast<std::set<std::uint64_t>*>(context)->insert(at);
        },
        &pages);
    std::uint64_t limit = options_.device_pages;
    if (options_.config.limits.hard != 0)
      limit = std::min(limit, options_.config.limits.hard / kPageBytes);
    const std::uint64_t needed = (block.bytes + kPageBytes - 1) / kPageBytes;
    if (limit >= pages.size() + needed)
      broken_ = "false out of memory: " + std::to_string(block.bytes) + " bytes, " +
                std::to_string(pages.size()) + " pages of " + std::to_string(limit) +
                " are live\n" + text_of_report();
  }

  std::string text_of_report() const {
    char text[2000];
    static_cast<void>(text_of(report_, text, sizeof(text)));
    return text;
  }

  void launch(Stream stream, const Block& block) {
    device.launch(stream, number_of(block.pointer), block.bytes, "use");
  }

  void order(Stream waited, Stream waiter) {
    device.record(event_, waited);
    device.wait(waiter, event_);
  }

  void use(Block& block) {
    if (block.is_orphan) return;
    if (random_.below(3) != 0) return launch(block.stream, block);
    Stream other = any_stream();
    order(block.stream, other);
    launch(other, block);
    const bool is_precise = random_.below(2) == 0;
    device.simulator.block_used(number_of(block.pointer), other, is_precise);
    demand(is_precise ? allocator.record_use(block.pointer, other)
                      : allocator.record_stream(block.pointer, other),
           "record");
    if (!is_precise) launch(other, block);
  }

  void free(Block& block) {
    const DevicePointer number = number_of(block.pointer);
    const std::size_t form = random_.below(4);
    if (form == 0 && !block.is_orphan) {
      Stream other = any_stream();
      order(block.stream, other);
      device.simulator.block_freed(number, other);
      demand(allocator.try_deallocate(block.pointer, other), "free in another stream");
    } else if (form == 1 && !block.is_orphan) {
      device.simulator.block_freed(number);
      demand(allocator.try_deallocate(block.pointer, block.bytes, 256, block.stream), "sized free");
    } else {
      device.simulator.block_freed(number);
      demand(allocator.try_deallocate(block.pointer), "free");
    }
    last_freed_ = block.pointer;
    block.pointer = nullptr;
  }

  void replace_stream() {
    const std::size_t slot = 3 + random_.below(streams_.size() - 3);
    const bool asks = options_.config.asks_stream_ids;
    if (!asks || random_.below(2) == 0) demand(allocator.stream_retired(streams_[slot]), "retire");
    sim::SimulatedDevice::expect(device.driver.stream_destroy(streams_[slot]));
    for (Block& block : blocks_)
      block.is_orphan = block.is_orphan || block.stream == streams_[slot];
    streams_[slot] = new_stream(random_.below(2) == 0 ? 0 : kStreamNonBlocking);
  }

  void wait_of_the_program() {
    Stream waited = any_stream();
    Stream waiter = any_stream();
    StreamMark mark;
    demand(allocator.mark(waited, &mark), "mark");
    order(waited, waiter);
    demand(allocator.note_wait(waiter, mark), "note_wait");
  }

  void trim() {
    const std::uint64_t bytes = random_.below(options_.device_pages) * kPageBytes;
    demand(random_.below(4) == 0 ? allocator.trim_older_than(random_.below(3))
                                 : allocator.trim_to(bytes),
           "trim");
  }

  void sleep_and_wake() {
    if (!device.simulator.hazards().empty()) return;
    demand(allocator.sleep(), "sleep");
    // That live blocks lose their memory is what sleep is for; the simulator says so.
    bool is_all = true;
    for (const sim::Hazard& hazard : device.simulator.hazards())
      is_all = is_all && hazard.kind == sim::HazardKind::kUnmapLive;
    if (is_all) device.simulator.forget_hazards();
    if (allocator.try_allocate(1000, 256, nullptr).outcome.status != Status::kAsleep)
      broken_ = "memory was handed out asleep";
    for (Block& block : blocks_) {
      if (block.pointer == nullptr || random_.below(8) != 0) continue;
      demand(allocator.try_deallocate(block.pointer), "free asleep");
      block.pointer = nullptr;
    }
    demand(allocator.wake(), "wake");
    // To the simulator a block without memory is none any more.
    for (const Block& block : blocks_) {
      if (block.pointer != nullptr)
        device.simulator.block_allocated(number_of(block.pointer), block.bytes, block.stream);
    }
  }

  void misuse(const Block& block) {
    const bool is_live = std::any_of(blocks_.begin(), blocks_.end(), [&](const Block& other) {
      return other.pointer == last_freed_;
    });
    if (last_freed_ != nullptr && !is_live && allocator.try_deallocate(last_freed_).is_ok())
      broken_ = "a double free was taken";
    if (block.pointer == nullptr) return;
    if (allocator.try_deallocate(static_cast<char*>(block.pointer) + 8).is_ok())
      broken_ = "an interior pointer was taken";
    if (allocator.try_deallocate(block.pointer, block.bytes + 1, 256, nullptr).status !=
        Status::kWrongSize)
      broken_ = "a wrong size was taken";
  }

  ProgramOptions options_;

 public:
  sim::SimulatedDevice device;
  DeviceAllocator allocator;

 private:
  test::Random random_;
  std::vector<Block> blocks_;
  std::vector<Stream> streams_;
  Event event_ = nullptr;
  void* last_freed_ = nullptr;
  std::uint64_t steps_ = 0;
  std::uint64_t out_of_memory_ = 0;
  OomReport report_;
  std::string broken_;
};
}  // namespace drey::cuda
