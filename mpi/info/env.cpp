// SPDX-License-Identifier: BSD-3-Clause
// MPI_INFO_ENV. Layer: mpi.

#include "mpi/info/env.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <string>
#include <vector>

#include "core/text_file.hpp"

namespace starling::mpi {
namespace {

/// The arguments of this process as the system has them; works whether or not MPI_Init got argc and argv.
std::vector<std::string> own_arguments() {
  std::vector<std::string> arguments;
  const std::string all = text_of_file("/proc/self/cmdline");
  for (std::size_t at = 0; at < all.size();) {  // each ends in a zero byte
    arguments.emplace_back(all.c_str() + at);
    at += arguments.back().size() + 1;
  }
  return arguments;
}

}  // namespace

void describe_environment(Info& info, int argc, char* const* argv) {
  std::vector<std::string> arguments;
  for (int index = 0; argv != nullptr && index < argc && argv[index] != nullptr; ++index)
    arguments.emplace_back(argv[index]);
  if (arguments.empty()) arguments = own_arguments();
  if (!arguments.empty()) {
    info.set("command", arguments.front());
    std::string rest;
    for (std::size_t index = 1; index < arguments.size(); ++index)
      rest += (index > 1 ? " " : "") + arguments[index];
    info.set("argv", rest);
  }
  utsname machine{};
  if (::uname(&machine) == 0) {
    info.set("host", machine.nodename);
    info.set("arch", machine.machine);
  }
  char directory[PATH_MAX];
  if (::getcwd(directory, sizeof directory) != nullptr) info.set("wdir", directory);
}

}  // namespace starling::mpi
