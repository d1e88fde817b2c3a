// SPDX-License-Identifier: BSD-3-Clause
// Layer: mpi.

#include "mpi/runtime/traffic.hpp"

#include <algorithm>

namespace starling::mpi {
namespace {

PairClass class_of(const Runtime& runtime, ProcId peer) {
  if (peer == runtime.self()) return PairClass::self;
  return runtime.place().on_node(peer) ? PairClass::node : PairClass::remote;
}

}  // namespace

pml::Traffic& operator+=(pml::Traffic& sum, const pml::Traffic& more) noexcept {
  const auto add = [](pml::Traffic::Messages& to, const pml::Traffic::Messages& from) {
    to.count += from.count;
    to.bytes += from.bytes;
  };
  add(sum.eager, more.eager);
  add(sum.ring, more.ring);
  add(sum.get, more.get);
  sum.stalls += more.stalls;
  return sum;
}

std::vector<ClassTraffic> class_traffic(Runtime& runtime) {
  std::vector<ClassTraffic> all;
  for (const pml::PeerTraffic& peer : runtime.pml().traffic()) {
    const PairClass pairs = class_of(runtime, peer.peer);
    auto at = std::find_if(all.begin(), all.end(), [&](const ClassTraffic& known) {
      return known.pairs == pairs && known.transport == peer.transport;
    });
    if (at == all.end()) at = all.insert(at, ClassTraffic{pairs, peer.transport, 0, {}});
    ++at->peers;
    at->sent += peer.sent;
  }
  std::sort(all.begin(), all.end(), [](const ClassTraffic& a, const ClassTraffic& b) {
    return a.pairs != b.pairs ? a.pairs < b.pairs : a.transport < b.transport;
  });
  return all;
}

}  // namespace starling::mpi
