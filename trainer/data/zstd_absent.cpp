// zstd_absent.cpp: unpack_zstd() where libzstd was not found when this was built.
// SPDX-License-Identifier: MIT
#include "trainer/data/byte_source.hpp"
#include "trainer/data/data_fault.hpp"

namespace drey::trainer {
std::unique_ptr<ByteSource> unpack_zstd(std::unique_ptr<ByteSource> /*packed*/,
                                        const std::string& path) {
  throw_data_error({path}, "a file without zstd compression ('zstd -d' unpacks it)",
                   "zstd, for which this program was built without libzstd");
}
}  // namespace drey::trainer
