// SPDX-License-Identifier: BSD-3-Clause
// Addresses on their way through the process manager. Layer: framework. Design: docs/design/network.md.

#include "frameworks/btl/net/card.hpp"

#include <sys/random.h>

#include <cstring>

#include "core/clock.hpp"
#include "core/text_file.hpp"

namespace starling::btl::net {
namespace {

constexpr std::uint32_t kMagic = 0x4e544c53;  // "SLTN"
constexpr std::uint16_t kLayout = 1;

struct Head {
  std::uint32_t magic;
  std::uint16_t layout;
  std::uint16_t protocol_bytes;
  std::uint16_t place_bytes;
  std::uint16_t address_bytes;
  std::uint32_t machine;
  std::uint64_t token;
  std::uint64_t checksum;  // of all other bytes
};
static_assert(sizeof(Head) == 32);

/// FNV-1a over everything but the checksum's own place.
std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i >= offsetof(Head, checksum) && i < sizeof(Head)) continue;
    sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3u;
  }
  return sum;
}

}  // namespace

std::vector<std::byte> encode(const Card& card) {
  Head head{kMagic,
            kLayout,
            static_cast<std::uint16_t>(card.protocol.size()),
            static_cast<std::uint16_t>(card.place.size()),
            static_cast<std::uint16_t>(card.address.size()),
            card.machine,
            card.token,
            0};
  std::vector<std::byte> bytes(sizeof(head));
  std::memcpy(bytes.data(), &head, sizeof(head));
  const auto append = [&bytes](const void* from, std::size_t count) {
    const auto* const first = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), first, first + count);
  };
  append(card.protocol.data(), card.protocol.size());
  append(card.place.data(), card.place.size());
  append(card.address.data(), card.address.size());
  const std::uint64_t sum = checksum_of(bytes);
  std::memcpy(bytes.data() + offsetof(Head, checksum), &sum, sizeof(sum));
  return bytes;
}

Result<Card> decode(std::span<const std::byte> bytes) {
  const auto bad = [&](const char* what) {
    return fail(Errc::bad_input, "address",
                std::string("the peer's address (") + std::to_string(bytes.size()) + " bytes) " + what);
  };
  Head head{};
  if (bytes.size() < sizeof(head)) return bad("is too short");
  std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.magic != kMagic) return bad("does not begin as one does");
  if (head.layout != kLayout) return bad("is of another version of Starling");
  const std::size_t expected =
      sizeof(head) + std::size_t{head.protocol_bytes} + head.place_bytes + head.address_bytes;
  if (bytes.size() != expected) return bad("is of the wrong length");
  if (head.checksum != checksum_of(bytes)) return bad("is damaged");
  const auto text = [&](std::size_t at, std::size_t count) {
    return std::string(reinterpret_cast<const char*>(bytes.data()) + at, count);
  };
  Card card;
  card.token = head.token;
  card.machine = head.machine;
  card.protocol = text(sizeof(head), head.protocol_bytes);
  card.place = text(sizeof(head) + head.protocol_bytes, head.place_bytes);
  card.address.assign(bytes.end() - head.address_bytes, bytes.end());
  return card;
}

Result<void> compatible(const Card& peer, std::string_view own_protocol) {
  if (peer.protocol == own_protocol) return {};
  return fail(Errc::unsupported, "address",
              "the process at " + peer.place + " speaks \"" + peer.protocol + "\", this one \"" +
                  std::string(own_protocol) + "\": they cannot talk to each other");
}

Result<Card> decode_from_peer(std::span<const std::byte> bytes, std::string_view own_protocol,
                              std::string_view where) {
  auto card = decode(bytes);
  if (!card) return fail(std::move(card).error().within(std::string(where)));
  if (auto same = compatible(*card, own_protocol); !same)
    return fail(std::move(same).error().within(std::string(where)));
  return card;
}

std::uint32_t this_machine() noexcept {
  static const std::uint32_t number = [] {
    const std::string boot = text_of_file("/proc/sys/kernel/random/boot_id");
    const std::uint64_t sum = checksum_of(std::as_bytes(std::span(boot)));
    return boot.empty() ? 0 : static_cast<std::uint32_t>(sum ^ (sum >> 32)) | 1;
  }();
  return number;
}

std::uint64_t random_token() noexcept {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof(number), GRND_NONBLOCK) != static_cast<ssize_t>(sizeof(number))) {
    number = now_ns() * 0x9e3779b97f4a7c15u;
  }
  return number | 1;
}

}  // namespace starling::btl::net
