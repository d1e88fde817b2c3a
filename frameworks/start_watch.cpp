// SPDX-License-Identifier: BSD-3-Clause
// The watch over a plugin's start. Layer: framework.

#include "frameworks/start_watch.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/flush.hpp"
#include "core/log.hpp"
#include "core/plugin/prefix.hpp"
#include "frameworks/stuck.hpp"

namespace starling::plugin {
namespace {

std::atomic<EndStuck> end_process{nullptr};

bool is_of_the_installation(const std::string& file) {
  return file.empty() || file.starts_with(installation().plugin_directory + "/");
}

}  // namespace

StartWatch::StartWatch(std::string what, std::string file, std::int64_t seconds)
    : what_(std::move(what)), file_(std::move(file)) {
  if (seconds == 0 || is_of_the_installation(file_)) return;
  try {
    thread_ = std::thread([this, seconds] { sleep(seconds); });
  } catch (const std::system_error& refused) {
    log::info(what_ + ": its start is not watched: " + refused.what());
  }
}

StartWatch::~StartWatch() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void set_end_of_stuck(EndStuck end) noexcept { end_process = end; }

void StartWatch::sleep(std::int64_t seconds) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return over_; })) return;
  const std::string why =
      what_ + ": " + file_ + " has not come back from its start for " + std::to_string(seconds) +
      " s (plugin_start_timeout); its code cannot be stopped, so this process ends. Leave the plugin "
      "out: STARLING_MCA_" +
      what_.substr(0, what_.find('/')) + "=^" + what_.substr(what_.find('/') + 1);
  if (const EndStuck end = end_process) end(EXIT_FAILURE, why);
  log::error(why);
  flush_streams();
  std::_Exit(EXIT_FAILURE);
}

}  // namespace starling::plugin
