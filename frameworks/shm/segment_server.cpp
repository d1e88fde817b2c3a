// SPDX-License-Identifier: BSD-3-Clause
// The thread that hands the segment over. What is hard: every holder waits on the same listening socket, so
// one connection must wake one of them (EPOLLEXCLUSIVE), and the end of the giving all of them (shutdown).
// Layer: framework. Design: docs/design/shared-memory.md.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <thread>

#include "core/event_fd.hpp"
#include "core/service_thread.hpp"
#include "frameworks/shm/election.hpp"
#include "frameworks/shm/election_wire.hpp"
#include "frameworks/shm/node_segment.hpp"

namespace starling::shm {

namespace {
constexpr useconds_t kPauseUs = 10'000;
}

struct SegmentServer::State {
  UniqueFd memory, listener, stop, events;
  wire::Offer offer;
  std::mutex closing;  // of the listener: by the thread, while end() may want to shut it down
  std::thread thread;

  [[nodiscard]] Result<void> watch();
  void serve_one() noexcept;
  void run() noexcept;
};

Result<void> SegmentServer::State::watch() {
  events = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  auto made = make_event_fd(0);
  if (!made) return fail(std::move(made).error().within("shared memory"));
  stop = std::move(*made);
  epoll_event ask{};
  ask.events = EPOLLIN | EPOLLEXCLUSIVE;
  ask.data.fd = listener.get();
  epoll_event end{};
  end.events = EPOLLIN;
  end.data.fd = stop.get();
  if (!events || ::epoll_ctl(events.get(), EPOLL_CTL_ADD, listener.get(), &ask) != 0 ||
      ::epoll_ctl(events.get(), EPOLL_CTL_ADD, stop.get(), &end) != 0) {
    return fail(system_error("shared memory", "cannot watch the socket that hands it over", errno));
  }
  return {};
}

void SegmentServer::State::serve_one() noexcept {
  const UniqueFd asking(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!asking) {
    // Without descriptors or memory the connection waits, and epoll would report it again at once.
    if (errno != EAGAIN && errno != ECONNABORTED) ::usleep(kPauseUs);
    return;
  }
  const std::optional<ucred> who = wire::peer_of(asking.get());
  if (who && who->uid == ::geteuid()) {
    wire::send_offer(asking.get(), offer, memory.get(), listener.get());
  }
}

void SegmentServer::State::run() noexcept {
  for (;;) {
    epoll_event event{};
    const int count = ::epoll_wait(events.get(), &event, 1, -1);
    if (count < 0 && errno != EINTR) break;
    if (count <= 0) continue;
    // A hang-up of the listening socket is end()'s, of any process.
    if (event.data.fd == stop.get() || (event.events & EPOLLHUP) != 0) break;
    serve_one();
  }
  // With the last holder's descriptor the name goes.
  events.reset();
  const std::scoped_lock lock(closing);
  listener.reset();
}

SegmentServer::SegmentServer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

Result<std::unique_ptr<SegmentServer>> SegmentServer::start(int memory, UniqueFd listener,
                                                            const SegmentSpec& spec, const std::string& why) {
  auto state = std::make_unique<State>();
  state->memory = UniqueFd(::fcntl(memory, F_DUPFD_CLOEXEC, 3));
  if (!state->memory) return fail(system_error("shared memory", "cannot duplicate its descriptor", errno));
  state->listener = std::move(listener);
  state->offer.nonce = job_nonce(spec.job);
  state->offer.bytes = spec.bytes;
  why.copy(state->offer.why, sizeof(state->offer.why) - 1);
  if (auto watching = state->watch(); !watching) return fail(std::move(watching).error());
  auto thread = start_service_thread("starling-shm", [raw = state.get()] { raw->run(); });
  if (!thread) return fail(std::move(thread).error().within("shared memory: to hand it over"));
  state->thread = std::move(*thread);
  return std::unique_ptr<SegmentServer>(new SegmentServer(std::move(state)));
}

SegmentServer::~SegmentServer() {
  const std::uint64_t one = 1;
  (void)!::write(state_->stop.get(), &one, sizeof one);
  state_->thread.join();
}

void SegmentServer::end() noexcept {
  const std::scoped_lock lock(state_->closing);
  // All processes share the socket: this wakes every segment server.
  if (state_->listener) ::shutdown(state_->listener.get(), SHUT_RDWR);
}

}  // namespace starling::shm
