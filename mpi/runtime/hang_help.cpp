// SPDX-License-Identifier: BSD-3-Clause
// What a rank says when mpiexec asks what it waits for. What is hard: the room is small and a program may
// have thousands of requests, so the text says the most important first, and how much it leaves out. Layer:
// mpi. See docs/design/waiting.md.

#include "mpi/runtime/hang_help.hpp"

#include <cstdio>
#include <limits>

#include "core/clock.hpp"
#include "mpi/runtime/waiting.hpp"

namespace starling::mpi {
namespace {

/// Lines of pending messages of one kind that are told in full.
constexpr std::size_t kMostLines = 6;

std::string age_text(std::uint64_t since_ns, std::uint64_t now) {
  if (since_ns == 0 || since_ns > now) return {};
  char text[32];
  std::snprintf(text, sizeof text, ", %.1f s", static_cast<double>(now - since_ns) * 1e-9);
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes == std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return "any number of bytes";
  return std::to_string(bytes) + " bytes";
}

std::string message_text(const pml::Pending& message, const std::string& comm, std::uint64_t now) {
  std::string text = message.receive ? "receive from " : "send to ";
  text += message.rank == pml::kAnySource ? "any rank" : "rank " + std::to_string(to_int(message.rank));
  text += message.tag == pml::kAnyTag ? ", any tag" : ", tag " + std::to_string(to_int(message.tag));
  text += (message.receive ? ", up to " : ", ") + bytes_text(message.bytes) + ", on " + comm;
  text += age_text(message.since_ns, now);
  if (*message.stage != '\0') text += std::string(" (") + message.stage + ")";
  return text;
}

}  // namespace

std::string fit_lines(const std::vector<std::string>& lines, std::size_t room) {
  constexpr std::size_t kNoteBytes = 24;
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size();
    if (text.size() + 1 + lines[i].size() + (last ? 0 : kNoteBytes) > room) {
      if (text.empty()) return lines[i].substr(0, room);
      return text + "\n... and " + std::to_string(lines.size() - i) + " more";
    }
    text += (text.empty() ? "" : "\n") + lines[i];
  }
  return text;
}

void Waiting::enter() noexcept {
  outer_ = innermost_;
  if (outer_ != nullptr) outer_->inner_ = this;
  innermost_ = this;
}

void Waiting::leave() noexcept {
  // Threads do not end their waits in the order in which they began.
  (inner_ != nullptr ? inner_->outer_ : innermost_) = outer_;
  if (outer_ != nullptr) outer_->inner_ = inner_;
}

std::vector<std::string> HangHelp::waiting_for() {
  const std::uint64_t now = now_ns();
  note_ages(now);
  std::vector<std::string> lines;
  bool function_only = false;
  Waiting::each([&](const Waiting& wait) {
    function_only = wait.function_only();
    lines.push_back("in " + wait.text() + age_text(wait.since_ns, now));
  });
  polling_.each([&](const Progressable& item) {
    const std::string text = item.describe();
    if (!text.empty()) lines.push_back("pending " + text + age_text(item.since_ns, now));
  });
  const bool explained = !lines.empty();
  std::size_t count = 0;
  for (const pml::Pending& message : pml_->pending()) {
    // The messages inside a collective are explained by the collective.
    const bool internal = message.context.channel() == Channel::collective;
    if (internal && explained) continue;
    if (++count > kMostLines) continue;
    const std::string comm = communicator_name(message.context);
    lines.push_back(message_text(message, internal ? "the collectives of " + comm : comm, now));
  }
  if (count > kMostLines) lines.push_back("... and " + std::to_string(count - kMostLines) + " more messages");
  if (lines.empty()) lines.emplace_back("in MPI, no message pending");
  if (lines.size() == 2 && function_only) {  // one call that waits for one thing
    lines[0] = lines[0].substr(0, lines[0].find(',')) + ": " + lines[1];
    lines.pop_back();
  }
  return lines;
}

void HangHelp::note_ages(std::uint64_t now) noexcept {
  Waiting::each([&](Waiting& wait) {
    if (wait.since_ns == 0) wait.since_ns = now;
  });
  polling_.each([&](Progressable& item) {
    if (item.since_ns == 0) item.since_ns = now;
  });
  pml_->note_time(now);
}

void HangHelp::write_answer(std::uint32_t wanted) {
  const std::string text = fit_lines(waiting_for(), sizeof(slot_->waiting) - 1);
  std::snprintf(slot_->waiting, sizeof slot_->waiting, "%s", text.c_str());
  slot_->report_done.store(wanted, std::memory_order_release);
}

}  // namespace starling::mpi
