// report_page.cpp: see report_page.hpp.
// SPDX-License-Identifier: MIT
#include "trainer/program/report_page.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include <drey/base/version.hpp>

#include "trainer/program/report.hpp"

namespace drey::trainer {
namespace {
std::string rounded(const char* format, double value) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), format, value);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

std::string in_unit(double value, const ReturnUnit& unit) {
  return rounded("%+.2f", value * unit.factor) + unit.suffix;
}

std::string spaced(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

std::string rounded_json(const nlohmann::json& number) {
  return number.is_number_float() ? rounded("%.4g", number.get<double>()) : number.dump();
}

/// One value of every pass.
template <class Value>
std::vector<double> values_of(const std::vector<PassRecord>& passes, Value value) {
  std::vector<double> values;
  values.reserve(passes.size());
  for (const PassRecord& pass : passes) values.push_back(value(pass));
  return values;
}

LineChart pass_chart(const RunOutcome& outcome, std::string title, std::string suffix,
                     std::vector<Curve> curves) {
  const double first = static_cast<double>(outcome.passes.front().epoch);
  return {std::move(title), "epochs", first, 1, std::move(suffix), std::move(curves)};
}

void add_pass_charts(const RunOutcome& outcome, std::vector<LineChart>& charts) {
  const std::vector<PassRecord>& passes = outcome.passes;
  if (passes.size() < 2) return;  // a curve of one point says nothing that the figures do not
  const ReturnUnit unit = outcome.problem.return_unit();
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  const auto train = [&](const PassRecord& pass) { return pass.train_return * unit.factor; };
  const auto greedy = [&](const PassRecord& pass) {
    return pass.validation_return.value_or(nothing) * unit.factor;
  };
  charts.push_back(pass_chart(outcome, "Return of a pass", unit.suffix,
                              {{"exploring agent", "market", values_of(passes, train)},
                               {"greedy agent, evaluated", "agent", values_of(passes, greedy)}}));
  const auto loss = [](const PassRecord& pass) { return pass.loss; };
  charts.push_back(
      pass_chart(outcome, "Mean loss", "", {{"loss", "loss", values_of(passes, loss)}}));
  const auto value = [](const PassRecord& pass) { return pass.q_mean; };
  charts.push_back(pass_chart(outcome, "Mean value of the actions learned from", "",
                              {{"value", "value", values_of(passes, value)}}));
}

/// The returns of --stats-json become figures, what is within them rows.
void add_evaluation(const Problem& problem, TrainingReport& page) {
  nlohmann::json data;
  nlohmann::json evaluation;
  problem.describe(data, evaluation);
  const ReturnUnit unit = problem.return_unit();
  const std::string ending = "_return";
  for (const auto& [name, value] : evaluation.items()) {
    const bool is_return = name.size() > ending.size() && name.ends_with(ending);
    if (is_return && value.is_number()) {
      const std::string who = name.substr(0, name.size() - ending.size());
      page.figures.emplace_back("return, " + spaced(who), in_unit(value.get<double>(), unit));
    } else if (value.is_number()) {
      page.results.emplace_back("evaluation, " + spaced(name), value.dump());
    }
    if (!value.is_object()) continue;
    for (const auto& [part, number] : value.items())
      page.results.emplace_back(spaced(name) + ", " + spaced(part), rounded_json(number));
  }
}

ReportRows results_of(const RunOutcome& outcome) {
  const SessionResult& result = outcome.result;
  ReportRows rows = {{"environment steps", std::to_string(result.environment_steps)},
                     {"gradient steps", std::to_string(result.gradient_steps)},
                     {"seconds in steps", rounded("%.2f", result.train_seconds)},
                     {"passes", std::to_string(outcome.passes.size())},
                     {"weights hash", outcome.weights_hash},
                     {"allocator", allocator_text()},
                     {"version", kVersionText}};
  if (!outcome.config.run.data.empty())
    rows.insert(rows.begin(), {"data", outcome.config.run.data});
  if (result.interrupted) rows.emplace_back("ended", "by an interrupt");
  return rows;
}
}  // namespace

TrainingReport report_page(const RunOutcome& outcome) {
  TrainingReport page;
  const std::string& data = outcome.config.run.data;
  page.title = "drey-train: " + (data.empty() ? outcome.config.hyper.environment : data);
  const SessionResult& result = outcome.result;
  page.subtitle = std::to_string(result.gradient_steps) + " gradient steps in " +
                  rounded("%.1f", result.train_seconds) + " seconds, seed " +
                  std::to_string(outcome.config.hyper.seed);
  add_evaluation(outcome.problem, page);
  if (result.train_seconds > 0) {
    const double speed = static_cast<double>(result.gradient_steps) / result.train_seconds;
    page.figures.emplace_back("gradient steps a second", rounded("%.0f", speed));
  }
  if (!outcome.passes.empty()) {
    const PassRecord& last = outcome.passes.back();
    page.figures.emplace_back("return of the last pass, exploring",
                              in_unit(last.train_return, outcome.problem.return_unit()));
  }
  page.charts = outcome.problem.charts(outcome.agent);
  add_pass_charts(outcome, page.charts);
  const ReportRows results = results_of(outcome);
  page.results.insert(page.results.begin(), results.begin(), results.end());
  for_each_hyperparameter(outcome.config.hyper,
                          [&](const char* option, const auto& value, const auto& kind, auto, auto) {
                            page.settings.emplace_back(option, text_of(value, kind));
                          });
  return page;
}
}  // namespace drey::trainer
