// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes the cards of processes, and the cards of network transports within them. Layer: tests.
//
// Most bytes are no card of a network, by its checksum; so the input also serves as the fields of one, which
// is damaged at a place that the input chooses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "frameworks/bootstrap/card.hpp"
#include "frameworks/btl/net/card.hpp"

namespace {

using namespace starling;
using Bytes = std::span<const std::byte>;

void read_process_card(Bytes bytes) {
  for (const char* const transport : {"ucx", "ofi", ""}) {
    const auto found = bootstrap::find_in_card(bytes, transport);
    if (!found || !*found) continue;
    const auto again = bootstrap::encode_card({{transport, **found}});
    if (!again) std::abort();
    const auto same = bootstrap::find_in_card(*again, transport);
    if (!same || !*same || **same != **found) std::abort();
  }
}

void read_network_card(Bytes bytes) {
  const auto card = btl::net::decode(bytes);
  if (!card) return;
  if (!std::ranges::equal(btl::net::encode(*card), bytes)) std::abort();
}

/// The input as {protocol length, place length, damage, bytes}.
void write_network_card(Bytes bytes) {
  if (bytes.size() < 3) return;
  const auto number = [&](std::size_t at) { return std::to_integer<std::size_t>(bytes[at]); };
  const Bytes rest = bytes.subspan(3);
  const std::size_t protocol = std::min(number(0), rest.size());
  const std::size_t place = std::min(number(1), rest.size() - protocol);
  const auto* const text = reinterpret_cast<const char*>(rest.data());
  const Bytes address = rest.subspan(protocol + place);
  const btl::net::Card card{std::string(text, protocol),
                            std::string(text + protocol, place),
                            77,
                            {address.begin(), address.end()},
                            5};
  std::vector<std::byte> written = btl::net::encode(card);
  const auto read = btl::net::decode(written);
  if (!read || read->protocol != card.protocol || read->place != card.place || read->token != card.token ||
      read->address != card.address || read->machine != card.machine) {
    std::abort();
  }
  written[number(2) % written.size()] ^= std::byte{0x10};
  if (btl::net::decode(written)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes(reinterpret_cast<const std::byte*>(data), size);
  read_process_card(bytes);
  read_network_card(bytes);
  if (size < 30'000) write_network_card(bytes);  // its fields have 16-bit lengths
  return 0;
}
