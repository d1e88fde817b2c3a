// SPDX-License-Identifier: BSD-3-Clause
// Asking srun what it serves. Layer: tools.

#include "tools/mpiexec/handover/slurm_mpi.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "core/unique_fd.hpp"
#include "tools/mpiexec/spawn.hpp"

extern char** environ;

namespace starling::mpiexec {
namespace {

/// What the program writes to both its outputs; empty if it cannot be started. Newer sruns print the list to
/// the one, older ones to the other.
std::string output_of(const std::string& path, const char* name, const char* argument) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return "";
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  char* const argv[] = {const_cast<char*>(name), const_cast<char*>(argument), nullptr};
  SpawnRequest request;
  request.path = path.c_str();
  request.argv = argv;
  request.environment = environ;
  request.stdio[1] = request.stdio[2] = writer.get();
  auto pid = spawn(request);
  writer.reset();
  if (!pid) return "";
  std::string text;
  char chunk[4096];
  for (;;) {
    const ssize_t got = ::read(reader.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(chunk, static_cast<std::size_t>(got));
  }
  while (::waitpid(*pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  return text;
}

}  // namespace

bool lists(std::string_view text, std::string_view word) {
  constexpr std::string_view kBetween = " \t\n,:";
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || kBetween.find(text[at - 1]) != kBetween.npos;
    if (begins && (end == text.size() || kBetween.find(text[end]) != kBetween.npos)) return true;
  }
  return false;
}

std::string slurm_mpi(const std::string& srun, const Surroundings& surroundings) {
  if (pmi::is_set(surroundings.get, "SLURM_MPI_TYPE")) return "";
  return surroundings.pmix && lists(output_of(srun, "srun", "--mpi=list"), "pmix") ? "pmix" : "pmi2";
}

}  // namespace starling::mpiexec
