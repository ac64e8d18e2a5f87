// market_tensors.cpp: see market_tensors.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/market_tensors.hpp"

#include <span>
#include <sstream>
#include <string>

#include "trainer/data/data_fault.hpp"
#include "trainer/data/error.hpp"
#include "trainer/features/feature_names.hpp"

namespace drey::trainer {
namespace {
constexpr const char* kFirstWeights = "network.0.weight";

/// All feature names in order, with commas between: a checkpoint is for these features only.
std::string feature_names_text() {
  std::string text;
  for (const std::string_view name : kFeatureNames) {
    if (!text.empty()) text += ',';
    text += name;
  }
  return text;
}
/// Same features in the same order. Fails: names the first place where they differ.
void check_names(const TensorReader& reader) {
  std::istringstream stored(reader.metadata("features"));
  std::string found;
  for (std::size_t place = 0; place < kFeatureDim; ++place) {
    found.clear();
    std::getline(stored, found, ',');
    if (found == kFeatureNames[place]) continue;
    reader.refuse("feature " + trainer::quoted(kFeatureNames[place]) + " in place " +
                      std::to_string(place) + " of the features",
                  found.empty() ? "none" : trainer::quoted(found));
  }
  if (std::getline(stored, found, ','))
    reader.refuse(std::to_string(kFeatureDim) + " names of features",
                  trainer::quoted(found) + " behind them");
}
}  // namespace

void save_market(TensorWriter& writer, const Market& market) {
  writer.add("normaliser.median", {kFeatureDim},
             std::span<const float>(market.normaliser.median()));
  writer.add("normaliser.scale", {kFeatureDim}, std::span<const float>(market.normaliser.scale()));
  writer.set_metadata("features", feature_names_text());
  writer.set_metadata("data.source", market.source);
  writer.set_metadata("data.bars", std::to_string(market.bar_count));
  writer.set_metadata("data.fingerprint", market.fingerprint);
}

void check_features(const TensorReader& reader) {
  const TensorShape& shape = reader.shape_of(kFirstWeights);
  if (shape.size() != 2 || shape[1] != kFeatureDim) {
    reader.refuse(std::to_string(kFeatureDim) + " features in " + trainer::quoted(kFirstWeights),
                  shape.size() == 2 ? std::to_string(shape[1]) : "shape " + text_of(shape));
  }
  check_names(reader);
}

void check_bars(const TensorReader& reader, const Market& market) {
  const std::string& fingerprint = reader.metadata("data.fingerprint");
  if (fingerprint == market.fingerprint) return;
  reader.refuse("the bars it was trained on, " + trainer::quoted(reader.metadata("data.source")) +
                    " with " + reader.metadata("data.bars") + " bars, fingerprint " + fingerprint,
                trainer::quoted(market.source) + " with " + std::to_string(market.bar_count) +
                    " bars, fingerprint " + market.fingerprint);
}

Normaliser read_normaliser(const TensorReader& reader) {
  Normaliser::Values median{};
  Normaliser::Values scale{};
  reader.read("normaliser.median", {kFeatureDim}, std::span<float>(median));
  reader.read("normaliser.scale", {kFeatureDim}, std::span<float>(scale));
  try {
    return Normaliser(median, scale);
  } catch (const CheckpointError& error) {
    throw CheckpointError(reader.file() + ": " + error.what());
  }
}
}  // namespace drey::trainer
