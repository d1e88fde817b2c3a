// SPDX-License-Identifier: BSD-3-Clause
// A PMI-1 client: requests, fences, values. Layer: plugin. See docs/design/pmi.md.
//
// Hard here: a barrier_out may come while another reply is awaited (1.2), or after its fence was given up.

#include "plugins/pmi/pmi1/component.hpp"

#include <algorithm>

namespace starling::pmi {
namespace {

/// The tag that a fence of these ranks has on the wire: never 0, which is the world barrier's.
std::uint32_t hashed_tag(std::string_view tag) noexcept {
  std::uint32_t hash = 0x811c9dc5u;  // FNV-1a; servers take a C int
  for (const char byte : tag) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193u;
  hash = (hash ^ hash >> 31) & 0x7fffffffu;
  return hash == 0 ? 1 : hash;
}

/// The server keys a barrier by group and tag, its answer names the tag alone: the group goes into the tag
/// too.
std::uint32_t group_tag(std::span<const std::uint32_t> ranks, std::string_view tag) {
  std::string text(tag);
  for (const std::uint32_t rank : ranks) text.append(",").append(std::to_string(rank));
  return hashed_tag(text);
}

}  // namespace

Result<bool> Pmi1::sorted(const wire::Message& message) {
  if (message.name() == "set") return true;  // PMI_PORT: debug settings may follow at any time
  if (message.name() != "barrier_out") return false;
  Tag tag = 0;
  if (message.find("tag")) {
    auto read = message.integer("tag", 0, 0x7fffffff);
    if (!read) return fail(std::move(read).error());
    tag = static_cast<Tag>(*read);
  }
  if (const auto given_up = abandoned_.find(tag); given_up != abandoned_.end()) {
    if (--given_up->second == 0) abandoned_.erase(given_up);
    return true;
  }
  ++arrived_[tag];
  return true;
}

Result<void> Pmi1::enter(std::string line) {
  if (auto may = may_enter(); !may) return may;
  return say(line);
}

bool Pmi1::is_over(Fence fence) {
  const Tag tag = fence.number;
  const auto done = arrived_.find(tag);
  if (done == arrived_.end()) return false;
  if (--done->second == 0) arrived_.erase(done);
  entered_.erase(tag);
  return true;
}

Result<Fence> Pmi1::fence_enter(std::span<const std::uint32_t> ranks, std::string_view tag, Deadline) {
  Tag wire_tag = 0;
  wire::Line line("barrier_in");
  if (ranks.size() == 1) return Fence{};
  if (!ranks.empty()) {
    if (!capabilities_.group_fence) {
      return fail(
          Errc::unsupported, kPmi1,
          "this process manager has no fences of subsets (PMI 1." + std::to_string(subversion_) + ")");
    }
    wire_tag = group_tag(ranks, tag);
    std::string group = ranks.size() == identity_.size ? "WORLD" : rank_text(ranks, rank_form_);
    group.append(":").append(std::to_string(wire_tag));
    line.add("group", group);
    if (own_server_) entered_[wire_tag] = group;
  }
  if (auto sent = enter(std::move(line).take()); !sent) return fail(std::move(sent).error());
  return Fence{wire_tag};
}

Result<Fence> Pmi1::last_fence_enter(Deadline deadline) {
  if (!own_server_) return Component::last_fence_enter(deadline);
  const Tag tag = hashed_tag("the end of MPI");
  const std::string group = "WORLD:" + std::to_string(tag);
  wire::Line line("barrier_in");
  line.add("group", group).add("living", "TRUE");
  entered_[tag] = group;
  if (auto sent = enter(std::move(line).take()); !sent) return fail(std::move(sent).error());
  return Fence{tag};
}

void Pmi1::fence_abandon(Fence fence) noexcept {
  if (fence.number == Fence::kLeft) return;
  if (const auto entered = entered_.find(fence.number); entered != entered_.end()) {
    // The server must not think that this rank still waits, or it ends the job once a member is gone.
    wire::Line line("barrier_leave");
    line.add("group", entered->second);
    entered_.erase(entered);
    (void)request(std::move(line).take(), "barrier_left");
    (void)is_over(fence);  // it ended before the server heard this
  } else if (fence.number != 0) {
    ++abandoned_[fence.number];
  } else {
    poison();
  }
}

Result<void> Pmi1::put_text(const std::string& key, std::string_view text) {
  wire::Line line("put");
  line.add("kvsname", kvs_).add("key", key).add("value", text);
  auto reply = request(std::move(line).take(), "put_result");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") != "0") return refused(kPmi1, *reply, "to store a value");
  return {};
}

Result<std::optional<std::string>> Pmi1::get_text(std::uint32_t rank, std::string_view key, bool& gone) {
  wire::Line line("get");
  line.add("kvsname", kvs_).add("key", key);
  if (own_server_) line.add("from", rank);
  auto reply = request(std::move(line).take(), "get_result");
  if (!reply) return fail(std::move(reply).error());
  gone = reply->find("gone") == "TRUE";
  const auto value = reply->find("value");
  if (reply->find("rc") != "0" || reply->find("found") == "FALSE" || !value)
    return std::optional<std::string>{};
  return std::optional<std::string>(*value);
}

Result<void> Pmi1::publish(std::string_view name, std::string_view port) {
  ++counters_.other;
  wire::Line line("publish_name");
  line.add("service", wire::percent_encode(name)).add("port", wire::percent_encode(port));
  auto reply = request(std::move(line).take(), "publish_result");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") == "0" || reply->find("info") == "ok") return {};
  Unexpected no = refused(kPmi1, *reply, "to publish the name " + std::string(name));
  no.error.code = Errc::denied;
  return no;
}

Result<std::string> Pmi1::lookup(std::string_view name) {
  ++counters_.other;
  auto reply = request(std::move(wire::Line("lookup_name").add("service", wire::percent_encode(name))).take(),
                       "lookup_result");
  if (!reply) return fail(std::move(reply).error());
  const auto port = reply->find("port");
  const bool failed = (reply->find("rc") && reply->find("rc") != "0") || reply->find("info") == "fail";
  if (failed || !port)
    return fail(Errc::not_found, kPmi1, "the name " + std::string(name) + " is not published");
  return wire::percent_decode(*port);
}

Result<void> Pmi1::unpublish(std::string_view name) {
  ++counters_.other;
  auto reply =
      request(std::move(wire::Line("unpublish_name").add("service", wire::percent_encode(name))).take(),
              "unpublish_result");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") == "0" || reply->find("info") == "ok") return {};
  return fail(Errc::not_found, kPmi1, "the name " + std::string(name) + " is not published");
}

std::string Pmi1::abort_request(int exit_code, std::string_view message) const {
  std::string text(message);
  if (own_server_) {
    text = wire::percent_encode(text);
  } else {
    std::replace_if(
        text.begin(), text.end(),
        [](char byte) {
          return !wire::is_plain({&byte, 1});
        },
        '_');
  }
  wire::Line line("abort");
  line.add("exitcode", exit_code);
  if (!text.empty()) line.add("message", text);
  return std::move(line).take();
}

}  // namespace starling::pmi
