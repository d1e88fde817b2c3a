// SPDX-License-Identifier: BSD-3-Clause
// btl/broken: queues between the components of one program, with one fault that a parameter chooses. The
// suite has to find each; with fault none it has to pass. Layer: tests.

#include <array>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "frameworks/btl/btl.hpp"
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
  wrong_origin
};
constexpr params::Decl kFault = params::choice(
    "btl_broken_fault", "none",
    "none|loses|reorders|duplicates|damages|silent|false_get|early|sleeps|never_full|wrong_origin",
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
};

class BrokenEndpoint final : public Endpoint {
 public:
  BrokenEndpoint(Broken& owner, std::uint32_t to) : owner_(owner), to_(to) {}
  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override;
  std::byte* reserve(std::size_t bytes) noexcept override;
  void commit(std::size_t bytes) noexcept override;
  bool await_room() noexcept override { return false; }
  Post get(const RemoteBuffer& from, std::span<std::byte> to, Completion*) noexcept override;
  bool can_get(const RemoteBuffer&) noexcept override { return true; }
  Loans* loans() noexcept override { return nullptr; }
  Writes* writes() noexcept override { return nullptr; }
  CopyWay copies() noexcept override { return {}; }

 private:
  Broken& owner_;
  std::uint32_t to_;
  std::vector<std::byte> reserved_;
  bool lost_ = false;
};

class Broken final : public Component {
 public:
  explicit Broken(const Args& args)
      : flaw(args.params.choice<Flaw>(kFault)),
        sink(args.sink),
        self(args.place.self),
        size_(args.place.world_size) {
    limits_ = {4096, 1024, 2048, true};
    for (std::uint32_t rank = 0; rank < size_; ++rank) origins_.push_back({{0, rank}, nullptr});
    const std::scoped_lock lock(network().mutex);
    network().processes[self.rank] = this;
  }
  ~Broken() override {
    const std::scoped_lock lock(network().mutex);
    network().processes.erase(self.rank);
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
    if (auto may = reaches(peer); !may) return fail(std::move(may).error());
    auto& made = endpoints_[peer.rank];
    if (made == nullptr) made = std::make_unique<BrokenEndpoint>(*this, peer.rank);
    return made.get();
  }
  int progress() noexcept override {
    int events = 0;
    for (;; ++events) {
      std::unique_lock lock(network().mutex);
      if (inbox.empty()) return events;
      const InFlight message = std::move(inbox.front());
      inbox.pop_front();
      lock.unlock();
      deliver(message);
    }
  }
  void deliver(const InFlight& message) noexcept {
    const std::uint32_t shown = flaw == Flaw::wrong_origin ? (message.from + 1) % size_ : message.from;
    sink.on_message(origins_[shown], message.bytes);
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
  std::deque<InFlight> inbox;  // under the network's mutex
  std::uint64_t sent = 0;

 private:
  std::uint32_t size_;
  Limits limits_;
  Needs needs_;
  std::vector<Origin> origins_;
  std::map<std::uint32_t, std::unique_ptr<Endpoint>> endpoints_;
};

Post BrokenEndpoint::send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept {
  std::vector<std::byte> bytes(header.begin(), header.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  const Flaw flaw = owner_.flaw;
  std::unique_lock lock(network().mutex);
  const auto found = network().processes.find(to_);
  if (found == network().processes.end()) {
    lock.unlock();
    if (!lost_ && flaw != Flaw::silent)
      owner_.sink.on_peer_lost({0, to_}, Error{Errc::peer_lost, "btl/broken", "it has ended"});
    lost_ = true;
    return Post::again;
  }
  auto& queue = found->second->inbox;
  if (queue.size() >= 512 && flaw != Flaw::never_full) {
    ++owner_.counted.full;
    return Post::again;
  }
  const bool now = ++owner_.sent % 50 == 0;  // the flaw shows at every 50th message
  if (now && flaw == Flaw::loses) return Post::done;
  if (now && flaw == Flaw::damages && !bytes.empty()) bytes.back() ^= std::byte{1};
  if (flaw == Flaw::early) {
    lock.unlock();
    found->second->deliver({owner_.self.rank, std::move(bytes)});
    return Post::done;
  }
  if (now && flaw == Flaw::duplicates) queue.push_back({owner_.self.rank, bytes});
  queue.push_back({owner_.self.rank, std::move(bytes)});
  if (now && flaw == Flaw::reorders && queue.size() >= 2) std::swap(queue.back(), queue[queue.size() - 2]);
  return Post::done;
}

std::byte* BrokenEndpoint::reserve(std::size_t bytes) noexcept {
  {
    const std::scoped_lock lock(network().mutex);
    const auto found = network().processes.find(to_);
    if (found == network().processes.end() ||
        (found->second->inbox.size() >= 512 && owner_.flaw != Flaw::never_full))
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
