// SPDX-License-Identifier: BSD-3-Clause
// Who am I, and who is where: the facts that a PMIx server has for every client. Layer: plugin.
//
// Hard here: no server tells the node of each rank in one answer, and each tells other things. Every fact is
// in the client's own memory or at the server of its node, so nothing here waits for another rank.

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "plugins/pmi/pmix/component.hpp"
#include "plugins/pmi/pmix/values.hpp"

namespace starling::pmi::pmix {
namespace {

/// Asks for what the launcher registered; a key that it did not is answered at once.
class Facts {
 public:
  Facts(const Library& library, const pmix_proc_t& self) : library_(library), self_(self) {}

  [[nodiscard]] std::optional<std::uint64_t> number(const char* key, pmix_rank_t rank) const {
    return ask<std::optional<std::uint64_t>>(key, rank, &number_of);
  }
  [[nodiscard]] std::optional<std::string> text(const char* key, pmix_rank_t rank) const {
    return ask<std::optional<std::string>>(key, rank, &text_of);
  }
  /// Ranks on each node, in the launcher's order of nodes; empty: the server does not say.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> ranks_of_nodes() const {
    std::vector<std::vector<std::uint32_t>> nodes;
    char* list = nullptr;
    if (library_.Resolve_nodes(self_.nspace, &list) != PMIX_SUCCESS || list == nullptr) return nodes;
    const std::string names = list;
    std::free(list);
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(',', at), names.size());
      nodes.push_back(ranks_on(names.substr(at, end - at)));
      at = end + 1;
    }
    return nodes;
  }

 private:
  template <class Answer, class Convert>
  Answer ask(const char* key, pmix_rank_t rank, Convert convert) const {
    const pmix_proc_t proc = proc_of(self_.nspace, rank);
    pmix_value_t* value = nullptr;
    if (library_.Get(&proc, key, nullptr, 0, &value) != PMIX_SUCCESS || value == nullptr) return std::nullopt;
    Answer answer = convert(*value);
    library_.Value_destruct(value);
    std::free(value);
    return answer;
  }
  std::vector<std::uint32_t> ranks_on(const std::string& node) const {
    pmix_proc_t* procs = nullptr;
    std::size_t count = 0;
    std::vector<std::uint32_t> ranks;
    if (library_.Resolve_peers(node.c_str(), self_.nspace, &procs, &count) != PMIX_SUCCESS) return ranks;
    for (std::size_t i = 0; i < count; ++i) ranks.push_back(procs[i].rank);
    std::free(procs);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

  const Library& library_;
  const pmix_proc_t& self_;
};

/// The map of a job; unknown unless every rank is on one node. Nodes are numbered by their lowest ranks.
NodeMap map_of(std::vector<std::vector<std::uint32_t>> nodes, std::uint32_t size) {
  constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  std::erase_if(nodes, [](const auto& ranks) { return ranks.empty(); });
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.front() < b.front(); });
  std::vector<std::uint32_t> node_of(size, kNowhere);
  for (std::uint32_t node = 0; node < nodes.size(); ++node) {
    for (const std::uint32_t rank : nodes[node]) {
      if (rank >= size || node_of[rank] != kNowhere) return {};
      node_of[rank] = node;
    }
  }
  if (std::find(node_of.begin(), node_of.end(), kNowhere) != node_of.end()) return {};
  const auto count = static_cast<std::uint32_t>(nodes.size());
  bool cyclic = true;
  for (std::uint32_t rank = 0; rank < size; ++rank) cyclic = cyclic && node_of[rank] == rank % count;
  if (cyclic) return NodeMap({{0, count, 1}});  // it wraps
  std::vector<NodeMap::Block> blocks;
  for (const std::uint32_t node : node_of) {
    if (!blocks.empty() && blocks.back().first_node == node) {
      ++blocks.back().ranks_each;
    } else {
      blocks.push_back({node, 1, 1});
    }
  }
  // Written out and read again, so that it is in the same form as every other map.
  auto map = NodeMap::parse(NodeMap(std::move(blocks)).text());
  return map ? std::move(*map) : NodeMap{};
}

/// A name without the characters that names of shared memory cannot have.
std::string job_name(std::string_view nspace) {
  std::string name = "pmix-" + std::string(nspace);
  std::replace_if(
      name.begin(), name.end(), [](char byte) { return byte == '/' || byte == ' '; }, '_');
  return name;
}

struct ServerKind {
  const char* name;
  bool name_service;
};

ServerKind server_of(const Getenv& get, std::string_view nspace) {
  if (is_set(get, "SLURM_PMIX_MAPPING_SERV") || nspace.starts_with("slurm.pmix")) return {"Slurm", false};
  if (is_set(get, "PRTE_LAUNCHED") || nspace.starts_with("prterun-")) return {"PRRTE", true};
  if (is_set(get, "OMPI_COMM_WORLD_SIZE")) return {"Open MPI's mpirun", true};
  return {"a PMIx launcher", true};
}

}  // namespace

Result<void> Pmix::identify(const Getenv& get) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int32_t>::max();
  const Facts facts(library_, self_);
  const auto size = facts.number(PMIX_JOB_SIZE, PMIX_RANK_WILDCARD);
  if (!size || *size == 0 || *size > kMost || self_.rank >= *size) {
    return fail(Errc::bad_input, kPmix,
                "rank " + std::to_string(self_.rank) + " of a job of " +
                    (size ? "size " + std::to_string(*size) : "unknown size") +
                    " makes no sense (the PMIx server's pmix.job.size)");
  }
  identity_.job = job_name(self_.nspace);
  identity_.rank = self_.rank;
  identity_.size = static_cast<std::uint32_t>(*size);
  // Open MPI's mpirun may say less than the job has.
  if (const auto universe = facts.number(PMIX_UNIV_SIZE, PMIX_RANK_WILDCARD); universe && *universe <= kMost)
    identity_.universe_size = std::max(static_cast<std::uint32_t>(*universe), identity_.size);
  if (const auto app = facts.number(PMIX_APPNUM, self_.rank); app && *app <= kMost)
    identity_.appnum = static_cast<std::uint32_t>(*app);
  if (const auto map = facts.text(PMIX_ANL_MAP, PMIX_RANK_WILDCARD)) {
    if (auto parsed = NodeMap::parse(*map)) identity_.nodes = std::move(*parsed);
  }
  if (identity_.nodes.unknown()) identity_.nodes = map_of(facts.ranks_of_nodes(), identity_.size);

  const ServerKind server = server_of(get, self_.nspace);
  const char* const version = get("PMIX_VERSION");
  capabilities_.get_without_fence = true;
  capabilities_.name_service = server.name_service;
  capabilities_.server =
      std::string("PMIx ") + (version != nullptr ? version : "of unknown version") + " (" + server.name + ")";
  return {};
}

}  // namespace starling::pmi::pmix
