// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  bootstrap/hierarchical: addresses over a tree of node roots. Layer: plugin.
///
/// An exchange costs a root a get, a put if there are roots below it, and what finding its parent's card
/// takes; it costs the other members nothing. Afterwards every member has every card, once per node where
/// there is room. Threads, ownership, errors: as bootstrap.hpp says.

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "frameworks/bootstrap/agreement.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/card_client.hpp"
#include "frameworks/bootstrap/consistency.hpp"
#include "frameworks/bootstrap/exchanges.hpp"
#include "frameworks/bootstrap/group_mode.hpp"
#include "frameworks/bootstrap/roots.hpp"
#include "frameworks/bootstrap/table.hpp"
#include "plugins/bootstrap/hierarchical/book.hpp"
#include "plugins/bootstrap/hierarchical/inbox.hpp"

namespace starling::bootstrap {

class Hierarchical final : public Component {
 public:
  static constexpr std::uint32_t kArity = 4;
  static constexpr std::uint32_t kMostLostFences = 2;  ///< then no more are entered

  explicit Hierarchical(const Args& args);

  Result<void> publish(const std::vector<LocalAddress>& addresses) override {
    return card_client_.publish(addresses);
  }
  Result<void> expose() override { return card_client_.expose(); }
  Result<ContextId> create(const Creation& creation, Deadline deadline) override;
  Result<ContextId> next_context_id() override { return agreement_.next_context_id(); }
  bool exchanges_over_roots() const noexcept override { return true; }
  void on_control(ProcId from, std::span<const std::byte> message) noexcept override {
    agreement_.on_control(from, message);
  }
  void on_block(ProcId from, Block block) noexcept override;
  Result<btl::Found> address(ProcId peer, std::string_view transport) override;

 private:
  /// One exchange under way.
  struct Meeting {
    const Consistency::Call& call;
    RootsPlace place;
    Deadline deadline;
    std::string name;                       ///< for people
    std::map<ProcId, std::uint64_t> below;  ///< those whose tables have been read, and their calls
    std::vector<ProcId> waited_for;         ///< in vain
    bool published = false;                 ///< a name that has to go
    bool sent_up = false;
    bool gathered = false;    ///< all below have come
    bool fence_lost = false;  ///< that of the roots has not ended
    Deadline patience = {};   ///< when it, or who comes by one, is taken for lost

    [[nodiscard]] const Key& key() const noexcept { return call.key(); }
    [[nodiscard]] const ProcListPtr& members() const noexcept { return call.creation().members; }
  };

  /// What other members or processes have to be there for.
  [[nodiscard]] Result<void> meet_first(const Consistency::Call& call, Deadline deadline,
                                        const FindFailure& find_failure);
  [[nodiscard]] Result<ContextId> exchange(const Consistency::Call& call, Deadline deadline);
  [[nodiscard]] Error give_up(Meeting& meeting, Error error);
  [[nodiscard]] bool reaches(ProcId proc);
  // meeting.cpp
  [[nodiscard]] Result<ContextId> hold(Meeting& meeting);
  /// What ends it; looks around now and then for those that `missing` gives.
  [[nodiscard]] FindFailure failure_of(const Meeting& meeting, std::function<std::vector<ProcId>()> missing);
  [[nodiscard]] Result<void> wait_for(Meeting& meeting, const std::vector<ProcId>& senders);
  /// What a subtree sends up.
  struct Gathered {
    std::vector<TableEntry> entries;
    UpNote note;
  };
  [[nodiscard]] Result<Gathered> gather(Meeting& meeting);
  [[nodiscard]] bool covered(const Meeting& meeting) const { return exchanges_.covers(*meeting.members()); }
  [[nodiscard]] Result<Discovery> discovery_for(const Meeting& meeting) const;
  [[nodiscard]] std::string published_name(const Meeting& meeting, ProcId root) const;
  [[nodiscard]] Result<void> become_visible(Meeting& meeting, Discovery discovery);
  // lost_fence.cpp
  [[nodiscard]] Deadline patience_from_now() const;
  [[nodiscard]] bool may_lose_fence(const Meeting& meeting) const;
  [[nodiscard]] Result<void> fence_of_roots(Meeting& meeting, const FindFailure& find_failure);
  [[nodiscard]] Result<void> go_another_way(Meeting& meeting, const FindFailure& find_failure,
                                            const std::function<bool()>& needless);
  [[nodiscard]] Result<void> publish(Meeting& meeting);
  [[nodiscard]] Result<void> find_parent(Meeting& meeting, Discovery discovery);
  void look_up_parent(const Meeting& meeting);
  bool learn_by_name(const Meeting& meeting);
  [[nodiscard]] Result<void> find_by_name(const Meeting& meeting);
  [[nodiscard]] Result<void> fetch_parent(Meeting& meeting);
  [[nodiscard]] Result<ContextId> lead(const Meeting& meeting, Gathered all);
  [[nodiscard]] Result<ContextId> take_result(Meeting& meeting);
  [[nodiscard]] Result<void> send_down(const Meeting& meeting, ProcId child, Block block);
  [[nodiscard]] Result<void> pass_on(const Meeting& meeting, const Block& block);
  [[nodiscard]] Result<void> finish(const Meeting& meeting, ContextId id, Book book);

  [[nodiscard]] bool has_card(ProcId peer) const;
  [[nodiscard]] bool same_node(ProcId peer) const;
  /// The card of a block's sender, from the table in it.
  void learn_from(ProcId sender, const Block& block);
  void learn(ProcId peer, std::vector<std::byte> card);

  pmi::Component& pmi_;
  ControlChannel& control_channel_;
  ProcId self_;
  std::uint32_t world_size_;
  const NodeMap* nodes_;
  NodeStore* store_;
  GroupMode mode_;
  std::uint64_t timeout_s_, fence_timeout_s_;
  std::uint32_t fences_lost_ = 0;  // one after the other
  CardClient card_client_;
  Exchanges exchanges_;
  Exchanges ready_;   // groups whose members were all seen to be there
  Exchanges fenced_;  // the world only: then every card of the job is visible, for good
  Consistency consistency_;
  Agreement agreement_;
  Inbox inbox_;
  std::vector<Book> books_;
  std::unordered_map<ProcId, std::vector<std::byte>> known_;  // cards needed before a table has come
};

}  // namespace starling::bootstrap
