// trace_files.hpp: the files of device traces: drey's binary form, RMM's log, MiniMalloc's buffers, and
// what this process recorded.
//
// Binary form, version 1. "dreydvtr", then variable-length numbers (7 bits a byte, low first): version,
// streams, threads, blocks, events; then the events; then FNV-1a 64 of all bytes before, 8 bytes, low
// first. An event is a byte: the action in bits 0..3, bit 4: the stream is that of the event before, bit
// 5: the thread too; then, each if need be, stream, thread, the nanoseconds since the event before, and
// of an allocation its size (n * 512 as 2n, else 2 * size + 1), of another its block, counted back from
// the newest one, of a wait the stream it is for. About 6 bytes an event.
//
// Invariant: what a reader returns holds the invariants of DeviceTrace; a writer leaves a whole file or
// none. Every failure is a BadInput: file, place, expected, found.
// Read next: device_trace.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <drey/cuda/trace/device_trace.hpp>
#include <drey/cuda/trace_recorder.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace drey::cuda::trace {
/// MiniMalloc's sizes are times this: its buffers fill 1 MiB, less than one page of a device.
inline constexpr std::uint64_t kMinimallocScale = 16384;

/// Whatever the file's beginning says it is.
[[nodiscard]] DeviceTrace read_trace(const std::string& path,
                                     std::uint64_t minimalloc_scale = kMinimallocScale);

[[nodiscard]] DeviceTrace read_binary(std::string_view bytes, const std::string& source);
[[nodiscard]] std::string binary_of(const DeviceTrace& trace);

/// Columns "Thread,Time,Action,Pointer,Size,Stream", in any order; actions "allocate", "free", and
/// "allocate failure", which is left out, as blocks of no bytes are.
[[nodiscard]] DeviceTrace read_rmm_csv(std::string_view text, const std::string& source);
/// A row an allocation and a free; what RMM's log has no word for (record_stream, waits) is left out.
[[nodiscard]] std::string rmm_csv_of(const DeviceTrace& trace);

/// Columns "id,lower,upper,size": a buffer lives in [lower, upper).
[[nodiscard]] DeviceTrace read_minimalloc_csv(std::string_view text, const std::string& source,
                                              std::uint64_t scale);

/// Records of any threads, sorted by their ticks; `begin` and `end` give the ticks their length.
/// Records of blocks from before the recording are left out.
[[nodiscard]] DeviceTrace trace_of_records(std::span<const TraceRecord> records,
                                           const TraceMoment& begin, const TraceMoment& end);

[[nodiscard]] std::string read_file(const std::string& path);
/// Written beside, then renamed.
void write_file(const std::string& path, std::string_view bytes);
}  // namespace drey::cuda::trace
