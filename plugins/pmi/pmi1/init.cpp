// SPDX-License-Identifier: BSD-3-Clause
// A PMI-1 client's first words: who am I, and what can this server do. Layer: plugin. See docs/design/pmi.md.
//
// Under Starling's mpiexec the environment holds every answer, so that one round trip (init) is all. Other
// servers are asked.

#include "frameworks/pmi/settings.hpp"
#include "plugins/pmi/pmi1/component.hpp"

namespace starling::pmi {

Result<std::unique_ptr<Component>> Pmi1::make(const Getenv& get, std::uint64_t request_timeout_s,
                                              const std::string& settings) {
  auto to = dial(get, kPmi1, request_timeout_s);
  if (!to) return fail(std::move(to).error());
  std::unique_ptr<Pmi1> component(new Pmi1(std::move(to->connection), request_timeout_s));
  component->identity_.rank = to->rank;
  component->identity_.size = to->size;
  component->counters_.other = to->requests;
  if (auto done = component->init(get, to->launch, settings); !done) {
    // A server of PMI 2 alone: pmi/pmi2 may try on the same connection. Nor must this process look like one
    // that nobody launched.
    component->connection_.abandon();
    return fail(std::move(done).error());
  }
  return std::unique_ptr<Component>(std::move(component));
}

Result<void> Pmi1::init(const Getenv& get, const Launch& launch, const std::string& settings) {
  own_server_ = launch.features.has_value();
  Result<void> done = say_hello(settings);
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

Result<void> Pmi1::say_hello(const std::string& settings) {
  ++counters_.other;
  wire::Line line("init");
  // Clients of 1.2 servers say 1 too, the server tells what it can: an older Hydra ends the job when it is
  // offered 2.
  line.add("pmi_version", 1).add("pmi_subversion", 1);
  if (own_server_) line.add("pmirank", identity_.rank);  // it knows better, and says so
  if (own_server_ && !settings.empty()) line.add(kSettingsField, wire::percent_encode(settings));
  auto reply = request(std::move(line).take(), "response_to_init");
  if (!reply) return fail(std::move(reply).error());
  auto version = reply->integer("pmi_version", 0, kMaxNumber);
  if (!version) return fail(std::move(version).error());
  auto subversion = reply->integer("pmi_subversion", 0, kMaxNumber);
  if (!subversion) return fail(std::move(subversion).error());
  if (*version != 1) {
    return fail(Errc::unsupported, kPmi1,
                "the process manager speaks PMI " + std::to_string(*version) + ", not PMI 1");
  }
  if (reply->find("rc") != "0") return not_taken(*reply);
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
  if (features.runs != 0) rank_form_ = RankForm::runs;
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
