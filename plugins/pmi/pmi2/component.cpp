// SPDX-License-Identifier: BSD-3-Clause
// A PMI-2 client: requests, fences, values. Layer: plugin. See docs/design/pmi.md.
//
// Hard here: kvs-fence is a barrier at Slurm, and answered at once by Hydra, which holds back each kvs-get
// until everybody has asked for as many fences. So a fence is two requests: kvs-fence, then a kvs-get of a
// key that nobody has put. Both may be on the way while other requests are answered; answers to two gets may
// come in any order where the server returns thrid, and come in the order of the gets where it does not.

#include "plugins/pmi/pmi2/component.hpp"

#include <utility>

namespace starling::pmi {
namespace {

/// The thrid of gets: what a fence asks, and values.
constexpr char kOfFence[] = "fence";
constexpr char kOfValue[] = "value";
constexpr char kNobodysKey[] = "starling-fence";

}  // namespace

Result<bool> Pmi2::sorted(const wire::Message& message) {
  if (message.form() != wire::Form::frame) return message.broken("a PMI-2 message was expected");
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

Result<void> Pmi2::ask_for_fence() {
  wire::Frame frame("kvs-fence");
  if (of_the_living_) frame.add("living", "TRUE");
  asked_ = Asked::fence;
  return say(std::move(frame).take());
}

Result<void> Pmi2::ask_for_everybody() {
  asked_ = Asked::everybody;
  value_first_ = value_asked_;
  return say(get_frame(kNobodysKey, kOfFence));
}

Result<void> Pmi2::next_fence() {
  ++completed_;
  asked_ = Asked::nothing;
  return entered_ > completed_ ? ask_for_fence() : Result<void>{};
}

Result<Fence> Pmi2::enter(bool of_the_living) {
  if (auto may = may_enter(); !may) return fail(std::move(may).error());
  if (!own_server_) ++counters_.gets;  // what the fence asks after it
  of_the_living_ = of_the_living;
  ++entered_;
  if (asked_ == Asked::nothing) {
    if (auto sent = ask_for_fence(); !sent) return fail(std::move(sent).error());
  }
  return Fence{entered_};
}

Result<Fence> Pmi2::fence_enter(std::span<const std::uint32_t> ranks, std::string_view, Deadline) {
  if (ranks.size() == 1) return Fence{};
  if (!ranks.empty()) return fail(Errc::unsupported, kPmi2, "PMI-2 has no fences of subsets");
  return enter(false);
}

Result<Fence> Pmi2::last_fence_enter(Deadline) { return enter(own_server_); }

void Pmi2::fence_abandon(Fence fence) noexcept {
  if (fence.number != Fence::kLeft && !is_over(fence)) poison();
}

Result<void> Pmi2::put_text(const std::string& key, std::string_view text) {
  wire::Frame frame("kvs-put");
  frame.add("key", key).add("value", text);
  auto reply = request(std::move(frame).take(), "kvs-put-response");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") != "0") return refused(kPmi2, *reply, "to store a value");
  return {};
}

std::string Pmi2::get_frame(std::string_view key, std::string_view thread) const {
  wire::Frame frame("kvs-get");
  frame.add("jobid", job_).add("srcid", -1).add("key", key).add("thrid", thread);
  return std::move(frame).take();
}

Result<std::optional<std::string>> Pmi2::get_text(std::uint32_t rank, std::string_view key, bool& gone) {
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
  // Hydra ends the job of a process that asks before its first fence.
  if (!own_server_ && entered_ == 0 && rank < identity_.size) return Lookup{Found::none, {}};
  return WireClient::get(rank, key);
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

std::string Pmi2::abort_request(int exit_code, std::string_view message) const {
  const std::string text = wire::percent_encode(message);
  wire::Frame frame("abort");
  // Slurm reads msg, Hydra exitcode and message.
  frame.add("isworld", "TRUE").add("msg", text).add("exitcode", exit_code).add("message", text);
  return std::move(frame).take();
}

}  // namespace starling::pmi
