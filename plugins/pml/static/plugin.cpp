// SPDX-License-Identifier: BSD-3-Clause
// pml/static: descriptor, parameters, factory.
#include <array>
#include <memory>

#include "frameworks/plugin.hpp"
#include "frameworks/pml/params.hpp"
#include "plugins/pml/static/policy.hpp"

namespace starling::pml {

namespace {

constexpr params::Decl kLarge =
    params::choice("pml_static_large", "auto", "auto|ring|get",
                   "How messages above the eager limit move: ring: the sender pushes fragments; get: the "
                   "receiver copies from the sender's "
                   "memory, where the transport can; auto: by a measurement at the first large message.");
constexpr params::Decl kCalibrate =
    params::boolean("pml_static_calibrate", "yes",
                    "Measure get against ring once, at the first large message (some 0.2 ms). no: auto means "
                    "ring within a node. Turn it off "
                    "where ranks outnumber cores.");
constexpr params::Decl kGetMin = params::size_bytes("pml_static_get_min", "0", 0, std::int64_t{1} << 40,
                                                    "Messages below this many bytes are never moved by get.");
constexpr params::Decl kGetChunk =
    params::size_bytes("pml_static_get_chunk", "1m", 4096, 1 << 30,
                       "Bytes that one get copies before other messages are looked at again.");

STARLING_PLUGIN_PARAMS std::array kStaticParams{kLarge, kCalibrate, kGetMin, kGetChunk};

Result<std::unique_ptr<Component>> create_static(const Args& args) {
  Result<Config> config = read_config(args);
  if (!config) return fail(std::move(config).error());
  config->get_chunk_bytes = static_cast<std::uint64_t>(args.params.integer(kGetChunk));
  StaticConfig chosen;
  chosen.self = args.self;
  chosen.large = args.params.choice<StaticLarge>(kLarge);
  chosen.calibrate = args.params.boolean(kCalibrate);
  chosen.get_min = static_cast<std::uint64_t>(args.params.integer(kGetMin));
  return std::unique_ptr<Component>(
      std::make_unique<Engine>(*config, std::make_unique<StaticPolicy>(chosen)));
}

}  // namespace

STARLING_PLUGIN(Framework, static, 50, "protocol of each message by its size", kStaticParams, &create_static);

}  // namespace starling::pml
