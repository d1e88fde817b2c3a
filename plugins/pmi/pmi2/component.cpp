// SPDX-License-Identifier: BSD-3-Clause
// A PMI-2 client: requests, fences, values. Layer: plugin. See docs/design/pmi.md.
//
// Hard here: kvs-fence is a barrier at Slurm, and answered at once by Hydra, which holds back each kvs-get
// until everybody has asked for as many fences. So a fence is two requests: kvs-fence, then a kvs-get of a
// key that nobody has put. Both may be on the way while other requests are answered; answers to two gets may
// come in any order where the server returns thrid, and come in the order of the gets where it does not.

#include "plugins/pmi/pmi2/component.hpp"

#include <utility>

#include "core/log.hpp"

namespace starling::pmi {
namespace {

constexpr std::uint64_t kGoodbyeSeconds = 5;
/// The thrid of gets: what a fence asks, and values.
constexpr char kOfFence[] = "fence";
constexpr char kOfValue[] = "value";
constexpr char kNobodysKey[] = "starling-fence";

}  // namespace

Pmi2::~Pmi2() {
  // A process that ends while MPI is in use says nothing, so that the process manager can see a failure.
  if (!active_) take_leave();
}

void Pmi2::take_leave() noexcept {
  if (own_server_ || left_) return;
  left_ = true;
  if (connection_.send(wire::Frame("finalize").take()))
    (void)await("finalize-response", Deadline::after_seconds(kGoodbyeSeconds));
  connection_.close();
}

Unexpected Pmi2::has_left() const {
  return fail(Errc::peer_lost, kPmi2,
              "this process has used MPI and left it, and with that the process manager (" +
                  capabilities_.server + "), which can be asked for nothing more");
}

Result<bool> Pmi2::sorted(const wire::Message& message) {
  Result<void> taken;
  if (asked_ == Asked::fence && message.name() == "kvs-fence-response") {
    if (message.find("rc").value_or("0") != "0") return refused(kPmi2, message, "a fence");
    taken = own_server_ ? next_fence() : ask_for_everybody();  // ours answers when everybody has come
  } else if (asked_ == Asked::everybody && message.name() == "kvs-get-response" && !is_of_value(message)) {
    taken = next_fence();
  } else {
    return false;
  }
  if (!taken) return fail(std::move(taken).error());
  return true;
}

bool Pmi2::is_of_value(const wire::Message& response) {
  if (const auto thread = response.find("thrid")) return *thread != kOfFence;
  return std::exchange(value_first_, false);
}

Result<wire::Message> Pmi2::await(std::string_view reply, Deadline deadline) {
  for (;;) {
    auto message = connection_.receive(deadline);
    if (!message) return message;
    if (message->form() != wire::Form::frame) return message->broken("a PMI-2 message was expected");
    auto taken = sorted(*message);
    if (!taken) return fail(std::move(taken).error());
    if (*taken) continue;
    if (message->name() == reply) return message;
    return message->broken("cmd=" + std::string(reply) + " was expected");
  }
}

Result<wire::Message> Pmi2::request(std::string frame, std::string_view reply) {
  if (left_) return has_left();
  if (auto sent = connection_.send(frame); !sent) return fail(std::move(sent).error());
  return await(reply, Deadline::after_seconds(timeout_s_));
}

Result<void> Pmi2::ask_for_fence() {
  wire::Frame frame("kvs-fence");
  if (of_the_living_) frame.add("living", "TRUE");
  asked_ = Asked::fence;
  return connection_.send(std::move(frame).take());
}

Result<void> Pmi2::ask_for_everybody() {
  asked_ = Asked::everybody;
  value_first_ = value_asked_;
  return connection_.send(get_frame(kNobodysKey, kOfFence));
}

Result<void> Pmi2::next_fence() {
  ++completed_;
  asked_ = Asked::nothing;
  return entered_ > completed_ ? ask_for_fence() : Result<void>{};
}

Result<Fence> Pmi2::enter(bool of_the_living) {
  if (left_) return has_left();
  if (poisoned_) return fail(*poisoned_);
  ++counters_.fences;
  if (!own_server_) ++counters_.gets;  // what the fence asks after it
  of_the_living_ = of_the_living;
  ++entered_;
  if (asked_ == Asked::nothing) {
    if (auto sent = ask_for_fence(); !sent) return fail(std::move(sent).error());
  }
  return Fence{entered_};
}

Result<void> Pmi2::finish(const Result<Fence>& entered, Deadline deadline) {
  if (!entered) return fail(entered.error());
  if (entered->number == Fence::kLeft) return {};
  while (completed_ < entered->number) {
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
    if (!*taken) return message->broken("an answer to the fence was expected");
  }
  return {};
}

Result<void> Pmi2::fence(Deadline deadline) { return finish(enter(false), deadline); }

Result<void> Pmi2::fence(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline deadline) {
  return finish(fence_enter(ranks, tag, deadline), deadline);
}

Result<Fence> Pmi2::fence_enter(std::span<const std::uint32_t> ranks, std::string_view, Deadline) {
  if (ranks.size() == 1) return Fence{};
  if (!ranks.empty()) return fail(Errc::unsupported, kPmi2, "PMI-2 has no fences of subsets");
  return enter(false);
}

Result<Fence> Pmi2::last_fence_enter(Deadline) { return enter(own_server_); }

Result<bool> Pmi2::fence_left(Fence fence) {
  if (fence.number == Fence::kLeft || completed_ >= fence.number) return true;
  auto read = check();
  if (completed_ >= fence.number) return true;  // also if the server closed the connection after that
  if (!read) return fail(std::move(read).error());
  return false;
}

void Pmi2::fence_abandon(Fence fence) noexcept {
  if (fence.number == Fence::kLeft || completed_ >= fence.number) return;
  poisoned_ =
      Error{Errc::timed_out, kPmi2, "an earlier fence timed out, so fences can no longer be told apart"};
}

Result<void> Pmi2::put(std::string_view key, std::span<const std::byte> value) {
  return put_pieces(*codec_, identity_.rank, key, value, kPmi2,
                    [this](const std::string& name, std::string_view piece) -> Result<void> {
                      ++counters_.puts;
                      wire::Frame frame("kvs-put");
                      frame.add("key", name).add("value", piece);
                      auto reply = request(std::move(frame).take(), "kvs-put-response");
                      if (!reply) return fail(std::move(reply).error());
                      if (reply->find("rc") != "0") return refused(kPmi2, *reply, "to store a value");
                      return {};
                    });
}

std::string Pmi2::get_frame(std::string_view key, std::string_view thread) const {
  wire::Frame frame("kvs-get");
  frame.add("jobid", job_).add("srcid", -1).add("key", key).add("thrid", thread);
  return std::move(frame).take();
}

Result<std::optional<std::string>> Pmi2::get_text(std::uint32_t rank, std::string_view key, bool& gone) {
  ++counters_.gets;
  std::string frame = get_frame(key, kOfValue);
  if (own_server_) {
    wire::Frame own("kvs-get");
    own.add("jobid", job_).add("key", key).add("from", rank);
    frame = std::move(own).take();
  }
  value_asked_ = true;
  auto reply = request(std::move(frame), "kvs-get-response");
  value_asked_ = value_first_ = false;
  if (!reply) return fail(std::move(reply).error());
  gone = reply->find("gone") == "TRUE";
  const auto value = reply->find("value");
  if (reply->find("rc").value_or("0") != "0" || reply->find("found") == "FALSE" || !value)
    return std::optional<std::string>{};
  return std::optional<std::string>(*value);
}

Result<Lookup> Pmi2::get(std::uint32_t rank, std::string_view key) {
  if (rank >= identity_.size) {
    return fail(
        Errc::not_found, kPmi2,
        "there is no rank " + std::to_string(rank) + "; the job has " + std::to_string(identity_.size));
  }
  // Hydra ends the job of a process that asks before its first fence.
  if (!own_server_ && entered_ == 0) return Lookup{Found::none, {}};
  bool gone = false;
  auto value = get_pieces(*codec_, rank, key, kPmi2,
                          [&](const std::string& name) { return get_text(rank, name, gone); });
  if (!value) return fail(std::move(value).error());
  if (*value) return Lookup{Found::value, std::move(**value)};
  if (!own_server_ || gone) return Lookup{Found::none, {}};
  ++counters_.early_gets;
  return Lookup{Found::not_yet, {}};
}

Result<void> Pmi2::publish(std::string_view name, std::string_view port) {
  ++counters_.other;
  wire::Frame frame("name-publish");
  frame.add("name", wire::percent_encode(name)).add("port", wire::percent_encode(port));
  auto reply = request(std::move(frame).take(), "name-publish-response");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") == "0") return {};
  return refused(kPmi2, *reply, "to publish the name " + std::string(name));
}

Result<std::string> Pmi2::lookup(std::string_view name) {
  ++counters_.other;
  wire::Frame frame("name-lookup");
  frame.add("name", wire::percent_encode(name));
  auto reply = request(std::move(frame).take(), "name-lookup-response");
  if (!reply) return fail(std::move(reply).error());
  auto port = reply->find("port");         // Hydra
  if (!port) port = reply->find("value");  // Slurm
  if (reply->find("rc").value_or("0") != "0" || reply->find("found") == "FALSE" || !port)
    return fail(Errc::not_found, kPmi2, "the name " + std::string(name) + " is not published");
  return wire::percent_decode(*port);
}

Result<void> Pmi2::unpublish(std::string_view name) {
  ++counters_.other;
  wire::Frame frame("name-unpublish");
  frame.add("name", wire::percent_encode(name));
  auto reply = request(std::move(frame).take(), "name-unpublish-response");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") == "0") return {};
  return fail(Errc::not_found, kPmi2, "the name " + std::string(name) + " is not published");
}

void Pmi2::set_active(bool active) noexcept {
  if (active == active_) return;
  active_ = active;
  if (!own_server_) return;
  ++counters_.other;
  // No answer: 1,000 sessions in a row cost no round trip. A failure shows at the next request.
  (void)connection_.send(wire::Frame(active ? "busy" : "idle").take());
}

void Pmi2::abort(int exit_code, std::string_view message) noexcept {
  if (left_) return;
  const std::string text = wire::percent_encode(message.substr(0, 4096));
  wire::Frame frame("abort");
  // Slurm reads msg, Hydra exitcode and message.
  frame.add("isworld", "TRUE").add("msg", text).add("exitcode", exit_code).add("message", text);
  const bool sent = send_abort(connection_, std::move(frame).take(), own_server_);
  if (!sent && own_server_) log::error(message);  // nobody else will tell it
}

Result<void> Pmi2::check() {
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

Component::Counters Pmi2::counters() const noexcept {
  Counters counters = counters_;
  counters.bytes_sent = connection_.bytes_sent();
  counters.bytes_received = connection_.bytes_received();
  return counters;
}

}  // namespace starling::pmi
