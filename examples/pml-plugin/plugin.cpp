// SPDX-License-Identifier: BSD-3-Clause
// pml/backwards as a plugin: the protocols of the engine and one more, chooser, factory, descriptor.
// Layer: plugin.

#include <array>
#include <memory>
#include <string>

#include "backwards.hpp"
#include "frameworks/plugin.hpp"
#include "frameworks/pml/engine.hpp"
#include "frameworks/pml/params.hpp"

namespace starling::pml {

namespace {

constexpr params::Decl kOnly = params::boolean(
    "pml_backwards_only", "yes",
    "Whether large messages go backwards, from their end; no: by the ring, from their beginning.");
STARLING_PLUGIN_PARAMS std::array kBackwardsParams{kOnly};

/// Says in the report how many messages have come this way.
class Counting final : public Chooser {
 public:
  Counting(Large way, const Backwards& protocol) noexcept : way_(way), protocol_(protocol) {}
  [[nodiscard]] LargeChoice choose(const LargeReceive&) noexcept override { return {way_}; }
  void took(std::uint32_t, std::uint64_t, std::uint64_t) noexcept override {}
  [[nodiscard]] std::vector<std::string> notes() const override {
    return {"received backwards: " + std::to_string(protocol_.received)};
  }

 private:
  Large way_;
  const Backwards& protocol_;
};

Result<std::unique_ptr<Component>> create_backwards(const Args& args) {
  Result<Config> config = read_config(args);
  if (!config) return fail(std::move(config).error());
  Protocols protocols = standard_protocols(*config);
  const auto number = static_cast<Large>(protocols.size());
  auto own = std::make_unique<Backwards>();
  const Large way = args.params.boolean(kOnly) ? number : Large::ring;
  auto chooser = std::make_unique<Counting>(way, *own);
  protocols.push_back(std::move(own));
  if (Result<void> sound = Rendezvous::check(protocols); !sound) return fail(std::move(sound).error());
  return std::unique_ptr<Component>(
      std::make_unique<Engine>(args.peers, *config, std::move(chooser), std::move(protocols)));
}

}  // namespace

STARLING_PLUGIN(Framework, backwards, 10, "large messages from their end", kBackwardsParams,
                &create_backwards);

}  // namespace starling::pml
