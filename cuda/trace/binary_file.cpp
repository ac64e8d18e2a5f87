// binary_file.cpp: the binary form of a trace; see trace_files.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/trace_builder.hpp>
#include <drey/cuda/trace/trace_files.hpp>

namespace drey::cuda::trace {
namespace {
constexpr std::string_view kMagic = "dreydvtr";
constexpr std::uint64_t kVersion = 1;
constexpr std::uint8_t kActionMask = 0x0f;
constexpr std::uint8_t kSameStream = 0x10;
constexpr std::uint8_t kSameThread = 0x20;
constexpr std::uint64_t kGranule = 512;
constexpr std::size_t kSumBytes = 8;

std::uint64_t sum_of(std::string_view bytes) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return sum;
}

void add_number(std::string& bytes, std::uint64_t value) {
  while (value >= 0x80) {
    bytes += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

bool is_about_a_block(TraceAction action) {
  return action != TraceAction::kAllocate && action != TraceAction::kWait &&
         action != TraceAction::kSynchronize;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& source) : bytes_(bytes), builder_(source) {}

  DeviceTrace read() {
    place_ = kMagic.size();
    const std::uint64_t version = number();
    if (version != kVersion) fail("version", std::to_string(kVersion), std::to_string(version));
    read_sum();
    const std::uint64_t streams = number();
    const std::uint64_t threads = number();
    const std::uint64_t blocks = number();
    const std::uint64_t events = number();
    for (std::uint64_t index = 0; index < events; ++index) read_event();
    if (place_ != bytes_.size())
      fail("end of the events", "no more bytes", std::to_string(bytes_.size() - place_));
    DeviceTrace trace = builder_.finish();
    if (trace.streams != streams || trace.threads != threads || trace.blocks != blocks) {
      fail("counts", std::to_string(streams) + " streams and " + std::to_string(blocks) + " blocks",
           std::to_string(trace.streams) + " and " + std::to_string(trace.blocks));
    }
    return trace;
  }

 private:
  [[noreturn]] void fail(const char* what, const std::string& expected, const std::string& found) {
    builder_.set_place("offset", place_);
    builder_.fail(what, expected, found);
  }

  void read_sum() {
    if (bytes_.size() < place_ + kSumBytes) fail("cut off", "8 bytes of a sum", "the end");
    const std::size_t end = bytes_.size() - kSumBytes;
    std::uint64_t said = 0;
    for (std::size_t index = kSumBytes; index-- > 0;)
      said = said << 8 | static_cast<unsigned char>(bytes_[end + index]);
    const std::uint64_t sum = sum_of(bytes_.substr(0, end));
    if (said != sum) fail("sum of the file, which may be cut off", hex_text(sum), hex_text(said));
    bytes_ = bytes_.substr(0, end);
  }

  std::uint8_t byte() {
    if (place_ == bytes_.size()) fail("cut off", "a byte", "the end");
    return static_cast<std::uint8_t>(bytes_[place_++]);
  }

  std::uint64_t number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t part = byte();
      value |= std::uint64_t{part & 0x7fU} << shift;
      if (part < 0x80) return value;
    }
    fail("number", "at most 10 bytes", "more");
  }

  void read_event() {
    const std::uint8_t tag = byte();
    RawEvent raw;
    raw.action = static_cast<TraceAction>(tag & kActionMask);
    if (raw.action < TraceAction::kAllocate || raw.action > TraceAction::kSynchronize)
      fail("action", "1 to 7", std::to_string(tag & kActionMask));
    if ((tag & kSameStream) == 0) stream_ = number();
    if ((tag & kSameThread) == 0) thread_ = number();
    time_ns_ += number();
    raw.stream = stream_;
    raw.thread = thread_;
    raw.time_ns = time_ns_;
    if (raw.action == TraceAction::kAllocate) {
      const std::uint64_t code = number();
      if (code / 2 > kBlockBytesMax) fail("size", "at most 2^48 bytes", std::to_string(code / 2));
      raw.bytes = code % 2 == 0 ? code / 2 * kGranule : code / 2;
      raw.pointer = blocks_++;
    } else if (raw.action == TraceAction::kWait) {
      raw.pointer = number();
    } else if (is_about_a_block(raw.action)) {
      const std::uint64_t back = number();
      if (back >= blocks_) fail("block", "one that was allocated", std::to_string(back) + " back");
      raw.pointer = blocks_ - 1 - back;
    }
    builder_.set_place("offset", place_);
    builder_.add(raw);
  }

  std::string_view bytes_;
  TraceBuilder builder_;
  std::size_t place_ = 0;
  std::uint64_t stream_ = 0;
  std::uint64_t thread_ = 0;
  std::uint64_t time_ns_ = 0;
  std::uint64_t blocks_ = 0;
};

void add_event(std::string& bytes, const Event& event, const Event& before, std::uint32_t blocks) {
  auto tag = static_cast<std::uint8_t>(event.action);
  if (event.stream == before.stream) tag |= kSameStream;
  if (event.thread == before.thread) tag |= kSameThread;
  bytes += static_cast<char>(tag);
  if (event.stream != before.stream) add_number(bytes, event.stream);
  if (event.thread != before.thread) add_number(bytes, event.thread);
  add_number(bytes, event.time_ns - before.time_ns);
  if (event.action == TraceAction::kAllocate) {
    const bool is_granular = event.bytes % kGranule == 0;
    add_number(bytes, is_granular ? event.bytes / kGranule * 2 : event.bytes * 2 + 1);
  } else if (event.action == TraceAction::kWait) {
    add_number(bytes, event.block);
  } else if (is_about_a_block(event.action)) {
    add_number(bytes, blocks - 1 - event.block);
  }
}
}  // namespace

DeviceTrace read_binary(std::string_view bytes, const std::string& source) {
  return Reader(bytes, source).read();
}

std::string binary_of(const DeviceTrace& trace) {
  std::string bytes(kMagic);
  for (const std::uint64_t number :
       {kVersion, std::uint64_t{trace.streams}, std::uint64_t{trace.threads},
        std::uint64_t{trace.blocks}, std::uint64_t{trace.events.size()}})
    add_number(bytes, number);
  Event before;
  std::uint32_t blocks = 0;
  for (const Event& event : trace.events) {
    add_event(bytes, event, before, blocks);
    if (event.action == TraceAction::kAllocate) ++blocks;
    before = event;
  }
  const std::uint64_t sum = sum_of(bytes);
  for (unsigned index = 0; index < kSumBytes; ++index)
    bytes += static_cast<char>(sum >> (8 * index));
  return bytes;
}
}  // namespace drey::cuda::trace
