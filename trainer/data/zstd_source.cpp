// zstd_source.cpp: unpack_zstd() where libzstd was found; zstd_absent.cpp is the other form.
// Source: zstd.h, "Streaming decompression": a result of 0 says that a frame is complete.
// SPDX-License-Identifier: MIT
#include <zstd.h>

#include <new>
#include <utility>
#include <vector>

#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
namespace {
// Frames that ask for more memory than 128 MiB of window are refused by zstd itself.
class ZstdFrames final : public ByteSource {
 public:
  ZstdFrames(std::unique_ptr<ByteSource> packed, std::string path)
      : packed_(std::move(packed)),
        path_(std::move(path)),
        state_(ZSTD_createDStream()),
        input_(ZSTD_DStreamInSize()) {
    if (!state_) throw std::bad_alloc();
  }

  [[nodiscard]] std::size_t read(std::span<char> bytes) override {
    ZSTD_outBuffer to{bytes.data(), bytes.size(), 0};
    while (to.pos < to.size) {
      const bool at_end = from_.pos == from_.size && !refill();
      // Between frames the decoder must not be asked: it would begin one that is not there.
      if (at_end && !in_frame_) break;
      const std::size_t filled = to.pos;
      const std::size_t result = ZSTD_decompressStream(state_.get(), &to, &from_);
      if (ZSTD_isError(result) != 0)
        throw_data_error({path_}, "sound zstd data",
                         std::string("damage (") + ZSTD_getErrorName(result) + ")");
      in_frame_ = result != 0;
      if (at_end && to.pos == filled) break;
    }
    if (to.pos < to.size && in_frame_)
      throw_data_error({path_}, "the end of the zstd data", "the end of the file: it is cut off");
    return to.pos;
  }

 private:
  struct Close {
    void operator()(ZSTD_DStream* state) const { ZSTD_freeDStream(state); }
  };

  // False at the end of the file.
  bool refill() {
    from_ = {input_.data(), packed_->read(input_), 0};
    return from_.size != 0;
  }

  std::unique_ptr<ByteSource> packed_;
  std::string path_;
  std::unique_ptr<ZSTD_DStream, Close> state_;
  std::vector<char> input_;
  ZSTD_inBuffer from_{nullptr, 0, 0};
  bool in_frame_ = false;  // the frame last read from is not complete
};
}  // namespace

std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> packed,
                                        const std::string& path) {
  return std::make_unique<ZstdFrames>(std::move(packed), path);
}
}  // namespace drey::trainer
