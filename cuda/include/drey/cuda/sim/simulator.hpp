// simulator.hpp: a CUDA driver without a GPU, made to be as unhelpful as the contract allows. Work
// completes only when somebody waits for it; handles of destroyed objects are used again at once;
// every call can be made to fail; every use of memory is checked against every order there is.
//
// Invariants: one simulator a process at a time. What its driver hands out are numbers: device
// memory has addresses and no contents. Nothing runs by itself: two runs of the same calls in the
// same order give the same results and the same hazards.
// Read next: hazard.hpp, faults.hpp; cuda/README.md for an example.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/driver_table.hpp>
#include <drey/cuda/sim/faults.hpp>
#include <drey/cuda/sim/hazard.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace drey::cuda::sim {
class Machine;

/// When a query finds that work is complete. Waiting always completes it.
enum class Schedule {
  kNever,   ///< never, unless somebody waited for it: the strongest adversary
  kEager,   ///< always
  kRandom,  ///< by chance, from the seed
  kAsk,     ///< as Config::ask says: see explore()
};

/// What orders the host's threads among each other.
enum class HostOrder {
  kByCall,   ///< one thread's call is ordered before another thread's next call
  kBySignal  ///< only signal() and await() order threads: finds orders that nothing guarantees
};

/// Where new addresses are.
enum class Placement {
  kLowest,     ///< in the lowest hole that fits: addresses come back as soon as they can
  kScattered,  ///< in the lowest hole, yet never beside another range: nothing grows in place
  kRandom      ///< anywhere, from the seed
};

struct Config {
  int device_count = 1;
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;         ///< a device
  std::uint64_t address_space_bytes = std::uint64_t{1} << 42;  ///< for all devices
  std::uint64_t granularity_bytes = std::uint64_t{2} << 20;
  bool has_virtual_memory = true;
  bool has_file_descriptors = false;  ///< physical memory can be exported, if created for it
  bool has_contents =
      false;  ///< device addresses are real: the test may read and write them. Needs
              ///< address_space_bytes of free addresses in the process
  Placement placement = Placement::kLowest;
  int driver_version = 13000;
  Schedule schedule = Schedule::kNever;
  HostOrder host_order = HostOrder::kByCall;
  std::uint64_t seed = 1;
  std::function<bool()> ask = {};  ///< for kAsk: is the work that is asked about complete by now?
};

/// Bytes that a piece of work reads or writes.
struct Access {
  DevicePointer base = 0;
  std::size_t bytes = 0;
  bool is_write = true;
};

/// What exists. Equal before and after whatever has to leave nothing behind.
struct Counts {
  std::size_t streams = 0;  ///< created ones
  std::size_t events = 0;
  std::size_t graphs = 0;
  std::size_t graph_execs = 0;
  std::size_t captures = 0;
  std::size_t reservations = 0;
  std::size_t handles = 0;  ///< of physical memory, held or mapped
  std::size_t mappings = 0;
  std::size_t allocations = 0;  ///< by cuMemAlloc, and pieces that pools hold
  std::size_t pools = 0;        ///< created ones
  std::size_t modules = 0;
  std::size_t host_allocations = 0;
  std::uint64_t physical_bytes = 0;  ///< by cuMemCreate and cuMemAlloc
  std::uint64_t host_bytes = 0;
  bool operator==(const Counts&) const = default;
};

/// The device, its driver and its checker.
/// Threads: any, where nothing else is said; one lock inside.
class Simulator {
 public:
  /// Requires: no other simulator in the process.
  explicit Simulator(const Config& config = {});
  ~Simulator();
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  /// The driver's calls. Valid as long as the program runs; without a simulator they answer
  /// kDeinitialized.
  [[nodiscard]] static const DriverTable& driver() noexcept;

  /// A kernel: what it reads and writes is all there is to it. Counts as the call "cuLaunchKernel".
  /// Returns: as the driver. Hazards are reported, not returned.
  Result launch(Stream stream, const std::vector<Access>& accesses, const char* label);
  /// The host uses memory that was allocated or registered for it.
  void host_access(const void* base, std::size_t bytes, const char* label);

  /// Work in the stream completes, without anybody learning of it: a query says so from now on.
  void complete(Stream stream);

  /// The blocks an allocator hands out: tell the simulator after each allocation and before each
  /// free. Without these calls there is no check of reuse.
  /// `pool`: not 0: graphs captured with blocks of the pool may use each other's, in an order.
  void block_allocated(DevicePointer block, std::size_t bytes, Stream stream,
                       std::uint64_t pool = 0);
  /// The user promises that all uses are ordered before the present end of `stream`, or were told by block_used().
  void block_freed(DevicePointer block, Stream stream);
  /// The user promises that all uses are in the stream it was allocated for, or were told by
  /// block_used().
  void block_freed(DevicePointer block);
  /// `record_use` if precise (all uses in the stream so far), `record_stream` if not (all until
  /// the free).
  void block_used(DevicePointer block, Stream stream, bool is_precise);

  /// For HostOrder::kBySignal: what came before signal(key) is ordered before what comes after
  /// await(key).
  void signal(const void* key);
  void await(const void* key);

  /// Memory that other processes take; may grow beyond what is free, as theirs may.
  void set_other_processes(Device device, std::uint64_t bytes);

  /// Threads: at quiet points.
  [[nodiscard]] Faults& faults() noexcept;
  [[nodiscard]] const std::vector<Hazard>& hazards() const noexcept;
  void forget_hazards() noexcept;
  /// One line a hazard; empty if there is none.
  [[nodiscard]] std::string report() const;
  [[nodiscard]] Counts counts() const;
  /// Pieces of work that are not complete.
  [[nodiscard]] std::size_t pending() const;

 private:
  std::unique_ptr<Machine> machine_;
};

/// What explore() saw.
struct Explored {
  std::uint64_t runs = 0;
  bool is_complete = false;  ///< false: there are more than runs_max
};

/// Runs the scenario once for every way in which its queries can be answered: work is complete or
/// not, at each query. Nothing else of the device's speed can be seen from outside, so these are
/// all interleavings, each once. Each run has a simulator of its own.
/// Requires: a scenario of one thread, deterministic but for the queries' answers.
Explored explore(const Config& config, const std::function<void(Simulator&)>& scenario,
                 std::uint64_t runs_max);
}  // namespace drey::cuda::sim
