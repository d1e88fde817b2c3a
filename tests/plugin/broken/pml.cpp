// SPDX-License-Identifier: BSD-3-Clause
// pml/broken: the engine behind a front with one fault that a parameter chooses. Layer: tests.

#include <array>
#include <memory>
#include <vector>

#include "frameworks/plugin.hpp"
#include "frameworks/pml/chooser.hpp"
#include "frameworks/pml/engine.hpp"
#include "frameworks/pml/params.hpp"

namespace starling::pml {
namespace {

enum class Flaw { none, order, damages, hangs_sync, ends_sync, keeps_receives, takes_probed, mixes_contexts };
constexpr params::Decl kFault =
    params::choice("pml_broken_fault", "none",
                   "none|order|damages|hangs_sync|ends_sync|keeps_receives|takes_probed|mixes_contexts",
                   "What this pml does wrong.");

class Ring final : public Chooser {
 public:
  LargeChoice choose(const LargeReceive&) noexcept override { return {Large::ring}; }
  void took(std::uint32_t, std::uint64_t, std::uint64_t) noexcept override {}
  std::vector<std::string> notes() const override { return {}; }
};

class Broken final : public Component {
 public:
  Broken(const Args& args, const Config& config)
      : engine_(args.peers, config, std::make_unique<Ring>()), flaw_(args.params.choice<Flaw>(kFault)) {}

  Result<Context*> open(ContextIds ids, Rank my_rank, ProcListPtr ranks) override {
    if (flaw_ == Flaw::mixes_contexts && first_ != nullptr) return first_;
    auto opened = engine_.open(std::move(ids), my_rank, std::move(ranks));
    if (opened) first_ = *opened;
    return opened;
  }
  void close(Context* context) noexcept override {
    if (flaw_ != Flaw::keeps_receives) engine_.close(context);
  }
  void isend(Request& request) noexcept override {
    if (flaw_ == Flaw::ends_sync && request.mode == Mode::synchronous) request.mode = Mode::standard;
    if (flaw_ == Flaw::hangs_sync && request.mode == Mode::synchronous) return;
    if (flaw_ == Flaw::damages && request.buffer.bytes > 20'000)
      static_cast<std::byte*>(const_cast<void*>(request.buffer.base))[15'000] ^= std::byte{1};
    if (flaw_ != Flaw::order) return engine_.isend(request);
    // Of two short messages the second goes first.
    if (held_ == nullptr && request.buffer.bytes == 1 && request.tag == Tag{1}) {
      held_ = &request;
      return;
    }
    engine_.isend(request);
    if (held_ != nullptr) engine_.isend(*held_);
    held_ = nullptr;
  }
  Post try_send(Context& context, Rank rank, Tag tag, const void* data, std::size_t bytes) noexcept override {
    return engine_.try_send(context, rank, tag, data, bytes);
  }
  Post try_isend(Context& context, Rank rank, Tag tag, const void* data,
                 std::size_t bytes) noexcept override {
    return engine_.try_isend(context, rank, tag, data, bytes);
  }
  void irecv(Request& request) noexcept override { engine_.irecv(request); }
  bool probe(Context& context, Rank source, Tag tag, Status* status) noexcept override {
    if (flaw_ == Flaw::takes_probed) return engine_.mprobe(context, source, tag, status) != nullptr;
    return engine_.probe(context, source, tag, status);
  }
  Message* mprobe(Context& context, Rank source, Tag tag, Status* status) noexcept override {
    return engine_.mprobe(context, source, tag, status);
  }
  void mrecv(Message* message, Request& request) noexcept override { engine_.mrecv(message, request); }
  Fault lost(const Context& context, Rank source) const noexcept override {
    return engine_.lost(context, source);
  }
  bool hopeless(const Request& request) const noexcept override { return engine_.hopeless(request); }
  void give_up(Request& request) noexcept override { engine_.give_up(request); }
  void cancel(Request& request) noexcept override { engine_.cancel(request); }
  Counters counters() const override { return engine_.counters(); }
  std::vector<PeerTraffic> traffic() const override { return engine_.traffic(); }
  std::vector<Pending> pending() const override { return engine_.pending(); }
  void note_time(std::uint64_t now_ns) noexcept override { engine_.note_time(now_ns); }

 private:
  Engine engine_;
  Flaw flaw_;
  Context* first_ = nullptr;
  Request* held_ = nullptr;
};

Result<std::unique_ptr<Component>> create_broken(const Args& args) {
  Result<Config> config = read_config(args);
  if (!config) return fail(std::move(config).error());
  return std::unique_ptr<Component>(std::make_unique<Broken>(args, *config));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kBrokenParams = {kFault};
STARLING_PLUGIN(Framework, broken, 1, "a pml with a fault, for tests", kBrokenParams, &create_broken);

}  // namespace starling::pml
