"""A report taken apart by the standard library alone: its elements, its tables, its links.

Whoever reads a page so sees what a browser sees; nothing of what made it is asked. And runs and
sweeps to report on.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from loopforge.lab.report.html_report import write_report
from loopforge.lab.run.run_lifecycle import run_simulation

FORBIDDEN = {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image"}
STEP = re.compile(r"\.\./\.\./[\w~%.-]+\?step=\d+")
"""The way to a step of a run, from where the web app shows a report."""


class Table:
    """A table: its caption, its head, and its rows by what they are of."""

    def __init__(self, caption: str, head: list[str], *rows: list[str]) -> None:
        self.caption, self.head, self.rows = caption, head, list(rows)

    def row(self, name: str) -> dict[str, str]:
        """A row by its first cell, by column."""
        found = [row for row in self.rows if row[0] == name]
        assert len(found) == 1, f"{name!r} among {[row[0] for row in self.rows]}"
        return dict(zip(self.head, found[0], strict=True))


class Leaf:
    """A page, or a drawing: `tags` in order with attributes, `sections` with their texts, `tables`.

    It is read as XML, so that what is not closed, or is there twice, is an error.
    """

    def __init__(self, page: str) -> None:
        root = ET.fromstring(page)
        self.tags = [(node.tag, node.attrib) for node in root.iter()]
        self.sections = {
            node.attrib["id"]: text(node)
            for node in root.iter("section")
            if node.get("class") != "part"
        }
        self.tables = [
            Table(
                text(node.find("caption")),
                *([text(cell) for cell in row] for row in node.iter("tr")),
            )
            for node in root.iter("table")
        ]

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


def text(node: ET.Element | None) -> str:
    """The text in an element, as it is read."""
    return re.sub(r"\s+", " ", "".join(node.itertext())) if node is not None else ""


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
    path, _ = write_report(folder, folder.parent / f"{folder.name}.html", **given)
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
