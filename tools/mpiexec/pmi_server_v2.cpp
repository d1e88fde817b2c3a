// SPDX-License-Identifier: BSD-3-Clause
// The requests of PMI 2. Layer: tools. See docs/design/pmi.md.
//
// Hard here: clients of MPICH's and of Slurm's making read the port of a name under different keys, so both
// are told; and each wants its thrid back, since the threads of one process share a connection.

#include <algorithm>
#include <utility>

#include "frameworks/pmi/settings.hpp"
#include "tools/mpiexec/pmi_server.hpp"

namespace starling::mpiexec {

using pmi::wire::Frame;

namespace {

constexpr std::size_t kThreadMax = 64;  ///< it comes back in a frame, whose length is limited

/// The reply to that request, rc first. A reason makes it a refusal.
Frame reply_to(const pmi::wire::Message& request, std::string_view why_not = "") {
  Frame frame(std::string(request.name()) + "-response");
  frame.add("rc", why_not.empty() ? 0 : 1);
  if (!why_not.empty()) frame.add("errmsg", why_not);
  if (const auto thread = request.find("thrid")) frame.add("thrid", *thread);
  return frame;
}

std::string attribute_reply(std::string_view thread, const std::string* value) {
  Frame frame("info-getnodeattr-response");
  frame.add("rc", 0);
  if (!thread.empty()) frame.add("thrid", thread);
  frame.add("found", value != nullptr ? "TRUE" : "FALSE");
  if (value != nullptr) frame.add("value", *value);
  return std::move(frame).take();
}

/// A field that must be there, and may be empty.
Result<std::string_view> value_of(const pmi::wire::Message& request, std::string_view key) {
  const auto value = request.find(key);
  if (!value) return request.broken("the field " + std::string(key) + "= is missing");
  return *value;
}

}  // namespace

const PmiServer::Command PmiServer::kFrames[] = {
    {"fullinit", &PmiServer::fullinit, true},
    {"kvs-put", &PmiServer::kvs_put, false},
    {"kvs-get", &PmiServer::kvs_get, false},
    {"kvs-fence", &PmiServer::kvs_fence, false},
    {"idle", &PmiServer::idle, false},
    {"busy", &PmiServer::busy, false},
    {"finalize", &PmiServer::finalize_v2, false},
    {"job-getid", &PmiServer::job_getid, false},
    {"info-getjobattr", &PmiServer::info_getjobattr, false},
    {"info-putnodeattr", &PmiServer::info_putnodeattr, false},
    {"info-getnodeattr", &PmiServer::info_getnodeattr, false},
    {"name-publish", &PmiServer::name_publish, false},
    {"name-unpublish", &PmiServer::name_unpublish, false},
    {"name-lookup", &PmiServer::name_lookup, false},
    {"spawn", &PmiServer::no_other_jobs, false},
    {"job-connect", &PmiServer::no_other_jobs, false},
    {"job-disconnect", &PmiServer::no_other_jobs, false},
};

Result<void> PmiServer::serve_frame(std::uint32_t rank, const Message& request, Replies& replies) {
  const RankState& state = ranks_[rank];
  if (state.phase == Phase::silent) return request.broken("cmd=init must come first, in a line");
  if (state.version != 2) return request.broken("this rank has chosen PMI 1, whose requests are lines");
  if (state.phase == Phase::finalized) return request.broken("only cmd=init may follow cmd=finalize");
  if (request.find("thrid").value_or("").size() > kThreadMax)
    return request.broken("the field thrid= is longer than " + std::to_string(kThreadMax) + " characters");
  for (const Command& command : kFrames) {
    if (command.name != request.name()) continue;
    if (command.before_init == state.introduced)
      return request.broken(state.introduced ? "it has come already" : "cmd=fullinit must come first");
    return (this->*command.handler)(rank, request, replies);
  }
  return request.broken("there is no such command");
}

Result<void> PmiServer::fullinit(std::uint32_t rank, const Message& request, Replies& replies) {
  if (auto right = check_claim(rank, request); !right) return right;
  RankState& state = ranks_[rank];
  if (const std::string differ = differing(rank, state.generation, request); !differ.empty()) {
    state.phase = Phase::silent;
    Frame frame("fullinit-response");
    frame.add("rc", pmi::kSettingsDiffer).add("errmsg", pmi::wire::percent_encode(differ));
    replies.push_back({rank, std::move(frame).take()});
    return {};
  }
  state.introduced = true;
  Frame frame = reply_to(request);
  frame.add("pmi-version", 2).add("pmi-subversion", 0).add("rank", rank).add("size", job_.size);
  frame.add("appnum", job_.appnum[rank]).add("debugged", "FALSE").add("pmiverbose", "FALSE");
  frame.add("jobid", kvs_name(state.generation));
  replies.push_back({rank, std::move(frame).take()});
  return {};
}

Result<void> PmiServer::finalize_v2(std::uint32_t rank, const Message& request, Replies& replies) {
  ranks_[rank].phase = Phase::finalized;
  replies.push_back({rank, reply_to(request).take()});
  return {};
}

Result<void> PmiServer::job_getid(std::uint32_t rank, const Message& request, Replies& replies) {
  replies.push_back(
      {rank, std::move(reply_to(request).add("jobid", kvs_name(ranks_[rank].generation))).take()});
  return {};
}

Result<void> PmiServer::info_getjobattr(std::uint32_t rank, const Message& request, Replies& replies) {
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  std::string value;
  if (*key == "PMI_process_mapping") value = job_.nodes.text();
  if (*key == "universeSize") value = std::to_string(job_.universe_size);
  if (*key == "hasNameServ") value = "TRUE";
  Frame frame = reply_to(request);
  frame.add("found", value.empty() ? "FALSE" : "TRUE");
  if (!value.empty()) frame.add("value", value);
  replies.push_back({rank, std::move(frame).take()});
  return {};
}

std::string PmiServer::attribute_key(std::uint32_t rank, std::string_view key) const {
  return std::to_string(ranks_[rank].generation) + ":" + std::to_string(to_int(job_.nodes.node_of(rank))) +
         ":" + std::string(key);
}

Result<void> PmiServer::info_putnodeattr(std::uint32_t rank, const Message& request, Replies& replies) {
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  auto value = value_of(request, "value");
  if (!value) return fail(std::move(value).error());
  const std::string name = attribute_key(rank, *key);
  std::string_view why_not;
  if (key->size() >= kKeylenMax) {
    why_not = "key_too_long";
  } else if (value->size() >= kOwnVallenMax) {
    why_not = "value_too_long";
  } else if (bytes_ + name.size() + value->size() > kKvsBytesMax) {
    why_not = "the_job_stored_more_than_512_MiB";
  } else if (!attributes_.emplace(name, *value).second) {
    why_not = "duplicate_key";
  }
  replies.push_back({rank, reply_to(request, why_not).take()});
  if (!why_not.empty()) return {};
  bytes_ += name.size() + value->size();
  std::erase_if(parked_, [&](const Parked& waiting) {
    if (waiting.key != name) return false;
    --ranks_[waiting.rank].parked;
    replies.push_back({waiting.rank, attribute_reply(waiting.thread, &attributes_.at(name))});
    return true;
  });
  return {};
}

Result<void> PmiServer::info_getnodeattr(std::uint32_t rank, const Message& request, Replies& replies) {
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  const std::string name = attribute_key(rank, *key);
  const std::string_view thread = request.find("thrid").value_or("");
  const auto found = attributes_.find(name);
  if (found != attributes_.end() || request.find("wait") != "TRUE") {
    const std::string* const value = found == attributes_.end() ? nullptr : &found->second;
    replies.push_back({rank, attribute_reply(thread, value)});
    return {};
  }
  if (key->size() >= kKeylenMax) return request.broken("the key can never be there: it is too long");
  if (ranks_[rank].parked == kParkedMax)
    return request.broken("more than " + std::to_string(kParkedMax) + " requests wait for attributes");
  ++ranks_[rank].parked;
  parked_.push_back({rank, name, std::string(thread)});
  return {};
}

Result<void> PmiServer::kvs_put(std::uint32_t rank, const Message& request, Replies& replies) {
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  auto value = value_of(request, "value");
  if (!value) return fail(std::move(value).error());
  const std::string_view why_not = store(rank, kvs_name(ranks_[rank].generation), *key, *value);
  replies.push_back({rank, reply_to(request, why_not).take()});
  return {};
}

Result<void> PmiServer::kvs_get(std::uint32_t rank, const Message& request, Replies& replies) {
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  const std::string own = kvs_name(ranks_[rank].generation);
  std::string_view job = request.find("jobid").value_or("");
  if (job.empty()) job = own;
  const auto value = stored(rank, job, *key);
  Frame frame = reply_to(request);
  frame.add("found", value ? "TRUE" : "FALSE");
  if (value) frame.add("value", *value);
  if (!value && request.find("from")) {
    auto from = request.integer("from", 0, job_.size - 1);
    if (!from) return fail(std::move(from).error());
    if (ranks_[static_cast<std::size_t>(*from)].gone) frame.add("gone", "TRUE");
  }
  replies.push_back({rank, std::move(frame).take()});
  return {};
}

Result<void> PmiServer::kvs_fence(std::uint32_t rank, const Message& request, Replies& replies) {
  if (request.find("group")) return request.broken("PMI 2 has no fences of groups");
  if (ranks_[rank].barriers > 0) return request.broken("this rank is in a fence already");
  auto barrier = barrier_of(rank, request);
  if (!barrier) return fail(std::move(barrier).error());
  ranks_[rank].fence_thread = request.find("thrid").value_or("");
  enter(rank, **barrier, request.find("living") == "TRUE", replies);
  return {};
}

Result<void> PmiServer::name_publish(std::uint32_t rank, const Message& request, Replies& replies) {
  auto name = request.text("name");
  if (!name) return fail(std::move(name).error());
  auto port = value_of(request, "port");
  if (!port) return fail(std::move(port).error());
  replies.push_back({rank, reply_to(request, publish(*name, *port)).take()});
  return {};
}

Result<void> PmiServer::name_unpublish(std::uint32_t rank, const Message& request, Replies& replies) {
  auto name = request.text("name");
  if (!name) return fail(std::move(name).error());
  replies.push_back({rank, reply_to(request, unpublish(*name)).take()});
  return {};
}

Result<void> PmiServer::name_lookup(std::uint32_t rank, const Message& request, Replies& replies) {
  auto name = request.text("name");
  if (!name) return fail(std::move(name).error());
  const auto found = names_.find(std::string(*name));
  if (found == names_.end()) {
    Frame frame = reply_to(request, "this_name_is_not_published");
    replies.push_back({rank, std::move(frame.add("found", "FALSE")).take()});
    return {};
  }
  Frame frame = reply_to(request);
  frame.add("found", "TRUE").add("port", found->second).add("value", found->second);
  replies.push_back({rank, std::move(frame).take()});
  return {};
}

Result<void> PmiServer::no_other_jobs(std::uint32_t rank, const Message& request, Replies& replies) {
  replies.push_back({rank, reply_to(request, "mpiexec_of_Starling_serves_one_job_alone").take()});
  return {};
}

}  // namespace starling::mpiexec
