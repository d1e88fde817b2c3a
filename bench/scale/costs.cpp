// SPDX-License-Identifier: BSD-3-Clause
// Layer: bench.

#include "bench/scale/costs.hpp"

#include <fstream>
#include <sstream>

namespace starling::scale {
namespace {

struct Name {
  const char* name;
  double Costs::*value;
};
constexpr Name kNames[] = {{"pmi_request_us", &Costs::pmi_request_us},
                           {"pmi_release_us", &Costs::pmi_release_us},
                           {"pmi_round_trip_us", &Costs::pmi_round_trip_us},
                           {"net_latency_us", &Costs::net_latency_us},
                           {"net_message_us", &Costs::net_message_us},
                           {"net_copy_gbyte_s", &Costs::net_copy_gbyte_s},
                           {"net_gbit_s", &Costs::net_gbit_s},
                           {"shm_latency_us", &Costs::shm_latency_us},
                           {"shm_message_us", &Costs::shm_message_us},
                           {"copy_gbyte_s", &Costs::copy_gbyte_s}};

}  // namespace

Result<Costs> Costs::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail(Errc::not_found, path, "cannot be read");
  Costs costs;
  std::string line, missing;
  while (std::getline(file, line)) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name, equals;
    double value = 0;
    if (!(words >> name)) continue;
    bool known = false;
    for (const Name& entry : kNames) {
      if (name != entry.name || !(words >> equals >> value) || equals != "=" || value <= 0) continue;
      costs.*entry.value = value;
      known = true;
    }
    if (!known) return fail(Errc::bad_input, path, "'" + line + "' is not `name = positive number`");
  }
  for (const Name& entry : kNames) {
    if (costs.*entry.value <= 0) missing += " " + std::string(entry.name);
  }
  if (!missing.empty()) return fail(Errc::bad_input, path, "has no value for" + missing);
  return costs;
}

}  // namespace starling::scale
