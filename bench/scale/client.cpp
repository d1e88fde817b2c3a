// SPDX-License-Identifier: BSD-3-Clause
// Requests to the simulated process manager. Layer: bench.

#include "bench/scale/client.hpp"

#include "bench/scale/process.hpp"
#include "bench/scale/world.hpp"

namespace starling::scale {
namespace {

constexpr char kWhere[] = "simulated process manager";

}  // namespace

Client::Client(Process& process) : process_(process) {
  identity_.rank = process.rank();
  identity_.size = process.world().setup().ranks;
}

const pmi::Capabilities& Client::capabilities() const noexcept { return process_.world().setup().pmi; }

Result<void> Client::put(std::string_view key, std::span<const std::byte> value) {
  World& world = process_.world();
  const std::string text = pmi::ValueCodec::encode(value);
  const auto pieces = world.codec().pieces(text);
  for (std::size_t i = pieces.size(); i-- > 0;) {
    ++counters_.puts;
    std::string name = world.codec().key_name(identity_.rank, key, i);
    counters_.bytes_sent += name.size() + pieces[i].size();
    process_.ask(name.size() + pieces[i].size(), [&world, name, piece = std::string(pieces[i])] {
      world.values.insert_or_assign(name, piece);
    });
  }
  return {};
}

std::optional<std::string> Client::get_text(std::uint32_t rank, std::string_view key, std::size_t piece) {
  World& world = process_.world();
  ++counters_.gets;
  const std::string name = world.codec().key_name(rank, key, piece);
  std::optional<std::string> found;
  process_.ask(name.size(), [&] {
    const auto at = world.values.find(name);
    if (at != world.values.end()) found = at->second;
  });
  counters_.bytes_sent += name.size();
  counters_.bytes_received += found ? found->size() : 0;
  return found;
}

Result<pmi::Lookup> Client::get(std::uint32_t rank, std::string_view key) {
  const pmi::ValueCodec& codec = process_.world().codec();
  auto first = get_text(rank, key, 0);
  if (!first) {
    const bool later = capabilities().get_without_fence;
    counters_.early_gets += later ? 1 : 0;
    return pmi::Lookup{later ? pmi::Found::not_yet : pmi::Found::none, {}};
  }
  auto count = codec.piece_count(*first);
  if (!count) return fail(std::move(count).error());
  std::string text = std::move(*first);
  for (std::size_t i = 1; i < *count; ++i) {
    auto piece = get_text(rank, key, i);
    if (!piece) return fail(Errc::bad_input, kWhere, "a piece of a value is missing");
    text += *piece;
  }
  auto value = pmi::ValueCodec::decode(text);
  if (!value) return fail(std::move(value).error());
  return pmi::Lookup{pmi::Found::value, std::move(*value)};
}

Result<void> Client::fence(Deadline deadline) { return process_.fence({}, {}, deadline, {}); }

Result<void> Client::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) {
  return process_.fence(ranks, tag, deadline, {});
}

Result<pmi::Fence> Client::fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline) {
  if (ranks.size() == 1) return pmi::Fence{};
  World& world = process_.world();
  ++counters_.fences;
  std::string name(tag);
  std::uint64_t bytes = tag.size();
  for (const std::uint32_t rank : ranks) bytes += std::to_string(rank).size() + 1;
  counters_.bytes_sent += bytes;
  const std::uint32_t number = ++entered_;
  const auto size = static_cast<std::uint32_t>(ranks.size());
  std::vector<std::uint32_t> members;
  if (process_.rank() == (ranks.empty() ? 0 : ranks.front())) members.assign(ranks.begin(), ranks.end());
  world.request(
      process_.clock(), bytes,
      [&world, name, size, members = std::move(members)] { world.entered_fence(name, size, members); }, {});
  return pmi::Fence{number};
}

Result<bool> Client::fence_left(pmi::Fence fence) {
  return fence.number == pmi::Fence::kLeft || fence.number <= left_;
}

Result<void> Client::publish(std::string_view name, std::string_view port) {
  World& world = process_.world();
  ++counters_.other;
  counters_.bytes_sent += name.size() + port.size();
  process_.ask(name.size() + port.size(),
               [&] { world.names.insert_or_assign(std::string(name), std::string(port)); });
  return {};
}

Result<std::string> Client::lookup(std::string_view name) {
  World& world = process_.world();
  ++counters_.other;
  std::optional<std::string> found;
  process_.ask(name.size(), [&] {
    const auto at = world.names.find(std::string(name));
    if (at != world.names.end()) found = at->second;
  });
  counters_.bytes_sent += name.size();
  if (!found) return fail(Errc::not_found, kWhere, "the name is not published");
  counters_.bytes_received += found->size();
  return *found;
}

Result<void> Client::unpublish(std::string_view name) {
  World& world = process_.world();
  ++counters_.other;
  counters_.bytes_sent += name.size();
  process_.ask(name.size(), [&] { world.names.erase(std::string(name)); });
  return {};
}

}  // namespace starling::scale
