// SPDX-License-Identifier: BSD-3-Clause
// The Fortran compilers for which there are modules, by the names of their folders, which
// fortran/FortranTree.cmake and mpifort form. Layer: tools.

#include <algorithm>
#include <filesystem>

#include "tools/starling-info/sections.hpp"

namespace starling::info {
namespace {

namespace fs = std::filesystem;

/// Those that a compiler can use, sorted: folders with the file that mpifort looks for.
std::vector<std::string> trees_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (fs::exists(entry.path() / "mpi.mod", none)) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

/// gfortran's folders carry the version of its modules' format.
std::string readers(const std::string& tree) {
  if (tree == "gfortran-15") return "gfortran 9 to 14";
  if (tree == "gfortran-16") return "gfortran 15 and later";
  return tree;
}

}  // namespace

void print_fortran(const Context& context, Printer& printer) {
  constexpr std::string_view kCompiler = STARLING_FORTRAN_COMPILER;
  const fs::path folder = fs::path(context.prefix) / "lib/starling/fortran";
  const std::vector<std::string> trees = trees_in(folder);
  printer.title("fortran: mpif.h, use mpi, use mpi_f08");
  if (kCompiler.empty()) {
    printer.line(1, "not built: there was no Fortran compiler");
  } else {
    printer.line(1, "library built by: " + std::string(kCompiler));
  }
  if (trees.empty() && !kCompiler.empty())
    printer.line(1, "no modules in " + folder.string() + "; starling-fortran-build COMPILER makes them");
  std::string names;
  for (const std::string& tree : trees) {
    const fs::path own = folder / tree / "libmpifort_abi.so";
    std::error_code none;
    const bool has_own = fs::exists(own, none);
    printer.line(1, "modules for " + readers(tree) + ": " + (folder / tree).string() +
                        (has_own ? ", with a library of their own" : ""));
    names += (names.empty() ? "" : " ") + tree;
  }
  printer.fact("fortran.compiler", kCompiler);
  printer.fact("fortran.trees", names);
}

}  // namespace starling::info
