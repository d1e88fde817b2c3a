// SPDX-License-Identifier: BSD-3-Clause
// The test btl's queues. A reserve() is copied to the queue at commit().
#include "tests/conformance/pml/pair.hpp"

#include <algorithm>

namespace starling::pml::test {

namespace {

class Fed {
 public:
  Fed() : starved_(starving) { starving = false; }
  ~Fed() { starving = starved_; }
  Fed(const Fed&) = delete;
  Fed& operator=(const Fed&) = delete;

 private:
  bool starved_;
};

}  // namespace

class PairEndpoint final : public btl::Endpoint, private btl::Writes {
 public:
  PairEndpoint(PairBtl& owner, std::uint32_t to) : owner_(owner), to_(to) {}

  Post send(std::span<const std::byte> header, std::span<const std::byte> payload) noexcept override {
    if (refused()) return Post::again;
    const Fed fed;
    std::vector<std::byte> bytes(header.begin(), header.end());
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return take(std::move(bytes));
  }
  bool await_room() noexcept override { return owner_.network_.options.rings; }
  std::byte* reserve(std::size_t bytes) noexcept override {
    expects(bytes <= owner_.limits_.message_max_bytes, "reserve beyond message_max");
    if (refused()) return nullptr;
    const Fed fed;
    reserved_.assign(bytes, std::byte{0xee});
    return reserved_.data();
  }
  void commit(std::size_t bytes) noexcept override {
    const Fed fed;
    reserved_.resize(bytes);
    (void)take(std::move(reserved_));
    reserved_ = {};
  }
  Post get(const btl::RemoteBuffer& from, std::span<std::byte> to,
           btl::Completion* completion) noexcept override {
    const GetMode mode = owner_.network_.options.get;
    ++owner_.gets;
    const bool ours =
        owner_.network_.at(to_).sink_->announced(owner_.network_.proc(to_, owner_.self_), from, to.size());
    if (!ours || mode == GetMode::fails || (mode == GetMode::fails_at_second && owner_.gets >= 2)) {
      completion->done(completion, false);
      return Post::posted;
    }
    if (owner_.gets % 5 == 4) return Post::again;
    std::memcpy(to.data(), reinterpret_cast<const void*>(from.address), to.size());
    if (mode != GetMode::later) return Post::done;
    owner_.completions_.push_back({completion, true});
    return Post::posted;
  }
  Post send_from(std::span<const std::byte> header, std::span<const std::byte> payload,
                 btl::Completion* completion) noexcept override {
    const std::size_t least = owner_.network_.options.send_from;
    const bool joins = payload.size() <= owner_.network_.options.join;
    if (!joins && (least == 0 || payload.size() < least)) return send(header, payload);
    if (refused()) return Post::again;
    const Fed fed;
    (void)take({header.begin(), header.end()}, payload, completion);
    return Post::posted;
  }
  btl::Remote* remote() noexcept override { return nullptr; }
  btl::Loans* loans() noexcept override { return to_ == owner_.self_ ? nullptr : loans_.get(); }
  btl::Writes* writes() noexcept override {
    return owner_.network_.options.writes && to_ != owner_.self_ ? this : nullptr;
  }
  bool may_copy() noexcept override { return owner_.network_.options.copies; }
  bool copy(std::uint64_t address, std::span<const std::byte> from) noexcept override {
    if (owner_.network_.before_copy) owner_.network_.before_copy();
    const bool fails = owner_.network_.copies_fail;
    std::memcpy(reinterpret_cast<void*>(address), from.data(), fails ? from.size() / 2 : from.size());
    return !fails;
  }
  Permits own_permits() noexcept override { return owner_.network_.permits_of(owner_.self_); }
  Permits its_permits() noexcept override { return owner_.network_.permits_of(to_); }
  std::byte* find(std::uint64_t address, std::size_t) noexcept override {
    if (owner_.network_.options.copies) return nullptr;      // not mapped
    if (owner_.network_.random_() % 4 == 0) return nullptr;  // "not yet"
    return reinterpret_cast<std::byte*>(address);
  }
  btl::CopyWay copies() noexcept override { return {}; }
  bool can_get(const btl::RemoteBuffer&) noexcept override {
    const GetMode mode = owner_.network_.options.get;
    return mode != GetMode::none && mode != GetMode::refuses_probe;
  }

 private:
  bool refused() {
    if (owner_.lose_in_send_ >= 0) {
      owner_.lost(std::uint32_t(std::exchange(owner_.lose_in_send_, -1)));
    }
    PairNetwork& network = owner_.network_;
    return network.queues_[owner_.self_][to_].size() >= network.options.capacity ||
           network.random_() % 100 < network.options.again_percent;
  }
  Post take(std::vector<std::byte> bytes, std::span<const std::byte> payload = {},
            btl::Completion* completion = nullptr) {
    expects(bytes.size() + payload.size() <= owner_.limits_.message_max_bytes, "message beyond message_max");
    ++owner_.sent_.at(std::size_t(bytes.at(0)));
    owner_.network_.queues_[owner_.self_][to_].push_back(
        {std::move(bytes), owner_.network_.options.delay, payload, completion});
    return Post::done;
  }
  PairBtl& owner_;
  std::uint32_t to_;
  std::vector<std::byte> reserved_;
  std::shared_ptr<btl::Loans> loans_ = make_pair_loans();
};

PairBtl::PairBtl(PairNetwork& network, std::uint32_t self) : network_(network), self_(self) {
  const PairOptions& options = network.options;
  limits_ = {options.message_max, options.eager, options.fragment};
  limits_.can.add(btl::Capability::get, options.get != GetMode::none);
  limits_.reach = options.reach;
  limits_.send_from_bytes = options.send_from;
  limits_.join_bytes = options.join;
  limits_.part_bytes = options.part;
  limits_.parts_above = options.parts_above;
  limits_.parted_bytes = options.parted;
  if (self < options.access_domains.size()) limits_.get_access_domain = options.access_domains[self];
  needs_.address = options.address;
  for (std::uint32_t rank = 0; rank < network.queues_.size(); ++rank)
    origins_.push_back({network.proc(self, rank), nullptr});
}

Result<void> PairBtl::reaches(ProcId peer) const {
  if (!refusal.empty()) return fail(Errc::unsupported, "", refusal);
  if (!network_.find(self_, peer)) return fail(Errc::unsupported, "", "not in this program");
  return {};
}

Result<btl::Endpoint*> PairBtl::connect(ProcId peer, std::span<const std::byte> address) {
  connected_with.assign(address.begin(), address.end());
  endpoints_.push_back(std::make_unique<PairEndpoint>(*this, *network_.find(self_, peer)));
  return endpoints_.back().get();
}

/// Tells the sink, and gives back what was to be read out of the sender's memory.
void PairBtl::lost(std::uint32_t rank) {
  sink_->on_peer_lost(network_.proc(self_, rank), Error{Errc::peer_lost, "pair", "told to"});
  for (auto& message : network_.queues_[self_][rank]) {
    if (message.completion == nullptr) continue;
    completions_.push_back({std::exchange(message.completion, nullptr), false});
    message.bytes.insert(message.bytes.end(), message.payload.begin(), message.payload.end());
    message.payload = {};
  }
}

int PairBtl::progress() noexcept {
  int events = 0;
  if (lose_next_ >= 0) {
    lost(std::uint32_t(std::exchange(lose_next_, -1)));
    ++events;
  }
  std::vector<std::pair<btl::Completion*, bool>> ended;
  ended.swap(completions_);
  for (const auto& [completion, ok] : ended) completion->done(completion, ok);
  for (std::uint32_t from = 0; from < network_.size(); ++from) {
    auto& queue = network_.queues_[from][self_];
    for (std::size_t count = queue.size(); count > 0; --count) {
      if (queue.front().delay > 0) {
        --queue.front().delay;
        break;
      }
      PairNetwork::InFlight& next = queue.front();
      next.bytes.insert(next.bytes.end(), next.payload.begin(), next.payload.end());
      if (next.completion != nullptr) network_.at(from).completions_.push_back({next.completion, true});
      const std::vector<std::byte> message = std::move(next.bytes);
      queue.pop_front();
      sink_->on_message(origins_[from], message);
      ++events;
    }
  }
  return events + int(ended.size());
}

PairNetwork::PairNetwork(std::uint32_t size, const PairOptions& given)
    : options(given), queues_(size), permits_(size) {
  for (auto& row : queues_) row.resize(size);
  for (std::uint32_t rank = 0; rank < size; ++rank)
    components_.push_back(std::make_unique<PairBtl>(*this, rank));
}

ProcId PairNetwork::proc(std::uint32_t viewer, std::uint32_t whom) const {
  const std::vector<std::uint32_t>& worlds = options.worlds;
  if (worlds.empty()) return {0, whom};
  const auto end = worlds.begin() + std::ptrdiff_t(whom);
  const auto rank = std::uint32_t(std::count(worlds.begin(), end, worlds[whom]));
  return {worlds[whom] == worlds[viewer] ? 0 : 1 + worlds[whom], rank};
}

std::optional<std::uint32_t> PairNetwork::find(std::uint32_t viewer, ProcId wanted) const {
  for (std::uint32_t whom = 0; whom < queues_.size(); ++whom) {
    if (proc(viewer, whom) == wanted) return whom;
  }
  return std::nullopt;
}

bool PairNetwork::empty() const {
  for (const auto& row : queues_) {
    for (const auto& queue : row) {
      if (!queue.empty()) return false;
    }
  }
  return true;
}

}  // namespace starling::pml::test
