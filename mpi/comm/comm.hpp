// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Communicators. Layer: mpi. MPI 5.0 chapter 7.
///
/// Threads:   created, changed and freed under the runtime's lock; rank, size and contexts never change.
/// Ownership: reference-counted; operations in progress hold a reference, so MPI_Comm_free returns at once.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/context_ids.hpp"
#include "core/ids.hpp"
#include "frameworks/pml/pml.hpp"
#include "mpi/attribute/attributes.hpp"
#include "mpi/errhandler/errhandler.hpp"
#include "mpi/error.hpp"
#include "mpi/group/group.hpp"
#include "mpi/handle.hpp"
#include "mpi/info/info.hpp"

namespace starling::mpi {

class Session;
namespace coll {
class NodeTeam;   // mpi/launch/node_team.hpp
class Hierarchy;  // mpi/coll/hierarchy.hpp
}  // namespace coll
class Topology;     // mpi/topology; null without one
class BsendBuffer;  // mpi/request/buffered.hpp

class Comm final : public GuardedObject {
 public:
  /// `remote` is empty for an intracommunicator.
  Comm(ContextIds ids, Ref<Group> local, Ref<Group> remote, std::uint32_t rank);
  ~Comm() override;

  /// How the processes of the own world call it.
  [[nodiscard]] ContextId id() const noexcept { return ids_.own(); }
  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Ranks that can be sent to: size() of an intracommunicator, the remote group's size of an
  /// intercommunicator.
  [[nodiscard]] std::uint32_t peer_count() const noexcept { return peer_count_; }
  [[nodiscard]] bool inter() const noexcept { return static_cast<bool>(remote_); }
  [[nodiscard]] const Ref<Group>& group() const noexcept { return local_; }
  [[nodiscard]] const Ref<Group>& remote_group() const noexcept { return remote_; }

  /// Point-to-point and collective channel of this communicator.
  [[nodiscard]] pml::Context& context() const noexcept { return *context_; }
  [[nodiscard]] pml::Context& collective_context() const noexcept { return *collective_; }
  /// Channel of partitioned communication, opened at its first use.
  [[nodiscard]] Result<pml::Context*> partitioned_context();
  /// First of `count` tags for partitions sent on that channel; they are negative, unlike the user's tags.
  [[nodiscard]] std::int32_t take_partition_tags(std::uint32_t count) noexcept;
  /// Tag of the next collective operation of a form; every member counts alike since collectives are ordered.
  /// Each form counts for itself, in 2^29 tags of its own. Of `node` the members of one node count alike:
  /// what they agree on among themselves.
  enum class Form : std::uint8_t { blocking, nonblocking, persistent, node };
  [[nodiscard]] Tag next_collective_tag(Form form = Form::blocking) noexcept {
    const auto which = static_cast<std::uint32_t>(form);
    collective_counts_[which] = (collective_counts_[which] + 1) & 0x1fffffffu;
    return Tag{static_cast<std::int32_t>(collective_counts_[which] | which << 29)};
  }

  /// How people know it: its name, or its size and id.
  [[nodiscard]] std::string label() const;
  /// The label of the living communicator with this context id; if there is none, the id.
  [[nodiscard]] static std::string label_of(ContextId id);

  Ref<Errhandler> errhandler;
  AttributeSet attributes;
  std::string name;
  Ref<Info> info;                                    ///< hints that were given, or empty
  std::shared_ptr<coll::NodeTeam> node_team;         ///< or null: no blocking collective was called yet
  std::shared_ptr<const coll::Hierarchy> hierarchy;  ///< or null: no use, or nobody has asked yet
  bool hierarchy_known = false;
  std::shared_ptr<const Topology> topology;   ///< or null
  std::shared_ptr<BsendBuffer> bsend_buffer;  ///< or null: none was ever attached
  Ref<Session> session;                       ///< the session it was made from, or empty for the world model

 private:
  friend class CommFactory;
  // Whether label_of() finds it.
  void make_known() const;
  void forget() const noexcept;

  ContextIds ids_;
  Ref<Group> local_, remote_;
  std::uint32_t rank_, size_, peer_count_;
  pml::Context* context_ = nullptr;
  pml::Context* collective_ = nullptr;
  pml::Context* partitioned_ = nullptr;
  std::uint32_t partition_tags_ = 0;                  ///< given out
  std::array<std::uint32_t, 4> collective_counts_{};  ///< by Form
};

/// error() (mpi/error.hpp), to be raised on this communicator.
[[nodiscard, gnu::cold]] inline int error_on(const Comm& comm, int error_class, std::string detail) {
  return error_on(comm.handle(), error_class, std::move(detail));
}

}  // namespace starling::mpi
