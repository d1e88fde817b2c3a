// SPDX-License-Identifier: BSD-3-Clause
// pmi/broken: the example pmi/shareddir behind a front with one fault that a parameter chooses. It has the
// example's parameters, so that the example's start-job starts its jobs. Layer: tests.

#include <array>
#include <memory>
#include <string>

#include "examples/site-plugin/component.hpp"
#include "frameworks/plugin.hpp"

namespace starling::pmi {
namespace {

enum class Flaw {
  none,
  no_wait,
  no_group_wait,
  polls_wrong,
  cuts_values,
  one_rank,
  invents,
  keeps_names,
  claims_names
};
constexpr params::Decl kFault = params::choice(
    "pmi_broken_fault", "none",
    "none|no_wait|no_group_wait|polls_wrong|cuts_values|one_rank|invents|keeps_names|claims_names",
    "What this component does wrong.");
constexpr params::Decl kDirectory = params::text("pmi_shareddir_dir", "", "As the example's.");
constexpr params::Decl kJob = params::text("pmi_shareddir_job", "", "As the example's.");
constexpr params::Decl kRank = params::integer("pmi_shareddir_rank", "0", 0, 1 << 20, "As the example's.");
constexpr params::Decl kSize = params::integer("pmi_shareddir_size", "1", 1, 1 << 20, "As the example's.");

class Broken final : public Component {
 public:
  Broken(std::unique_ptr<Component> sound, Flaw flaw)
      : sound_(std::move(sound)), flaw_(flaw), identity_(sound_->identity()) {
    capabilities_ = sound_->capabilities();
    if (flaw == Flaw::one_rank) identity_.rank = 0;
    if (flaw == Flaw::claims_names) capabilities_.name_service = true;
  }
  const Identity& identity() const noexcept override { return identity_; }
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  Result<void> put(std::string_view key, std::span<const std::byte> value) override {
    return sound_->put(key, flaw_ == Flaw::cuts_values && value.size() > 1024 ? value.first(1024) : value);
  }
  Result<Lookup> get(std::uint32_t rank, std::string_view key) override {
    auto got = sound_->get(rank, key);
    if (got && got->found != Found::value && flaw_ == Flaw::invents) return Lookup{Found::value, {}};
    return got;
  }
  Result<void> fence(Deadline deadline) override {
    if (flaw_ == Flaw::no_wait) return {};
    return sound_->fence(deadline);
  }
  Result<void> fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) override {
    if (flaw_ == Flaw::no_group_wait) return {};
    return sound_->fence(ranks, tag, deadline);
  }
  Result<Fence> fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag,
                            Deadline deadline) override {
    if (flaw_ == Flaw::polls_wrong) return Fence{1};  // and fence_left() says true at once
    return Component::fence_enter(ranks, tag, deadline);
  }
  Result<void> publish(std::string_view name, std::string_view port) override {
    if (flaw_ == Flaw::claims_names) return {};
    return sound_->publish(name, port);
  }
  Result<std::string> lookup(std::string_view name) override { return sound_->lookup(name); }
  Result<void> unpublish(std::string_view name) override {
    if (flaw_ == Flaw::keeps_names || flaw_ == Flaw::claims_names) return {};
    return sound_->unpublish(name);
  }
  void set_active(bool active) noexcept override { sound_->set_active(active); }
  void abort(int exit_code, std::string_view message) noexcept override { sound_->abort(exit_code, message); }
  int wait_fd() const noexcept override { return sound_->wait_fd(); }
  Result<void> check() override { return sound_->check(); }
  Counters counters() const noexcept override { return sound_->counters(); }

 private:
  std::unique_ptr<Component> sound_;
  Flaw flaw_;
  Identity identity_;
  Capabilities capabilities_;
};

Result<std::unique_ptr<Component>> create_broken(const Args& args) {
  Launch launch;
  launch.directory = args.params.text(kDirectory);
  launch.job = args.params.text(kJob);
  launch.rank = static_cast<std::uint32_t>(args.params.integer(kRank));
  launch.size = static_cast<std::uint32_t>(args.params.integer(kSize));
  launch.one_node = true;
  launch.deadline = Deadline::after_seconds(60);
  auto joined = SharedDirectoryPmi::join(launch);
  if (!joined) return fail(std::move(joined).error());
  return std::unique_ptr<Component>(
      std::make_unique<Broken>(std::move(*joined), args.params.choice<Flaw>(kFault)));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kBrokenParams = {kFault, kDirectory, kJob, kRank, kSize};
STARLING_PLUGIN(Framework, broken, 1, "a process manager with a fault, for tests", kBrokenParams,
                &create_broken);

}  // namespace starling::pmi
