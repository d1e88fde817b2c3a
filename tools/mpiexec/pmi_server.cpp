// SPDX-License-Identifier: BSD-3-Clause
// The PMI server's state: who said hello, what was put, who waits where; the requests of PMI 1.2, those of
// PMI 2 are in pmi_server_v2.cpp. Layer: tools. See docs/design/pmi.md.

#include "tools/mpiexec/pmi_server.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "frameworks/pmi/rank_list.hpp"
#include "frameworks/pmi/settings.hpp"
#include "params/differences.hpp"

namespace starling::mpiexec {

using pmi::wire::Frame;
using pmi::wire::Line;

namespace {

constexpr std::int64_t kMaxInt = 0x7fffffff;
/// A process of PMI 2 has stored it.
constexpr std::string_view kNoText = "this_value_cannot_be_told_in_PMI_1";

std::string refusal(std::string_view reply, std::string_view reason) {
  return std::move(Line(reply).add("rc", 1).add("msg", reason)).take();
}

/// The tag of a fence.
std::optional<std::uint32_t> tag_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

const PmiServer::Command PmiServer::kCommands[] = {
    {"init", &PmiServer::init, true},
    {"put", &PmiServer::put, false},
    {"get", &PmiServer::get, false},
    {"barrier_in", &PmiServer::barrier_in, false},
    {"barrier_leave", &PmiServer::barrier_leave, false},
    {"idle", &PmiServer::idle, false},
    {"busy", &PmiServer::busy, false},
    {"finalize", &PmiServer::finalize, false},
    {"get_maxes", &PmiServer::get_maxes, false},
    {"get_universe_size", &PmiServer::get_universe_size, false},
    {"get_appnum", &PmiServer::get_appnum, false},
    {"get_my_kvsname", &PmiServer::get_my_kvsname, false},
    {"publish_name", &PmiServer::publish_name, false},
    {"unpublish_name", &PmiServer::unpublish_name, false},
    {"lookup_name", &PmiServer::lookup_name, false},
    {"spawn", &PmiServer::spawn, false},
};

PmiServer::PmiServer(PmiJob job) : job_(std::move(job)), ranks_(job_.size), kvs_(1) {}

std::string PmiServer::kvs_name(std::uint32_t generation) const {
  return generation == 0 ? job_.name : job_.name + "." + std::to_string(generation);
}

std::vector<std::string> PmiServer::job_names() const {
  std::vector<std::string> names;
  for (std::uint32_t generation = 0; generation < kvs_.size(); ++generation)
    names.push_back(kvs_name(generation));
  return names;
}

PmiServer::Kvs* PmiServer::kvs_of(std::uint32_t rank, std::string_view name) {
  const std::uint32_t generation = ranks_[rank].generation;
  return name == kvs_name(generation) ? &kvs_[generation] : nullptr;
}

Result<std::optional<PmiServer::Abort>> PmiServer::handle(std::uint32_t rank, const Message& request,
                                                          Replies& replies) {
  if (request.name() == "abort") {
    auto code = request.find("exitcode") ? request.integer("exitcode", -kMaxInt - 1, kMaxInt)
                                         : Result<std::int64_t>(1);
    if (!code) return fail(std::move(code).error());
    const std::string_view why = request.find("message").value_or(request.find("msg").value_or(""));
    return std::optional<Abort>(Abort{static_cast<int>(*code), pmi::wire::percent_decode(why)});
  }
  auto done = request.form() == pmi::wire::Form::frame ? serve_frame(rank, request, replies)
                                                       : serve_line(rank, request, replies);
  if (!done) return fail(std::move(done).error());
  return std::optional<Abort>{};
}

Result<void> PmiServer::serve_line(std::uint32_t rank, const Message& request, Replies& replies) {
  const RankState& state = ranks_[rank];
  for (const Command& command : kCommands) {
    if (command.name != request.name()) continue;
    if ((request.form() == pmi::wire::Form::lines) != (command.name == "spawn"))
      return request.broken("this command has the other framing");
    if (!command.before_init && state.phase == Phase::silent)
      return request.broken("cmd=init must come first");
    if (!command.before_init && state.phase == Phase::finalized)
      return request.broken("only cmd=init may follow cmd=finalize");
    if (!command.before_init && state.version != 1)
      return request.broken("this rank has chosen PMI 2, whose requests are frames");
    return (this->*command.handler)(rank, request, replies);
  }
  return request.broken("there is no such command");
}

Result<void> PmiServer::check_claim(std::uint32_t rank, const Message& request) const {
  auto claimed = request.integer("pmirank", 0, kMaxInt);
  if (!claimed) return fail(std::move(claimed).error());
  if (*claimed == rank) return {};
  return request.broken("the process that was started as rank " + std::to_string(rank) +
                        " claims to be rank " + std::to_string(*claimed) +
                        (*claimed < job_.size ? ", which is another process"
                                              : ", but the job has " + std::to_string(job_.size) + " ranks") +
                        "; something has changed its PMI_RANK");
}

std::string PmiServer::differing(std::uint32_t rank, std::uint32_t generation, const Message& request) {
  const auto told = request.find(pmi::kSettingsField);
  if (!told) return {};
  const std::string list = "rank " + std::to_string(rank) + "\n" + pmi::wire::percent_decode(*told);
  const auto [first, is_first] = settings_.try_emplace(generation, list);
  const std::string text = is_first ? "" : params::differences(first->second, list);
  return text.empty() ? text : "ranks of a job differ in how they meet (docs/parameters.md):" + text;
}

Result<void> PmiServer::init(std::uint32_t rank, const Message& request, Replies& replies) {
  RankState& state = ranks_[rank];
  auto version = request.integer("pmi_version", 0, kMaxInt);
  if (!version) return fail(std::move(version).error());
  auto subversion = request.integer("pmi_subversion", 0, kMaxInt);
  if (!subversion) return fail(std::move(subversion).error());
  if (state.phase == Phase::active) {
    return request.broken(
        "this rank is initialised already: an earlier program of it ended without MPI_Finalize");
  }
  if (state.barriers > 0) return request.broken("this rank is in a barrier");
  if (*version != 1 && *version != 2) {
    replies.push_back({rank, "cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=2\n"});
    return {};
  }
  if (request.find("pmirank")) {
    if (auto right = check_claim(rank, request); !right) return right;
  }
  const std::uint32_t generation = state.generation + (state.phase == Phase::silent ? 0 : 1);
  if (const std::string differ = differing(rank, generation, request); !differ.empty()) {
    Line line("response_to_init");
    line.add("rc", pmi::kSettingsDiffer).add("pmi_version", 1).add("pmi_subversion", 2);
    replies.push_back({rank, std::move(line.add("msg", pmi::wire::percent_encode(differ))).take()});
    return {};
  }
  state.generation = generation;
  if (state.generation >= kvs_.size()) kvs_.emplace_back();
  state.phase = Phase::active;
  state.version = static_cast<int>(*version);
  state.introduced = false;
  state.parked = 0;
  std::erase_if(parked_, [rank](const Parked& waiting) { return waiting.rank == rank; });
  if (state.version == 2) {
    replies.push_back({rank, "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"});
    return {};
  }
  Line line("response_to_init");
  line.add("rc", 0).add("pmi_version", 1).add("pmi_subversion", 2).add("kvsname", kvs_name(state.generation));
  replies.push_back({rank, std::move(line).take()});
  return {};
}

Result<void> PmiServer::finalize(std::uint32_t rank, const Message&, Replies& replies) {
  ranks_[rank].phase = Phase::finalized;
  replies.push_back({rank, "cmd=finalize_ack rc=0\n"});
  return {};
}

Result<void> PmiServer::idle(std::uint32_t rank, const Message&, Replies&) {
  ranks_[rank].phase = Phase::idle;
  return {};
}

Result<void> PmiServer::busy(std::uint32_t rank, const Message&, Replies&) {
  ranks_[rank].phase = Phase::active;
  return {};
}

Result<void> PmiServer::get_maxes(std::uint32_t rank, const Message&, Replies& replies) {
  Line line("maxes");
  line.add("rc", 0).add("kvsname_max", 256).add("keylen_max", kKeylenMax).add("vallen_max", kVallenMax);
  replies.push_back({rank, std::move(line).take()});
  return {};
}

Result<void> PmiServer::get_universe_size(std::uint32_t rank, const Message&, Replies& replies) {
  replies.push_back(
      {rank, std::move(Line("universe_size").add("rc", 0).add("size", job_.universe_size)).take()});
  return {};
}

Result<void> PmiServer::get_appnum(std::uint32_t rank, const Message&, Replies& replies) {
  replies.push_back({rank, std::move(Line("appnum").add("rc", 0).add("appnum", job_.appnum[rank])).take()});
  return {};
}

Result<void> PmiServer::get_my_kvsname(std::uint32_t rank, const Message&, Replies& replies) {
  Line line("my_kvsname");
  line.add("rc", 0).add("kvsname", kvs_name(ranks_[rank].generation));
  replies.push_back({rank, std::move(line).take()});
  return {};
}

Result<void> PmiServer::put(std::uint32_t rank, const Message& request, Replies& replies) {
  auto name = request.text("kvsname");
  if (!name) return fail(std::move(name).error());
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  auto value = request.text("value");
  if (!value) return fail(std::move(value).error());
  const std::string_view why_not = store(rank, *name, *key, *value);
  replies.push_back({rank, why_not.empty() ? "cmd=put_result rc=0\n" : refusal("put_result", why_not)});
  return {};
}

std::string_view PmiServer::store(std::uint32_t rank, std::string_view kvs_name, std::string_view key,
                                  std::string_view value) {
  Kvs* const kvs = kvs_of(rank, kvs_name);
  if (kvs == nullptr) return "unknown_kvsname";
  if (key.size() >= kKeylenMax) return "key_too_long";
  if (value.size() >= kOwnVallenMax) return "value_too_long";
  if (key.substr(0, 4) == "PMI_") return "keys_that_start_with_PMI__belong_to_the_server";
  if (bytes_ + key.size() + value.size() > kKvsBytesMax) return "the_job_stored_more_than_512_MiB";
  if (!kvs->emplace(key, value).second) return "duplicate_key";
  bytes_ += key.size() + value.size();
  return "";
}

std::optional<std::string> PmiServer::stored(std::uint32_t rank, std::string_view kvs_name,
                                             std::string_view key) {
  if (key == "PMI_process_mapping") return job_.nodes.text();
  const Kvs* const kvs = kvs_of(rank, kvs_name);
  if (kvs == nullptr) return std::nullopt;
  const auto found = kvs->find(std::string(key));
  return found == kvs->end() ? std::nullopt : std::optional<std::string>(found->second);
}

Result<void> PmiServer::get(std::uint32_t rank, const Message& request, Replies& replies) {
  auto name = request.text("kvsname");
  if (!name) return fail(std::move(name).error());
  auto key = request.text("key");
  if (!key) return fail(std::move(key).error());
  const auto value = stored(rank, *name, *key);
  Line line("get_result");
  if (value && pmi::wire::is_plain(*value)) {
    line.add("rc", 0).add("found", "TRUE").add("value", *value);
    replies.push_back({rank, std::move(line).take()});
    return {};
  }
  line.add("rc", 1)
      .add("msg", value                            ? kNoText
                  : kvs_of(rank, *name) == nullptr ? "unknown_kvsname"
                                                   : "key_not_found")
      .add("found", "FALSE");
  if (request.find("from")) {
    auto from = request.integer("from", 0, job_.size - 1);
    if (!from) return fail(std::move(from).error());
    if (ranks_[static_cast<std::size_t>(*from)].gone) line.add("gone", "TRUE");
  }
  replies.push_back({rank, std::move(line).take()});
  return {};
}

Result<std::vector<std::uint32_t>> PmiServer::members_of(std::uint32_t rank, const Message& request,
                                                         std::string_view group) const {
  if (group == "WORLD") return std::vector<std::uint32_t>{};
  if (group == "NODE") return job_.nodes.ranks_on(job_.nodes.node_of(rank), job_.size);
  auto members = pmi::read_ranks(group, job_.size);
  if (!members) return request.broken("group= must list ranks of this job");
  if (!std::binary_search(members->begin(), members->end(), rank))
    return request.broken("group= must contain the sender");
  return std::move(*members);
}

Result<PmiServer::Barrier*> PmiServer::barrier_of(std::uint32_t rank, const Message& request) {
  std::string_view group = request.find("group").value_or("WORLD");
  std::uint32_t tag = 0;
  if (const std::size_t colon = group.rfind(':'); colon != std::string_view::npos) {
    const auto number = tag_number(group.substr(colon + 1));
    if (!number || *number > kMaxInt)
      return request.broken("the tag in group= must be a number from 0 to 2147483647");
    tag = *number;
    group = group.substr(0, colon);
  }
  if (group == "SELF") group = "";
  auto members = group.empty() ? Result<std::vector<std::uint32_t>>(std::vector<std::uint32_t>{rank})
                               : members_of(rank, request, group);
  if (!members) return fail(std::move(members).error());
  std::string key = std::to_string(ranks_[rank].generation) + ":" + std::to_string(tag) + ":";
  key += pmi::rank_text(*members, pmi::RankForm::runs);  // alike, however each member wrote it
  Barrier& barrier = barriers_[key];
  if (barrier.entered.empty()) {
    barrier.entered.resize(members->empty() ? job_.size : members->size());
    barrier.members = std::move(*members);
    barrier.tag = tag;
  }
  return &barrier;
}

void PmiServer::forget_if_empty(Barrier& barrier) {
  if (barrier.arrived != 0) return;
  for (auto at = barriers_.begin(); at != barriers_.end(); ++at) {
    if (&at->second != &barrier) continue;
    barriers_.erase(at);
    return;
  }
}

Result<void> PmiServer::barrier_leave(std::uint32_t rank, const Message& request, Replies& replies) {
  auto found = barrier_of(rank, request);
  if (!found) return fail(std::move(found).error());
  Barrier& barrier = **found;
  const std::size_t own = barrier.index_of(rank);
  // Nothing to leave: its barrier_out is on the way, ahead of this answer.
  if (barrier.entered[own] > 0) {
    --ranks_[rank].barriers;
    if (--barrier.entered[own] == 0) --barrier.arrived;
  }
  forget_if_empty(barrier);
  replies.push_back({rank, std::move(Line("barrier_left").add("rc", 0)).take()});
  return {};
}

Result<void> PmiServer::barrier_in(std::uint32_t rank, const Message& request, Replies& replies) {
  auto found = barrier_of(rank, request);
  if (!found) return fail(std::move(found).error());
  enter(rank, **found, request.find("living") == "TRUE", replies);
  return {};
}

void PmiServer::enter(std::uint32_t rank, Barrier& barrier, bool of_the_living, Replies& replies) {
  const std::size_t own = barrier.index_of(rank);
  ++ranks_[rank].barriers;
  if (++barrier.entered[own] == 1) ++barrier.arrived;
  barrier.living = barrier.living || (job_.kept && of_the_living);
  release_if_complete(barrier, replies);
}

std::string PmiServer::barrier_out(const RankState& member, const Barrier& barrier) {
  if (member.version == 1) return std::move(Line("barrier_out").add("rc", 0).add("tag", barrier.tag)).take();
  Frame frame("kvs-fence-response");
  frame.add("rc", 0);
  if (!member.fence_thread.empty()) frame.add("thrid", member.fence_thread);
  return std::move(frame).take();
}

void PmiServer::release_if_complete(Barrier& barrier, Replies& replies) {
  std::size_t missing = barrier.entered.size() - barrier.arrived;
  for (std::size_t i = 0; barrier.living && gone_ > 0 && i < barrier.entered.size(); ++i) {
    if (barrier.entered[i] == 0 && ranks_[barrier.rank_at(i)].gone) --missing;
  }
  if (missing > 0) return;
  barrier.arrived = 0;
  for (std::size_t i = 0; i < barrier.entered.size(); ++i) {
    if (barrier.entered[i] == 0) continue;
    const std::uint32_t member = barrier.rank_at(i);
    replies.push_back({member, barrier_out(ranks_[member], barrier)});
    --ranks_[member].barriers;
    if (--barrier.entered[i] > 0) ++barrier.arrived;
  }
  // Nobody waits in it: its memory goes, so that a job may use any number of groups.
  forget_if_empty(barrier);
}

Result<void> PmiServer::publish_name(std::uint32_t rank, const Message& request, Replies& replies) {
  auto service = request.text("service");
  if (!service) return fail(std::move(service).error());
  auto port = request.text("port");
  if (!port) return fail(std::move(port).error());
  const std::string_view why_not = publish(*service, *port);
  replies.push_back(
      {rank, why_not.empty() ? "cmd=publish_result rc=0\n" : refusal("publish_result", why_not)});
  return {};
}

std::string_view PmiServer::publish(std::string_view name, std::string_view port) {
  if (name.size() >= kOwnVallenMax || port.size() >= kOwnVallenMax) return "name_or_port_too_long";
  if (bytes_ + name.size() + port.size() > kKvsBytesMax) return "the_job_stored_more_than_512_MiB";
  if (!names_.emplace(name, port).second) return "this_name_is_published_already";
  bytes_ += name.size() + port.size();
  return "";
}

std::string_view PmiServer::unpublish(std::string_view name) {
  const auto found = names_.find(std::string(name));
  if (found == names_.end()) return "this_name_is_not_published";
  bytes_ -= found->first.size() + found->second.size();
  names_.erase(found);
  return "";
}

Result<void> PmiServer::unpublish_name(std::uint32_t rank, const Message& request, Replies& replies) {
  auto service = request.text("service");
  if (!service) return fail(std::move(service).error());
  const std::string_view why_not = unpublish(*service);
  replies.push_back(
      {rank, why_not.empty() ? "cmd=unpublish_result rc=0\n" : refusal("unpublish_result", why_not)});
  return {};
}

Result<void> PmiServer::lookup_name(std::uint32_t rank, const Message& request, Replies& replies) {
  auto service = request.text("service");
  if (!service) return fail(std::move(service).error());
  const auto found = names_.find(std::string(*service));
  if (found == names_.end()) {
    replies.push_back({rank, refusal("lookup_result", "this_name_is_not_published")});
  } else if (!pmi::wire::is_plain(found->second)) {
    replies.push_back({rank, refusal("lookup_result", kNoText)});
  } else {
    replies.push_back(
        {rank, std::move(Line("lookup_result").add("rc", 0).add("port", found->second)).take()});
  }
  return {};
}

Result<void> PmiServer::spawn(std::uint32_t rank, const Message&, Replies& replies) {
  replies.push_back({rank, refusal("spawn_result", "mpiexec_of_Starling_cannot_start_further_processes")});
  return {};
}

void PmiServer::gone(std::uint32_t rank, std::vector<Reply>& replies) {
  if (ranks_[rank].gone) return;
  ranks_[rank].gone = true;
  ++gone_;
  std::erase_if(parked_, [rank](const Parked& request) { return request.rank == rank; });
  std::vector<Barrier*> of_living;  // one that is complete leaves the map
  for (auto& [key, barrier] : barriers_) {
    if (barrier.living) of_living.push_back(&barrier);
  }
  for (Barrier* const barrier : of_living) release_if_complete(*barrier, replies);
}

std::optional<PmiServer::Stuck> PmiServer::stuck() const {
  if (gone_ == 0) return std::nullopt;
  for (const auto& [key, barrier] : barriers_) {
    if (barrier.living) continue;
    std::optional<std::uint32_t> waiting;
    std::optional<std::uint32_t> missing;
    for (std::size_t i = 0; i < barrier.entered.size() && !(waiting && missing); ++i) {
      const std::uint32_t rank = barrier.rank_at(i);
      if (barrier.entered[i] > 0 && !ranks_[rank].gone) waiting = rank;
      if (barrier.entered[i] == 0 && ranks_[rank].gone) missing = rank;
    }
    if (waiting && missing) return Stuck{*waiting, *missing};
  }
  return std::nullopt;
}

std::string PmiServer::describe(std::uint32_t rank) const {
  const RankState& state = ranks_[rank];
  if (state.barriers > 0) {
    for (const auto& [key, barrier] : barriers_) {
      for (std::size_t i = 0; i < barrier.entered.size(); ++i) {
        if (barrier.rank_at(i) != rank || barrier.entered[i] == 0) continue;
        return "in a PMI barrier that " + std::to_string(barrier.arrived) + " of " +
               std::to_string(barrier.entered.size()) + " ranks entered";
      }
    }
  }
  for (const Parked& request : parked_) {
    if (request.rank == rank)
      return "waiting for the attribute " + request.key.substr(request.key.rfind(':') + 1) + " of its node";
  }
  switch (state.phase) {
    case Phase::silent: return "before PMI init";
    case Phase::active: return "after PMI init";
    case Phase::idle: return "after MPI_Finalize";
    case Phase::finalized: return "after PMI finalize";
  }
  return "";
}

}  // namespace starling::mpiexec
