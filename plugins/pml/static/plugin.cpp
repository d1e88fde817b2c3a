// SPDX-License-Identifier: BSD-3-Clause
// pml/static: descriptor, parameters, factory.
#include <array>
#include <memory>
#include <utility>

#include "frameworks/plugin.hpp"
#include "frameworks/pml/params.hpp"
#include "frameworks/pml/trials_file.hpp"
#include "plugins/pml/static/policy.hpp"

namespace starling::pml {

namespace {

constexpr params::Decl kLarge =
    params::choice("pml_static_large", "auto", "auto|ring|get",
                   "How messages above the eager limit move: ring: the sender pushes fragments; get: the "
                   "receiver copies from the sender's memory, where the transport can; auto: as was faster "
                   "for the first messages of their size, tried again from time to time.");
constexpr params::Decl kGetMin = params::size_bytes("pml_static_get_min", "0", 0, std::int64_t{1} << 40,
                                                    "Messages below this many bytes are never moved by get.");
constexpr params::Decl kGetChunk =
    params::size_bytes("pml_static_get_chunk", "4m", 4096, 1 << 30,
                       "Bytes that one get copies before other messages are looked at again.");

constexpr params::Decl kLoans = params::integer(
    "pml_static_loans", "-1", -1, 4096,
    "Processes of the node that this one lends pages to, through a pipe for each, while both send long "
    "messages to each other; with pml_static_large=auto only. -1: 32 divided by the number of processes, "
    "at most 8.");
constexpr params::Decl kLendMin =
    params::size_bytes("pml_static_lend_min", "32k", 4096, std::int64_t{1} << 40,
                       "Messages below this many bytes are never moved by lending pages.");

STARLING_PLUGIN_PARAMS std::array kStaticParams{kLarge, kGetMin, kGetChunk, kLoans, kLendMin};

Result<std::unique_ptr<Component>> create_static(const Args& args) {
  Result<Config> config = read_config(args);
  if (!config) return fail(std::move(config).error());
  config->get_chunk_bytes = static_cast<std::uint64_t>(args.params.integer(kGetChunk));
  config->loans = loans_of(args.params.integer(kLoans), args.world_size);
  StaticConfig chosen;
  chosen.self = args.self;
  chosen.large = args.params.choice<StaticLarge>(kLarge);
  chosen.lend_min = static_cast<std::uint64_t>(args.params.integer(kLendMin));
  chosen.get_min = static_cast<std::uint64_t>(args.params.integer(kGetMin));
  Protocols protocols = standard_protocols(*config);
  if (chosen.large == StaticLarge::ring) protocols.resize(1);  // then nothing is probed or offered either
  auto trials = std::make_unique<TrialsFile>(args.params.text(kTrialsFile),
                                             Findings::Origin{"static", STARLING_PLUGIN_VERSION, {}},
                                             args.self.rank == 0);
  return std::unique_ptr<Component>(std::make_unique<Engine>(
      args.peers, *config, std::make_unique<StaticPolicy>(chosen, std::move(trials)), std::move(protocols)));
}

}  // namespace

STARLING_PLUGIN(Framework, static, 50,
                "protocol by size; learns per size which one moves long messages fastest", kStaticParams,
                &create_static);

}  // namespace starling::pml
