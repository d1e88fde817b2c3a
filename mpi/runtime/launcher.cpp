// SPDX-License-Identifier: BSD-3-Clause
// Noticing the launcher's end. Layer: mpi.

#include "mpi/runtime/launcher.hpp"

#include <poll.h>
#include <unistd.h>

#include "core/flush.hpp"
#include "core/log.hpp"

namespace starling::mpi {
namespace {

constexpr int kLauncherLostExit = 113;

}  // namespace

void Launcher::check() {
  if (descriptor() < 0) return;
  pollfd told{descriptor(), POLLIN, 0};
  if (::poll(&told, 1, 0) <= 0) return;
  if (auto checked = pmi_.check(); !checked) {
    log::error("the launcher is gone, so this process ends: " + checked.error().text());
    flush_streams();
    ::_exit(kLauncherLostExit);
  }
}

}  // namespace starling::mpi
