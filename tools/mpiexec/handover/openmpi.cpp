// SPDX-License-Identifier: BSD-3-Clause
// The command lines of prterun and of Open MPI's mpirun, which are kin. Layer: tools.
//
// Hard here: their own mapping puts the launching host first and counts slots by program. So each rank's host
// is written down (the sequential mapper). Variables are handed on by name only.

#include <tuple>

#include "tools/mpiexec/handover/command.hpp"
#include "tools/mpiexec/handover/shell_words.hpp"

namespace starling::mpiexec {
namespace {

std::string openmpi_binding(const BindTo& bind, bool prrte) {
  std::string word = bind.unit == Unit::socket && prrte ? "package" : word_for(bind.unit);
  return word + (bind.overload ? ":overload-allowed" : "");
}

/// `>"FILE"` for a shell that runs as the rank.
std::string redirection(const Request& request, const std::string& pattern, const char* stream) {
  std::string target;
  std::string literal;
  bool own = false;  // a file that others have, too, is not emptied by each of them
  const auto flush = [&] {
    if (!literal.empty()) target += quoted(std::exchange(literal, ""));
  };
  each_part(
      request, pattern, [&](const std::string& text) { literal += text; },
      [&] { flush(), target += "\"$PMIX_RANK\"", own = true; },
      [&] { flush(), target += "\"$(uname -n)\""; });
  flush();
  return std::string(" ") + stream + (own ? ">" : ">>") + target;
}

/// The program, behind a shell that redirects its output if there is a pattern.
std::vector<std::string> redirected(const Request& request, const Program& program) {
  const Options& options = request.options;
  std::vector<std::string> words = program_words(program);
  if (options.out_pattern.empty() && options.err_pattern.empty()) return words;
  std::string script = "exec \"$@\"";
  if (!options.out_pattern.empty()) script += redirection(request, options.out_pattern, "");
  if (!options.err_pattern.empty()) script += redirection(request, options.err_pattern, "2");
  words.insert(words.begin(), {"/bin/sh", "-c", script, "sh"});
  return words;
}

std::vector<std::string> words_for_all(const Request& request, bool prrte) {
  const Options& options = request.options;
  const std::string setting = prrte ? "--prtemca" : "--mca";
  std::vector<std::string> words;
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (request.root) add({"--allow-run-as-root"});
  if (!options.launcher_exec.empty())
    add({setting, prrte ? "plm_ssh_agent" : "plm_rsh_agent", options.launcher_exec});
  if (!options.iface.empty()) add({setting, prrte ? "prte_if_include" : "oob_tcp_if_include", options.iface});
  add({"--map-by", request.hosts.empty() ? "slot:OVERSUBSCRIBE" : "seq:OVERSUBSCRIBE"});
  add({"--bind-to", openmpi_binding(options.place.bind, prrte)});
  for (const auto& [asked, prrte_word, openmpi_word] :
       {std::tuple{options.labels, "tag", "--tag-output"},
        {options.times, "timestamp", "--timestamp-output"},
        {options.merge, "merge", "--merge-stderr-to-stdout"}}) {
    if (asked && prrte) add({"--output", prrte_word});
    if (asked && !prrte) add({openmpi_word});
  }
  if (options.input.all || options.input.rank != 0u) add({"--stdin", input_word(options.input)});
  if (options.keep_job && prrte) add({"--runtime-options", "recoverable"});
  if (options.keep_job && !prrte) add({"--enable-recovery"});
  return words;
}

}  // namespace

Result<std::vector<std::string>> words_for_openmpi(const Request& request, Engine engine) {
  const Options& options = request.options;
  std::vector<std::string> words = words_for_all(request, engine == Engine::prrte);
  const auto add = [&words](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  std::size_t first = 0;
  for (std::size_t i = 0; i < options.programs.size(); ++i) {
    if (i > 0) add({":"});
    for (const std::string& name : request.variables) add({"-x", name});
    add({"--wdir", directory_of(request, options.programs[i])});
    if (!request.hosts.empty()) {
      auto list = host_list(request, first, request.ranks[i]);
      if (!list) return fail(std::move(list).error());
      add({"--host", *list});
    }
    add({"-np", std::to_string(request.ranks[i])});
    first += request.ranks[i];
    const std::vector<std::string> program = redirected(request, options.programs[i]);
    words.insert(words.end(), program.begin(), program.end());
  }
  return words;
}

}  // namespace starling::mpiexec
