// SPDX-License-Identifier: BSD-3-Clause
// What every client of a PMI wire protocol does. Layer: framework. See docs/design/pmi.md.

#include "frameworks/pmi/wire_client.hpp"

#include "core/log.hpp"
#include "frameworks/pmi/settings.hpp"

namespace starling::pmi {
namespace {

constexpr std::uint64_t kGoodbyeSeconds = 5;

}  // namespace

// A foreign server wants to hear the end, and Hydra closes the connection then. Starling's mpiexec knows it
// from `idle` already. Who has left sends into a closed connection, which refuses.
void WireClient::take_leave() noexcept {
  if (own_server_ || left_) return;
  left_ = true;
  if (say(words_.goodbye)) (void)await(words_.goodbye_reply, Deadline::after_seconds(kGoodbyeSeconds));
  connection_.close();
}

Unexpected WireClient::has_left() const {
  return fail(Errc::peer_lost, words_.where,
              "this process has used MPI and left it, and with that the process manager (" +
                  capabilities_.server + "), which can be asked for nothing more");
}

Result<wire::Message> WireClient::await(std::string_view reply, Deadline deadline) {
  for (;;) {
    auto message = connection_.receive(deadline);
    if (!message) return message;
    auto taken = sorted(*message);
    if (!taken) return fail(std::move(taken).error());
    if (*taken) continue;
    if (message->name() == reply) return message;
    return message->broken("cmd=" + std::string(reply) + " was expected");
  }
}

Result<wire::Message> WireClient::request(std::string text, std::string_view reply) {
  if (left_) return has_left();
  if (auto sent = say(text); !sent) return fail(std::move(sent).error());
  return await(reply, Deadline::after_seconds(timeout_s_));
}

Unexpected WireClient::not_taken(const wire::Message& reply) const {
  Unexpected no = refused(words_.where, reply, "to take this process as a rank");
  if (own_server_ && reply.find("rc") == std::to_string(kSettingsDiffer)) no.error.code = Errc::bad_parameter;
  return no;
}

Result<void> WireClient::may_enter() {
  if (left_) return has_left();
  if (poisoned_) return fail(*poisoned_);
  ++counters_.fences;
  return {};
}

void WireClient::poison() {
  poisoned_ = Error{Errc::timed_out, words_.where,
                    "an earlier fence timed out, so fences can no longer be told apart"};
}

Result<void> WireClient::finish(const Result<Fence>& entered, Deadline deadline) {
  if (!entered) return fail(entered.error());
  if (entered->number == Fence::kLeft) return {};
  while (!is_over(*entered)) {
    auto message = connection_.receive(deadline);
    if (!message) {
      Error error = std::move(message).error();
      if (error.code == Errc::timed_out) {
        error.detail = "a fence was not completed in time: some process did not come";
        fence_abandon(*entered);
      }
      return fail(std::move(error));
    }
    auto taken = sorted(*message);
    if (!taken) return fail(std::move(taken).error());
    if (!*taken) return message->broken("the end of the fence was expected");
  }
  return {};
}

Result<void> WireClient::fence(Deadline deadline) { return finish(fence_enter({}, {}, deadline), deadline); }

Result<void> WireClient::fence(std::span<const std::uint32_t> ranks, std::string_view tag,
                               Deadline deadline) {
  // Alone there is nothing to wait for, and Hydra asserts on a list of one.
  if (ranks.size() <= 1) return {};
  return finish(fence_enter(ranks, tag, deadline), deadline);
}

Result<bool> WireClient::fence_left(Fence fence) {
  if (fence.number == Fence::kLeft || is_over(fence)) return true;
  auto read = check();
  if (is_over(fence)) return true;  // also if the server closed the connection after that
  if (!read) return fail(std::move(read).error());
  return false;
}

Result<void> WireClient::put(std::string_view key, std::span<const std::byte> value) {
  return put_pieces(*codec_, identity_.rank, key, value, words_.where,
                    [this](const std::string& name, std::string_view piece) {
                      ++counters_.puts;
                      return put_text(name, piece);
                    });
}

Result<Lookup> WireClient::get(std::uint32_t rank, std::string_view key) {
  if (rank >= identity_.size) {
    return fail(
        Errc::not_found, words_.where,
        "there is no rank " + std::to_string(rank) + "; the job has " + std::to_string(identity_.size));
  }
  bool gone = false;
  auto value = get_pieces(*codec_, rank, key, words_.where, [&](const std::string& name) {
    ++counters_.gets;
    return get_text(rank, name, gone);
  });
  if (!value) return fail(std::move(value).error());
  if (*value) return Lookup{Found::value, std::move(**value)};
  if (!own_server_ || gone) return Lookup{Found::none, {}};
  ++counters_.early_gets;
  return Lookup{Found::not_yet, {}};
}

void WireClient::set_active(bool active) noexcept {
  if (active == active_) return;
  active_ = active;
  if (!own_server_) return;
  ++counters_.other;
  // No answer: 1,000 sessions in a row cost no round trip. A failure shows at the next request.
  (void)connection_.send(active ? words_.busy : words_.idle);
}

void WireClient::abort(int exit_code, std::string_view message) noexcept {
  if (left_) return;
  // Starling's mpiexec reads what is left, and shows the message.
  const bool sent = send_abort(connection_, abort_request(exit_code, message.substr(0, 4096)), own_server_);
  if (!sent && own_server_) log::error(message);  // nobody else will tell it
}

Result<void> WireClient::check() {
  if (left_) return {};
  for (;;) {
    auto message = connection_.receive_now();
    if (!message) return fail(std::move(message).error());
    if (!*message) return {};
    auto taken = sorted(**message);
    if (!taken) return fail(std::move(taken).error());
    if (!*taken) return (*message)->broken("no message was expected");
  }
}

Component::Counters WireClient::counters() const noexcept {
  Counters counters = counters_;
  counters.bytes_sent = connection_.bytes_sent();
  counters.bytes_received = connection_.bytes_received();
  return counters;
}

}  // namespace starling::pmi
