// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  bootstrap/hierarchical: addresses over a tree of node roots. Layer: plugin.
///
/// An exchange costs a root one put, one get and what the way to its parent's card needs; the other members
/// nothing but their put. Afterwards every member has every card, once per node where the segment has room.
/// Threads, ownership, errors: as bootstrap.hpp says.

#include <memory>
#include <unordered_map>
#include <vector>

#include "frameworks/bootstrap/agreement.hpp"
#include "frameworks/bootstrap/bootstrap.hpp"
#include "frameworks/bootstrap/card_desk.hpp"
#include "frameworks/bootstrap/exchanges.hpp"
#include "frameworks/bootstrap/group_mode.hpp"
#include "frameworks/bootstrap/roots.hpp"
#include "frameworks/bootstrap/table.hpp"
#include "plugins/bootstrap/hierarchical/pieces.hpp"

namespace starling::bootstrap {

class Hierarchical final : public Component {
 public:
  static constexpr std::uint32_t kArity = 4;

  explicit Hierarchical(const Args& args);

  Result<void> publish(const std::vector<LocalAddress>& addresses) override {
    return desk_.publish(addresses);
  }
  Result<ContextId> create(const Creation& creation, Deadline deadline) override;
  Result<ContextId> next_context_id() override { return agreement_.next_context_id(); }
  void on_control(ProcId from, std::span<const std::byte> message) noexcept override;
  Result<btl::Found> address(ProcId peer, std::string_view transport) override;

 private:
  /// Cards that came in an exchange: in the node's segment, or here.
  struct Book {
    Table table;
    std::vector<std::byte> own;
  };
  /// One exchange under way.
  struct Meeting {
    const Creation& creation;
    Key key;
    RootsPlace place;
    Deadline deadline;
    std::string name;  ///< for people
  };

  [[nodiscard]] Result<ContextId> exchange(const Creation& creation, const Key& key, Deadline deadline);
  // meeting.cpp
  [[nodiscard]] Result<ContextId> hold(const Meeting& meeting);
  [[nodiscard]] Result<void> wait_for(const Meeting& meeting, const std::vector<ProcId>& senders);
  /// What a subtree sends up.
  struct Gathered {
    std::vector<TableEntry> entries;
    bool wants_table = false;  ///< somebody in it did not know all members before
  };
  [[nodiscard]] Result<Gathered> gather(const Meeting& meeting);
  [[nodiscard]] bool covered(const Meeting& meeting) const {
    return exchanges_.covers(*meeting.creation.members);
  }
  [[nodiscard]] Result<Way> way_for(const Meeting& meeting) const;
  [[nodiscard]] Result<void> find_parent(const Meeting& meeting, Way way);
  [[nodiscard]] Result<void> find_by_name(const Meeting& meeting);
  [[nodiscard]] Result<void> fetch_parent(const Meeting& meeting);
  [[nodiscard]] Result<ContextId> take_result(const Meeting& meeting);
  [[nodiscard]] Result<void> spread(const Meeting& meeting, ContextId id, const Book* book);

  [[nodiscard]] Result<void> keep(std::vector<std::byte> block, bool share);
  void learn(ProcId peer, std::vector<std::byte> card);

  pmi::Component& pmi_;
  Courier& courier_;
  ProcId self_;
  std::uint32_t world_size_;
  Places places_;
  shm::NodeSegment* segment_;
  GroupMode mode_;
  CardDesk desk_;
  Exchanges exchanges_;
  Exchanges ready_;   // groups whose members were all seen to be there
  Exchanges fenced_;  // the world only: then every card of the job is visible, for good
  Agreement agreement_;
  Inbox inbox_;
  std::unordered_map<Key, std::uint64_t, KeyHash> epochs_;  // per group and tag, for the life of the process
  std::vector<std::unique_ptr<Book>> books_;
  std::unordered_map<ProcId, std::vector<std::byte>> known_;  // cards needed before a table has come
};

}  // namespace starling::bootstrap
