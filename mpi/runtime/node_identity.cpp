// SPDX-License-Identifier: BSD-3-Clause
// Finding out who shares a node. What is hard: a host's name says nothing in containers, so what counts is
// what two processes need in order to meet. Layer: mpi.

#include "mpi/runtime/node_identity.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <string_view>

#include "core/text_file.hpp"

namespace starling::mpi {
namespace {

constexpr char kWhere[] = "place on the node";
constexpr char kIdentityKey[] = "node-identity";
constexpr char kMapKey[] = "node-map-";
constexpr std::size_t kPieceBytes = 60 * 1024;  // of the map; below pmi::kMaxValueBytes

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Where processes meet that share memory without a name (docs/design/shared-memory.md): abstract sockets
/// belong to a network namespace.
std::string place_of_sockets() {
  struct stat facts {};
  if (::stat("/proc/self/ns/net", &facts) == 0) return "net-" + std::to_string(facts.st_ino);
  return "nowhere-" + std::to_string(::getpid());  // alone: nobody could be met
}

Result<std::string> text_of(pmi::Component& pmi, std::uint32_t rank, const std::string& key) {
  auto found = pmi.get(rank, key);
  if (!found) return fail(std::move(found).error());
  if (found->found != pmi::Found::value) {
    return fail(Errc::not_found, kWhere, "rank " + std::to_string(rank) + " has not published its " + key);
  }
  return std::string(reinterpret_cast<const char*>(found->value.data()), found->value.size());
}

/// Rank 0: gets every identity and puts the map, in pieces. The first begins with their number.
Result<void> publish_map(pmi::Component& pmi) {
  std::vector<std::string> identities;
  for (std::uint32_t rank = 0; rank < pmi.identity().size; ++rank) {
    auto identity = text_of(pmi, rank, kIdentityKey);
    if (!identity) return fail(std::move(identity).error());
    identities.push_back(std::move(*identity));
  }
  auto nodes = number_nodes(identities);
  if (!nodes) return fail(std::move(nodes).error());
  const std::string text = nodes->text();
  const std::size_t pieces = (text.size() + kPieceBytes - 1) / kPieceBytes;
  for (std::size_t i = 0; i < pieces; ++i) {
    std::string piece = text.substr(i * kPieceBytes, kPieceBytes);
    if (i == 0) piece.insert(0, std::to_string(pieces) + " ");
    if (auto put = pmi.put(kMapKey + std::to_string(i), bytes_of(piece)); !put) return put;
  }
  return {};
}

Result<NodeMap> read_map(pmi::Component& pmi) {
  auto text = text_of(pmi, 0, std::string(kMapKey) + "0");
  if (!text) return fail(std::move(text).error());
  std::size_t pieces = 0;
  const auto [end, wrong] = std::from_chars(text->data(), text->data() + text->size(), pieces);
  if (wrong != std::errc{} || pieces == 0 || end == text->data() + text->size() || *end != ' ') {
    return fail(Errc::bad_input, kWhere, "the map of rank 0 does not begin with the number of its pieces");
  }
  text->erase(0, static_cast<std::size_t>(end - text->data()) + 1);
  for (std::size_t i = 1; i < pieces; ++i) {
    auto piece = text_of(pmi, 0, kMapKey + std::to_string(i));
    if (!piece) return fail(std::move(piece).error());
    *text += *piece;
  }
  return NodeMap::parse(*text);
}

}  // namespace

std::string node_identity(const std::string& named_place) {
  std::string boot = text_of_file("/proc/sys/kernel/random/boot_id");
  if (!boot.empty() && boot.back() == '\n') boot.pop_back();
  // Pid namespaces do not matter: processes of several can share memory.
  return boot + " user-" + std::to_string(::geteuid()) + " " +
         (named_place.empty() ? place_of_sockets() : named_place);
}

Result<NodeMap> number_nodes(const std::vector<std::string>& identities) {
  std::map<std::string_view, std::uint32_t> numbers;
  std::vector<NodeMap::Block> blocks;
  for (const std::string& identity : identities) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    const std::uint32_t node = numbers.emplace(identity, next).first->second;
    if (!blocks.empty() && blocks.back().first_node == node) {
      ++blocks.back().ranks_each;
    } else {
      blocks.push_back({node, 1, 1});
    }
  }
  if (blocks.size() > NodeMap::kMaxBlocks) {
    return fail(Errc::unsupported, kWhere,
                "the ranks are spread over the nodes in more than 65536 runs; use a launcher that sends "
                "PMI_process_mapping, or place neighbouring ranks together");
  }
  return NodeMap(std::move(blocks));
}

Result<NodeMap> exchange_node_map(pmi::Component& pmi, const std::string& own,
                                  const std::function<Result<void>()>& meet) {
  if (auto put = pmi.put(kIdentityKey, bytes_of(own)); !put) return fail(std::move(put).error());
  if (auto met = meet(); !met) return fail(std::move(met).error());
  if (pmi.identity().rank == 0) {
    if (auto done = publish_map(pmi); !done) return fail(std::move(done).error());
  }
  if (auto met = meet(); !met) return fail(std::move(met).error());
  return read_map(pmi);
}

}  // namespace starling::mpi
