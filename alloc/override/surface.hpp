// surface.hpp: what malloc.cpp and new_delete.cpp stand on: the core itself, or, where
// libdrey_trace.so is compiled, the core with an event recorded for each call.
// Read next: malloc.cpp; trace/surface.hpp.
// SPDX-License-Identifier: MIT
#pragma once

#include "core/contract.hpp"
#include "core/entry.hpp"

#if defined(DREY_RECORD_TRACE) && DREY_RECORD_TRACE
#include "trace/surface.hpp"
namespace drey::surface {
namespace core = drey::trace::surface;
namespace contract = drey::trace::surface::contract;
}  // namespace drey::surface
#else
namespace drey::surface {
namespace core = drey::core;
namespace contract = drey::core::contract;
}  // namespace drey::surface
#endif
