// error.hpp: what is wrong with a trace, an option or an output, as one line for the user.
// Programs print "name: <message>" and exit with code 2.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace drey::cuda::trace {
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
}  // namespace drey::cuda::trace
