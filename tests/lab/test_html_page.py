"""A report's page: whatever strangers wrote into a run or an experiment, it stays text."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import sync_playwright

from loopforge.core.action_plan import AgentActionPlan
from loopforge.core.perception import AgentPerception
from loopforge.lab.charts.svg_drawing import SvgCanvas, printable_line, spread_labels, tick_values
from loopforge.lab.sweeps.sweep_runner import sweep
from loopforge.lab.world.scenario_checks import Scenario
from loopforge.lab.world.scenario_file import open_scenario
from tests.browser.conftest import ARGUMENTS, CHROMIUM
from tests.lab.leaves import Leaf, Report, played, reported
from tests.lab.sweeps import laid

HIDDEN = """() => [...document.querySelectorAll("table")]
  .filter(table => !table.checkVisibility()).map(table => table.caption.innerText)"""
"""Tables that are folded away and stay so on paper."""
CURSED = [
    "<script>alert(1)</script>",
    "</style><script>alert(2)</script>",
    "</svg></title></desc><img src=x onerror=alert(3)>",
    '" onmouseover="alert(4)" x="',
    "{{ 7 * 7 }}{% include 'x' %}",
    "$\\frac{a}{b}$ & &lt;b&gt; ]]> <!-- -->",
    "javascript:alert(5) http://evil.example/x.js",
    "مرحبا 🐉 e\u0301",
]
WORDY = [text for text in CURSED if not re.search(r"\d", text)] + [
    "<script>alert()</script>",
    "</svg></title></desc><img src=x onerror=alert()>",
]
"""Without digits, which minds are not shown."""


def sound(found: Report) -> None:
    """Nothing of a stranger's became a part of the page."""
    assert found.leaf.outside == []
    assert len(set(found.leaf.ids)) == len(found.leaf.ids)
    assert found.leaf.pointed <= set(found.leaf.ids)
    assert "49" not in found.leaf.sections["question"]


def cursed(seen: AgentPerception) -> AgentActionPlan:
    """A mind that writes all kinds of things into its narrative."""
    text = CURSED[seen.step % len(CURSED)]
    return AgentActionPlan(intent="work", mode="context", narrative=text)


def saying(texts: list[str]) -> Scenario:
    """A scenario that says all of these in its question, and one of them wherever a rule may."""
    fields = open_scenario("first_shift").to_dict()
    rules = []
    for rule, text in zip(fields["protocols"], itertools.cycle(texts), strict=False):
        said = dict.fromkeys(
            ("title", "text", "kept_good", "kept_bad", "broke_good", "broke_bad"), text
        )
        rules.append({**rule, **said, "sign": [text] * 3, "cue": [text] * 3})
    asked = " ".join(texts)
    return Scenario.from_dict({**fields, "question": asked, "about": asked, "protocols": rules})


def test_a_cursed_scenario_stays_text(tmp_path: Path) -> None:
    """What a scenario says is shown to the letter, in prose, in tables and in charts."""
    found = reported(played(tmp_path / "cursed", saying(WORDY), days=1, steps_per_day=6))
    sound(found)
    rules = {row[0] for row in found.leaf.table("Both errors by rule").rows}
    assert rules == {printable_line(text) for text in WORDY}
    for text in WORDY:
        assert found.leaf.sections["question"].count(printable_line(text)) == 2
        assert printable_line(text) in found.leaf.sections["episodes"]


def test_a_cursed_experiment_stays_text(tmp_path: Path) -> None:
    """Likewise the name, the question and the hypotheses of an experiment."""
    arms = {"measure": "over_reach", "factor": "policy", "from": "stub", "to": "context"}
    asked = [{"name": text, "says": text, "direction": "greater", **arms} for text in CURSED]
    said, more = " ".join(CURSED[:4]), " ".join(CURSED[4:])
    fields = {"name": CURSED[0], "question": said, "about": more, "hypotheses": asked}
    folder = tmp_path / "cursed"
    sweep(laid(factors={"perception": ["spin"], "days": [1]}, **fields), folder)
    found = reported(folder)
    sound(found)
    assert all(printable_line(text) in found.leaf.sections["question"] for text in CURSED)
    told = [row[:2] for row in found.leaf.table("The hypotheses, as declared").rows]
    assert told == [[printable_line(text)] * 2 for text in CURSED]


def test_a_cursed_mind_stays_text(tmp_path: Path) -> None:
    """What a mind writes is quoted as it is."""
    found = reported(played(tmp_path / "cursed", policy=cursed, steps_per_day=16))
    sound(found)
    quoted = [text for text in CURSED if printable_line(text) in found.leaf.sections["episodes"]]
    assert len(quoted) >= 3


def test_a_cursed_line_of_results_stays_text(tmp_path: Path) -> None:
    """Results that a stranger wrote can say anything; their runs are told by their lines alone."""
    folder = tmp_path / "cursed"
    sweep(laid(factors={"policy": ["stub"], "perception": ["spin"], "days": [1]}), folder)
    text = (folder / "results.jsonl").read_text()
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines()]
    for line, said in zip(lines, (CURSED[0], f"{CURSED[2]}\x00\u202e"), strict=True):
        line["head"] = said
        for each in line["telling"]:
            each.update(consequence=said, who=said, at=said, rule=said)
        line["drift"]["traits.guardrail_reliance"][said] = 0
        line["lives"][said] = {event: [1, True] for event in line["lives"]["Sprocket"]}
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = reported(folder)
    sound(found)
    assert CURSED[0] in found.leaf.sections["episodes"]
    assert printable_line(f"{CURSED[2]}\x00\u202e") in found.leaf.sections["episodes"]
    assert not re.search("[\x00\u202e]", found.page)
    assert "only the line of results" in found.leaf.sections["episodes"]


# ---------------------------------------------------------------- by themselves


def test_texts_of_a_page_are_one_printable_line() -> None:
    """Signs that cannot be printed are replaced, breaks are spaces, and emoji may be joined."""
    assert printable_line("a\nb\tc") == "a b c"
    assert printable_line("a\x00b\u202ec\ud800") == "a\ufffdb\ufffdc\ufffd"
    assert printable_line("👩\u200d🔧") == "👩\u200d🔧"


def test_a_drawing_holds_anybody_s_text() -> None:
    """A label is drawn to the letter: no element, no style, no id of another."""
    canvas = SvgCanvas(100, (10, 10, 10, 10))
    for nth, text in enumerate(CURSED):
        canvas.text(text, (0, nth))
    canvas.mark("o", (1, 1), "reach", 5)
    drawn = canvas.svg("x", CURSED[1], CURSED[2])
    leaf = Leaf(drawn)
    assert leaf.outside == []
    assert {tag for tag, _ in leaf.tags} == {"svg", "title", "desc", "text", "circle"}
    assert leaf.ids == ["x-t", "x-d"]
    assert drawn.count("frac") == 1
    assert "f-reach" in drawn


@pytest.mark.parametrize(
    ("low", "high", "whole", "found"),
    [
        (0, 1.04, False, [0, 0.25, 0.5, 0.75, 1]),
        (-0.3, 0.31, False, [-0.2, 0, 0.2]),
        (440, 526, False, [440, 460, 480, 500, 520]),
        (-0.4, 12.4, True, [0, 3, 6, 9, 12]),
        (0, 0.5, True, [0]),
        (-1, 34, True, [0, 10, 20, 30]),
    ],
)
def test_axes_have_round_figures(low: float, high: float, whole: bool, found: list[float]) -> None:
    """Some five of them, and no half where there is nothing between two."""
    assert tick_values(low, high, whole=whole) == pytest.approx(found)


def test_names_at_the_ends_of_curves_stand_apart() -> None:
    """As near as can be to where they would be, in the same order, within the chart."""
    assert spread_labels([50, 10, 90], 100, 11) == [50, 10, 90]
    places = spread_labels([99, 98, 97, 0], 100, 11)
    assert places == [98, 87, 76, 2]


@pytest.mark.patient
@pytest.mark.browser
@pytest.mark.xdist_group("reports")
def test_a_report_is_read_on_a_phone_on_paper_and_in_the_dark(wide: Report, run: Report) -> None:
    """In Chromium nothing reaches out of 320 pixels, nothing is refused, and axe finds nothing."""
    if CHROMIUM is None:
        pytest.skip("no Chromium here: apt-get install chromium; NO REPORT WAS LOOKED AT")
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 320, "height": 800})
        page.on("console", lambda said: wrong.append(said.text))
        for found in (wide, run):
            page.goto(found.path.as_uri())
            for scheme in ("light", "dark"):
                page.emulate_media(media="screen", color_scheme=scheme)
                page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
                assert page.evaluate("document.documentElement.scrollWidth") == 320
                looked = Axe().run(page)
                wrong += [f"{scheme}: {each['id']}" for each in looked.response["violations"]]
            page.evaluate("document.querySelectorAll('details').forEach(d => d.open = false)")
            page.emulate_media(media="print")
            page.set_viewport_size({"width": 680, "height": 1000})
            assert page.evaluate("document.documentElement.scrollWidth") == 680
            page.set_viewport_size({"width": 320, "height": 800})
            hidden = page.evaluate(HIDDEN)
            wrong += [f"on paper: {each}" for each in hidden]
        browser.close()
    assert wrong == []
