// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Which ranks share a node, where the process manager does not say. Layer: mpi. See
/// docs/design/startup.md.
///
/// Threads:   one, under the runtime's lock.
/// Errors:    a rank that published nothing; a fence that timed out.

#include <functional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "frameworks/pmi/pmi.hpp"

namespace starling::mpi {

/// A text that is equal for two processes of a job exactly if they can share memory: same boot, same user,
/// same meeting place. That is `named_place`, of shared memory with a name (shm::Component::meeting_place),
/// or the socket namespace if it is empty.
[[nodiscard]] std::string node_identity(const std::string& named_place);

/// Nodes numbered in the order of their lowest ranks, from the identity of each rank.
[[nodiscard]] Result<NodeMap> number_nodes(const std::vector<std::string>& identities);

/// The map of the whole job: collective over the world. Each rank puts its identity and gets the finished map
/// from rank 0: two fences, and no messages that grow with the job but for rank 0. `meet` is a fence of the
/// process manager over the world.
[[nodiscard]] Result<NodeMap> exchange_node_map(pmi::Component& pmi, const std::string& own,
                                                const std::function<Result<void>()>& meet);

}  // namespace starling::mpi
