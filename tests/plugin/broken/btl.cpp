// SPDX-License-Identifier: BSD-3-Clause
// btl/broken: queues between the components of one program, with one fault that a parameter chooses. The
// suite has to find each; with fault none it has to pass. Layer: tests.

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/plain_region.hpp"
#include "frameworks/plugin.hpp"

namespace starling::btl {
namespace {

enum class Flaw {
  none,
  loses,
  reorders,
  duplicates,
  damages,
  silent,
  false_get,
  early,
  sleeps,
  never_full,
  origin,
  hasty,
  rots,
  flushes,
  changes,
  roomy,
  knows
};
constexpr params::Decl kFault = params::choice(
    "btl_broken_fault", "none",
    "none|loses|reorders|duplicates|damages|silent|false_get|early|sleeps|never_full|origin|hasty|"
    "rots|flushes|changes|roomy|knows",
    "What this transport does wrong.");

class Broken;

/// The components of this program, which are its processes.
struct Network {
  std::mutex mutex;
  std::map<std::uint32_t, Broken*> processes;
};
Network& network() {
  static Network all;
  return all;
}

struct InFlight {
  std::uint32_t from;
  std::vector<std::byte> bytes;
  std::span<const std::byte> payload;  // behind these, in the sender's memory
  Completion* completion = nullptr;    // told when it has been read
};

/// Memory of another process of this program. With flushes what is put stays where it is for a while.
class BrokenRemote final : public Remote {
 public:
  explicit BrokenRemote(const Flaw& flaw) : flaw_(flaw) {}
  const Facts& facts() const noexcept override { return facts_; }
  Result<std::unique_ptr<Region>> open(std::span<const std::byte> key) override {
    return PlainRegion::open(key, "btl/broken");
  }
  Post put(Region& to, std::uint64_t offset, std::span<const std::byte> from, Completion*) noexcept override {
    const std::uint64_t address = plain_address(to, offset, from.size());
    if (flaw_ == Flaw::flushes) {
      waiting_.push_back({address, {from.begin(), from.end()}});
    } else if (!from.empty()) {
      std::memcpy(reinterpret_cast<void*>(address), from.data(), from.size());
    }
    return Post::done;
  }
  Post get(Region& from, std::uint64_t offset, std::span<std::byte> to, Completion*) noexcept override {
    settle();
    if (!to.empty())
      std::memcpy(to.data(), reinterpret_cast<void*>(plain_address(from, offset, to.size())), to.size());
    return Post::done;
  }
  Post atomic(Region& at, std::uint64_t offset, const AtomicChange& change, Completion*) noexcept override {
    change.bytes == 4 ? apply<std::uint32_t>(at, offset, change) : apply<std::uint64_t>(at, offset, change);
    return Post::done;
  }
  Post flush(Completion*) noexcept override { return Post::done; }
  void settle() {
    for (const auto& [address, bytes] : waiting_)
      std::memcpy(reinterpret_cast<void*>(address), bytes.data(), bytes.size());
    waiting_.clear();
  }

 private:
  template <class Word>
  void apply(Region& at, std::uint64_t offset, const AtomicChange& change) {
    auto& word = *reinterpret_cast<Word*>(plain_address(at, offset, sizeof(Word)));
    const auto operand = static_cast<Word>(change.operand);
    const Word before = word;
    switch (change.kind) {
      case AtomicChange::Kind::add: word += operand; break;
      case AtomicChange::Kind::bit_and: word &= operand; break;
      case AtomicChange::Kind::bit_or: word |= operand; break;
      case AtomicChange::Kind::bit_xor: word ^= operand; break;
      case AtomicChange::Kind::swap: word = operand; break;
      case AtomicChange::Kind::compare_swap:
        if (word == static_cast<Word>(change.compare) || flaw_ == Flaw::changes) word = operand;
    }
    if (change.fetched != nullptr) std::memcpy(change.fetched, &before, sizeof before);
  }
  const Flaw& flaw_;
  Facts facts_{.access_max_bytes = SIZE_MAX, .passive = true, .ordered = true};
  std::vector<std::pair<std::uint64_t, std::vector<std::byte>>> waiting_;
};

class BrokenEndpoint final : public Endpoint {
 public:
  BrokenEndpoint(Broken& owner, std::uint32_t to) : owner_(owner), to_(to) {}
  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 Completion* completion) noexcept override;
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  bool await_room() noexcept override { return false; }
  Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion*) noexcept override;
  bool can_get(const RemoteBuffer&) noexcept override { return true; }
  Loans* loans() noexcept override { return nullptr; }
  Writes* writes() noexcept override { return nullptr; }
  CopyWay copies() noexcept override { return {}; }
  Remote* remote() noexcept override;
  void lose() noexcept;

 private:
  [[nodiscard]] Post queue(InFlight message) noexcept;
  Broken& owner_;
  std::uint32_t to_;
  std::vector<std::byte> reserved_;
  bool lost_ = false;
};

/// A message that somebody keeps; it may outlive the component, which looks for those that are still held.
struct KeptMessage final : HeldBytes {
  explicit KeptMessage(std::vector<std::byte> message) : bytes(std::move(message)) {}
  void release() noexcept override {
    if (all != nullptr) all->remove(this);
    delete this;
  }
  std::vector<std::byte> bytes;
  std::list<KeptMessage*>* all = nullptr;
};

class Broken final : public Component, private Keeper {
 public:
  explicit Broken(const Args& args)
      : flaw(args.params.choice<Flaw>(kFault)),
        sink(args.sink),
        self(args.place.self),
        size_(args.place.world_size) {
    limits_ = {4096, 1024, 2048, {Capability::get, Capability::put, Capability::atomics, Capability::keep}};
    limits_.send_from_bytes = 512;
    for (std::uint32_t rank = 0; rank < size_; ++rank) origins_.push_back({{0, rank}, nullptr, this});
    const std::scoped_lock lock(network().mutex);
    network().processes[self.rank] = this;
  }
  ~Broken() override {
    for (KeptMessage* const kept : kept_) kept->all = nullptr;
    const std::scoped_lock lock(network().mutex);
    network().processes.erase(self.rank);
    for (const InFlight& message : inbox) tell(message, self.rank);
  }
  Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) override {
    return std::unique_ptr<Exposed>(std::make_unique<PlainExposed>(memory));
  }
  std::string_view name() const noexcept override { return "broken"; }
  const Limits& limits() const noexcept override { return limits_; }
  const Needs& needs() const noexcept override { return needs_; }
  std::vector<std::byte> address() const override { return {}; }
  Result<void> reaches(ProcId peer) const override {
    if (peer.world == 0 && peer.rank < size_) return {};
    return fail(Errc::unsupported, "btl/broken", "not in this program");
  }
  Result<Endpoint*> connect(ProcId peer, std::span<const std::byte>) override {
    if (auto may = reaches(peer); !may && flaw != Flaw::knows) return fail(std::move(may).error());
    auto& made = endpoints_[peer.rank];
    if (made == nullptr) made = std::make_unique<BrokenEndpoint>(*this, peer.rank);
    return made.get();
  }
  int progress() noexcept override {
    int events = 0;
    remote_.settle();
    for (; !ended.empty(); ++events) {
      const Ended last = ended.back();
      ended.pop_back();
      if (last.lost) endpoints_.at(*last.lost)->lose();
      last.completion->done(last.completion, !last.lost);
    }
    for (;; ++events) {
      std::unique_lock lock(network().mutex);
      if (inbox.empty()) return events;
      InFlight message = std::move(inbox.front());
      inbox.pop_front();
      message.bytes.insert(message.bytes.end(), message.payload.begin(), message.payload.end());
      if (flaw != Flaw::hasty) tell(message, std::nullopt);
      lock.unlock();
      deliver(std::move(message));
    }
  }
  void deliver(InFlight message) noexcept {
    const std::uint32_t shown = flaw == Flaw::origin ? (message.from + 1) % size_ : message.from;
    if (flaw == Flaw::rots)
      for (KeptMessage* const kept : kept_)
        std::fill(kept->bytes.begin(), kept->bytes.end(), std::byte{0xdd});
    delivered_ = &message.bytes;
    sink.on_message(origins_[shown], message.bytes);
    delivered_ = nullptr;
  }
  /// The sender of a message that lay in its memory; the network is locked. `lost`: who has not got it.
  static void tell(const InFlight& message, std::optional<std::uint32_t> lost) {
    const auto sender = network().processes.find(message.from);
    if (message.completion != nullptr && sender != network().processes.end())
      sender->second->ended.push_back({message.completion, lost});
  }
  bool begin_sleep() noexcept override {
    const std::scoped_lock lock(network().mutex);
    return inbox.empty() || flaw == Flaw::sleeps;
  }
  void end_sleep() noexcept override {}
  int wait_fd() const noexcept override { return -1; }
  bool drained() const noexcept override { return true; }
  void set_idle(bool) noexcept override {}
  Counters counters() const override { return counted; }

  Flaw flaw;
  Sink& sink;
  ProcId self;
  Counters counted;
  struct Ended {
    Completion* completion;
    std::optional<std::uint32_t> lost;
  };
  std::deque<InFlight> inbox;  // under the network's mutex
  std::vector<Ended> ended;    // to be told
  std::uint64_t sent = 0;
  BrokenRemote remote_{flaw};

 private:
  HeldBytes* keep(std::span<const std::byte> bytes) noexcept override {
    const std::vector<std::byte>& message = *delivered_;
    const bool of_it =
        bytes.data() >= message.data() && bytes.data() + bytes.size() <= message.data() + message.size();
    if (!of_it || kept_.size() >= 20) return nullptr;
    auto* const kept = new KeptMessage(std::move(*delivered_));
    kept->all = &kept_;
    kept_.push_back(kept);
    return kept;
  }

  std::list<KeptMessage*> kept_;
  std::vector<std::byte>* delivered_ = nullptr;
  std::uint32_t size_;
  Limits limits_;
  Needs needs_;
  std::vector<Origin> origins_;
  std::map<std::uint32_t, std::unique_ptr<BrokenEndpoint>> endpoints_;
};

Post BrokenEndpoint::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  InFlight message{owner_.self.rank, {header.begin(), header.end()}, {}, nullptr};
  message.bytes.insert(message.bytes.end(), payload.begin(), payload.end());
  return queue(std::move(message));
}

Post BrokenEndpoint::send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                               Completion* completion) noexcept {
  if (payload.size() < 512) return send(header, payload);
  const Post post = queue({owner_.self.rank, {header.begin(), header.end()}, payload, completion});
  if (post != Post::done) return post;
  if (owner_.flaw == Flaw::hasty) owner_.ended.push_back({completion, std::nullopt});
  return Post::posted;
}

Remote* BrokenEndpoint::remote() noexcept { return &owner_.remote_; }

void BrokenEndpoint::lose() noexcept {
  if (!lost_ && owner_.flaw != Flaw::silent)
    owner_.sink.on_peer_lost({0, to_}, Error{Errc::peer_lost, "btl/broken", "it has ended"});
  lost_ = true;
}

Post BrokenEndpoint::queue(InFlight message) noexcept {
  const Flaw flaw = owner_.flaw;
  std::unique_lock lock(network().mutex);
  const auto found = network().processes.find(to_);
  if (found == network().processes.end()) {
    lock.unlock();
    lose();
    return Post::again;
  }
  auto& queue = found->second->inbox;
  if (queue.size() >= 512 && flaw != Flaw::never_full) {
    ++owner_.counted.full;
    return Post::again;
  }
  const bool now = ++owner_.sent % 50 == 0;  // the flaw shows at every 50th message
  if (now && flaw == Flaw::loses) return Post::done;
  if (now && flaw == Flaw::damages && !message.bytes.empty()) message.bytes.back() ^= std::byte{1};
  if (flaw == Flaw::early) {
    lock.unlock();
    found->second->deliver(std::move(message));
    return Post::done;
  }
  if (now && flaw == Flaw::duplicates) queue.push_back(message);
  queue.push_back(std::move(message));
  if (now && flaw == Flaw::reorders && queue.size() >= 2) std::swap(queue.back(), queue[queue.size() - 2]);
  return Post::done;
}

std::byte* BrokenEndpoint::reserve(std::size_t bytes) noexcept {
  {
    const std::scoped_lock lock(network().mutex);
    const auto found = network().processes.find(to_);
    if (found == network().processes.end() ||
        (found->second->inbox.size() >= 512 && owner_.flaw != Flaw::never_full && owner_.flaw != Flaw::roomy))
      return nullptr;
  }
  reserved_.resize(bytes + 1);  // also an empty one has a place
  return reserved_.data();
}

void BrokenEndpoint::commit(std::size_t bytes) noexcept { (void)send({}, {reserved_.data(), bytes}); }

Post BrokenEndpoint::get(const RemoteBuffer& from, std::span<std::byte> to, Completion*) noexcept {
  if (owner_.flaw != Flaw::false_get && !to.empty())
    std::memcpy(to.data(), reinterpret_cast<const void*>(from.address), to.size());
  return Post::done;
}

Result<std::unique_ptr<Component>> create_broken(const Args& args) {
  return std::unique_ptr<Component>(std::make_unique<Broken>(args));
}

}  // namespace

STARLING_PLUGIN_PARAMS std::array kBrokenParams = {kFault};
STARLING_NETWORK_PLUGIN(Framework, broken, 1, "a transport with a fault, for tests", kBrokenParams,
                        &create_broken);

}  // namespace starling::btl
