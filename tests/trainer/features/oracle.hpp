// oracle.hpp: TA-Lib, loaded at run time, as functions of columns.
// The library is looked for in DREY_TALIB_LIB, else where scripts/get-oracle puts it. Parameters go by
// TA-Lib's order: columns, integers and reals in, then its outputs; each result is as long as the
// columns, NaN where TA-Lib has no value yet.
// Source of the calling convention: ta_func.h.
// SPDX-License-Identifier: MIT
#pragma once

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace drey::trainer::oracle {
using Real = std::vector<double>;

class Library {
 public:
  /// Null members when there is none. Stays loaded.
  Library() {
    const char* chosen = std::getenv("DREY_TALIB_LIB");
    path_ = chosen != nullptr ? chosen : DREY_TALIB_LIB_DEFAULT;
    handle_ = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) return;
    if (reinterpret_cast<int (*)()>(symbol("TA_Initialize"))() != 0)
      throw std::runtime_error(path_ + ": TA_Initialize failed");
  }
  [[nodiscard]] bool is_there() const { return handle_ != nullptr; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// One output of doubles.
  template <class... Inputs>
  [[nodiscard]] Real call(const char* name, const Real& first, const Inputs&... rest) const {
    return std::move(call_several<1>(name, first, rest...)[0]);
  }
  template <std::size_t kOutputs, class... Inputs>
  [[nodiscard]] std::array<Real, kOutputs> call_several(const char* name, const Real& first,
                                                        const Inputs&... rest) const {
    return outputs<double, kOutputs>(std::make_index_sequence<kOutputs>(), name, first, rest...);
  }
  /// One output of integers, as doubles: the candle patterns.
  template <class... Inputs>
  [[nodiscard]] Real call_pattern(const char* name, const Real& first,
                                  const Inputs&... rest) const {
    return std::move(outputs<int, 1>(std::make_index_sequence<1>(), name, first, rest...)[0]);
  }

 private:
  static const double* raw(const Real& column) { return column.data(); }
  static int raw(int value) { return value; }
  static double raw(double value) { return value; }
  template <class Output, std::size_t>
  using PointerTo = Output*;

  [[nodiscard]] void* symbol(const char* name) const {
    void* const found = ::dlsym(handle_, name);
    if (found == nullptr) throw std::runtime_error(path_ + ": no function " + name);
    return found;
  }

  template <class Output, std::size_t kOutputs, std::size_t... kIndex, class... Inputs>
  [[nodiscard]] std::array<Real, kOutputs> outputs(std::index_sequence<kIndex...>, const char* name,
                                                   const Inputs&... inputs) const {
    using Function =
        int (*)(int, int, decltype(raw(inputs))..., int*, int*, PointerTo<Output, kIndex>...);
    const std::size_t count = std::get<0>(std::tie(inputs...)).size();
    std::array<std::vector<Output>, kOutputs> raw_outputs;
    for (auto& output : raw_outputs) output.resize(count);
    int begin = 0;
    int produced = 0;
    const auto function = reinterpret_cast<Function>(symbol(name));
    const int code = function(0, static_cast<int>(count) - 1, raw(inputs)..., &begin, &produced,
                              raw_outputs[kIndex].data()...);
    if (code != 0) throw std::runtime_error(std::string(name) + ": code " + std::to_string(code));
    std::array<Real, kOutputs> results;
    for (std::size_t i = 0; i < kOutputs; ++i) {
      results[i].assign(count, std::numeric_limits<double>::quiet_NaN());
      for (int at = 0; at < produced; ++at)
        results[i][static_cast<std::size_t>(begin + at)] =
            static_cast<double>(raw_outputs[i][static_cast<std::size_t>(at)]);
    }
    return results;
  }

  std::string path_;
  void* handle_ = nullptr;
};
}  // namespace drey::trainer::oracle
