// SPDX-License-Identifier: BSD-3-Clause
// Who has which kind of messages.
#include "frameworks/peer/port.hpp"

#include <algorithm>
#include <string>

#include "frameworks/peer/wire.hpp"

namespace starling::peer {

Result<void> Ports::add(Port& port, std::span<const KindFacts> kinds) {
  const auto refuse = [&](std::uint8_t kind, const std::string& whose) {
    return fail(Errc::internal, "port \"" + std::string(port.name()) + "\"",
                "wants the messages of kind " + std::to_string(kind) + ", which are " + whose +
                    "; expected kinds of its own (frameworks/peer/wire.hpp)");
  };
  for (const KindFacts& facts : kinds) {
    const auto kind = static_cast<wire::Kind>(facts.kind);
    if (kind == wire::Kind::numbered || kind == wire::Kind::passed)
      return refuse(facts.kind, "the peers' own");
    const Port* const owner = entries_[facts.kind].port;
    if (owner != nullptr) return refuse(facts.kind, "those of port \"" + std::string(owner->name()) + "\"");
  }
  ports_.push_back(&port);
  for (const KindFacts& facts : kinds) entries_[facts.kind] = {&port, facts.order};
  return {};
}

bool Ports::has(const Port& port) const noexcept {
  return std::find(ports_.begin(), ports_.end(), &port) != ports_.end();
}

void Ports::remove(const Port& port) noexcept {
  std::erase(ports_, &port);
  for (Entry& entry : entries_) {
    if (entry.port == &port) entry = {};
  }
}

}  // namespace starling::peer
