// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Gets over a network: large messages from buffer to buffer. Layer: framework, for the network btls.
///
/// The receiver posts a tagged receive into the user's buffer and asks by a frame; the owner answers by a
/// tagged send out of its own, or refuses. A plugin's endpoint posts, cancels and sends; what is asked, what
/// is given and what becomes of gets from a lost peer is decided here.
///
/// Threads:   as btl::Endpoint.
/// Ownership: Gets owns the records of receives, which the library may keep until they have ended.
/// Errors:    a get that was refused or lost ends with ok = false, once. From then on nothing writes into its
///            buffer.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/link.hpp"

namespace starling::btl::net {

inline constexpr std::size_t kGetBytes = 256 * 1024 * 1024;  ///< Limits::get_bytes

class Gets;
class GetLink;

/// A get of this process under way.
struct Get {
  GetLink* link = nullptr;
  Completion* completion = nullptr;  ///< null: has been told
  std::byte* to = nullptr;
  std::size_t bytes = 0;
  std::uint64_t tag = 0;
  std::uint64_t lost_at_ns = 0;         ///< when its link was seen lost, or last tried; 0: it was not
  void* request = nullptr;              ///< the library's
  alignas(16) std::byte context[64]{};  ///< the library's (FI_CONTEXT2)
};

/// A link by which large messages can go from buffer to buffer.
class GetLink : public Link {
 public:
  GetLink(Gets& gets, Links& links, ProcId peer, std::uint64_t token, const char* transport);

  Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion* completion) noexcept final;
  [[nodiscard]] bool can_get(const RemoteBuffer&) noexcept final;
  /// Whether a get of this process from the peer, or of the peer from this process, goes on.
  [[nodiscard]] bool moving() const noexcept { return own_ != 0 || serving_ != 0; }

 protected:
  /// posted: Gets::ended() or Gets::served() follows, not from within the call; again: nothing happened.
  enum class Taken : std::uint8_t { posted, done, again, failed };
  /// Posts a receive of that tag; not `done`.
  virtual Taken receive(Get& get) noexcept = 0;
  /// Takes a receive back. Gets::ended() follows, perhaps at once, unless its message has begun to arrive.
  virtual void cancel(Get& get) noexcept = 0;
  /// Sends what was asked for.
  virtual Taken serve(const AskData& what) noexcept = 0;
  /// Whether the library may still write into what was posted although the link is lost: the peer may live.
  [[nodiscard]] virtual bool may_still_write() const noexcept { return false; }

 private:
  friend class Gets;
  Gets& gets_;
  std::uint32_t own_ = 0;      // gets of this process
  std::uint32_t serving_ = 0;  // of the peer
  std::uint32_t waiting_ = 0;  // of these, to be tried again
};

/// All gets of one component.
class Gets {
 public:
  /// `tag_bits`: width of the tags that the network has for us.
  Gets(Links& links, bool on, unsigned tag_bits = 64);

  [[nodiscard]] bool on() const noexcept { return on_; }
  /// What the peer of `link` has asked for, or refused.
  void on_asked(GetLink& link, const Arrivals::Asked& asked) noexcept;
  /// The library has done with a receive.
  void ended(Get& get, bool ok) noexcept;
  /// The library has done with what GetLink::serve() had posted.
  void served(GetLink& link) noexcept;
  /// Some link has been lost.
  void on_link_lost() noexcept { lost_ = true; }
  /// To be called by each progress() of the component. Returns the number of events.
  int progress() noexcept {
    if (waiting_.empty() && !lost_) [[likely]]
      return 0;
    return step();
  }
  /// Whether any goes on, of this process or of others.
  [[nodiscard]] bool moving() const noexcept { return !gets_.empty() || serving_ != 0; }
  /// At the end of the component nobody waits for them: cancels all and tells nobody.
  void forget() noexcept;

 private:
  friend class GetLink;
  struct Waiting {
    GetLink* link;
    AskData what;
  };
  [[nodiscard]] Get& begin(GetLink& link, std::span<std::byte> to, Completion* completion);
  void finish(Get& get, bool ok) noexcept;
  [[nodiscard]] bool answer(GetLink& link, const AskData& what) noexcept;
  [[nodiscard]] int step() noexcept;
  void end_lost() noexcept;

  Links& links_;
  bool on_;
  bool lost_ = false;  // some may be from a peer that is lost
  std::uint64_t next_tag_;
  std::uint64_t tag_mask_;
  std::size_t serving_ = 0;
  std::vector<Waiting> waiting_;                 // to be answered when the library takes it
  std::unordered_map<std::uint64_t, Get> gets_;  // by tag
};

}  // namespace starling::btl::net
