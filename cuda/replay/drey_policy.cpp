// drey_policy.cpp: not a model: drey's device allocator itself, on the simulated device of that capacity,
// or, to time it, on a driver that does nothing.
//
// The simulator's schedule is the eager one, as for the models: work is complete when somebody asks.
// Read next: policy.hpp.
// SPDX-License-Identifier: MIT
#include "replay/policies.hpp"

#include <drey/base/assert.hpp>
#include <drey/cuda/device_allocator.hpp>
#include <drey/cuda/null_driver.hpp>
#include <drey/cuda/sim/simulator.hpp>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace drey::cuda::replay {
namespace {
constexpr std::uint64_t kPage = std::uint64_t{2} << 20;
constexpr std::uint64_t kMemoryMax = std::uint64_t{1} << 38;
constexpr std::size_t kAlignment = 512;

void must(Result result) {
  DREY_CHECK(result == Result::kSuccess, "the driver under a replay failed");
}
void must(Outcome outcome) {
  DREY_CHECK(outcome.is_ok(), "the allocator under a replay refused");
}

class DreyPolicy : public Policy {
 public:
  DreyPolicy(const DriverTable& driver, sim::Simulator* simulator, const AllocatorConfig& config)
      : driver_(driver), simulator_(simulator) {
    must(driver_.init(0));
    must(driver_.device_primary_ctx_retain(&context_, 0));
    must(driver_.ctx_set_current(context_));
    must(allocator_.open(driver_, config));
  }
  ~DreyPolicy() override {
    must(allocator_.close());
    must(driver_.ctx_set_current(nullptr));
    must(driver_.device_primary_ctx_release(0));
  }

  bool allocate(std::uint32_t block, std::uint64_t bytes, std::uint32_t stream) override {
    Stream handle = stream_of(stream);
    const Allocation allocation = allocator_.try_allocate(bytes, kAlignment, handle);
    if (allocation.outcome.status == Status::kOutOfMemory ||
        allocation.outcome.status == Status::kInvalidSize)
      return false;
    must(allocation.outcome);
    blocks_[block] = allocation.pointer;
    return true;
  }
  void deallocate(std::uint32_t block, std::uint32_t stream) override {
    must(allocator_.try_deallocate(blocks_.at(block), stream_of(stream)));
    blocks_.erase(block);
  }
  void deallocate(std::uint32_t block) override {
    must(allocator_.try_deallocate(blocks_.at(block)));
    blocks_.erase(block);
  }
  void record_stream(std::uint32_t block, std::uint32_t stream) override {
    must(allocator_.record_stream(blocks_.at(block), stream_of(stream)));
  }
  void record_use(std::uint32_t block, std::uint32_t stream) override {
    must(allocator_.record_use(blocks_.at(block), stream_of(stream)));
  }
  void wait(std::uint32_t waiter, std::uint32_t waited) override {
    Event event = nullptr;
    StreamMark mark;
    must(driver_.event_create(&event, kEventDisableTiming));
    must(allocator_.mark(stream_of(waited), &mark));
    must(driver_.event_record(event, stream_of(waited)));
    must(driver_.stream_wait_event(stream_of(waiter), event, 0));
    must(allocator_.note_wait(stream_of(waiter), mark));
    must(driver_.event_destroy(event));
    own_calls_ += 4;
  }
  void synchronize(std::uint32_t stream) override {
    must(driver_.stream_synchronize(stream_of(stream)));
    ++own_calls_;
  }
  [[nodiscard]] PolicyCounts counts() const override {
    const Statistics statistics = allocator_.statistics();
    PolicyCounts counts;
    counts.reserved_bytes = statistics.reserved_bytes.current;
    counts.peak_reserved_bytes = statistics.reserved_bytes.peak;
    counts.page_moves = statistics.pages_moved;
    counts.moved_bytes = statistics.pages_moved * kPage;
    counts.events = statistics.events_recorded;
    counts.waits = statistics.waits_inserted;
    if (simulator_ != nullptr) counts.driver_calls = simulator_->faults().calls() - own_calls_;
    return counts;
  }
  [[nodiscard]] DeviceAllocator* allocator() override { return &allocator_; }

 private:
  Stream stream_of(std::uint32_t stream) {
    while (streams_.size() <= stream) {
      Stream handle = nullptr;
      must(driver_.stream_create_with_priority(&handle, kStreamNonBlocking, 0));
      streams_.push_back(handle);
      ++own_calls_;
    }
    return streams_[stream];
  }

  const DriverTable& driver_;
  sim::Simulator* simulator_;
  Context context_ = nullptr;
  DeviceAllocator allocator_;
  std::vector<Stream> streams_;
  std::unordered_map<std::uint32_t, void*> blocks_;
  std::uint64_t own_calls_ = 3;
};

// The simulator goes last.
class SimulatedDreyPolicy : private sim::Simulator, public DreyPolicy {
 public:
  SimulatedDreyPolicy(const sim::Config& device, const AllocatorConfig& config)
      : sim::Simulator(device), DreyPolicy(sim::Simulator::driver(), this, config) {}
};
std::unique_ptr<Policy> make_simulated(std::uint64_t capacity, const AllocatorConfig& config) {
  sim::Config device;
  device.memory_bytes = std::min(capacity, kMemoryMax) / kPage * kPage;
  device.schedule = sim::Schedule::kEager;
  return std::make_unique<SimulatedDreyPolicy>(device, config);
}

AllocatorConfig with_single_pages() {
  AllocatorConfig config;
  config.pages_of_large = 1;
  return config;
}
}  // namespace

std::unique_ptr<Policy> make_drey_policy(std::uint64_t capacity) {
  return make_simulated(capacity, {});
}

std::unique_ptr<Policy> make_drey_policy_on(const DriverTable& driver, std::uint64_t capacity) {
  AllocatorConfig config;
  config.limits.hard = capacity;
  return std::make_unique<DreyPolicy>(driver, nullptr, config);
}

std::unique_ptr<Policy> make_timed_drey_policy(std::uint64_t /*capacity*/) {
  return std::make_unique<DreyPolicy>(null_driver(), nullptr, AllocatorConfig{});
}

std::unique_ptr<Policy> make_drey_pages_policy(std::uint64_t capacity) {
  return make_simulated(capacity, with_single_pages());
}

std::unique_ptr<Policy> make_timed_drey_pages_policy(std::uint64_t /*capacity*/) {
  return std::make_unique<DreyPolicy>(null_driver(), nullptr, with_single_pages());
}
}  // namespace drey::cuda::replay
