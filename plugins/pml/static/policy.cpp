// SPDX-License-Identifier: BSD-3-Clause
// See docs/design/pml.md, "Large messages".
#include "plugins/pml/static/policy.hpp"

#include "plugins/pml/static/calibrate.hpp"

namespace starling::pml {

namespace {
/// Transports below this preference are within the node: their get is a copy by the kernel, which must be
/// worth its call. A network's get is the card's work and always saves a copy.
constexpr std::uint32_t kNetwork = 50;
}  // namespace

bool StaticPolicy::lends(const Peer& peer) const noexcept {
  const btl::Limits& limits = peer.transport->limits();
  return config_.large == StaticLarge::automatic && limits.get && limits.rank_of_preference < kNetwork &&
         peer.proc != config_.self;
}

Large StaticPolicy::choose(const Peer& peer, std::uint64_t bytes, bool both) noexcept {
  if (both && bytes >= config_.lend_min && lends(peer)) return Large::lend;
  if (config_.large == StaticLarge::ring || bytes < config_.get_min) return Large::ring;
  if (config_.large == StaticLarge::get) return Large::get;
  if (peer.proc == config_.self) return Large::get;  // one copy instead of two, on one core
  if (peer.transport->limits().rank_of_preference >= kNetwork) return Large::get;
  if (!peer.transport->limits().get) return Large::ring;  // nothing to choose: spare the measurement
  if (!calibrated_) {
    calibrated_ = true;
    get_from_ = Calibration::kNever;
    if (config_.calibrate) {
      Calibration measured = calibrate();
      get_from_ = measured.get_from;
      note_ = std::move(measured.note);
    } else {
      note_ = "large messages: ring at every size, not measured (pml_static_calibrate is off)";
    }
  }
  return bytes >= get_from_ ? Large::get : Large::ring;
}

std::vector<std::string> StaticPolicy::notes() const {
  if (note_.empty()) return {};
  return {note_};
}

}  // namespace starling::pml
