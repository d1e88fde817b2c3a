// SPDX-License-Identifier: BSD-3-Clause
// Crashes of plugins that are being opened. What is hard: a signal handler may only write, so the text is
// ready before. Layer: framework.

#include "frameworks/start_crash.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <string>

namespace starling::plugin {
namespace {

/// The file that is being opened, by which thread; null: none.
std::atomic<StartCrash*> opening{nullptr};
pid_t opening_thread = 0;
std::array<char, 1024> text{};
std::size_t text_bytes = 0;

void prepare(std::string_view what, std::string_view file) noexcept {
  const std::size_t slash = what.find('/');
  const std::string_view framework = what.substr(0, slash);
  const std::string_view name = slash == std::string_view::npos ? what : what.substr(slash + 1);
  const int bytes = std::snprintf(
      text.data(), text.size(),
      "[starling] error: %.*s: this process crashes in %.*s, which is being loaded. Leave the plugin out: "
      "STARLING_MCA_%.*s=^%.*s\n",
      static_cast<int>(what.size()), what.data(), static_cast<int>(file.size()), file.data(),
      static_cast<int>(framework.size()), framework.data(), static_cast<int>(name.size()), name.data());
  text_bytes = std::min(static_cast<std::size_t>(std::max(bytes, 0)), text.size() - 1);
}

}  // namespace

StartCrash::StartCrash(std::string_view what, std::string_view file) noexcept {
  if (file.empty() || opening.load() != nullptr) return;
  prepare(what, file);
  opening_thread = ::gettid();
  struct sigaction action {};
  action.sa_sigaction = &StartCrash::on_signal;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  opening.store(this);
  set_ = true;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &former_[i]);
}

StartCrash::~StartCrash() {
  if (!set_) return;
  restore();
  opening.store(nullptr);
}

// What the plugin itself has set stays.
void StartCrash::restore() noexcept {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    if (::sigaction(kSignals[i], nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &StartCrash::on_signal)
      ::sigaction(kSignals[i], &former_[i], nullptr);
  }
}

// The instruction that has failed is run again when this returns; what somebody has sent has to be sent
// again.
void StartCrash::on_signal(int number, siginfo_t* info, void*) noexcept {
  StartCrash* const crash = opening.load();
  if (crash == nullptr) return;
  if (::gettid() == opening_thread) (void)!::write(STDERR_FILENO, text.data(), text_bytes);
  crash->restore();
  if (info->si_code <= 0) (void)::raise(number);
}

}  // namespace starling::plugin
