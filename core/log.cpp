// SPDX-License-Identifier: BSD-3-Clause
// Log lines to stderr, one write each. Layer: core.

#include "core/log.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <utility>

namespace starling::log {
namespace {

struct State {
  std::mutex mutex;
  std::string prefix = "[starling]";
  std::atomic<Level> level{Level::warning};
};

State& state() {
  static State* const instance = new State;  // never destroyed: log lines may come from exit handlers
  return *instance;
}

void write_line(Level level, const char* kind, std::string_view text) {
  State& log = state();
  if (level > log.level.load(std::memory_order_relaxed)) return;
  std::string line;
  {
    const std::scoped_lock lock(log.mutex);
    line = log.prefix;
  }
  line.append(" ").append(kind).append(text).append("\n");
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

void set_prefix(std::string prefix) {
  const std::scoped_lock lock(state().mutex);
  state().prefix = std::move(prefix);
}
void set_level(Level level) noexcept { state().level.store(level, std::memory_order_relaxed); }
Level level() noexcept { return state().level.load(std::memory_order_relaxed); }

void error(std::string_view text) { write_line(Level::error, "error: ", text); }
void warning(std::string_view text) { write_line(Level::warning, "warning: ", text); }
void info(std::string_view text) { write_line(Level::info, "", text); }
void debug(std::string_view text) { write_line(Level::debug, "debug: ", text); }

}  // namespace starling::log
