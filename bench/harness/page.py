# SPDX-License-Identifier: BSD-3-Clause
"""A page whose tables are written by programs, and whose text is written by people.

A table stands between the lines `<!-- record NAME -->` and `<!-- end NAME -->`; what is outside is never touched.
"""
import pathlib


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


class Page:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lines = self.path.read_text(encoding="utf-8").splitlines()

    @classmethod
    def with_room(cls, path, title, names):
        """The page of that file, which has a section for each of these tables afterwards."""
        if not path.exists():
            path.write_text(title + "\n", encoding="utf-8")
        page = cls(path)
        for name in names:
            if name not in page.names():
                page.lines += ["", f"## {name}", "", f"<!-- record {name} -->", f"<!-- end {name} -->"]
        page.save()
        return page

    def span(self, name):
        """Indices of the two marks of a table, or an error that says which one is missing or doubled."""
        found = []
        for mark in (f"<!-- record {name} -->", f"<!-- end {name} -->"):
            at = [number for number, line in enumerate(self.lines) if line == mark]
            if len(at) != 1:
                raise ValueError(f"{self.path}: the line '{mark}' occurs {len(at)} times, expected once")
            found.append(at[0])
        if found[0] > found[1]:
            raise ValueError(f"{self.path}: '{name}' ends before it begins")
        return found

    @classmethod
    def of(cls, name, paths):
        """The one page among these that has a place for the table."""
        found = [page for page in map(cls, paths) if name in page.names()]
        if len(found) != 1:
            raise ValueError(f"the table '{name}' has a place on {len(found)} pages ({', '.join(map(str, paths))}), expected one")
        found[0].span(name)
        return found[0]

    def names(self):
        """The tables that the page has room for."""
        begin = "<!-- record "
        return [line[len(begin):-len(" -->")] for line in self.lines if line.startswith(begin)]

    def rows(self, name):
        """The rows of a table, each as a dictionary from column to cell."""
        begin, end = self.span(name)
        head, rows = None, []
        for line in self.lines[begin + 1:end]:
            if not line.startswith("|"):
                head = None
            elif head is None:
                head = cells(line)
            elif not line.startswith("|---"):
                rows.append(dict(zip(head, cells(line))))
        return rows

    def replace(self, name, lines):
        begin, end = self.span(name)
        self.lines[begin + 1:end] = lines

    def save(self):
        self.path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
