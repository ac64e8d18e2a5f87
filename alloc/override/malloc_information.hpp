// malloc_information.hpp: drey's counters in the terms of mallinfo, malloc_info and malloc_trim.
//
// Invariant, as in the C library: arena = uordblks + fordblks.
// uordblks are the bytes of live blocks in slabs; large and huge blocks are hblks and hblkhd.
// Read next: malloc.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>

#include <malloc.h>

namespace drey::override {
/// Units: bytes.
[[nodiscard]] struct mallinfo2 information() noexcept;

/// The same for the older call, whose fields are ints: what does not fit is INT_MAX.
[[nodiscard]] struct mallinfo information_in_ints() noexcept;

/// Writes the counters as XML. Returns: 0; EINVAL unless options is 0; EIO if the stream failed.
[[nodiscard]] int write_information(int options, std::FILE* stream) noexcept;

/// Gives idle memory back to the system. Returns: true if there was any.
[[nodiscard]] bool trim() noexcept;
}  // namespace drey::override
