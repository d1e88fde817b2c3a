# SPDX-License-Identifier: BSD-3-Clause
"""Which functions mpi/api defines, found by reading its files; and the list of that for starling-info."""

import re
from pathlib import Path

DEFINITION = re.compile(r"^(?:\[\[\w+\]\] )?[A-Za-z_]\w* ([A-Z]\w*)\(", re.MULTILINE)


def covered(api_folder):
    names = set()
    for path in sorted(Path(api_folder).rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        if "namespace starling::mpi::api" in text:
            names.update(DEFINITION.findall(text))
    return names


def table(title, order, rows):
    lines = [f"constexpr Coverage {title}[{len(order)}] = {{"]
    for name in order:
        chapter, is_covered = rows[name]
        lines.append(f'    {{"{name}", "{chapter}", {"true" if is_covered else "false"}}},')
    return lines + ["};"]


def coverage_cpp(implementations, names, order, extensions):
    rows = {}
    for item in implementations:
        for function in item.functions:
            rows[function.name] = (function.chapter, item.name in names)
    lines = ["// SPDX-License-Identifier: BSD-3-Clause",
             "// Which functions of the interface this build implements. Written at build time.",
             '#include "mpi/coverage.hpp"', "", "namespace starling::mpi {", "namespace {",
             *table("kCoverage", order, rows), *table("kExtensions", extensions, rows),
             "}  // namespace", "",
             "std::span<const Coverage> coverage() noexcept { return kCoverage; }",
             "std::span<const Coverage> extensions() noexcept { return kExtensions; }", "",
             "}  // namespace starling::mpi", ""]
    return "\n".join(lines)
