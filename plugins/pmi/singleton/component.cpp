// SPDX-License-Identifier: BSD-3-Clause
// A process that nobody launched. Layer: plugin. See docs/design/pmi.md.

#include "plugins/pmi/singleton/component.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <cstdio>

namespace starling::pmi {
namespace {

constexpr char kSingleton[] = "pmi/singleton";

/// Unique also when a pid is used again, or twice in two containers that share /dev/shm.
std::string unique_job_name() {
  std::uint64_t random = now_ns();
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) random ^= now_ns() << 20;
  char name[64];
  std::snprintf(name, sizeof name, "singleton-%ld-%016llx", static_cast<long>(::getpid()),
                static_cast<unsigned long long>(random));
  return name;
}

Unexpected no_name_service() {
  return fail(Errc::unsupported, kSingleton, "a process without a launcher has no name service");
}

}  // namespace

Singleton::Singleton() {
  identity_.job = unique_job_name();
  identity_.universe_size = 1;
  identity_.nodes = NodeMap::one_node(1);
  capabilities_.get_without_fence = true;
  capabilities_.group_fence = true;
  capabilities_.tagged_barrier = true;
  capabilities_.server = "none (started without a launcher)";
}

Result<std::unique_ptr<Component>> Singleton::make(const Getenv& get, bool anyway) {
  if (!anyway) {
    auto launch = launch_of(get);
    if (!launch) return fail(std::move(launch).error());
    if (launch->kind != Launch::Kind::none) {
      return fail(Errc::unsupported, kSingleton,
                  "a PMI-1 launcher started this process; it must use pmi/pmi1");
    }
    if (auto reason = why_not_alone(get, ::getpid()))
      return fail(Errc::unsupported, kSingleton, std::move(*reason));
  }
  return std::unique_ptr<Component>(new Singleton);
}

Result<void> Singleton::put(std::string_view key, std::span<const std::byte> value) {
  if (value.size() > kMaxValueBytes) return fail(Errc::no_space, kSingleton, "a value is longer than 64 KiB");
  values_.insert_or_assign(std::string(key), std::vector<std::byte>(value.begin(), value.end()));
  ++counters_.puts;
  return {};
}

Result<Lookup> Singleton::get(std::uint32_t rank, std::string_view key) {
  ++counters_.gets;
  if (rank != 0)
    return fail(Errc::not_found, kSingleton,
                "there is no rank " + std::to_string(rank) + "; the job has one rank");
  const auto found = values_.find(key);
  if (found == values_.end()) return Lookup{Found::not_yet, {}};
  return Lookup{Found::value, found->second};
}

Result<void> Singleton::fence(Deadline) {
  ++counters_.fences;
  return {};
}

Result<void> Singleton::fence(std::span<const std::uint32_t>, std::string_view, Deadline deadline) {
  return fence(deadline);
}

Result<void> Singleton::publish(std::string_view, std::string_view) { return no_name_service(); }
Result<std::string> Singleton::lookup(std::string_view) { return no_name_service(); }
Result<void> Singleton::unpublish(std::string_view) { return no_name_service(); }

}  // namespace starling::pmi
