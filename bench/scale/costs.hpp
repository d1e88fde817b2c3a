// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What a step of start-up costs in the model: inputs, measured on real runs. Layer: bench.
///
/// A file has lines `name = value`, and `#` begins a comment; bench/scale/costs.conf is the default and says
/// how each was measured. Threads: value type. Units: in the names; nanoseconds where nothing is said.

#include <cstdint>
#include <string>

#include "core/result.hpp"

namespace starling::scale {

struct Costs {
  double pmi_request_us = 0;     ///< the server's time for a request
  double pmi_release_us = 0;     ///< the server's time for each process that it tells the end of a fence
  double pmi_round_trip_us = 0;  ///< of a request to an idle server, the server's own time left out
  double net_latency_us = 0;     ///< one way between two nodes
  double net_message_us = 0;     ///< of a process, for each control message that it sends or receives
  double net_copy_gbyte_s = 0;   ///< of a process that sends or receives: system calls and copies
  double net_gbit_s = 0;         ///< of a node's link, each way
  double shm_latency_us = 0;     ///< one way between two processes of a node
  double shm_message_us = 0;     ///< as net_message_us
  double copy_gbyte_s = 0;       ///< into the node's memory

  /// All of them must be there.
  [[nodiscard]] static Result<Costs> read(const std::string& path);
};

[[nodiscard]] inline std::uint64_t ns_of_us(double us) { return static_cast<std::uint64_t>(us * 1e3); }

}  // namespace starling::scale
