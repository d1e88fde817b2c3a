// SPDX-License-Identifier: BSD-3-Clause
// Which MPI functions this build implements; the list is generated from the table of functions. Layer: tools.

#include <map>

#include "mpi/coverage.hpp"
#include "tools/starling-info/sections.hpp"

namespace starling::info {

void print_coverage(const Context&, Printer& printer) {
  struct Chapter {
    int covered = 0;
    int all = 0;
    std::string missing;
  };
  std::map<std::string_view, Chapter> chapters;
  int covered = 0;
  for (const mpi::Coverage& function : mpi::coverage()) {
    Chapter& chapter = chapters[function.chapter];
    ++chapter.all;
    chapter.covered += function.covered;
    covered += function.covered;
    if (!function.covered) chapter.missing += std::string(" ") + function.name;
    printer.fact(std::string("coverage.") + function.name, std::int64_t{function.covered});
  }
  const auto all = static_cast<std::int64_t>(mpi::coverage().size());
  printer.fact("coverage.covered", std::int64_t{covered});
  printer.fact("coverage.all", all);
  printer.title("MPI functions: " + std::to_string(covered) + " of " + std::to_string(all) +
                " implemented; the others raise MPI_ERR_UNSUPPORTED_OPERATION");
  for (const auto& [name, chapter] : chapters) {
    printer.line(1, std::string(name) + ": " + std::to_string(chapter.covered) + " of " +
                        std::to_string(chapter.all) +
                        (chapter.missing.empty() ? "" : "; not:" + chapter.missing));
  }
}

}  // namespace starling::info
