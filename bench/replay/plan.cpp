// plan.cpp: the merge of the threads' records, and the slots.
// Read next: plan.hpp.
// SPDX-License-Identifier: MIT
#include "replay/plan.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <unordered_map>
#include <utility>

namespace drey::bench {
namespace {
using trace::RecordKind;
using trace::TraceRecord;

constexpr std::uint64_t kSizeMask = (std::uint64_t{1} << 48) - 1;

/// A block that is there at this point of the order.
struct Live {
  std::uint32_t slot;
  std::uint32_t sequence;
  std::uint64_t size;
  std::size_t thread;  // that made it
};

/// A thread's records on their way into the order.
struct Source {
  const std::vector<TraceRecord>* records = nullptr;
  std::size_t next = 0;
  std::uint64_t key = 0;  // when it is looked at again
  bool is_waiting = false;
  bool has_started = false;
  bool has_pending = false;  // a realloc whose first half is done
  bool pending_is_known = false;
  std::uint64_t pending_address = 0;
  Live pending{};
  std::vector<std::uint32_t> empty_slots;
  std::uint64_t stretch = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] bool is_done() const noexcept { return next == records->size(); }
  [[nodiscard]] const TraceRecord& head() const noexcept { return (*records)[next]; }
};

class Planner {
 public:
  Planner(const Trace& trace, bool sequential) : trace_(trace), sequential_(sequential) {
    wait_ticks_ = static_cast<std::uint64_t>(kWaitMaxNs / trace.ns_per_tick);
    sources_.resize(trace.threads.size());
    plan_.threads.resize(sequential ? 1 : trace.threads.size());
    for (std::size_t thread = 0; thread < sources_.size(); ++thread) {
      Source& source = sources_[thread];
      source.records = &trace.threads[thread];
      if (source.is_done()) continue;
      ++plan_.facts.threads;
      source.key = source.head().ticks;
      queue_.insert({source.key, thread});
    }
  }

  Plan make() {
    if (trace_.record_count() > 0) note_span();
    while (!queue_.empty()) {
      const std::size_t thread = queue_.begin()->second;
      queue_.erase(queue_.begin());
      step(thread);
    }
    finish();
    return std::move(plan_);
  }

 private:
  void note_span() {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t last = 0;
    for (const auto& records : trace_.threads) {
      if (records.empty()) continue;
      first = std::min(first, records.front().ticks);
      last = std::max(last, records.back().ticks);
    }
    plan_.facts.seconds = static_cast<double>(last - first) * trace_.ns_per_tick * 1e-9;
  }

  /// Works off one record, or lets the thread wait for another one's.
  void step(std::size_t thread) {
    Source& source = sources_[thread];
    const TraceRecord& record = source.head();
    const bool may_wait = source.key < record.ticks + wait_ticks_;
    if (may_wait && sources_.size() > 1 && !is_ready(record)) {
      source.is_waiting = true;
      source.key = record.ticks + wait_ticks_;
      waiting_[trace::address_of_word(record.word)].push_back(thread);
      queue_.insert({source.key, thread});
      return;
    }
    if (source.is_waiting && may_wait) ++plan_.facts.put_in_order;
    source.is_waiting = false;
    start_if_new(thread);
    ++source.next;
    apply(thread, record);
    last_thread_ = thread;
    if (source.is_done()) return end_of(source);
    source.key = source.head().ticks;
    queue_.insert({source.key, thread});
  }

  /// True if what the record needs has happened already.
  [[nodiscard]] bool is_ready(const TraceRecord& record) const {
    const std::uint64_t address = trace::address_of_word(record.word);
    if (address == 0) return true;
    const bool is_live = live_.count(address) != 0;
    const auto kind = static_cast<RecordKind>(trace::kind_of_word(record.word));
    const bool needs_it = kind == RecordKind::kFree || kind == RecordKind::kReallocateFrom;
    return is_live == needs_it;
  }

  /// Something happened at this address: who waits for that is looked at next.
  void wake(std::uint64_t address) {
    const auto found = waiting_.find(address);
    if (found == waiting_.end()) return;
    for (const std::size_t thread : found->second) {
      Source& source = sources_[thread];
      if (!source.is_waiting || queue_.erase({source.key, thread}) == 0) continue;
      source.key = source.head().ticks;
      queue_.insert({source.key, thread});
    }
    waiting_.erase(found);
  }

  void start_if_new(std::size_t thread) {
    Source& source = sources_[thread];
    if (source.has_started) return;
    source.has_started = true;
    ++alive_;
    const bool starter_is_done = last_thread_ < sources_.size() && sources_[last_thread_].is_done();
    plan_.header.threads_alive_max =
        std::max<std::uint64_t>(plan_.header.threads_alive_max, alive_ + (starter_is_done ? 1 : 0));
    if (sequential_) return;
    if (last_thread_ >= sources_.size()) {
      first_thread_ = thread;
      return;
    }
    add(last_thread_, OperationKind::kStart, 0, static_cast<std::uint32_t>(thread), 0);
  }

  void end_of(Source& source) {
    --alive_;
    if (!source.has_pending) return;
    source.has_pending = false;  // killed within a realloc: the old block stays
    if (source.pending_is_known) live_[source.pending_address] = source.pending;
  }

  void add(std::size_t thread, OperationKind kind, std::uint64_t size, std::uint32_t slot,
           std::uint32_t sequence, unsigned alignment_log2 = 0) {
    keep_pace(thread, kind);
    const std::uint64_t packed = (size & kSizeMask) | (std::uint64_t{alignment_log2} << 48) |
                                 (static_cast<std::uint64_t>(kind) << 56);
    plan_.threads[sequential_ ? 0 : thread].push_back({packed, slot, sequence});
  }

  /// Marks where a thread comes into another stretch of the order; not within a realloc.
  void keep_pace(std::size_t thread, OperationKind kind) {
    if (sequential_ || sources_.size() == 1 || kind == OperationKind::kStart) return;
    const std::uint64_t stretch = operations_++ / kOperationsPerStretch;
    Source& source = sources_[thread];
    if (kind == OperationKind::kReallocateTo || source.stretch == stretch) return;
    source.stretch = stretch;
    plan_.threads[thread].push_back({static_cast<std::uint64_t>(OperationKind::kPace) << 56,
                                     static_cast<std::uint32_t>(stretch), 0});
  }

  void apply(std::size_t thread, const TraceRecord& record) {
    const std::uint64_t address = trace::address_of_word(record.word);
    switch (static_cast<RecordKind>(trace::kind_of_word(record.word))) {
      case RecordKind::kMalloc:
        return make_block(thread, record, OperationKind::kMalloc, plan_.facts.mallocs);
      case RecordKind::kCalloc:
        return make_block(thread, record, OperationKind::kCalloc, plan_.facts.callocs);
      case RecordKind::kAligned:
        return make_block(thread, record, OperationKind::kAligned, plan_.facts.aligned);
      case RecordKind::kFree:
        return free_block(thread, address);
      case RecordKind::kReallocateFrom:
        return begin_reallocation(thread, address);
      case RecordKind::kReallocateTo:
        return end_reallocation(thread, record);
      case RecordKind::kThread:
      case RecordKind::kEnd:
        return;
    }
  }

  void make_block(std::size_t thread, const TraceRecord& record, OperationKind kind,
                  std::uint64_t& count) {
    const std::uint64_t address = trace::address_of_word(record.word);
    if (address == 0) {
      ++plan_.facts.failed;
      return;
    }
    free_unrecorded(thread, address);
    std::vector<std::uint32_t>& empty_slots = sources_[sequential_ ? 0 : thread].empty_slots;
    if (empty_slots.empty()) {
      empty_slots.push_back(static_cast<std::uint32_t>(sequences_.size()));
      sequences_.push_back(0);
    }
    const std::uint32_t slot = empty_slots.back();
    empty_slots.pop_back();
    const Live block{slot, ++sequences_[slot], record.size, thread};
    add(thread, kind, record.size, slot, block.sequence,
        trace::alignment_log2_of_word(record.word));
    live_[address] = block;
    live_bytes_ += record.size;
    plan_.facts.live_bytes_max = std::max(plan_.facts.live_bytes_max, live_bytes_);
    ++count;
    ++plan_.facts.events;
    wake(address);
  }

  /// Takes a block out of its slot: by free, or as the first half of a realloc.
  void take_block(std::size_t thread, const Live& block, OperationKind kind) {
    add(thread, kind, block.size, block.slot, block.sequence);
    sources_[sequential_ ? 0 : thread].empty_slots.push_back(block.slot);
    live_bytes_ -= block.size;
    if (block.thread != thread) ++plan_.facts.freed_by_other_thread;
  }

  void free_block(std::size_t thread, std::uint64_t address) {
    const auto found = live_.find(address);
    if (found == live_.end()) {
      ++plan_.facts.unknown_frees;
      return;
    }
    take_block(thread, found->second, OperationKind::kFree);
    live_.erase(found);
    ++plan_.facts.frees;
    ++plan_.facts.events;
    wake(address);
  }

  /// The address is handed out again: its block must have been freed by a way that is not recorded.
  void free_unrecorded(std::size_t thread, std::uint64_t address) {
    const auto found = live_.find(address);
    if (found == live_.end()) return;
    take_block(thread, found->second, OperationKind::kFree);
    live_.erase(found);
    ++plan_.facts.unrecorded_frees;
    ++plan_.facts.events;
  }

  void begin_reallocation(std::size_t thread, std::uint64_t address) {
    Source& source = sources_[thread];
    if (source.has_pending && source.pending_is_known) {
      // Its second half was lost at the limit: the block is gone, to where is not known.
      take_block(thread, source.pending, OperationKind::kFree);
      ++plan_.facts.unrecorded_frees;
      ++plan_.facts.events;
    }
    source.has_pending = true;
    source.pending_address = address;
    const auto found = live_.find(address);
    source.pending_is_known = found != live_.end();
    if (!source.pending_is_known) {
      if (address != 0) ++plan_.facts.unknown_frees;
      return;
    }
    source.pending = found->second;
    live_.erase(found);
    wake(address);
  }

  void end_reallocation(std::size_t thread, const TraceRecord& record) {
    Source& source = sources_[thread];
    const bool is_known = source.has_pending && source.pending_is_known;
    source.has_pending = false;
    const bool has_failed = trace::address_of_word(record.word) == 0;
    if (!is_known) {
      return make_block(thread, record, OperationKind::kMalloc, plan_.facts.reallocs);
    }
    if (!has_failed) {
      take_block(thread, source.pending, OperationKind::kReallocateFrom);
      return make_block(thread, record, OperationKind::kReallocateTo, plan_.facts.reallocs);
    }
    live_[source.pending_address] = source.pending;
    if (record.size == 0) return free_block(thread, source.pending_address);
    ++plan_.facts.failed;
  }

  void finish() {
    plan_.facts.live_blocks_at_end = live_.size();
    plan_.facts.live_bytes_at_end = live_bytes_;
    if (!sequential_ && first_thread_ != 0 && first_thread_ < plan_.threads.size()) {
      move_to_front(first_thread_);
    }
    plan_.header.magic = kPlanMagic;
    plan_.header.thread_count = plan_.threads.size();
    plan_.header.slot_count = sequences_.size();
    plan_.header.event_count = plan_.facts.events;
    for (const auto& operations : plan_.threads) {
      plan_.header.operation_count += operations.size();
    }
  }

  /// drey-replay begins with thread 0: the one whose record came first.
  void move_to_front(std::size_t thread) {
    std::swap(plan_.threads[0], plan_.threads[thread]);
    for (auto& operations : plan_.threads) {
      for (Operation& operation : operations) {
        if (operation.kind() != OperationKind::kStart) continue;
        if (operation.slot == 0) operation.slot = static_cast<std::uint32_t>(thread);
      }
    }
  }

  const Trace& trace_;
  bool sequential_;
  std::uint64_t wait_ticks_ = 0;
  Plan plan_;
  std::vector<Source> sources_;
  std::set<std::pair<std::uint64_t, std::size_t>> queue_;
  std::unordered_map<std::uint64_t, std::vector<std::size_t>> waiting_;  // by address
  std::unordered_map<std::uint64_t, Live> live_;                         // by address
  std::vector<std::uint32_t> sequences_;                                 // by slot: the last one
  std::uint64_t live_bytes_ = 0;
  std::uint64_t alive_ = 0;
  std::uint64_t operations_ = 0;  // in the order, without starts
  std::size_t last_thread_ = std::numeric_limits<std::size_t>::max();
  std::size_t first_thread_ = 0;
};

void append(std::string& bytes, const void* data, std::size_t size) {
  bytes.append(static_cast<const char*>(data), size);
}
}  // namespace

std::string Plan::bytes() const {
  std::string text;
  append(text, &header, sizeof header);
  std::uint64_t first = 0;
  for (const auto& operations : threads) {
    const PlanThread thread{first, operations.size()};
    append(text, &thread, sizeof thread);
    first += operations.size();
  }
  for (const auto& operations : threads) {
    append(text, operations.data(), operations.size() * sizeof(Operation));
  }
  return text;
}

Plan make_plan(const Trace& trace, bool sequential) {
  return Planner(trace, sequential).make();
}
}  // namespace drey::bench
