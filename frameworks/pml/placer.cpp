// SPDX-License-Identifier: BSD-3-Clause
// What is hard: what is kept is released exactly once, also where the receive cannot use it.
// Layer: framework (pml). Design: docs/design/managed-buffers.md.

#include "frameworks/pml/placer.hpp"

#include "core/copy.hpp"

namespace starling::pml {

bool Placer::place(Buffer& buffer, Peer& from, const std::byte* payload, std::size_t bytes,
                   Payload lies) noexcept {
  if (bytes == 0) return true;  // also where there is no buffer
  if (Placement* const placement = placement_of(buffer)) {
    if (keep(*placement, buffer, from, payload, bytes, lies)) return true;
    if (!placement->place(buffer, bytes)) return false;
  }
  if (buffer.layout != nullptr) {
    buffer.layout->unpack(buffer.base, buffer.count, 0, payload, bytes);
  } else {
    copy_payload(buffer.base, payload, bytes);
  }
  return true;
}

/// False: they have to be copied.
bool Placer::keep(Placement& placement, Buffer& buffer, Peer& from, const std::byte* payload,
                  std::size_t bytes, Payload lies) noexcept {
  btl::Keeper* const keeper = from.contact->keeper;
  if (keeper == nullptr) return false;
  const auto no = [](std::uint64_t& why) {
    ++why;
    return false;
  };
  if (bytes < kKeepBytes) return no(counters_.brief);
  if (lies == Payload::stored) return no(counters_.late);
  HeldBytes* const held = keeper->keep({payload, bytes});
  if (held == nullptr) return no(counters_.refused);
  const bool aligned = reinterpret_cast<std::uintptr_t>(payload) % alignof(std::max_align_t) == 0;
  // The transport has made them the caller's.
  if (!aligned || !placement.keep(buffer, const_cast<std::byte*>(payload), bytes, *held)) {
    held->release();
    return no(aligned ? counters_.scattered : counters_.unaligned);
  }
  ++counters_.kept;
  counters_.kept_bytes += bytes;
  return true;
}

void Placer::add_notes(std::vector<std::string>& notes) const {
  if (counters_.kept != 0) {
    notes.push_back(
        std::to_string(counters_.kept) + " messages of " + std::to_string(counters_.kept_bytes) +
        " bytes for receive buffers of the library's stayed where the transport had received them");
  }
  std::string copied;
  const auto add = [&copied](std::uint64_t count, const std::string& why) {
    if (count != 0) copied += (copied.empty() ? "" : ", ") + std::to_string(count) + " " + why;
  };
  add(counters_.brief, "shorter than " + std::to_string(kKeepBytes) + " bytes");
  add(counters_.late, "that came before their receives");
  add(counters_.scattered, "whose elements lie apart");
  add(counters_.unaligned, "that lay unaligned");
  add(counters_.refused, "that the transport could not keep, or not beside what the program has of it");
  if (!copied.empty()) notes.push_back("messages copied to receive buffers of the library's: " + copied);
}

}  // namespace starling::pml
