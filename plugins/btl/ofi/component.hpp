// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages between nodes over libfabric. Layer: plugin.
///
/// A frame is one message of a reliable datagram endpoint. Short ones are injected, which says nothing about
/// when they leave; so a link that has injected ends with a frame that completes.
///
/// With btl_ofi_get a large message goes by a tagged message from buffer to buffer (gets.cpp).
///
/// Threads:   as btl::Component.
/// Ownership: owns libfabric's objects. libfabric keeps a frame's memory until it completes.
/// Ordering:  one stream per peer (FI_ORDER_SAS).
/// Errors:    libfabric reports no dead peer. One that takes nothing, sends nothing of what was asked for, or
///            has no connection any more is asked after (watch.cpp), and lost when nobody listens, or without
///            any answer for btl_ofi_peer_timeout seconds.

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/connections.hpp"
#include "frameworks/btl/net/descriptors.hpp"
#include "frameworks/btl/net/doubt.hpp"
#include "frameworks/btl/net/ends.hpp"
#include "frameworks/btl/net/gets.hpp"
#include "frameworks/btl/net/link.hpp"
#include "plugins/btl/ofi/computed.hpp"
#include "plugins/btl/ofi/receiving.hpp"
#include "plugins/btl/ofi/remote.hpp"
#include "plugins/btl/ofi/setup.hpp"

namespace starling::btl {

class OfiComponent;

class OfiEndpoint final : public net::GetLink {
 public:
  OfiEndpoint(OfiComponent& component, ProcId peer, std::uint64_t token, std::string place,
              std::vector<std::byte> name, fi_addr_t to);
  ~OfiEndpoint() override = default;

  /// Whether something was injected and nothing completed since.
  [[nodiscard]] bool unconfirmed() const noexcept { return injected_ && !lost(); }
  [[nodiscard]] bool connected() const noexcept { return !lost(); }
  [[nodiscard]] bool gone() const noexcept { return idle(); }
  [[nodiscard]] Remote* remote() noexcept override;
  /// Whether something that the peer takes part in goes on: a get, or an access to exposed memory.
  [[nodiscard]] bool under_way() const noexcept { return moving() || remote_.moving(); }
  // watch.cpp
  /// While what goes to it meets refusals only, or gets do not move, or the kernel gets no answer: asks
  /// whether the peer still lives.
  void look_after(std::uint64_t now) noexcept;
  /// The peer cannot be reached any more: it is cut off, or has left if it has said so.
  void end(std::string why) noexcept;
  void end(Errc code, std::string why) noexcept;
  void died(std::string why) noexcept { end(Errc::peer_lost, std::move(why)); }
  [[nodiscard]] bool had_connection() const noexcept;
  /// A connection broke. Ends the peer as died() if that is `sure`; else only if nobody listens at its
  /// address.
  void broke(bool sure = true) noexcept;
  void look_for_connection() noexcept;
  /// When something was first refused since something was taken; 0: it was not.
  [[nodiscard]] std::uint64_t refused_since_ns() const noexcept { return refused_since_ns_; }

 private:
  friend class OfiComponent;
  friend class OfiRemote;
  Post post(net::Frame& frame) noexcept override;
  /// Calls `send` and returns its answer. If that is neither 0 nor -FI_EAGAIN, the link is lost.
  template <class Send>
  ssize_t hand_to_library(Send send) noexcept {
    if (connected_ || refused_since_ns_ != 0) [[likely]]
      return learn_from(send());
    // The connection is made within the first call; its socket must not be inherited.
    net::DescriptorWatch watch;
    const ssize_t code = send();
    watch.mark();
    return learn_from(code);
  }
  ssize_t learn_from(ssize_t code) noexcept;
  void taken() noexcept;
  void refused() noexcept;
  // gets.cpp
  Taken receive(net::Get& get) noexcept override;
  void cancel(net::Get& get) noexcept override;
  Taken serve(const net::AskData& what) noexcept override;
  [[nodiscard]] bool may_still_write() const noexcept override { return may_live_; }

  OfiComponent& component_;
  fi_addr_t to_;
  bool injected_ = false;
  bool connected_ = false;
  bool seen_ = false;         // a connection to it, by the kernel's word
  std::uint8_t missing_ = 0;  // scans since that have found none
  bool may_live_ = false;     // lost, but nobody knows whether it has ended
  std::string place_;
  std::vector<std::byte> name_;  // libfabric's address of the peer
  std::uint64_t refused_since_ns_ = 0;
  std::uint64_t last_move_ns_ = 0;  // when a get, a serve or an access last began or ended
  net::Doubt doubt_;
  OfiRemote remote_{*this};
};

class OfiComponent final : public Component {
 public:
  OfiComponent(const Args& args, const ofi::Library& library, const ofi::Choice& choice, ofi::Fabric fabric,
               std::optional<ofi::ComputedAddresses> computed);
  ~OfiComponent() override;
  OfiComponent(const OfiComponent&) = delete;
  OfiComponent& operator=(const OfiComponent&) = delete;

  /// Posts the receive buffers. Before it nothing can arrive.
  [[nodiscard]] Result<void> start();

  [[nodiscard]] std::string_view name() const noexcept override { return "ofi"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  [[nodiscard]] const Needs& needs() const noexcept override { return needs_; }
  [[nodiscard]] std::vector<std::byte> address() const override {
    return computed_ ? std::vector<std::byte>{} : address_;
  }
  [[nodiscard]] Result<void> reaches(ProcId peer) const override;
  [[nodiscard]] Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) override;
  int progress() noexcept override;
  [[nodiscard]] bool begin_sleep() noexcept override;
  void end_sleep() noexcept override {}
  [[nodiscard]] int wait_fd() const noexcept override { return fabric_.wait_fd(); }
  [[nodiscard]] bool drained() const noexcept override;
  void set_idle(bool idle) noexcept override;
  [[nodiscard]] Counters counters() const override { return links_.counters; }

 private:
  friend class OfiEndpoint;
  friend class OfiRemote;
  [[nodiscard]] Result<void> post(ofi::ReceiveBuffer& buffer) noexcept;
  /// The card of a peer, published or computed.
  [[nodiscard]] Result<net::Card> card_of(ProcId peer, std::span<const std::byte> address,
                                          const std::string& where) const;
  int take(const fi_cq_data_entry& entry) noexcept;
  int take_error() noexcept;
  void note_missing(const Result<void>& posted);
  // watch.cpp
  /// Called by who waits, before each sleep.
  void watch(std::uint64_t now) noexcept;
  void look_after_waiting() noexcept;
  [[nodiscard]] net::Way way_to(const OfiEndpoint& link) const noexcept;
  [[nodiscard]] std::vector<net::Connection> scan() const;
  // gets.cpp
  /// A get of a peer that libfabric serves.
  struct Serve {
    OfiEndpoint* link;
    alignas(16) std::byte context[64];
  };
  void on_asked(const net::Arrivals::Asked& asked) noexcept;
  /// The end of a tagged message; `error` is libfabric's, 0: none.
  void take_tagged(void* context, std::uint64_t flags, std::size_t bytes, int error) noexcept;

  /// The end of an access to a peer's memory.
  void take_access(void* context, bool ok) noexcept;
  /// Whether libfabric has something for which a peer is awaited.
  [[nodiscard]] bool awaits_peers() const noexcept {
    return !links_.busy.empty() || gets_.moving() || accesses_.out() != 0 || access_refused_;
  }

  const ofi::Library& library_;
  std::shared_ptr<fi_info> info_;
  ofi::Fabric fabric_;
  Limits limits_;
  Needs needs_;
  bool over_tcp_;
  std::size_t inject_bytes_;
  std::optional<ofi::ComputedAddresses> computed_;
  net::Patience patience_;
  std::string place_;
  std::uint64_t token_;
  std::string protocol_;
  std::vector<std::byte> address_;
  net::Links links_;
  ofi::Receiving receiving_;
  net::Arrivals arrivals_;
  shm::NodeSegment* const segment_;
  net::Ends ends_;
  net::Gets gets_;
  std::list<Serve> serves_;
  Remote::Facts remote_facts_;
  ofi::AccessPool accesses_;
  bool access_refused_ = false;  // the last one that was tried
  std::uint64_t next_key_ = 1;   // of exposed memory
  fi_cq_data_entry early_{};     // read by begin_sleep(), for the next progress()
  bool has_early_ = false;
  std::size_t senders_ = 0;  // whose sockets have been marked close-on-exec
  std::uint32_t waiting_passes_ = 0;
  std::uint32_t idle_passes_ = 0;
  std::uint64_t looked_ns_ = 0;               // when links with gets were last looked after
  std::uint64_t scanned_ns_ = 0;              // when the kernel was last asked about connections
  std::vector<net::Connection> connections_;  // what it said
  mutable bool confirm_ = false;  // drained() was asked: links that have injected are to be confirmed
  std::unordered_map<std::uint32_t, std::unique_ptr<OfiEndpoint>> endpoints_;  // by rank
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_ofi_component(const Args& args);

}  // namespace starling::btl
