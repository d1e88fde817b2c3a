// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Messages between nodes over UCX. Layer: plugin.
///
/// A frame is one active message, sent eagerly whatever its size. UCX tells of dead peers by an error
/// handler.
///
/// Beyond btl_ucx_connections open endpoints the one that was idle longest is closed, once the other side has
/// agreed that nothing is on its way (closing.cpp); the next message opens it again.
///
/// With btl_ucx_get a large message goes by UCX's tagged rendezvous from buffer to buffer (gets.cpp).
///
/// Threads:   as btl::Component; UCX has a thread of its own that calls nothing of ours.
/// Ownership: owns worker and endpoints. UCX keeps a frame's memory until its request ends.
/// Ordering:  one stream per endpoint.
/// Errors:    an endpoint that UCX reports as failed is lost, once; over tcp also one that nothing leads
///            to for btl_ucx_peer_timeout seconds (watch.cpp).

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frameworks/btl/btl.hpp"
#include "frameworks/btl/net/arrivals.hpp"
#include "frameworks/btl/net/card.hpp"
#include "frameworks/btl/net/connections.hpp"
#include "frameworks/btl/net/doubt.hpp"
#include "frameworks/btl/net/ends.hpp"
#include "frameworks/btl/net/gets.hpp"
#include "frameworks/btl/net/link.hpp"
#include "plugins/btl/ucx/keeping.hpp"
#include "plugins/btl/ucx/remote.hpp"
#include "plugins/btl/ucx/setup.hpp"

namespace starling::btl {

class UcxComponent;

class UcxEndpoint final : public net::GetLink {
 public:
  UcxEndpoint(UcxComponent& component, ProcId peer, net::Card card);
  ~UcxEndpoint() override = default;

  [[nodiscard]] ucp_ep_h ep() const noexcept { return ep_; }
  /// The launcher says so.
  void died(std::string why) noexcept;
  /// Whether something was sent that may still lie in UCX.
  [[nodiscard]] bool unconfirmed() const noexcept { return unconfirmed_ && !lost(); }
  /// Whether a frame would find a connection.
  [[nodiscard]] bool connected() const noexcept { return ep_ != nullptr && stage_ == Stage::open; }
  /// Whether an endpoint may be made if there is none: not while one is being closed, nor after a break,
  /// which only has to be judged.
  [[nodiscard]] bool may_open() const noexcept { return stage_ == Stage::open && broke_at_ns_ == 0; }
  [[nodiscard]] bool gone() const noexcept { return idle(); }
  [[nodiscard]] Remote* remote() noexcept override;
  // For accesses to what the peer has exposed (remote.cpp).
  [[nodiscard]] const ucx::Library& library() const noexcept;
  [[nodiscard]] bool over_tcp() const noexcept;
  [[nodiscard]] ucx::AccessPool& accesses() noexcept;
  /// Sees to it that there is a connection, which stays while memory of the peer is open.
  [[nodiscard]] Result<void> keep_open();
  void count_access() noexcept;
  void count_event() noexcept;
  /// Whether more than messages needs the connection.
  [[nodiscard]] bool needs_connection() const noexcept { return flushing_ || moving() || remote_.in_use(); }
  /// Asks the other side to confirm, once.
  void start_flush() noexcept;
  /// Sees to it that what UCX has accepted gets into the kernel or the adapter.
  void confirm() noexcept;

 private:
  friend class UcxComponent;
  /// Between whom its connection is.
  [[nodiscard]] net::Way way() const noexcept;
  // watch.cpp
  [[nodiscard]] bool had_connection() noexcept;
  void look_after(std::uint64_t now, std::span<const net::Connection> silent) noexcept;
  /// Reports it as lost, or left if it has said so.
  void give_up(std::string why) noexcept;
  void give_up(Errc code, std::string why) noexcept;
  Post post(net::Frame& frame) noexcept override;
  static void sent(void* request, ucs_status_t status, void* frame) noexcept;
  static void flushed(void* request, ucs_status_t status, void* self) noexcept;
  // gets.cpp
  Taken receive(net::Get& get) noexcept override;
  void cancel(net::Get& get) noexcept override;
  Taken serve(const net::AskData& what) noexcept override;
  static void got(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* get) noexcept;
  static void served(void* request, ucs_status_t status, void* self) noexcept;

  UcxComponent& component_;
  ucp_ep_h ep_ = nullptr;
  /// open: with or without an endpoint, which the first frame makes. asking: nothing is sent until the
  /// answer. agreed: both sides are silent; the endpoint is closed as soon as the last frame is confirmed.
  enum class Stage : std::uint8_t { open, asking, agreed };
  UcxRemote remote_{*this};
  net::Card card_;               // of the peer; its address without the port
  std::vector<std::byte> port_;  // on which the peer listens, a sockaddr; empty: not known
  net::Doubt doubt_;
  bool had_connection_ = false;    // this one
  bool reopened_ = false;          // it is not the first
  std::uint64_t broke_at_ns_ = 0;  // when it broke; 0: it has not
  Stage stage_ = Stage::open;
  bool unconfirmed_ = false;
  bool flushing_ = false;
  bool asked_again_ = false;  // to close the next connection, before this one was closed
};

class UcxComponent final : public Component {
 public:
  UcxComponent(const Args& args, const ucx::Library& library, ucx::Worker worker, const ucx::Choice& choice);
  ~UcxComponent() override;
  UcxComponent(const UcxComponent&) = delete;
  UcxComponent& operator=(const UcxComponent&) = delete;

  /// Registers for messages and reads the address. Before it nobody can send.
  [[nodiscard]] Result<void> start();

  [[nodiscard]] std::string_view name() const noexcept override { return "ucx"; }
  [[nodiscard]] const Limits& limits() const noexcept override { return limits_; }
  [[nodiscard]] const Needs& needs() const noexcept override { return needs_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return address_; }
  [[nodiscard]] Result<void> reaches(ProcId peer) const override;
  [[nodiscard]] Result<Endpoint*> connect(ProcId peer, std::span<const std::byte> address) override;
  [[nodiscard]] Result<std::unique_ptr<Exposed>> expose(std::span<std::byte> memory) override;
  int progress() noexcept override;
  [[nodiscard]] bool begin_sleep() noexcept override;
  void end_sleep() noexcept override {}
  [[nodiscard]] int wait_fd() const noexcept override { return worker_.wait_fd(); }
  [[nodiscard]] bool drained() const noexcept override;
  void set_idle(bool idle) noexcept override;
  [[nodiscard]] Counters counters() const override;

 private:
  friend class UcxEndpoint;
  [[nodiscard]] Result<void> open_endpoint(UcxEndpoint& link);
  void close(ucp_ep_h ep) noexcept;
  void close_failed() noexcept;
  /// Takes the endpoint from a link, to be closed outside of UCX's handlers.
  void retire(UcxEndpoint& link) noexcept;
  /// Called by who waits, before each sleep.
  void watch(std::uint64_t now) noexcept;  // watch.cpp
  // closing.cpp: idle connections beyond the cap
  void on_closing(net::Arrivals::Closing closing) noexcept;
  void agree_on_closing(UcxEndpoint& link) noexcept;
  void close_idle() noexcept;
  void ask_the_idlest() noexcept;
  void on_asked(const net::Arrivals::Asked& asked) noexcept;
  static ucs_status_t on_frame(void* self, const void* header, std::size_t header_bytes, void* data,
                               std::size_t bytes, const ucp_am_recv_param_t* param) noexcept;
  static void on_error(void* link, ucp_ep_h ep, ucs_status_t status) noexcept;  // watch.cpp
  void settle_broken(std::uint64_t now) noexcept;                               // watch.cpp

  const ucx::Library& library_;
  ucx::Worker worker_;
  std::unique_ptr<ucx::Keeping> keeping_;
  bool keeps_;  // btl_ucx_keep=always
  Limits limits_;
  Needs needs_;
  std::uint64_t token_;
  std::string protocol_;
  std::string place_;
  std::vector<std::byte> own_port_;  // ucx::port_of
  std::vector<std::byte> address_;
  net::Links links_;
  net::Arrivals arrivals_;
  shm::NodeSegment* const segment_;
  net::Ends ends_;
  net::Gets gets_;
  ucx::AccessPool accesses_;
  std::uint32_t idle_passes_ = 0;
  int events_ = 0;           // of the progress call under way
  std::size_t senders_ = 0;  // whose sockets have been marked close-on-exec
  struct Retired {
    ucp_ep_h ep;
    std::vector<ucp_rkey_h> keys;  // that were unpacked for it, and go first
  };
  std::vector<Retired> failed_;  // to be closed outside of UCX's handlers
  std::size_t connections_max_;  // 0: any number
  std::size_t open_ = 0;         // links with an endpoint
  bool over_tcp_;                // and over nothing else
  net::Patience patience_;
  std::uint64_t watched_ns_ = 0;
  std::uint64_t looked_ns_ = 0;          // when the kernel was last asked about connections
  std::vector<net::Connection> silent_;  // what it said
  std::uint64_t reopened_ = 0;
  std::uint32_t passes_ = 0;           // since idle links were looked for
  std::vector<UcxEndpoint*> closing_;  // asking or agreed
  std::vector<UcxEndpoint*> broken_;   // whose connection broke, and nobody knows why yet
  bool idle_ = false;                  // this process has left MPI
  mutable bool confirm_ = false;       // drained() was asked: links are to be confirmed
  std::unordered_map<std::uint32_t, std::unique_ptr<UcxEndpoint>> endpoints_;  // by rank
};

[[nodiscard]] Result<std::unique_ptr<Component>> create_ucx_component(const Args& args);

}  // namespace starling::btl
