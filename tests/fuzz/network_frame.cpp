// SPDX-License-Identifier: BSD-3-Clause
// Fuzzes what arrives at a network transport: heads of frames and the records in them. Layer: tests.
//
// The first byte says whether the head is given the right token, without which nothing gets past it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "frameworks/btl/net/arrivals.hpp"

namespace {

using namespace starling;

constexpr std::uint64_t kToken = 0x1122334455667788;
constexpr std::uint32_t kRanks = 4;

/// Looks at every byte it is given; a sanitizer sees what lies outside of the frame.
class Reader final : public btl::Sink {
 public:
  void on_message(btl::Origin& from, std::span<const std::byte> message) noexcept override {
    if (from.proc.rank >= kRanks || from.proc.world != 0) std::abort();
    for (const std::byte byte : message) last = byte;
    ++messages;
    bytes += message.size();
  }
  void on_peer_lost(ProcId, const Error&) noexcept override { std::abort(); }
  volatile std::byte last{};
  int messages = 0;
  std::size_t bytes = 0;
};

/// A frame without records that was accepted: about its sender, the connection or a get. It may come twice,
/// and is none with anything more behind it.
void check_notice(btl::net::Arrivals& arrivals, std::vector<std::byte> frame) {
  using btl::net::FrameKind;
  btl::net::FrameHead head;
  std::memcpy(&head, frame.data(), sizeof head);
  const bool leaves = head.kind == FrameKind::leaving;
  const bool closes = head.kind >= FrameKind::ask_close && head.kind <= FrameKind::refuse_close;
  const bool asks = head.kind == FrameKind::ask_data || head.kind == FrameKind::refuse_data;
  if (frame.size() != sizeof head + (asks ? sizeof(btl::net::AskData) : 0)) std::abort();
  for (int time = 0; time < 2; ++time) {
    if (arrivals.take_closing().has_value() != closes) std::abort();
    const auto asked = arrivals.take_asked();
    if (asked.has_value() != asks) std::abort();
    if (asks && (asked->rank != head.rank || asked->kind != head.kind)) std::abort();
    if (asks && std::memcmp(&asked->what, frame.data() + sizeof head, sizeof asked->what) != 0) std::abort();
    if ((arrivals.end_of(head.rank) == Errc::peer_left) != leaves) std::abort();
    if (arrivals.deliver(frame) != 1) std::abort();
  }
  (void)arrivals.take_closing();
  (void)arrivals.take_asked();
  frame.push_back({});
  if (arrivals.deliver(frame) != 0 || arrivals.take_closing() || arrivals.take_asked()) std::abort();
  if ((arrivals.end_of(head.rank) == Errc::peer_left) != leaves) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto* const first = reinterpret_cast<const std::byte*>(data) + 1;
  std::vector<std::byte> frame(first, first + size - 1);  // exactly so large, that overruns are seen
  const bool known = data[0] % 2 == 0 && frame.size() >= sizeof kToken;
  if (known) std::memcpy(frame.data(), &kToken, sizeof kToken);
  Reader reader;
  btl::Component::Counters counters;
  btl::net::Arrivals arrivals(reader, btl::Place{ProcId{0, 0}, kRanks}, kToken, counters);
  const int messages = arrivals.deliver(frame);
  if (messages == 1 && reader.messages == 0) {
    check_notice(arrivals, std::move(frame));
    return 0;
  }
  if (arrivals.take_closing() || arrivals.take_asked()) std::abort();
  if (messages != reader.messages || reader.bytes > frame.size()) std::abort();
  if (arrivals.deliver(frame) != messages) std::abort();
  if (counters.notes.size() > 2) std::abort();  // each fault once, however often it comes
  return 0;
}
