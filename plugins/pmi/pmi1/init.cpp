// SPDX-License-Identifier: BSD-3-Clause
// A PMI-1 client's first words: who am I, and what can this server do. Layer: plugin. See docs/design/pmi.md.
//
// Under Starling's mpiexec the environment holds every answer, so that one round trip (init) is all. Other
// servers are asked.

#include <limits>

#include "plugins/pmi/pmi1/component.hpp"

namespace starling::pmi {
namespace {

constexpr std::int64_t kMaxNumber = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kConnectTimeoutS = 30;

/// PMI_RANK and PMI_SIZE, which come with PMI_FD.
Result<std::uint32_t> number_from(const Getenv& get, const char* name, std::uint32_t min) {
  const char* const text = get(name);
  const std::string_view written = text == nullptr ? "" : text;
  std::uint64_t value = 0;
  bool digits = !written.empty() && written.size() <= 10;
  for (const char digit : written) {
    digits = digits && digit >= '0' && digit <= '9';
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (!digits || value < min || value > static_cast<std::uint64_t>(kMaxNumber)) {
    return fail(Errc::bad_input, kPmi1,
                std::string(name) + " is \"" + std::string(written) +
                    "\"; with PMI_FD set, a number of at least " + std::to_string(min) + " was expected");
  }
  return static_cast<std::uint32_t>(value);
}

/// The kvs name alone may come back on the same node with another job of a resource manager.
std::string job_name(const std::string& kvs, const Getenv& get) {
  std::string name = kvs;
  for (const char* variable : {"SLURM_JOB_ID", "SLURM_STEP_ID", "FLUX_JOB_ID", "PBS_JOBID"}) {
    if (const char* const value = get(variable); value != nullptr && *value != '\0')
      name.append("-").append(value);
  }
  for (char& byte : name) {
    if (byte == '/') byte = '_';
  }
  return name;
}

}  // namespace

Result<std::unique_ptr<Component>> Pmi1::make(const Getenv& get, std::uint64_t request_timeout_s) {
  auto launch = launch_of(get);
  if (!launch) return fail(std::move(launch).error());
  UniqueFd fd;
  switch (launch->kind) {
    case Launch::Kind::none: return fail(Errc::unsupported, kPmi1, launch->why_none);
    case Launch::Kind::inherited_fd: fd = UniqueFd(launch->fd); break;
    case Launch::Kind::tcp_port: {
      auto connected =
          Connection::connect_tcp(launch->host, launch->port, Deadline::after_seconds(kConnectTimeoutS));
      if (!connected) return fail(std::move(connected).error());
      fd = std::move(*connected);
      break;
    }
  }
  std::unique_ptr<Pmi1> component(new Pmi1(std::move(fd), request_timeout_s));
  if (auto done = component->init(get, *launch); !done) return fail(std::move(done).error());
  return std::unique_ptr<Component>(std::move(component));
}

Result<void> Pmi1::init(const Getenv& get, const Launch& launch) {
  own_server_ = launch.features.has_value();
  Result<void> done;
  if (launch.kind == Launch::Kind::tcp_port) {
    done = init_ack(launch);
  } else {
    auto size = number_from(get, "PMI_SIZE", 1);
    if (!size) return fail(std::move(size).error());
    auto rank = number_from(get, "PMI_RANK", 0);
    if (!rank) return fail(std::move(rank).error());
    identity_.rank = *rank;
    identity_.size = *size;
  }
  if (done && identity_.rank >= identity_.size) {
    done = fail(Errc::bad_input, kPmi1,
                "rank " + std::to_string(identity_.rank) + " of " + std::to_string(identity_.size) +
                    " processes makes no sense");
  }
  if (done) done = say_hello();
  if (done) done = own_server_ ? take_features(get, *launch.features) : ask_everything(get);
  if (!done) return done;
  capabilities_.get_without_fence = own_server_;
  capabilities_.group_fence = subversion_ >= 2;
  capabilities_.tagged_barrier = subversion_ >= 2;
  if (auto names = find_name_service(); !names) return names;
  capabilities_.tells_reason = own_server_;
  capabilities_.server =
      "PMI 1." + std::to_string(subversion_) + (own_server_ ? " (Starling's mpiexec)" : "");
  return {};
}

Result<void> Pmi1::init_ack(const Launch& launch) {
  ++counters_.other;
  auto sent = connection_.send(std::move(wire::Line("initack").add("pmiid", launch.id)).take());
  if (!sent) return sent;
  const Deadline deadline = Deadline::after_seconds(timeout_s_);
  bool has_rank = false;
  bool has_size = false;
  // Rank and size are fields of the answer with some servers, and lines of their own after it with others.
  for (bool answered = false; !answered || !has_rank || !has_size;) {
    auto message = connection_.receive(deadline);
    if (!message) return fail(std::move(message).error());
    if (message->name() == "initack") {
      answered = true;
      if (message->find("rc") && message->find("rc") != "0") return refused(*message, "the connection");
    } else if (message->name() != "set") {
      return message->broken("cmd=initack or cmd=set was expected");
    }
    if (message->find("rank")) {
      auto rank = message->integer("rank", 0, kMaxNumber);
      if (!rank) return fail(std::move(rank).error());
      identity_.rank = static_cast<std::uint32_t>(*rank);
      has_rank = true;
    }
    if (message->find("size")) {
      auto size = message->integer("size", 1, kMaxNumber);
      if (!size) return fail(std::move(size).error());
      identity_.size = static_cast<std::uint32_t>(*size);
      has_size = true;
    }
  }
  return {};
}

Result<void> Pmi1::say_hello() {
  ++counters_.other;
  wire::Line line("init");
  // Clients of 1.2 servers say 1 too, the server tells what it can: an older Hydra ends the job when it is
  // offered 2.
  line.add("pmi_version", 1).add("pmi_subversion", 1);
  auto reply = request(std::move(line).take(), "response_to_init");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc") != "0") return refused(*reply, "to speak PMI 1");
  auto version = reply->integer("pmi_version", 0, kMaxNumber);
  if (!version) return fail(std::move(version).error());
  auto subversion = reply->integer("pmi_subversion", 0, kMaxNumber);
  if (!subversion) return fail(std::move(subversion).error());
  if (*version != 1)
    return reply->broken("the server speaks PMI " + std::to_string(*version) + ", this client PMI 1");
  subversion_ = static_cast<int>(*subversion);
  if (const auto name = reply->find("kvsname"); name && wire::is_plain(*name)) kvs_ = *name;
  return {};
}

Result<void> Pmi1::take_features(const Getenv& get, const Features& features) {
  auto codec = ValueCodec::make({.keylen_max = 64, .vallen_max = features.vallen_max});
  if (!codec) return fail(std::move(codec).error());
  codec_ = *codec;
  const char* const job = get("STARLING_JOB");
  if (kvs_.empty() || job == nullptr) return fail(Errc::bad_input, kPmi1, "mpiexec gave this job no name");
  // The name of the program's own run: a second program of the same rank (a shell script) has another one.
  identity_.job = kvs_;
  identity_.universe_size = features.universe_size;
  identity_.appnum = features.appnum;
  identity_.nodes = features.nodes;
  return {};
}

Result<void> Pmi1::ask_everything(const Getenv& get) {
  counters_.other += 4;
  auto maxes = request(wire::Line("get_maxes").take(), "maxes");
  if (!maxes) return fail(std::move(maxes).error());
  auto keylen = maxes->integer("keylen_max", 1, kMaxNumber);
  if (!keylen) return fail(std::move(keylen).error());
  auto vallen = maxes->integer("vallen_max", 1, kMaxNumber);
  if (!vallen) return fail(std::move(vallen).error());
  auto codec = ValueCodec::make({static_cast<std::size_t>(*keylen), static_cast<std::size_t>(*vallen)});
  if (!codec) return fail(std::move(codec).error());
  codec_ = *codec;

  auto name = request(wire::Line("get_my_kvsname").take(), "my_kvsname");
  if (!name) return fail(std::move(name).error());
  auto kvs = name->text("kvsname");
  if (!kvs) return fail(std::move(kvs).error());
  if (!wire::is_plain(*kvs)) return name->broken("the field kvsname= is not plain");
  kvs_ = *kvs;
  identity_.job = job_name(kvs_, get);

  auto universe = request(wire::Line("get_universe_size").take(), "universe_size");
  if (!universe) return fail(std::move(universe).error());
  if (auto size = universe->integer("size", 0, kMaxNumber); size)
    identity_.universe_size = static_cast<std::uint32_t>(*size);

  auto app = request(wire::Line("get_appnum").take(), "appnum");
  if (!app) return fail(std::move(app).error());
  if (auto number = app->integer("appnum", 0, kMaxNumber); number)
    identity_.appnum = static_cast<std::uint32_t>(*number);
  return ask_node_map();
}

/// Flux has no names, and says so. Hydra, whose spaces of values are called kvs_..., has. What a server
/// refuses, it refuses to every rank, so that all of them decide alike; no answer is an error, never a no.
Result<void> Pmi1::find_name_service() {
  capabilities_.name_service = true;
  if (own_server_ || identity_.size == 1 || kvs_.starts_with("kvs_")) return {};
  const std::string name = "starling-probe-" + identity_.job + "-" + std::to_string(identity_.rank);
  auto published = publish(name, "none");
  if (!published && published.error().code != Errc::denied) return published;
  capabilities_.name_service = published.has_value();
  return published ? unpublish(name) : Result<void>();
}

Result<void> Pmi1::ask_node_map() {
  bool gone = false;
  auto text = get_text(identity_.rank, "PMI_process_mapping", gone);
  if (!text) return fail(std::move(text).error());
  if (!*text) return {};
  auto nodes = NodeMap::parse(**text);
  if (!nodes) return fail(std::move(nodes).error().within(kPmi1));
  identity_.nodes = std::move(*nodes);
  return {};
}

}  // namespace starling::pmi
