// statistics.cpp: see statistics.hpp.
// SPDX-License-Identifier: MIT
#include <drey/cuda/trace/json_text.hpp>
#include <drey/cuda/trace/statistics.hpp>

namespace drey::cuda::trace {
namespace {
void add_figure(JsonText& json, const std::string& name, const Figure& figure) {
  json.add(name + ".current", figure.current);
  json.add(name + ".peak", figure.peak);
  json.add(name + ".allocated", figure.allocated);
  json.add(name + ".freed", figure.freed);
}

void add_figures(JsonText& json, const std::string& name, const PoolFigures& figures) {
  add_figure(json, name + ".all", figures.all);
  add_figure(json, name + ".small_pool", figures.small_pool);
  add_figure(json, name + ".large_pool", figures.large_pool);
}
}  // namespace

std::string json_of(const MemoryStatistics& statistics) {
  JsonText json;
  json.open('{');
  add_figures(json, "allocation", statistics.allocation);
  add_figures(json, "segment", statistics.segment);
  add_figures(json, "active", statistics.active);
  add_figures(json, "inactive_split", statistics.inactive_split);
  add_figures(json, "allocated_bytes", statistics.allocated_bytes);
  add_figures(json, "reserved_bytes", statistics.reserved_bytes);
  add_figures(json, "active_bytes", statistics.active_bytes);
  add_figures(json, "inactive_split_bytes", statistics.inactive_split_bytes);
  add_figures(json, "requested_bytes", statistics.requested_bytes);
  json.add("num_alloc_retries", statistics.num_alloc_retries);
  json.add("num_ooms", statistics.num_ooms);
  json.add("num_sync_all_streams", statistics.num_sync_all_streams);
  json.add("num_device_alloc", statistics.num_device_alloc);
  json.add("num_device_free", statistics.num_device_free);
  json.close('}');
  return json.text() + "\n";
}
}  // namespace drey::cuda::trace
