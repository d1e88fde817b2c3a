#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a profiling library in C: every MPI_ function counts the call and who made it, then calls PMPI_.

usage: write_profiler.py GENERATOR_FOLDER TABLES OUTPUT

At exit each process writes `<function> <calls>` lines to $MPI_PROFILE_FOLDER/<pid>. A call that comes from
the MPI library itself or its plugins is told on stderr and ends the process with code 97.
"""

import sys
from pathlib import Path

TOP = """\
/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling library over PMPI (MPI 5.0, section 15.2). Written at build time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void enter(int function, void *caller);
"""

BOTTOM = """
static int is_ours(const char *file) {
  const char *slash = strrchr(file, '/');
  const char *base = slash ? slash + 1 : file;
  return !strncmp(base, "libmpi_abi", 10) || !strncmp(base, "libstarling", 11) ||
         strstr(file, "/lib/starling/") != NULL;
}

static void enter(int function, void *caller) {
  Dl_info info;
  atomic_fetch_add(&calls[function], 1);
  if (dladdr(caller, &info) && info.dli_fname && is_ours(info.dli_fname)) {
    fprintf(stderr, "profiler: %s was called by %s\\n", names[function], info.dli_fname);
    _exit(97);
  }
}

__attribute__((destructor)) static void write_counts(void) {
  const char *folder = getenv("MPI_PROFILE_FOLDER");
  char path[4096];
  FILE *out;
  unsigned i, any = 0;
  for (i = 0; i < sizeof calls / sizeof *calls; ++i) any |= calls[i] != 0;
  if (folder == NULL || !any) return;
  snprintf(path, sizeof path, "%s/%ld", folder, (long)getpid());
  out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    _exit(98);
  }
  for (i = 0; i < sizeof calls / sizeof *calls; ++i)
    if (calls[i]) fprintf(out, "%s %ld\\n", names[i], (long)calls[i]);
  fclose(out);
}
"""


def wrapper(number, function):
    arguments = ", ".join(p.name for p in function.parameters)
    return "\n".join([f"{function.signature()} {{",
                      f"  enter({number}, __builtin_return_address(0));",
                      f"  return P{function.name}({arguments});", "}"])


def main(arguments):
    generator, tables, output = arguments
    sys.path.insert(0, generator)
    import model  # noqa: E402  (found in the folder that was given)
    functions = model.read_functions(tables)
    names = ",\n    ".join(f'"{f.name}"' for f in functions)
    text = [TOP, f"static atomic_long calls[{len(functions)}];",
            f"static const char *const names[{len(functions)}] = {{\n    {names}}};", ""]
    text += [wrapper(number, function) for number, function in enumerate(functions)]
    text.append(BOTTOM)
    Path(output).write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
