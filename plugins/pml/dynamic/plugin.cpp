// SPDX-License-Identifier: BSD-3-Clause
// pml/dynamic: descriptor, parameters, factory.
#include <array>
#include <memory>
#include <utility>

#include "frameworks/plugin.hpp"
#include "frameworks/pml/engine.hpp"
#include "frameworks/pml/params.hpp"
#include "frameworks/pml/trials_file.hpp"
#include "plugins/pml/dynamic/policy.hpp"

namespace starling::pml {

namespace {

constexpr params::Decl kLarge = params::choice("pml_dynamic_large", "auto", "auto|ring|get|lend|claim",
                                               "How messages above the eager limit move within a node: auto: "
                                               "as was faster for the first messages of the "
                                               "pair and size; claim: receiver, sender and who waits copy "
                                               "chunks, out of memory of MPI_Alloc_mem; the others "
                                               "as in pml_static_large. What is not possible goes by ring.");
constexpr params::Decl kRule = params::choice(
    "pml_dynamic_policy", "model", "model|popcount",
    "What decides how memory that both sides can map is copied: model: trials of real transfers; popcount: "
    "how many "
    "processes took part in the last copy (1: the receiver alone, 2: halves, more: as many chunks).");
constexpr params::Decl kSteal = params::choice("pml_dynamic_steal", "auto", "auto|always|never",
                                               "Whether processes that wait copy parts of others' messages: "
                                               "auto: those that share an L3 cache or NUMA node with "
                                               "the receiver, unless there are more processes than cores.");
constexpr params::Decl kGetChunk =
    params::size_bytes("pml_dynamic_get_chunk", "4m", 4096, 1 << 30,
                       "Bytes that one get copies before other messages are looked at again.");
constexpr params::Decl kLoans =
    params::integer("pml_dynamic_loans", "-1", -1, 4096,
                    "Processes of the node that this one lends pages to, through a pipe for each, while both "
                    "send long messages to "
                    "each other. -1: 32 divided by the number of processes, at most 8.");
constexpr params::Decl kLendMin =
    params::size_bytes("pml_dynamic_lend_min", "32k", 4096, std::int64_t{1} << 40,
                       "Messages below this many bytes are never moved by lending pages.");

STARLING_PLUGIN_PARAMS std::array kDynamicParams{kLarge, kRule, kSteal, kGetChunk, kLoans, kLendMin};

Result<std::unique_ptr<Component>> create_dynamic(const Args& args) {
  Result<Config> config = read_config(args);
  if (!config) return fail(std::move(config).error());
  config->get_chunk_bytes = static_cast<std::uint64_t>(args.params.integer(kGetChunk));
  config->loans = loans_of(args.params.integer(kLoans), args.world_size);
  DynamicConfig chosen;
  chosen.self = args.self;
  chosen.large = args.params.choice<DynamicLarge>(kLarge);
  chosen.rule = args.params.choice<DynamicRule>(kRule);
  chosen.steal = args.params.choice<shm::Steal>(kSteal);
  chosen.lend_min = static_cast<std::uint64_t>(args.params.integer(kLendMin));
  auto policy = std::make_unique<DynamicPolicy>(
      chosen, std::make_unique<TrialsFile>(args.params.text(kTrialsFile),
                                           Findings::Origin{"dynamic", STARLING_PLUGIN_VERSION, {}},
                                           args.self.rank == 0));
  Protocols protocols = standard_protocols(*config);
  protocols.push_back(std::make_unique<ClaimProtocol>(*policy));
  if (Result<void> sound = Rendezvous::check(protocols); !sound) return fail(std::move(sound).error());
  return std::unique_ptr<Component>(
      std::make_unique<Engine>(args.peers, *config, std::move(policy), std::move(protocols)));
}

}  // namespace

STARLING_PLUGIN(Framework, dynamic, 40, "protocol of each message by what its pair has found", kDynamicParams,
                &create_dynamic);

}  // namespace starling::pml
