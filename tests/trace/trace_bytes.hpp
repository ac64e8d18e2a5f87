// trace_bytes.hpp: traces made by hand: a valid file from lists of records, to be read, replayed or
// damaged.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/alloc/trace_format.hpp>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace drey::bench {
/// One chunk a thread; stamps count up in the order of the calls.
class TraceBytes {
 public:
  TraceBytes() {
    std::memcpy(header_.magic, trace::kTraceMagic, sizeof header_.magic);
    header_.version = trace::kTraceVersion;
    header_.record_bytes = sizeof(trace::TraceRecord);
    header_.chunk_bytes = trace::kTraceChunkBytes;
    header_.clock = trace::Clock::kNanoseconds;
    header_.process = 42;
    std::strcpy(header_.program, "by-hand");
  }

  TraceBytes& add(std::size_t thread, trace::RecordKind kind, std::uint64_t address,
                  std::uint64_t size, unsigned alignment_log2 = 0) {
    now_ += 1'000;
    return add_at(now_, thread, kind, address, size, alignment_log2);
  }

  TraceBytes& add_at(std::uint64_t ticks, std::size_t thread, trace::RecordKind kind,
                     std::uint64_t address, std::uint64_t size, unsigned alignment_log2 = 0) {
    while (threads_.size() <= thread) {
      threads_.push_back({{0, trace::pack(trace::RecordKind::kThread, threads_.size(), 0), 0}});
    }
    threads_[thread].push_back({ticks, trace::pack(kind, address, alignment_log2), size});
    return *this;
  }

  [[nodiscard]] std::string bytes() {
    header_.thread_count = threads_.size();
    header_.chunk_count = threads_.size();
    std::string text((threads_.size() + 1) * trace::kTraceChunkBytes, '\0');
    std::memcpy(text.data(), &header_, sizeof header_);
    for (std::size_t index = 0; index < threads_.size(); ++index) {
      char* const chunk = text.data() + (index + 1) * trace::kTraceChunkBytes;
      const trace::ChunkHeader head{trace::kChunkMagic, static_cast<std::uint32_t>(index), 0};
      std::memcpy(chunk, &head, sizeof head);
      std::memcpy(chunk + sizeof head, threads_[index].data(),
                  threads_[index].size() * sizeof(trace::TraceRecord));
    }
    return text;
  }

 private:
  trace::TraceHeader header_{};
  std::vector<std::vector<trace::TraceRecord>> threads_;
  std::uint64_t now_ = 0;
};

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Where a field of a record of the first chunks lies in the file.
inline std::size_t offset_of_record(std::size_t chunk, std::size_t record) {
  return (chunk + 1) * trace::kTraceChunkBytes + sizeof(trace::ChunkHeader) +
         record * sizeof(trace::TraceRecord);
}
}  // namespace drey::bench
