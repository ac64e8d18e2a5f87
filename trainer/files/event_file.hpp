// event_file.hpp: scalars for TensorBoard: a file of events that grows while the run goes on.
// Each run writes a file of its own in the folder; TensorBoard shows all files of a folder as one
// run, so a resumed run continues its curves. A record is
//   length (8 bytes), masked crc of the length (4), bytes, masked crc of the bytes (4)
// and is appended by one write, so a reader meets whole records; what a kill cuts off at the end,
// readers leave out by its crc. The first record says "brain.Event:2".
// Source: TensorFlow's record_writer.h and event.proto.
// Read next: protobuf_writer.hpp, crc32c.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace drey::trainer {
struct Scalar {
  std::string_view tag;  ///< as in "losses/td_loss"
  double value;
};

/// One record around `bytes`.
[[nodiscard]] std::string event_record(std::string_view bytes);

/// Threads: one at a time. Movable.
class EventFile {
 public:
  /// Makes `folder` if it is not there, and a new file in it. Fails: SystemError.
  explicit EventFile(const std::string& folder);
  ~EventFile();
  EventFile(EventFile&& other) noexcept;
  EventFile& operator=(EventFile&& other) noexcept;

  /// All scalars of one step, as one event. Fails: SystemError.
  void add(std::uint64_t step, std::span<const Scalar> scalars);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void append(const std::string& record);

  std::string path_;
  int descriptor_ = -1;
};
}  // namespace drey::trainer
