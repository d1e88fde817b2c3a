// SPDX-License-Identifier: BSD-3-Clause
// Between libpmix's thread and ours. Layer: plugin.

#include "plugins/pmi/pmix/inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <iterator>

#include "plugins/pmi/pmix/values.hpp"

namespace starling::pmi::pmix {

Inbox::Inbox() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Inbox::ring() noexcept {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
  delivered_.notify_all();
}

void Inbox::drain() noexcept {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof count);
}

Inbox::Ticket& Inbox::ticket(std::uint32_t rank, std::string_view key) {
  const auto [found, added] = tickets_.try_emplace({rank, std::string(key)});
  if (added) {  // once: others read both without the lock
    found->second.inbox = this;
    found->second.key = found->first.second.c_str();
  }
  return found->second;
}

void Inbox::drop(std::uint32_t rank, std::string_view key) { tickets_.erase({rank, std::string(key)}); }

void Inbox::drop_all() {
  const std::scoped_lock lock(mutex_);
  tickets_.clear();
  given_up_.clear();
}

void Inbox::give_up_open() {
  const std::scoped_lock lock(mutex_);
  for (auto at = tickets_.begin(); at != tickets_.end();) {
    const auto next = std::next(at);
    if (at->second.asked) given_up_.push_back(tickets_.extract(at));
    at = next;
  }
}

void Inbox::wait(std::unique_lock<std::mutex>& lock, std::uint64_t ns) {
  delivered_.wait_for(lock, std::chrono::nanoseconds(ns));
}

void Inbox::set_job(std::string_view nspace) {
  const std::scoped_lock lock(mutex_);
  job_ = nspace;
}

void Inbox::begin_fence() {
  const std::scoped_lock lock(mutex_);
  fence_.reset();
}

std::optional<pmix_status_t> Inbox::fence_answer() {
  const std::scoped_lock lock(mutex_);
  return fence_;
}

bool Inbox::server_lost() {
  const std::scoped_lock lock(mutex_);
  return server_lost_;
}

void Inbox::on_value(pmix_status_t status, pmix_value_t* value, void* ticket) {
  Ticket& asked = *static_cast<Ticket*>(ticket);
  Inbox& inbox = *asked.inbox;
  const std::scoped_lock lock(inbox.mutex_);
  asked.asked = false;
  asked.answer = status;
  if (status == PMIX_SUCCESS && value != nullptr) {
    auto bytes = bytes_of(*value);
    if (bytes) {
      asked.value = std::move(*bytes);
    } else {
      asked.answer = PMIX_ERR_TYPE_MISMATCH;
    }
  }
  inbox.ring();
}

void Inbox::on_fence(pmix_status_t status, void* inbox) {
  Inbox& into = *static_cast<Inbox*>(inbox);
  const std::scoped_lock lock(into.mutex_);
  into.fence_ = status;
  into.ring();
}

bool Inbox::on_lost_connection(Inbox& inbox, const pmix_proc_t* lost) {
  const std::scoped_lock lock(inbox.mutex_);
  // A server tells its clients of each other too, and may give a process that has finalized and connected
  // again the end of its own earlier connection. Who hears that has a server; servers are in a namespace of
  // their own.
  if (lost != nullptr && inbox.job_ == lost->nspace) return false;
  inbox.server_lost_ = true;
  inbox.ring();
  return true;
}

}  // namespace starling::pmi::pmix
