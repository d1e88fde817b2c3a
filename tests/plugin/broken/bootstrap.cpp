// SPDX-License-Identifier: BSD-3-Clause
// bootstrap/broken: bootstrap/hierarchical behind a front with one fault that a parameter chooses.
// Layer: tests.

#include <array>
#include <memory>

#include "frameworks/bootstrap/group_key.hpp"
#include "frameworks/plugin.hpp"
#include "plugins/bootstrap/hierarchical/component.hpp"

namespace starling::bootstrap {
namespace {

enum class Flaw { none, wrong_address, no_address, other_ids, same_id, wrong_code, keeps_name, waits };
constexpr params::Decl kFault =
    params::choice("bootstrap_broken_fault", "none",
                   "none|wrong_address|no_address|other_ids|same_id|wrong_code|keeps_name|waits",
                   "What this component does wrong. waits: nothing, but it needs fences of groups.");

class Broken final : public Component {
 public:
  explicit Broken(const Args& args)
      : sound_(args), flaw_(args.params.choice<Flaw>(kFault)), pmi_(args.pmi), self_(args.self) {}

  Result<void> publish(const std::vector<LocalAddress>& addresses) override {
    addresses_ = addresses;
    return sound_.publish(addresses);
  }
  Result<void> expose() override { return sound_.expose(); }
  Result<ContextId> create(const Creation& creation, Deadline deadline) override {
    if (flaw_ == Flaw::keeps_name && self_.rank == 0) (void)pmi_.publish("forgotten " + creation.tag, "here");
    if (flaw_ == Flaw::waits) {
      const Sorted sorted(creation.members);
      std::vector<std::uint32_t> ranks;
      for (std::uint32_t i = 0; i < creation.members->size(); ++i) ranks.push_back(sorted.at(i).rank);
      if (auto met = pmi_.fence(ranks, creation.tag, deadline); !met) return fail(std::move(met).error());
    }
    auto id = sound_.create(creation, deadline);
    if (!id && flaw_ == Flaw::wrong_code)
      return fail(Errc::internal, "bootstrap/broken", "something is wrong");
    if (id && flaw_ == Flaw::other_ids && self_.rank == 3) return ContextId{id->bits + 64};
    if (id && flaw_ == Flaw::same_id) return ContextId{64};
    return id;
  }
  Result<ContextId> next_context_id() override { return sound_.next_context_id(); }
  bool exchanges_over_roots() const noexcept override { return sound_.exchanges_over_roots(); }
  void on_control(ProcId from, std::span<const std::byte> message) noexcept override {
    sound_.on_control(from, message);
  }
  void on_block(ProcId from, Block block) noexcept override { sound_.on_block(from, std::move(block)); }
  Result<btl::Found> address(ProcId peer, std::string_view transport) override {
    auto found = sound_.address(peer, transport);
    if (!found || found->what != btl::Found::What::address) return found;
    if (flaw_ == Flaw::wrong_address) found->address = addresses_.front().bytes;  // its own
    if (flaw_ == Flaw::no_address && peer.rank == 4) return btl::Found{};  // no root: nobody needs it to meet
    return found;
  }

 private:
  Hierarchical sound_;
  Flaw flaw_;
  pmi::Component& pmi_;
  ProcId self_;
  std::vector<LocalAddress> addresses_;
};

Result<std::unique_ptr<Component>> create_broken(const Args& args) {
  if (args.params.choice<Flaw>(kFault) == Flaw::waits && !args.pmi.capabilities().group_fence)
    return fail(Errc::unsupported, "bootstrap/broken", "this process manager has no fences of groups");
  return std::unique_ptr<Component>(std::make_unique<Broken>(args));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kBrokenParams = {kFault};
STARLING_PLUGIN(Framework, hierarchical, 1, "a bootstrap with a fault, for tests", kBrokenParams,
                &create_broken);

}  // namespace starling::bootstrap
