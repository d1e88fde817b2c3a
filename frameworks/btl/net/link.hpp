// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  The sending side towards one process over a network. Layer: framework, for the network btls.
///
/// Messages are laid into frames; a plugin's endpoint derives from Link and posts frames to its library. What
/// the library does not take waits here, in order, and messages that come meanwhile join the last waiting
/// frame. So do, in a burst, messages in no hurry: whose sender makes progress before it is through. A
/// frame's memory stays where it is until the library has done with it.
///
/// Threads:   as btl::Endpoint.
/// Ownership: chunks come from the component's ChunkPool, which outlives its links, and return to it.
/// Ordering:  frames are posted in the order in which they were begun.
/// Errors:    what cannot go any more is dropped by lose(), which also tells the sink, once.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/chain.hpp"
#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/frame.hpp"

namespace starling::btl::net {

/// Limits::fragment_bytes. Linux cuts what one send() gives it into packets of whole segments, at most 64 KiB
/// with their heads: 65,160 bytes where the MTU is 1,500, 62,636 where it is 9,000. One byte more is a second
/// packet, which costs both sides nearly as much as the first.
inline constexpr std::size_t kFragmentBytes = 61 * 1024 + 16;
/// Largest message; an eager one of 64 KiB with the pml's head.
inline constexpr std::size_t kMessageMaxBytes = 64 * 1024 + 64;
inline constexpr std::size_t kFrameMaxBytes = sizeof(FrameHead) + record_bytes(kMessageMaxBytes);
/// Frames of one link in the hands of the library.
inline constexpr std::uint32_t kPostedMost = 8;
/// A burst: messages in no hurry that follow each other within that time, without a progress between. The
/// first ones go at once, the others join.
inline constexpr std::uint64_t kBurstNs = 50'000;
inline constexpr std::uint32_t kAtOnce = 4;
/// The same of payloads shorter than kShort: a program may send several to a neighbour and compute before it
/// waits for them.
inline constexpr std::uint32_t kShortAtOnce = 16;
inline constexpr std::size_t kShort = 4096;
/// Limits::join_bytes: a frame of its own costs more than the copy.
inline constexpr std::size_t kJoinMost = 32 * 1024;
/// Up to here what joins is one packet (kFragmentBytes).
inline constexpr std::size_t kJoinedMost = sizeof(FrameHead) + record_bytes(kFragmentBytes + 64);
/// Bytes of one link that wait or are posted; above this a message is `again`.
inline constexpr std::size_t kLinkBytes = 12 * kFrameMaxBytes;

class Link;
struct Chunk;

/// One message of the library, at the front of its bytes.
struct Frame {
  Link* link;
  Chunk* chunk;
  Frame* next;  ///< of those that wait
  Frame* previous;
  std::uint32_t bytes;                 ///< used so far
  std::uint32_t room;                  ///< reserved
  void* request;                       ///< the library's
  std::span<const std::byte> payload;  ///< of its only record, in the sender's memory, behind `bytes`
  Completion* completion;              ///< told when that memory is free; null: it is not used
  alignas(16) std::byte context[64];   ///< the library's (FI_CONTEXT2)

  [[nodiscard]] std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Frame) % 16 == 0);
using FrameChain = Chain<Frame, &Frame::next, &Frame::previous>;

/// Memory of frames of one link, in the order in which they are begun. It returns to the pool when none of
/// them is alive.
struct Chunk {
  static constexpr std::size_t kBytes = 2 * (sizeof(Frame) + kFrameMaxBytes + 16);
  std::uint32_t used = 0;
  std::uint32_t live = 0;
  alignas(16) std::byte bytes[kBytes];
};

/// Owns all chunks, also those that are out; a few unused ones are kept.
class ChunkPool {
 public:
  [[nodiscard]] Chunk* take();
  void give(Chunk* chunk) noexcept;

 private:
  static constexpr std::size_t kKept = 16;
  std::vector<std::unique_ptr<Chunk>> all_;
  std::vector<Chunk*> free_;
};

/// What a component shares with its links.
struct Links {
  Sink& sink;
  Place place;
  ChunkPool pool;
  Component::Counters counters;
  std::vector<Link*> busy;   ///< links with waiting frames
  std::uint32_t posted = 0;  ///< frames in the library's hands, of all links
  std::uint64_t uses = 0;    ///< messages sent, of all links
  /// Limits::send_from_bytes; only where the library gives all frames back when a peer is lost.
  std::size_t send_from_bytes = SIZE_MAX;
  /// Whose memory is free again, to be told when nothing is being called.
  std::vector<std::pair<Completion*, bool>> ended{};
  std::uint64_t passes = 0;  ///< of progress
  bool delivering = false;   ///< the sink is called, and push() follows: answers wait for it, and join
  std::uint64_t burst_ns = kBurstNs;

  /// Around the part of a progress() in which the sink is called.
  void begin_delivery() noexcept {
    ++passes;
    delivering = true;
  }
  void end_delivery() noexcept { delivering = false; }
  /// Posts what waits, as far as the library takes it. Returns the number of frames taken.
  int push() noexcept;
  /// Tells those whose memory is free again. Returns how many. To be called by each progress() of the
  /// component.
  int tell_ended() noexcept {
    if (ended.empty()) [[likely]]
      return 0;
    return tell_all();
  }
  /// Component::reaches of a transport of that name ("btl/ucx"): every other process of the own job.
  [[nodiscard]] Result<void> reaches(ProcId peer, const char* transport) const;
  /// Tells the processes of the node, by `segment`, where a peer of another one is on the same machine.
  void note_machine(ProcId peer, const Card& card, shm::NodeSegment* segment) const noexcept;

 private:
  [[nodiscard]] int tell_all() noexcept;
};

class Link : public Endpoint {
 public:
  Link(Links& links, ProcId peer, std::uint64_t token, const char* transport);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() override;

  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept final;
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 Completion* completion) noexcept final;
  std::byte* reserve(std::size_t bytes) noexcept final;
  void commit(std::size_t bytes) noexcept final;
  [[nodiscard]] bool await_room() noexcept override { return !lost_; }
  Post get(const RemoteBuffer&, std::span<std::byte>, Completion*) noexcept override { return Post::again; }
  [[nodiscard]] bool can_get(const RemoteBuffer&) noexcept override { return false; }
  [[nodiscard]] Loans* loans() noexcept override { return nullptr; }
  [[nodiscard]] Writes* writes() noexcept override { return nullptr; }
  [[nodiscard]] CopyWay copies() noexcept override { return {}; }
  [[nodiscard]] Remote* remote() noexcept override { return nullptr; }

  [[nodiscard]] ProcId peer() const noexcept { return peer_; }
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  [[nodiscard]] bool idle() const noexcept { return line_.empty() && posted_ == 0; }
  [[nodiscard]] bool waits() const noexcept { return !line_.empty(); }
  [[nodiscard]] std::uint32_t posted() const noexcept { return posted_; }

  /// Posts what waits, as far as the library takes it. Returns the number of frames taken.
  int push() noexcept;
  /// The library has done with a frame that it had answered with `posted`; ok: the frame has left. If not,
  /// lose() has to follow, or has been called: until then its sender is not told.
  void completed(Frame& frame, bool ok = true) noexcept;
  /// A frame without messages: its completion says that those before it have left, or its kind says it all.
  void send_empty_frame(FrameKind kind = FrameKind::messages) noexcept;
  /// A frame about a get.
  void send_ask(FrameKind kind, const AskData& what) noexcept;
  /// Tells the peer that this process has left MPI, or is back; once each.
  void tell_idle(bool idle) noexcept;
  [[nodiscard]] bool told_idle() const noexcept { return told_idle_; }
  /// While held back, frames wait in line.
  void hold_back(bool held) noexcept;
  /// When the last message was sent, counted in messages of all links.
  [[nodiscard]] std::uint64_t last_use() const noexcept { return last_use_; }
  /// Reports the peer as lost, unless that has been done, and drops what waits.
  void lose(Errc code, std::string why) noexcept;

 protected:
  /// Gives a frame to the library. done: its memory is free; posted: completed() follows; again: not now. If
  /// the connection has broken, and nobody knows yet why, the answer is again, and lose() drops it.
  virtual Post post(Frame& frame) noexcept = 0;
  [[nodiscard]] Links& links() noexcept { return links_; }

 private:
  [[nodiscard]] Frame* begin_frame(std::size_t bytes) noexcept;
  static void end_frame(Frame& frame) noexcept;
  void count(std::size_t bytes) noexcept;
  enum class Haste : bool { now, soon };
  /// False: it waits, or completed() follows. soon: it may wait for the next push(), for others to join it.
  bool hand_over(Frame& frame, Haste haste = Haste::now) noexcept;
  bool post_now(Frame& frame) noexcept;
  Post put(std::span<const std::byte> header, std::span<const std::byte> payload, Haste haste) noexcept;
  void finish(std::size_t bytes, Haste haste) noexcept;
  [[nodiscard]] bool in_burst(std::uint32_t at_once) noexcept;
  void free(Frame& frame, bool ok) noexcept;
  void release(Frame& frame) noexcept;
  void wait_in_line(Frame& frame) noexcept;
  [[nodiscard]] bool window_full() const noexcept { return posted_ >= kPostedMost || held_; }

  Links& links_;
  FrameHead head_;
  Chunk* chunk_ = nullptr;  // where frames are begun; null: nothing is alive in the last one
  FrameChain line_;         // waiting, oldest first
  Frame* reserved_ = nullptr;
  std::uint32_t reserved_at_ = 0;  // offset of the reserved record in its frame
  std::uint32_t posted_ = 0;
  std::size_t bytes_ = 0;  // of all live frames
  ProcId peer_;
  const char* transport_;
  bool joins_ = false;  // the reserved record is in the last waiting frame
  bool busy_ = false;   // listed in Links::busy
  bool lost_ = false;
  bool held_ = false;
  bool by_choice_ = false;   // what is in line waits for others to join it, not for the library
  std::uint32_t burst_ = 0;  // messages in no hurry, of the burst that began in burst_pass_
  std::uint64_t burst_pass_ = 0;
  std::uint64_t burst_ns_ = 0;
  bool told_idle_ = false;  // the peer knows that this process has left
  std::uint64_t last_use_ = 0;
  std::vector<Completion*> failed_;  // whose frames did not leave, to be told when the peer is lost

  friend struct Links;
};

}  // namespace starling::btl::net
