// devices.cpp: see devices.hpp.
// SPDX-License-Identifier: MIT
#include "adapters/devices.hpp"

#include <drey/cuda/allocator_error.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

namespace drey::cuda::adapters {
namespace {
constexpr std::size_t kAlignment = DeviceAllocator::kGranuleBytes;

// Never destroyed: frameworks free tensors while the process ends.
constinit Mutex opening;
constinit std::atomic<AdaptedDevice*> devices[DeviceAllocator::kAllocatorsMax] = {};

// The three handles that mean another stream in each context.
bool depends_on_context(Stream stream) noexcept {
  return stream == nullptr || stream == legacy_stream() || stream == per_thread_stream();
}

std::string line_of(Outcome outcome, const DriverTable& driver) {
  std::string line = text_of(outcome.status);
  if (outcome.driver != Result::kSuccess)
    line += std::string(" (") + name_of(driver, outcome.driver) + ")";
  return line;
}

int count_of_devices(const DriverTable& driver) {
  int count = 0;
  const Result result = driver.device_get_count(&count);
  if (result == Result::kSuccess) return count;
  throw std::runtime_error(std::string("drey: the driver does not count its devices: ") +
                           name_of(driver, result));
}
}  // namespace

AdaptedDevice::AdaptedDevice(const DriverTable& driver, int ordinal)
    : driver_(driver), ordinal_(ordinal) {
  AllocatorConfig config;
  config.device = ordinal;
  const std::string name = "drey: device " + std::to_string(ordinal) + ": ";
  const Outcome opened = allocator_.open(driver, config);
  if (!opened.is_ok()) throw std::runtime_error(name + line_of(opened, driver));
  // The allocator has retained it, so this only counts.
  const Result retained = driver.device_primary_ctx_retain(&context_, ordinal);
  if (retained == Result::kSuccess) return;
  static_cast<void>(allocator_.close());
  throw std::runtime_error(name + name_of(driver, retained));
}

CaptureStatus AdaptedDevice::capture_status(Stream stream) const noexcept {
  const bool needs_context = depends_on_context(stream);
  if (needs_context && driver_.ctx_push_current(context_) != Result::kSuccess)
    return CaptureStatus::kNone;
  CaptureStatus status = CaptureStatus::kNone;
  const Result asked = driver_.stream_is_capturing(stream, &status);
  Context popped = nullptr;
  if (needs_context) static_cast<void>(driver_.ctx_pop_current(&popped));
  // The legacy stream would be drawn into the capture of another one.
  if (asked == Result::kCaptureImplicit) return CaptureStatus::kActive;
  return asked == Result::kSuccess ? status : CaptureStatus::kNone;
}

void* AdaptedDevice::allocate(std::size_t bytes, Stream stream) {
  if (bytes == 0) return nullptr;
  const CaptureStatus status = capture_status(stream);
  const PoolId pool = pool_for(stream, status);
  if (pool.value != 0) return allocator_.allocate_in(pool, bytes, kAlignment, stream);
  if (status != CaptureStatus::kNone)
    throw std::runtime_error(
        "drey: the stream captures a graph, and no pool was begun for it; allocate before the "
        "capture begins");
  free_kept();
  return allocator_.allocate(bytes, kAlignment, stream);
}

void AdaptedDevice::deallocate(void* pointer, const std::size_t* bytes, Stream stream) {
  if (pointer == nullptr || keep(pointer, stream)) return;
  free_kept();
  try {
    if (bytes != nullptr) {
      allocator_.deallocate(pointer, *bytes, kAlignment, stream);
    } else {
      allocator_.deallocate(pointer, stream);
    }
  } catch (const DriverError& error) {
    if (error.outcome().driver != Result::kDeinitialized) throw;
  }
}

// Whether the free has to wait for the end of a capture. A block that waits already is freed twice.
bool AdaptedDevice::keep(void* pointer, Stream stream) {
  const CaptureStatus status = capture_status(stream);
  const bool is_served = pool_for(stream, status).value != 0;
  const bool is_late = status != CaptureStatus::kNone && !is_served;
  // Relaxed: a pointer that this thread may not free is no reason to see another thread's count.
  if (!is_late && kept_count_.load(std::memory_order_relaxed) == 0) return false;
  const MutexHolder holder(lock_);
  const bool is_kept = std::any_of(kept_.begin(), kept_.end(),
                                   [pointer](const Kept& kept) { return kept.pointer == pointer; });
  if (is_kept) throw MisuseError({Status::kDoubleFree}, pointer);
  if (!is_late) return false;
  kept_.reserve(kept_.size() + 1);
  // Of a live block nothing more than that it is used there until its free; else it says what is wrong.
  const Outcome live = allocator_.record_stream(pointer, stream);
  if (!live.is_ok()) throw MisuseError(live, pointer);
  kept_.push_back({pointer, stream});
  // Relaxed: as above.
  kept_count_.store(kept_.size(), std::memory_order_relaxed);
  return true;
}

void AdaptedDevice::free_kept() noexcept {
  // Relaxed: who misses a count frees them later.
  if (kept_count_.load(std::memory_order_relaxed) == 0) return;
  const MutexHolder holder(lock_);
  std::erase_if(kept_, [this](const Kept& kept) {
    if (is_capturing(kept.stream)) return false;
    return allocator_.try_deallocate(kept.pointer, kept.stream).is_ok() ||
           allocator_.try_deallocate(kept.pointer).is_ok();
  });
  // Relaxed: as in keep().
  kept_count_.store(kept_.size(), std::memory_order_relaxed);
}

// The pool of the last route that wants the stream; its capture becomes known. The filters run without the lock.
PoolId AdaptedDevice::pool_for(Stream stream, CaptureStatus status) {
  // Relaxed: who begins a pool for this thread's streams has told it so.
  if (route_count_.load(std::memory_order_relaxed) == 0) return {};
  end_dead_routes();
  std::vector<Route> routes;
  {
    const MutexHolder holder(lock_);
    routes = routes_;
  }
  for (auto route = routes.rbegin(); route != routes.rend(); ++route) {
    const bool is_broken = status == CaptureStatus::kInvalidated && route->is_bound;
    if (!is_broken && !route->filter(stream)) continue;
    if (status == CaptureStatus::kNone) return route->id;
    if (!is_broken && !allocator_.bind_capture(route->capture, stream).is_ok()) continue;
    const MutexHolder holder(lock_);
    for (Route& known : routes_) {
      if (!(known.capture == route->capture)) continue;
      if (!known.is_bound) known.stream = stream;
      known.is_bound = true;
      known.is_broken = known.is_broken || is_broken;
    }
    return route->id;
  }
  return {};
}

void AdaptedDevice::begin_pool(const PoolKey& key, PoolFilter filter) {
  end_dead_routes();
  const MutexHolder holder(lock_);
  routes_.reserve(routes_.size() + 1);
  pools_.reserve(pools_.size() + 1);
  auto known = std::find_if(pools_.begin(), pools_.end(),
                            [&](const KnownPool& pool) { return pool.key == key; });
  PoolId id;
  const Outcome had =
      known == pools_.end() ? allocator_.create_pool(&id) : allocator_.retain_pool(id = known->id);
  if (!had.is_ok()) throw UnusableError(had);
  CaptureId capture;
  const Outcome begun = allocator_.begin_capture(id, &capture);
  if (!begun.is_ok()) {
    static_cast<void>(allocator_.release_pool(id));
    throw DriverError(begun);
  }
  if (known == pools_.end()) known = pools_.insert(pools_.end(), {key, id, 0});
  ++known->uses;
  routes_.push_back({key, id, capture, std::move(filter), nullptr, false, false});
  // Relaxed: as in pool_for().
  route_count_.store(routes_.size(), std::memory_order_relaxed);
}

// With a graph its use goes to PyTorch's, which was counted when the pool was begun.
void AdaptedDevice::end(const Route& route, bool is_kept) noexcept {
  const bool has_graph = is_kept && route.is_bound;
  if (allocator_.end_capture(route.capture, has_graph).is_ok() && has_graph)
    static_cast<void>(allocator_.release_pool(route.id));
}

// PyTorch does not say that a capture failed. Of one that was seen to be broken nothing is kept; of
// another that is over there may be a graph.
void AdaptedDevice::end_dead_routes() noexcept {
  const MutexHolder holder(lock_);
  std::erase_if(routes_, [this](const Route& route) {
    if (!route.is_bound || is_capturing(route.stream)) return false;
    end(route, !route.is_broken);
    if (route.is_broken) drop_use(route.key);
    return true;
  });
  route_count_.store(routes_.size(), std::memory_order_relaxed);  // relaxed: as in pool_for()
}

void AdaptedDevice::end_pool(const PoolKey& key) {
  const MutexHolder holder(lock_);
  const auto route = std::find_if(routes_.rbegin(), routes_.rend(),
                                  [&](const Route& each) { return each.key == key; });
  if (route == routes_.rend()) return;
  end(*route, !route->is_broken);
  if (route->is_broken) drop_use(key);
  routes_.erase(std::next(route).base());
  route_count_.store(routes_.size(), std::memory_order_relaxed);  // relaxed: as in pool_for()
}

// Under the lock.
void AdaptedDevice::drop_use(const PoolKey& key) noexcept {
  const auto known = std::find_if(pools_.begin(), pools_.end(),
                                  [&](const KnownPool& pool) { return pool.key == key; });
  if (known == pools_.end()) return;
  static_cast<void>(allocator_.release_pool(known->id));
  if (--known->uses == 0) pools_.erase(known);
}

void AdaptedDevice::release_pool(const PoolKey& key) {
  const MutexHolder holder(lock_);
  drop_use(key);
}

void AdaptedDevice::set_fraction(double fraction) {
  if (!(fraction >= 0 && fraction <= 1))
    throw std::runtime_error("drey: a fraction of memory is from 0 to 1, not " +
                             std::to_string(fraction));
  std::size_t total = 0;
  const Result result = driver_.device_total_mem(&total, ordinal_);
  if (result != Result::kSuccess) throw DriverError({Status::kDriver, result});
  Limits limits = allocator_.limits();
  // 0 would be no limit.
  limits.hard =
      std::max<std::uint64_t>(static_cast<std::uint64_t>(fraction * static_cast<double>(total)), 1);
  limits.soft = std::min(limits.soft, limits.hard);
  const Outcome set = allocator_.set_limits(limits);
  if (!set.is_ok()) throw UnusableError(set);
  // What is idle beyond it goes now; what is not is no mistake of the caller's.
  static_cast<void>(allocator_.trim_to(limits.hard));
}

Outcome AdaptedDevice::trim() noexcept {
  free_kept();
  return allocator_.trim_to(0);
}

const DriverTable& driver_of_process() {
  static const LoadedDriver driver = load_driver();
  if (driver.reason.length() != 0)
    throw std::runtime_error(std::string("drey: ") + driver.reason.c_str());
  const Result result = driver.table.init(0);
  if (result != Result::kSuccess)
    throw std::runtime_error(std::string("drey: the driver does not start: ") +
                             name_of(driver.table, result));
  return driver.table;
}

AdaptedDevice* open_device(std::size_t ordinal) noexcept {
  // Acquire: sees it built; pairs with device_of().
  return devices[ordinal].load(std::memory_order_acquire);
}

AdaptedDevice& device_of(int ordinal) {
  if (ordinal >= 0 && static_cast<std::size_t>(ordinal) < DeviceAllocator::kAllocatorsMax) {
    AdaptedDevice* const open = open_device(static_cast<std::size_t>(ordinal));
    if (open != nullptr) return *open;
  }
  const DriverTable& driver = driver_of_process();
  const int count = count_of_devices(driver);
  const int usable = std::min<int>(count, DeviceAllocator::kAllocatorsMax);
  if (ordinal < 0 || ordinal >= usable)
    throw std::runtime_error("drey: no device " + std::to_string(ordinal) + ": there are " +
                             std::to_string(usable));
  const auto place = static_cast<std::size_t>(ordinal);
  const MutexHolder holder(opening);
  AdaptedDevice* made = open_device(place);
  if (made != nullptr) return *made;
  made = std::make_unique<AdaptedDevice>(driver, ordinal).release();
  // Release: pairs with open_device().
  devices[place].store(made, std::memory_order_release);
  return *made;
}

AdaptedDevice& owner_of(const void* pointer) {
  for (std::size_t place = 0; place < DeviceAllocator::kAllocatorsMax; ++place) {
    AdaptedDevice* const device = open_device(place);
    if (device != nullptr && device->allocator().owns(pointer)) return *device;
  }
  throw MisuseError({Status::kForeignPointer}, pointer);
}
}  // namespace drey::cuda::adapters
