// SPDX-License-Identifier: BSD-3-Clause
// pmi/shareddir as a plugin: parameters, factory, descriptor. Layer: plugin.

#include <array>
#include <string>

#include "component.hpp"
#include "frameworks/plugin.hpp"

namespace starling::pmi {
namespace {

constexpr params::Decl kDirectory = params::text(
    "pmi_shareddir_dir", "",
    "Directory that all processes of the job see, on a shared file system if they are on several nodes.");
constexpr params::Decl kJob =
    params::text("pmi_shareddir_job", "",
                 "Name of the job: letters, digits, '_', '-' and '.'. Every job needs a name of its own.");
constexpr params::Decl kRank =
    params::integer("pmi_shareddir_rank", "-1", -1, (1 << 24) - 1, "Rank of this process.");
constexpr params::Decl kSize =
    params::integer("pmi_shareddir_size", "0", 0, 1 << 24, "Number of processes of the job.");
constexpr params::Decl kOneNode =
    params::boolean("pmi_shareddir_one_node", "0",
                    "All processes are on one node; otherwise they tell each other their host names.");
constexpr params::Decl kPoll = params::integer(
    "pmi_shareddir_poll_us", "2000", 10, 10'000'000,
    "Microseconds between two looks at a file that is waited for. Larger spares a busy file server.");
constexpr params::Decl kTimeout =
    params::integer("pmi_shareddir_timeout", "300", 0, 1'000'000,
                    "Seconds to wait for the other processes at start; 0 waits for ever.");

Unexpected unset(const params::Decl& decl) {
  return fail(Errc::unsupported, "pmi/shareddir",
              "parameter " + std::string(decl.name.view()) + " is not set; expected " +
                  std::string(decl.help.view()));
}

Result<std::unique_ptr<Component>> create_shareddir(const Args& args) {
  const params::Registry& params = args.params;
  Launch launch;
  launch.directory = params.text(kDirectory);
  launch.job = params.text(kJob);
  launch.one_node = params.boolean(kOneNode);
  launch.poll_ns = static_cast<std::uint64_t>(params.integer(kPoll)) * 1000;
  launch.deadline = Deadline::after_seconds(static_cast<std::uint64_t>(params.integer(kTimeout)));
  if (launch.directory.empty()) return unset(kDirectory);
  if (launch.job.empty()) return unset(kJob);
  if (params.integer(kRank) < 0) return unset(kRank);
  if (params.integer(kSize) == 0) return unset(kSize);
  launch.rank = static_cast<std::uint32_t>(params.integer(kRank));
  launch.size = static_cast<std::uint32_t>(params.integer(kSize));
  return SharedDirectoryPmi::join(launch);
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kShareddirParams = {kDirectory, kJob,  kRank,   kSize,
                                                      kOneNode,   kPoll, kTimeout};
STARLING_PLUGIN(Framework, shareddir, 5, "processes that meet in a shared directory", kShareddirParams,
                &create_shareddir);

}  // namespace starling::pmi
