// SPDX-License-Identifier: BSD-3-Clause
// Frames and the line in which they wait. What is hard here: a frame's memory may be reused only when the
// library has done with it, and a loss may be reported from within a post. Layer: framework.
// Design: docs/design/network.md.

#include "frameworks/btl/net/link.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "core/clock.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::btl::net {

Chunk* ChunkPool::take() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Chunk>());
    return all_.back().get();
  }
  Chunk* const chunk = free_.back();
  free_.pop_back();
  chunk->used = chunk->live = 0;
  return chunk;
}

void ChunkPool::give(Chunk* chunk) noexcept {
  if (free_.size() < kKept) {
    free_.push_back(chunk);
    return;
  }
  const auto found =
      std::find_if(all_.begin(), all_.end(), [chunk](const auto& item) { return item.get() == chunk; });
  std::swap(*found, all_.back());
  all_.pop_back();
}

Link::Link(Links& links, ProcId peer, std::uint64_t token, const char* transport)
    : links_(links), head_{token, links.place.self.rank}, peer_(peer), transport_(transport) {}

Link::~Link() {
  while (Frame* const frame = line_.pop_front()) release(*frame);
  std::erase(links_.busy, this);
  links_.posted -= posted_;  // the component has closed the library: nobody uses these frames any more
}

Post Link::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  return put(header, payload, links_.delivering ? Haste::soon : Haste::now);
}

Post Link::put(std::span<const std::byte> header, std::span<const std::byte> payload, Haste haste) noexcept {
  const std::size_t bytes = header.size() + payload.size();
  std::byte* const to = reserve(bytes);
  if (to == nullptr) [[unlikely]]
    return Post::again;
  if (!header.empty()) std::memcpy(to, header.data(), header.size());
  if (!payload.empty()) std::memcpy(to + header.size(), payload.data(), payload.size());
  finish(bytes, haste);
  return Post::done;
}

Post Link::send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                     Completion* completion) noexcept {
  if (completion == nullptr) return put(header, payload, in_burst(kAtOnce) ? Haste::soon : Haste::now);
  if (payload.size() <= kJoinMost && in_burst(payload.size() < kShort ? kShortAtOnce : kAtOnce)) {
    if (put(header, payload, Haste::soon) == Post::again) return Post::again;
    links_.ended.push_back({completion, true});  // not before it leaves, so that its sender makes progress
    return Post::posted;
  }
  if (payload.size() < links_.send_from_bytes) return send(header, payload);
  const std::size_t bytes = header.size() + payload.size();
  expects(bytes <= kMessageMaxBytes, "a message above Limits::message_max_bytes");
  if (lost_) return Post::again;
  if (bytes_ + record_bytes(bytes) > kLinkBytes) {
    ++links_.counters.full;
    return Post::again;
  }
  Frame& frame = *begin_frame(header.size());
  const RecordHead record{static_cast<std::uint32_t>(bytes), 0};
  std::byte* const at = frame.data() + frame.bytes;
  std::memcpy(at, &record, sizeof(record));
  if (!header.empty()) std::memcpy(at + sizeof(record), header.data(), header.size());
  const std::size_t here = sizeof(record) + header.size();
  frame.bytes += static_cast<std::uint32_t>(here);
  frame.room = frame.bytes;  // no message joins it
  frame.payload = payload;
  frame.completion = completion;
  end_frame(frame);
  count(bytes);
  ++links_.counters.sent_from;
  bytes_ += here + payload.size();
  return hand_over(frame) ? Post::done : Post::posted;
}

std::byte* Link::reserve(std::size_t bytes) noexcept {
  expects(bytes <= kMessageMaxBytes, "a message above Limits::message_max_bytes");
  if (lost_) return nullptr;
  const std::size_t needed = record_bytes(bytes);
  if (bytes_ + needed > kLinkBytes) {
    ++links_.counters.full;
    return nullptr;
  }
  // The last waiting frame is the last one of its chunk, so it can grow.
  Frame* const last = line_.back();
  const std::size_t room = last == nullptr ? 0 : by_choice_ ? kJoinedMost : last->room;
  joins_ = last != nullptr && last->bytes + needed <= std::min<std::size_t>(room, last->room);
  if (!joins_ && by_choice_) (void)push();  // what is full gains nothing by waiting
  reserved_ = joins_ ? last : begin_frame(bytes);
  reserved_at_ = reserved_->bytes;
  return reserved_->data() + reserved_at_ + sizeof(RecordHead);
}

/// A new frame with room for one message; it may use what the chunk has until the next one is begun.
Frame* Link::begin_frame(std::size_t bytes) noexcept {
  const std::size_t needed = sizeof(Frame) + sizeof(FrameHead) + record_bytes(bytes);
  if (chunk_ == nullptr || chunk_->used + needed > Chunk::kBytes) chunk_ = links_.pool.take();
  auto* const frame = new (chunk_->bytes + chunk_->used) Frame;
  const std::size_t left = Chunk::kBytes - chunk_->used - sizeof(Frame);
  frame->link = this;
  frame->chunk = chunk_;
  frame->request = nullptr;
  frame->payload = {};
  frame->completion = nullptr;
  frame->room = static_cast<std::uint32_t>(std::min(left, kFrameMaxBytes));
  frame->bytes = sizeof(head_);
  std::memcpy(frame->data(), &head_, sizeof(head_));
  return frame;
}

/// What is behind it in its chunk is for the next one.
void Link::end_frame(Frame& frame) noexcept {
  const auto end = reinterpret_cast<std::byte*>(&frame) + sizeof(Frame) + (frame.bytes + 15) / 16 * 16;
  frame.chunk->used = static_cast<std::uint32_t>(end - frame.chunk->bytes);
}

void Link::count(std::size_t bytes) noexcept {
  ++links_.counters.messages_sent;
  last_use_ = ++links_.uses;
  links_.counters.bytes_sent += bytes;
}

void Link::commit(std::size_t bytes) noexcept { finish(bytes, links_.delivering ? Haste::soon : Haste::now); }

void Link::finish(std::size_t bytes, Haste haste) noexcept {
  Frame& frame = *std::exchange(reserved_, nullptr);
  count(bytes);
  const RecordHead record{static_cast<std::uint32_t>(bytes), 0};
  std::byte* const at = frame.data() + reserved_at_;
  std::memcpy(at, &record, sizeof(record));
  const std::size_t whole = record_bytes(bytes);
  std::memset(at + sizeof(record) + bytes, 0, whole - sizeof(record) - bytes);
  frame.bytes += static_cast<std::uint32_t>(whole);
  end_frame(frame);
  bytes_ += whole;
  if (!joins_) {
    hand_over(frame, haste);
  } else if (by_choice_ && haste == Haste::now) {
    (void)push();
  }
}

void Link::hold_back(bool held) noexcept {
  held_ = held;
  last_use_ = ++links_.uses;  // one that was asked about or opened anew is not the next to be asked
}

void Link::send_empty_frame(FrameKind kind) noexcept {
  Frame& frame = *begin_frame(0);
  std::memcpy(frame.data() + offsetof(FrameHead, kind), &kind, sizeof kind);
  if (kind != FrameKind::messages) frame.room = frame.bytes;  // no message joins it
  frame.chunk->used += sizeof(Frame) + sizeof(FrameHead);
  hand_over(frame);
}

void Link::send_ask(FrameKind kind, const AskData& what) noexcept {
  Frame& frame = *begin_frame(sizeof what);
  std::memcpy(frame.data() + offsetof(FrameHead, kind), &kind, sizeof kind);
  std::memcpy(frame.data() + sizeof(FrameHead), &what, sizeof what);
  frame.room = frame.bytes = sizeof(FrameHead) + sizeof what;  // no message joins it
  frame.chunk->used += sizeof(Frame) + sizeof(FrameHead) + sizeof what;
  last_use_ = ++links_.uses;
  bytes_ += sizeof what;
  hand_over(frame);
}

void Link::tell_idle(bool idle) noexcept {
  if (lost_ || told_idle_ == idle) return;
  told_idle_ = idle;
  send_empty_frame(idle ? FrameKind::leaving : FrameKind::back);
}

/// To be asked once for each message in no hurry: whether it may wait for others, since so many have gone.
bool Link::in_burst(std::uint32_t at_once) noexcept {
  const std::uint64_t now = now_ns();
  if (burst_pass_ != links_.passes || now - burst_ns_ > links_.burst_ns) {
    burst_pass_ = links_.passes;
    burst_ = 0;
  }
  burst_ns_ = now;
  return ++burst_ > at_once;
}

bool Link::hand_over(Frame& frame, Haste haste) noexcept {
  bytes_ += sizeof(FrameHead);
  ++frame.chunk->live;
  if (line_.empty() && !window_full() && haste == Haste::now) return post_now(frame);
  if (line_.empty()) by_choice_ = !window_full();
  wait_in_line(frame);
  if (by_choice_ && haste == Haste::now) (void)push();
  return false;
}

bool Link::post_now(Frame& frame) noexcept {
  ++posted_;
  ++links_.posted;
  const Post post_result = post(frame);
  if (post_result == Post::posted) return false;
  --posted_;
  --links_.posted;
  if (post_result == Post::again) {
    wait_in_line(frame);
    return false;
  }
  release(frame);
  return true;
}

void Link::wait_in_line(Frame& frame) noexcept {
  line_.push_back(frame);
  if (busy_) return;
  busy_ = true;
  links_.busy.push_back(this);
}

int Link::push() noexcept {
  int events = 0;
  by_choice_ = false;
  while (!line_.empty() && !window_full() && !lost_) {
    Frame& frame = *line_.front();
    ++posted_;
    ++links_.posted;
    const Post answer = post(frame);
    if (answer != Post::posted) {
      --posted_;
      --links_.posted;
    }
    if (answer == Post::again || line_.front() != &frame) break;
    line_.remove(frame);
    if (answer == Post::done) free(frame, !lost_);
    ++events;
  }
  return events;
}

void Link::completed(Frame& frame, bool ok) noexcept {
  --posted_;
  --links_.posted;
  free(frame, ok);
}

/// The end of a frame whose sender was told `posted`. A failure says that the peer is lost, so it waits until
/// the sink knows that, and why.
void Link::free(Frame& frame, bool ok) noexcept {
  if (frame.completion != nullptr && !ok && !lost_) {
    failed_.push_back(frame.completion);
  } else if (frame.completion != nullptr) {
    links_.ended.push_back({frame.completion, ok});
  }
  release(frame);
}

void Link::release(Frame& frame) noexcept {
  bytes_ -= frame.bytes + frame.payload.size();
  Chunk* const chunk = frame.chunk;
  if (--chunk->live != 0) return;
  if (chunk == chunk_) chunk_ = nullptr;
  links_.pool.give(chunk);
}

void Link::lose(Errc code, std::string why) noexcept {
  if (lost_) return;
  lost_ = true;
  while (Frame* const frame = line_.pop_front()) free(*frame, false);
  for (Completion* const completion : failed_) links_.ended.push_back({completion, false});
  failed_.clear();
  links_.sink.on_peer_lost(peer_, Error{code, transport_, std::move(why)});
}

Result<void> Links::reaches(ProcId peer, const char* transport) const {
  if (peer == place.self) return fail(Errc::unsupported, transport, "it is this process");
  if (peer.world == place.self.world && peer.rank < place.world_size) return {};
  return fail(Errc::unsupported, transport,
              "rank " + std::to_string(peer.rank) + " of world " + std::to_string(peer.world) +
                  " is not of this job");
}

void Links::note_machine(ProcId peer, const Card& card, shm::NodeSegment* segment) const noexcept {
  if (segment == nullptr || card.machine == 0 || card.machine != this_machine()) return;
  const bool near = place.local_rank_of != nullptr && place.local_rank_of(place.context, peer) >= 0;
  if (!near) segment->yield_pause().nodes_here.store(true, std::memory_order_relaxed);
}

int Links::tell_all() noexcept {
  int told = 0;
  for (; told < static_cast<int>(ended.size()); ++told) {  // who is told may send, and more may end
    const auto [completion, ok] = ended[static_cast<std::size_t>(told)];
    completion->done(completion, ok);
  }
  ended.clear();
  return told;
}

int Links::push() noexcept {
  int events = 0;
  for (std::size_t i = 0; i < busy.size();) {
    Link& link = *busy[i];
    events += link.push();
    if (link.waits()) {
      ++i;
      continue;
    }
    link.busy_ = false;
    busy[i] = busy.back();
    busy.pop_back();
  }
  return events;
}

}  // namespace starling::btl::net
