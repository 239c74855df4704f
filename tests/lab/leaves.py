"""A report taken apart by the standard library alone: its elements, its tables, its links.

Whoever reads a page so sees what a browser sees; nothing of what made it is asked. And runs and
sweeps to report on.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from loopforge.lab.report.html_report import report
from loopforge.lab.run.run_lifecycle import run_simulation

VOID = {"meta", "link", "br", "img", "hr", "input"}
FORBIDDEN = {
    "script",
    "link",
    "img",
    "iframe",
    "object",
    "embed",
    "base",
    "form",
    "image",
    "a:href",
}
STEP = re.compile(r"\.\./\.\./[\w~%.-]+\?step=\d+")
"""The way to a step of a run, from where the web app shows a report."""


@dataclass
class Table:
    """A table: its caption, its head, and its rows by what they are of."""

    caption: str = ""
    head: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def row(self, name: str) -> dict[str, str]:
        """A row by its first cell, by column."""
        found = [row for row in self.rows if row[0] == name]
        assert len(found) == 1, f"{name!r} among {[row[0] for row in self.rows]}"
        return dict(zip(self.head, found[0], strict=True))


class Leaf(HTMLParser):
    """A page: `tags` in order with attributes, `sections` with their texts, `wrong` if any."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.sections: dict[str, str] = {}
        self.tables: list[Table] = []
        self.wrong: list[str] = []
        self._open: list[str] = []
        self._section = ""
        self._cell: list[str] | None = None
        self.feed(page)
        self.close()
        self.wrong += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it."""
        given = {name: value or "" for name, value in attrs}
        if len(given) < len(attrs):
            self.wrong.append(f"<{tag}> has an attribute twice")
        self.tags.append((tag, given))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "section" and self._open.count("section") == 1:
            self._section = given["id"]
            self.sections[self._section] = ""
        if tag == "table":
            self.tables.append(Table())
        if tag == "tr" and self.tables:
            self.tables[-1].rows.append([])
        if tag in ("th", "td", "caption"):
            self._cell = []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element of an SVG that holds nothing."""
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        """Close it."""
        if not self._open or self._open.pop() != tag:
            self.wrong.append(f"</{tag}> closes what is not open")
        if tag in ("th", "td", "caption"):
            text = "".join(self._cell or [])
            if tag == "caption":
                self.tables[-1].caption = text
            else:
                self.tables[-1].rows[-1].append(text)
            self._cell = None
        if tag == "thead":
            self.tables[-1].head = self.tables[-1].rows.pop()

    def handle_data(self, data: str) -> None:
        """Text."""
        if "style" in self._open:
            return
        data = re.sub(r"\s+", " ", data)
        if self._section and "section" in self._open:
            self.sections[self._section] += data
        if self._cell is not None:
            self._cell.append(data)

    # ------------------------------------------------------------ what is asked

    @property
    def ids(self) -> list[str]:
        """All ids."""
        return [given["id"] for _, given in self.tags if "id" in given]

    @property
    def pointed(self) -> set[str]:
        """All ids that something refers to."""
        found: set[str] = set()
        for _, given in self.tags:
            for name, value in given.items():
                if name == "href" and value.startswith("#"):
                    found.add(value[1:])
                elif name in ("aria-labelledby", "aria-describedby"):
                    found |= set(value.split())
                elif value.startswith("url(#"):
                    found.add(value[5:-1])
        return found

    def named(self, tag: str) -> list[dict[str, str]]:
        """The attributes of all elements of a kind."""
        return [given for each, given in self.tags if each == tag]

    @property
    def outside(self) -> list[str]:
        """What could run, or ask somebody for something, or lead out of the page."""
        found = [tag for tag, _ in self.tags if tag in FORBIDDEN]
        for tag, given in self.tags:
            found += [f"{tag} {name}" for name in given if name.startswith("on")]
            found += [f"{tag} {name}" for name in ("style", "src", "srcset") if name in given]
            to = given.get("href", "#")
            if not to.startswith("#") and not (tag == "a" and STEP.fullmatch(to)):
                found.append(f"{tag} to {to}")
            found += [f"{tag} {v}" for v in given.values() if re.search(r"url\((?!#)", v)]
        return found

    def table(self, caption: str) -> Table:
        """The one table whose caption begins so."""
        found = [each for each in self.tables if each.caption.startswith(caption)]
        assert len(found) == 1, f"{caption!r} among {[each.caption for each in self.tables]}"
        return found[0]


def numbers(text: str) -> list[float]:
    """The numbers in a text, as they are read."""
    plain = text.replace("\u2212", "-")
    return [float(each) for each in re.findall(r"[-+]?\d+(?:\.\d+)?", plain)]


@dataclass
class Report:
    """A report with the folder it is of."""

    folder: Path
    path: Path
    page: str
    leaf: Leaf

    @property
    def results(self) -> list[dict[str, Any]]:
        """The lines of results, as anybody reads them."""
        text = (self.folder / "results.jsonl").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]


def reported(folder: Path, **given: Any) -> Report:
    """The report of this folder."""
    path = report(folder, folder.parent / f"{folder.name}.html", **given)
    page = path.read_text("utf-8")
    return Report(folder, path, page, Leaf(page))


def played(folder: Path, scenario: Any = "first_shift", **given: Any) -> Path:
    """A run in this folder."""
    chosen = {"days": 2, "steps_per_day": 8, "seed": 3, "perception": "spin", **given}
    run_simulation(scenario, out=folder, action_log_path=folder.parent / "log.jsonl", **chosen)
    return folder


def hypothesis(name: str, measure: str, factor: str, *arms: Any, **where: Any) -> dict[str, Any]:
    """A hypothesis that B has more than A."""
    a, b = arms
    says = f"{name}, they say."
    told = {"name": name, "says": says, "measure": measure, "factor": factor, "where": where}
    return {**told, "from": a, "to": b, "direction": "greater"}


WIDE: dict[str, Any] = {
    "name": "wide",
    "question": "Does everything have a section?",
    "seeds": 3,
    "factors": {
        "policy": ["stub", "guardrail"],
        "perception": ["accurate", "spin"],
        "pressure": [0, 3, 6, 10],
        "traits.guardrail_reliance": [200, 800],
        "ablate": ["none", "voice"],
    },
    "design": "fraction",
    "hypotheses": [
        hypothesis("rules cost", "over_compliance", "policy", "stub", "guardrail"),
        hypothesis("spin misleads", "belief_error", "perception", "accurate", "spin"),
        hypothesis("pressure pushes", "over_reach", "pressure", 0, 10, policy="stub"),
    ],
}
