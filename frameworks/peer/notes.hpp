// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  What the ports have to say in the report about peers. Layer: framework (peer).
///
/// Threads: the thread that progresses. Ownership: Peers'.
/// Errors:  without memory a note is left out: a report must not end the process that it is about.

#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/worlds.hpp"
#include "frameworks/peer/peer.hpp"

namespace starling::peer {

class Notes {
 public:
  /// Texts, numbers and processes, one after the other.
  template <class... Parts>
  [[gnu::noinline]] void add(const Parts&... parts) noexcept {
    try {
      std::string text;
      (append(text, parts), ...);
      notes_.push_back(std::move(text));
    } catch (const std::bad_alloc&) {
    }
  }
  /// A peer's message was dropped; told once per peer.
  void malformed(Peer& peer, const char* what) noexcept {
    if (peer.suspect) return;
    peer.suspect = true;
    add("dropped a message of ", peer.proc, ": ", what);
  }
  [[nodiscard]] const std::vector<std::string>& all() const noexcept { return notes_; }

 private:
  template <class Part>
  static void append(std::string& text, const Part& part) {
    if constexpr (std::is_arithmetic_v<Part>) {
      text += std::to_string(part);
    } else if constexpr (std::is_same_v<Part, ProcId>) {
      text += text_of(part);
    } else {
      text += part;
    }
  }
  std::vector<std::string> notes_;
};

}  // namespace starling::peer
