# SPDX-License-Identifier: BSD-3-Clause
"""Messages of mpi/ call a function by its generated name (names::Win_lock), so that a misspelt one does not compile."""
import re

from .form import NOT_CODE

# Advice says what the program has called, in the words of the sentence that it begins: "MPI_Win_post has been called".
NAME = re.compile(r'"MPI_[A-Z][a-z]\w*(?! has (?:not )?been called)\b')


def check(texts, problem):
    for name, text in texts.items():
        if not name.startswith("mpi/"):
            continue
        before = 0
        for found in NOT_CODE.finditer(text):
            goes_on = found[0].startswith('"') and not text[before:found.start()].strip() and text[before - 1:before] == '"'
            before = found.end()
            if not goes_on and NAME.match(found[0]):
                written = found[0].strip('"').split()[0].rstrip(":")
                problem(name, f'"{written}" by hand: write names::{written[4:]} (mpi/names.gen.hpp)', text.count("\n", 0, found.start()) + 1)
