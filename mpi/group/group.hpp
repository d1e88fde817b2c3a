// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Groups: ordered sets of processes, strided where they can be. Layer: mpi. MPI 5.0 section 7.3.
///
/// A group is {first, stride, count} of one world (COMM_WORLD costs O(1) memory) or an array of ProcIds with
/// a hashed reverse look-up that is built at the first find(). Design: docs/design/datatypes.md.
///
/// Threads:   immutable after construction; find() from any thread, also the first one.
/// Ownership: groups are reference-counted; member lists are shared and outlive them.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/proc_list.hpp"
#include "mpi/handle.hpp"

namespace starling::mpi {

class Session;

class Group final : public Object {
 public:
  explicit Group(ProcListPtr members);
  /// Made from a process set of `session` (may be empty) or from a group that was.
  Group(ProcListPtr members, const Ref<Session>& session);
  ~Group() override;

  [[nodiscard]] std::uint32_t size() const noexcept { return members_->size(); }
  [[nodiscard]] ProcId at(std::uint32_t index) const noexcept { return members_->at(index); }
  [[nodiscard]] std::optional<std::uint32_t> find(ProcId proc) const noexcept { return members_->find(proc); }
  [[nodiscard]] const ProcListPtr& members() const noexcept { return members_; }
  /// The session that communicators made from this group belong to; empty for the world model.
  [[nodiscard]] const Ref<Session>& session() const noexcept { return session_; }

 private:
  ProcListPtr members_;
  Ref<Session> session_;
};

/// {first, first + stride, ...} of one world; stride may be negative or (count <= 1) anything.
[[nodiscard]] ProcListPtr make_strided(ProcId first, std::int64_t stride, std::uint32_t count);
/// Any list without repetitions; becomes strided by itself where it is.
[[nodiscard]] ProcListPtr make_list(std::vector<ProcId> procs);
/// No process; always the same object.
[[nodiscard]] const ProcListPtr& empty_list();

/// How a strided list is made up (stride 1 if it has fewer than two members).
struct Strided {
  ProcId first;
  std::int64_t stride = 1;
  std::uint32_t count = 0;
};
/// Nothing for a list that is kept as an array.
[[nodiscard]] std::optional<Strided> strided_form(const ProcList& list) noexcept;

/// MPI_GROUP_EMPTY.
[[nodiscard]] Group* predefined_group(HandleBits handle) noexcept;

}  // namespace starling::mpi
