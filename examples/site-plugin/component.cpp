// SPDX-License-Identifier: BSD-3-Clause
// Joining, values and fences by files. Hard: a fence must not make each process look at a file of every
// other, so members report up a binary tree and one file lets all of them go. Layer: plugin.

#include "component.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace starling::pmi {
namespace {

constexpr char kWhere[] = "pmi/shareddir";
constexpr std::size_t kMaxFileName = 255;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void sleep_ns(std::uint64_t ns) noexcept {
  const timespec wait{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  ::nanosleep(&wait, nullptr);
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// 64 bits that two different groups or tags share only by an accident that no job will see.
std::string group_id(std::span<const std::uint32_t> ranks, std::string_view tag) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3u;
  };
  add(std::as_bytes(ranks));
  add(bytes_of(tag));
  char text[24];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

bool valid_job(std::string_view job) noexcept {
  return !job.starts_with('.') && job.size() <= 64 && std::all_of(job.begin(), job.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

}  // namespace

Result<std::unique_ptr<Component>> SharedDirectoryPmi::join(const Launch& launch) {
  if (launch.directory.front() != '/') {
    return fail(Errc::bad_parameter, kWhere,
                "pmi_shareddir_dir is '" + launch.directory + "', expected an absolute path");
  }
  if (!valid_job(launch.job)) {
    return fail(
        Errc::bad_parameter, kWhere,
        "pmi_shareddir_job is '" + launch.job + "', expected at most 64 letters, digits, '_', '-' and '.'");
  }
  if (launch.rank >= launch.size) {
    return fail(Errc::bad_parameter, kWhere,
                "pmi_shareddir_rank is " + std::to_string(launch.rank) +
                    ", expected below pmi_shareddir_size, which is " + std::to_string(launch.size));
  }
  std::unique_ptr<SharedDirectoryPmi> component(new SharedDirectoryPmi(launch));
  if (auto entered = component->enter(launch); !entered) return fail(std::move(entered).error());
  return std::unique_ptr<Component>(std::move(component));
}

SharedDirectoryPmi::SharedDirectoryPmi(const Launch& launch)
    : directory_(launch.directory + "/" + launch.job, std::to_string(launch.rank)),
      names_(launch.directory, launch.job + "." + std::to_string(launch.rank)),
      poll_ns_(launch.poll_ns) {
  identity_.job = launch.job;
  identity_.rank = launch.rank;
  identity_.size = launch.size;
  capabilities_.group_fence = true;
  capabilities_.tagged_barrier = true;
  capabilities_.name_service = true;
  capabilities_.server = "files in " + directory_.path();
}

Result<void> SharedDirectoryPmi::enter(const Launch& launch) {
  if (auto made = directory_.make(); !made) return made;
  auto mine = directory_.create("rank." + std::to_string(identity_.rank), bytes_of(host_name()));
  if (!mine && mine.error().code == Errc::denied) {
    return fail(Errc::denied, kWhere,
                mine.error().detail +
                    ": a job of this name has been started before; choose another pmi_shareddir_job, or "
                    "remove " +
                    directory_.path());
  }
  if (!mine) return mine;
  if (launch.one_node) {
    identity_.nodes = NodeMap::one_node(identity_.size);
    return {};
  }
  auto nodes = nodes_of_all(launch.deadline);
  if (!nodes) return fail(std::move(nodes).error());
  identity_.nodes = *std::move(nodes);
  return {};
}

/// Rank 0 reads every host name and writes the map; the others read one file.
Result<NodeMap> SharedDirectoryPmi::nodes_of_all(Deadline deadline) {
  if (identity_.rank == 0) {
    std::map<std::string, std::uint32_t> nodes;
    std::vector<NodeMap::Block> blocks;
    for (std::uint32_t rank = 0; rank < identity_.size; ++rank) {
      const std::string name = "rank." + std::to_string(rank);
      if (auto there = wait_for(name, "rank " + std::to_string(rank), deadline); !there)
        return fail(there.error());
      auto host = directory_.read(name);
      if (!host) return fail(std::move(host).error());
      const auto next = static_cast<std::uint32_t>(nodes.size());
      const std::uint32_t node = nodes.emplace(text_of(*host), next).first->second;
      if (!blocks.empty() && blocks.back().first_node == node) {
        ++blocks.back().ranks_each;
      } else {
        blocks.push_back({node, 1, 1});
      }
    }
    NodeMap map(std::move(blocks));
    if (auto written = directory_.write("nodes", bytes_of(map.text())); !written)
      return fail(written.error());
    return map;
  }
  if (auto there = wait_for("nodes", "rank 0, which waits for all others", deadline); !there)
    return fail(there.error());
  auto text = directory_.read("nodes");
  if (!text) return fail(std::move(text).error());
  return NodeMap::parse(text_of(*text));
}

Result<void> SharedDirectoryPmi::wait_for(const std::string& name, const std::string& whom,
                                          Deadline deadline) {
  while (!directory_.exists(name)) {
    if (auto alive = check(); !alive) return alive;
    if (deadline.passed()) {
      return fail(Errc::timed_out, kWhere,
                  "waited in vain for " + whom + " (file " + directory_.path() + "/" + name + ")");
    }
    sleep_ns(std::min(poll_ns_, deadline.left_ns()));
  }
  return {};
}

Result<void> SharedDirectoryPmi::put(std::string_view key, std::span<const std::byte> value) {
  const std::string name = "value." + std::to_string(identity_.rank) + "." + file_name_of(key);
  if (value.size() > kMaxValueBytes || name.size() > kMaxFileName) {
    return fail(Errc::no_space, kWhere, "put of '" + std::string(key) + "': key or value is too long");
  }
  ++counters_.puts;
  counters_.bytes_sent += value.size();
  return directory_.write(name, value);
}

Result<Lookup> SharedDirectoryPmi::get(std::uint32_t rank, std::string_view key) {
  ++counters_.gets;
  auto value = directory_.read("value." + std::to_string(rank) + "." + file_name_of(key));
  if (!value && value.error().code == Errc::not_found) return Lookup{Found::none, {}};
  if (!value) return fail(std::move(value).error());
  counters_.bytes_received += value->size();
  return Lookup{Found::value, *std::move(value)};
}

template <class RankOf>
Result<void> SharedDirectoryPmi::tree_fence(const std::string& id, std::uint32_t index, std::uint32_t count,
                                            RankOf rank_of, Deadline deadline) {
  ++counters_.fences;
  const std::string prefix = "fence." + id + ".";
  for (const std::uint64_t child : {2 * std::uint64_t{index} + 1, 2 * std::uint64_t{index} + 2}) {
    if (child >= count) break;
    const std::string whom = "rank " + std::to_string(rank_of(static_cast<std::uint32_t>(child)));
    if (auto arrived = wait_for(prefix + std::to_string(child), whom, deadline); !arrived) return arrived;
  }
  if (index == 0) return directory_.write(prefix + "go", {});
  if (auto said = directory_.write(prefix + std::to_string(index), {}); !said) return said;
  return wait_for(prefix + "go", "rank " + std::to_string(rank_of(0)) + ", which waits for all others",
                  deadline);
}

Result<void> SharedDirectoryPmi::fence(Deadline deadline) {
  const std::string id = "world-" + std::to_string(world_fences_++);
  return tree_fence(
      id, identity_.rank, identity_.size, [](std::uint32_t index) { return index; }, deadline);
}

Result<void> SharedDirectoryPmi::fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                                       Deadline deadline) {
  const auto mine = std::lower_bound(ranks.begin(), ranks.end(), identity_.rank);
  if (mine == ranks.end() || *mine != identity_.rank) {
    return fail(Errc::internal, kWhere, "fence of a group without this process");
  }
  const std::string group = group_id(ranks, tag);
  const std::string id = group + "-" + std::to_string(group_fences_[group]++);
  return tree_fence(
      id, static_cast<std::uint32_t>(mine - ranks.begin()), static_cast<std::uint32_t>(ranks.size()),
      [&](std::uint32_t index) { return ranks[index]; }, deadline);
}

Result<void> SharedDirectoryPmi::publish(std::string_view name, std::string_view port) {
  ++counters_.other;
  return names_.create("name." + file_name_of(name), bytes_of(port));
}

Result<std::string> SharedDirectoryPmi::lookup(std::string_view name) {
  ++counters_.other;
  auto port = names_.read("name." + file_name_of(name));
  if (!port) return fail(std::move(port).error());
  return text_of(*port);
}

Result<void> SharedDirectoryPmi::unpublish(std::string_view name) {
  ++counters_.other;
  return names_.remove("name." + file_name_of(name));
}

void SharedDirectoryPmi::abort(int exit_code, std::string_view message) noexcept {
  try {
    const std::string text = "rank " + std::to_string(identity_.rank) + " ended the job with code " +
                             std::to_string(exit_code) + (message.empty() ? "" : ": ") + std::string(message);
    [[maybe_unused]] const auto told =
        directory_.create("abort", bytes_of(text));  // the first one's reason counts
  } catch (const std::exception&) {
    // Without memory nobody can be told; this process ends all the same, and the others time out.
  }
}

Result<void> SharedDirectoryPmi::check() {
  if (!directory_.exists("abort")) return {};
  auto reason = directory_.read("abort");
  return fail(Errc::peer_lost, kWhere, reason ? text_of(*reason) : std::string("the job was ended"));
}

}  // namespace starling::pmi
