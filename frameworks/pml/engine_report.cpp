// SPDX-License-Identifier: BSD-3-Clause
// Counters, and what hang help prints.
#include <algorithm>

#include "core/clock.hpp"
#include "frameworks/pml/engine.hpp"

namespace starling::pml {

using namespace detail;

bool Engine::drained() const noexcept {
  if (busy_ != nullptr || !gets_.empty()) return false;
  bool sending = false;
  transfers_.each([&](const Request& request) { sending |= !request.receive; });
  const auto& transports = peers_.transports();
  return !sending && std::all_of(transports.begin(), transports.end(),
                                 [](const btl::Component* transport) { return transport->drained(); });
}

Component::Counters Engine::counters() const {
  Counters counters = counters_;
  counters.peers = peers_.size();
  counters.eager_sent = eager_sent_;
  const std::vector<std::string> notes = policy_->notes();
  counters.notes.insert(counters.notes.end(), notes.begin(), notes.end());
  return counters;
}

namespace {

std::string age(const Request& request) {
  if (request.started_ns == 0) return "";
  const std::uint64_t tenths = (now_ns() - request.started_ns) / 100'000'000u;
  return ", " + std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string line(const Request& request, const char* what) {
  std::string text = request.receive ? "receive from " : "send to ";
  text += request.rank == kAnySource ? "any rank" : std::to_string(to_int(request.rank));
  text += request.tag == kAnyTag ? " any tag" : " tag " + std::to_string(to_int(request.tag));
  text += ", " + std::to_string(request.buffer.bytes) + " bytes" + age(request) + what;
  return text;
}

const char* stage(const Request& request) {
  switch (request.phase) {
    case kAnnounced: return " (not received yet)";
    case kPushing:
    case kReceiving:
    case kGetting: return " (data are moving)";
    default: return "";
  }
}

}  // namespace

std::vector<std::string> Engine::pending() const {
  std::vector<std::string> lines;
  contexts_.each([&](Context& context) {
    for (const Request* at = context.any_source.front(); at != nullptr; at = RequestChain::after(*at)) {
      lines.push_back(line(*at, ""));
    }
    context.each_source([&](Source& source) {
      for (const Request* at = source.posted.front(); at != nullptr; at = RequestChain::after(*at)) {
        lines.push_back(line(*at, ""));
      }
    });
  });
  peers_.each([&](const Peer& peer) {
    for (const Request* at = peer.fifo.front(); at != nullptr; at = RequestChain::after(*at)) {
      if (at->phase != kControl && at->order == 0)
        lines.push_back(line(*at, " (waits for room in the transport)"));
    }
  });
  transfers_.each([&](const Request& request) { lines.push_back(line(request, stage(request))); });
  return lines;
}

}  // namespace starling::pml
