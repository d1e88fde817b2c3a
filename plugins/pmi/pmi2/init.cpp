// SPDX-License-Identifier: BSD-3-Clause
// A PMI-2 client's first words: who am I, and what is this job. Layer: plugin. See docs/design/pmi.md.
//
// The first request is a line of PMI-1, in which both sides agree on frames. Under Starling's mpiexec the
// environment holds every other answer; other servers are asked.

#include "frameworks/pmi/settings.hpp"
#include "plugins/pmi/pmi2/component.hpp"

namespace starling::pmi {
namespace {

constexpr std::size_t kKeylenMax = 64;    ///< what PMI-2 servers take
constexpr std::size_t kVallenMax = 1024;  ///< PMI-2 has no request that asks for it

/// A whole number up to that of a C int; none: it is something else, -1 at servers that do not know.
std::optional<std::uint32_t> number_of(std::string_view text) noexcept {
  std::int64_t value = 0;
  if (text.empty() || text.size() > 10) return std::nullopt;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + (digit - '0');
  }
  if (value > kMaxNumber) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

}  // namespace

Result<std::unique_ptr<Component>> Pmi2::make(const Getenv& get, std::string_view why,
                                              std::uint64_t request_timeout_s, const std::string& settings) {
  auto to = dial(get, kPmi2, request_timeout_s);
  if (!to) return fail(std::move(to).error());
  std::unique_ptr<Pmi2> component(new Pmi2(std::move(to->connection), request_timeout_s));
  component->identity_.rank = to->rank;
  component->identity_.size = to->size;
  component->counters_.other = to->requests;
  component->own_server_ = to->launch.features.has_value();
  component->capabilities_.server = "PMI 2.0 (" +
                                    std::string(component->own_server_ ? "Starling's mpiexec; " : "") +
                                    std::string(why) + ")";
  if (auto done = component->init(get, to->launch, settings); !done) {
    component->connection_.abandon();  // or this process would look like one that nobody launched
    return fail(std::move(done).error());
  }
  return std::unique_ptr<Component>(std::move(component));
}

Result<void> Pmi2::init(const Getenv& get, const Launch& launch, const std::string& settings) {
  Result<void> done = choose_version();
  if (done) done = say_who(get, settings);
  if (done) done = own_server_ ? take_features(*launch.features) : ask_everything(get);
  if (!done) return done;
  capabilities_.get_without_fence = own_server_;
  capabilities_.name_service = true;
  capabilities_.tells_reason = own_server_;
  return {};
}

Result<void> Pmi2::choose_version() {
  ++counters_.other;
  auto sent =
      connection_.send(std::move(wire::Line("init").add("pmi_version", 2).add("pmi_subversion", 0)).take());
  if (!sent) return sent;
  auto reply = connection_.receive(Deadline::after_seconds(timeout_s_));
  if (!reply) return fail(std::move(reply).error());
  if (reply->name() != "response_to_init" || reply->form() != wire::Form::line)
    return reply->broken("cmd=response_to_init was expected");
  auto version = reply->integer("pmi_version", 0, kMaxNumber);
  if (!version) return fail(std::move(version).error());
  if (*version != 2) {
    return fail(Errc::unsupported, kPmi2,
                "the process manager speaks PMI " + std::to_string(*version) + ", not PMI 2");
  }
  if (reply->find("rc") != "0") return not_taken(*reply);
  return {};
}

Result<void> Pmi2::say_who(const Getenv& get, const std::string& settings) {
  ++counters_.other;
  const char* const job = get("PMI_JOBID");
  const bool usable = job != nullptr && wire::is_plain(job);
  wire::Frame frame("fullinit");
  // Slurm ends the step if one of the three is missing.
  frame.add("pmijobid", usable ? job : "none").add("pmirank", identity_.rank).add("threaded", "FALSE");
  if (own_server_ && !settings.empty()) frame.add(kSettingsField, wire::percent_encode(settings));
  auto reply = request(std::move(frame).take(), "fullinit-response");
  if (!reply) return fail(std::move(reply).error());
  if (reply->find("rc").value_or("0") != "0") return not_taken(*reply);
  auto size = reply->integer("size", 1, kMaxNumber);
  if (!size) return fail(std::move(size).error());
  auto rank = reply->integer("rank", 0, *size - 1);
  if (!rank) return fail(std::move(rank).error());
  identity_.rank = static_cast<std::uint32_t>(*rank);
  identity_.size = static_cast<std::uint32_t>(*size);
  if (own_server_) {
    auto own_job = reply->text("jobid");
    if (!own_job) return fail(std::move(own_job).error());
    job_ = *own_job;
  }
  if (const auto app = reply->find("appnum")) identity_.appnum = number_of(*app);
  return {};
}

Result<void> Pmi2::take_features(const Features& features) {
  auto codec = ValueCodec::make({.keylen_max = kKeylenMax, .vallen_max = features.vallen_max});
  if (!codec) return fail(std::move(codec).error());
  codec_ = *codec;
  // The name of the program's own run: a second program of the same rank (a shell script) has another one.
  identity_.job = job_;
  identity_.universe_size = features.universe_size;
  identity_.nodes = features.nodes;
  return {};
}

Result<void> Pmi2::ask_everything(const Getenv& get) {
  auto codec = ValueCodec::make({.keylen_max = kKeylenMax, .vallen_max = kVallenMax});
  if (!codec) return fail(std::move(codec).error());
  codec_ = *codec;
  ++counters_.other;
  auto name = request(wire::Frame("job-getid").take(), "job-getid-response");
  if (!name) return fail(std::move(name).error());
  auto job = name->text("jobid");
  if (!job) return fail(std::move(job).error());
  job_ = *job;
  identity_.job = job_name(job_, get);

  auto universe = job_attribute("universeSize");
  if (!universe) return fail(std::move(universe).error());
  if (*universe) identity_.universe_size = number_of(**universe).value_or(0);

  auto mapping = job_attribute("PMI_process_mapping");
  if (!mapping) return fail(std::move(mapping).error());
  if (!*mapping) return {};
  auto nodes = NodeMap::parse(**mapping);
  if (!nodes) return fail(std::move(nodes).error().within(kPmi2));
  identity_.nodes = std::move(*nodes);
  return {};
}

Result<std::optional<std::string>> Pmi2::job_attribute(std::string_view key) {
  ++counters_.other;
  auto reply =
      request(std::move(wire::Frame("info-getjobattr").add("key", key)).take(), "info-getjobattr-response");
  if (!reply) return fail(std::move(reply).error());
  const auto value = reply->find("value");
  if (reply->find("rc").value_or("0") != "0" || reply->find("found") == "FALSE" || !value)
    return std::optional<std::string>{};
  return std::optional<std::string>(*value);
}

}  // namespace starling::pmi
