// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  Ends a process whose plugin does not come back from being loaded or from create. Layer: framework.
///
/// Code that blocks cannot be taken back, so the process ends, with a message that names the file: better
/// than a job that hangs without a word. Only for plugins from outside the installation: a thread costs what
/// the loading of a plugin costs.
///
/// Threads:   one per watch, which does nothing but sleep.
/// Errors:    no thread can be had: the plugin is not watched.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace starling::plugin {

class StartWatch {
 public:
  /// Until its destructor at most `seconds` may pass; 0: any time. `what` and `file` are for the message.
  StartWatch(std::string what, std::string file, std::int64_t seconds);
  ~StartWatch();
  StartWatch(const StartWatch&) = delete;
  StartWatch& operator=(const StartWatch&) = delete;

 private:
  void sleep(std::int64_t seconds);

  std::string what_;
  std::string file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace starling::plugin
