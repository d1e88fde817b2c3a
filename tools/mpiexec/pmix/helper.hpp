// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// @file  A process that serves PMIx to a job's ranks, beside mpiexec's own PMI. Layer: tools.
///
/// libpmix's server lives in a process of its own: clients have been seen to crash or to wedge the process
/// that embeds it, and mpiexec works without the library. The helper opens libpmix when it starts, serves one
/// name space with the job's name, and reports what ranks do. It ends, with its folder, when its socket is
/// closed: by the destructor or because mpiexec was killed.
///
/// Threads:   one; started before any other thread. Ownership: process, socket and folder are this object's.
/// Errors:    start() says why there is no server; later a dead helper is the event `gone`, once.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "core/unique_fd.hpp"

namespace starling::mpiexec {

/// Names and values. Also mpiexec's own type; this folder includes none of its files.
using PmixVariables = std::vector<std::pair<std::string, std::string>>;

/// What the server tells its clients.
struct PmixJob {
  std::string name;
  std::string host;
  std::vector<std::uint32_t> program;     ///< by rank
  std::vector<std::uint32_t> local_rank;  ///< by rank; all on one node
};

class PmixHelper {
 public:
  struct Event {
    enum class Kind : std::uint32_t { variables, ready, failed, connected, finalized, abort, gone } kind;
    std::uint32_t rank;
    std::int32_t code;
    std::string text;
  };

  [[nodiscard]] static Result<std::unique_ptr<PmixHelper>> start(const PmixJob& job);
  ~PmixHelper();
  PmixHelper(const PmixHelper&) = delete;
  PmixHelper& operator=(const PmixHelper&) = delete;

  /// What the rank needs in its environment.
  [[nodiscard]] const PmixVariables& variables(std::uint32_t rank) const { return variables_[rank]; }
  /// Readable when there is an event; -1 once the helper is gone.
  [[nodiscard]] int fd() const noexcept { return socket_.get(); }
  /// What has come by now; does not wait.
  [[nodiscard]] std::vector<Event> take();

 private:
  PmixHelper() = default;
  [[nodiscard]] Result<void> await_variables();
  void receive();

  std::string folder_;
  UniqueFd socket_, process_;
  std::string input_;
  std::vector<PmixVariables> variables_;
};

/// The helper's own part: serves until the socket is closed. Built without libpmix's headers it says so.
[[noreturn]] void serve_pmix(const PmixJob& job, const std::string& folder, int socket);

/// Sends one event; false: nobody is there.
bool send_event(int socket, PmixHelper::Event::Kind kind, std::uint32_t rank, std::int32_t code,
                const std::string& text) noexcept;

}  // namespace starling::mpiexec
