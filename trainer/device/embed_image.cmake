# embed_image.cmake: cmake -DIMAGE=FILE -DOUTPUT=FILE -P: writes device_code() of device_code.hpp with the
# image's bytes.
file(READ "${IMAGE}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],)"
                     "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "// Written by embed_image.cmake.
#include \"trainer/device/device_code.hpp\"

namespace drey::trainer {
namespace {
alignas(64) constexpr unsigned char kImage[] = {
${bytes}};
}  // namespace

std::span<const std::byte> device_code() noexcept {
  return std::as_bytes(std::span(kImage));
}
}  // namespace drey::trainer
")
