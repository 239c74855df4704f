"""What docs/work.md tells in figures, in tables and as people say it is so."""

import re
from pathlib import Path

import pytest

from loopforge.chat.commands.command_catalogue import BY_NAME
from loopforge.core.mates.mate_file import parse_mate
from loopforge.core.work import model_escalation, stuck_detection, task_confidence
from loopforge.core.work.task_classifier import (
    breakglass_request,
    classify_task,
    correction_of,
    wants_options,
)
from loopforge.core.work.task_lifecycle import TURN_LIMITS
from loopforge.core.work.work_roles import FLOWS, ROLES, TYPE_MODELS, ModelPlace
from loopforge.policies.flows import branch_flow
from loopforge.settings import settings_rows
from loopforge.web.work import task_list
from loopforge.work.threads import task_buttons, thread_events
from loopforge.work.threads.thread_routing import SEEN, clear_work
from loopforge.work.workspace import workspace_checkpoints

PAGE = (Path(__file__).parents[2] / "docs" / "work.md").read_text("utf-8")
FLAT = " ".join(PAGE.split())
WEIGHTS = task_confidence.WEIGHTS
BOUNDS = {
    "the newest 200 tasks": task_list.MOST == 200,
    "takes 10, 20 or 35 turns (SIMPLE, MEDIUM, COMPLEX)": [*TURN_LIMITS.values()] == [10, 20, 35],
    "every fifth one": workspace_checkpoints.CHECKPOINT_TURNS == 5,
    "It begins at 60": task_confidence.START == 60,
    "draws it a quarter of the way": task_confidence.OWN == 0.25,
    "A thumb up is 15 more, down 20 less": (WEIGHTS["thumb up"], WEIGHTS["thumb down"])
    == (15, -20),
    "(never under 10)": task_confidence.LEAST_RATED == 10,
    "under 30 for two turns": (model_escalation.LOW, model_escalation.LOW_TURNS) == (30, 2),
    "the same error came three times": model_escalation.SAME_ERRORS == 3,
    "no file changed for five turns": model_escalation.IDLE_TURNS == 5,
    "people corrected it twice": model_escalation.CORRECTIONS == 2,
    "the same four times": stuck_detection.SAME == 4,
    "go to the first model of tier 1": TYPE_MODELS["social"] == TYPE_MODELS["question"] == (1, 1),
    "texts to the second of tier 3": TYPE_MODELS["writing"] == (3, 2),
    "options to tiers 4 and 3": branch_flow.TIERS == (4, 3),
    "the mate puts 👀 on it": SEEN == "👀",
    "🛑 on a line of the task": thread_events.HALT[0] == "🛑",
    "the button *Stop* under its message": task_buttons.STOP[0].label == "Stop",
}


def table(head: str) -> list[list[str]]:
    """The cells of the table that begins so, row by row."""
    body = PAGE.partition(f"| {head} ")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in body]


@pytest.mark.parametrize("told", BOUNDS)
def test_a_figure_of_the_page_is_that_of_the_program(told: str) -> None:
    """It stands on the page, and the program goes by it."""
    assert told in FLAT
    assert BOUNDS[told]


def test_its_roles_are_those_that_ship() -> None:
    """Each with its tier and its place in the tier's list."""
    told = {role.strip(): place.strip() for role, place in table("role | tier, place")}
    assert told == {name: f"{role.model[0]}, {role.model[1]}" for name, role in ROLES.items()}
    assert all(isinstance(role.model, ModelPlace) for role in ROLES.values())


def test_its_flows_are_those_that_there_are() -> None:
    """And every phrase that it names is taken so."""
    flows = {row[0].strip(): row[1] for row in table("flow | when")}
    assert set(flows) == set(FLOWS)
    phrases = re.findall(r'"([^"]+)"', flows["branch"])
    assert len(phrases) == 9
    for phrase in phrases:
        assert wants_options(f"Show me {phrase} for a cache") == phrase
    for said in re.findall(r"`(@[^`]+)`", flows["breakglass"]):
        assert breakglass_request(said.replace("...", "why is it so?"))[0]
    (command,) = re.findall(r'"([^"]+)"', flows["shell"])
    found = classify_task(command)
    assert found is not None
    assert found.flow == "shell"


def test_what_it_has_people_say_does_what_it_says() -> None:
    """What is clear work, what corrects it, and the commands of a room."""
    assert clear_work("write a Python script that adds numbers")
    assert 'corrects ("no, just answer")' in FLAT
    assert correction_of("no, just answer") == "simple"
    commands = set(re.findall(r"`/([a-z]+)", PAGE))
    assert commands >= {"work", "stop", "resume", "undo", "approve", "reject", "deny", "rights"}
    assert commands <= set(BY_NAME)


def test_its_line_of_a_mates_file_is_one() -> None:
    """A file with it is a mate's, and has those tools."""
    (line,) = re.findall(r"^    (tools: .*)$", PAGE, re.MULTILINE)
    mate = parse_mate(f"---\nname: Otto\n{line}\n---\nYou are Otto.\n", "otto")
    assert "work_run" in mate.tools


def test_its_settings_are_settings() -> None:
    """Each that it names by `work_` is one."""
    known = {row.name for row in settings_rows()}
    told = set(re.findall(r"`(work_(?:types|roles|minutes|tokens|dollars|ladder))`", PAGE))
    assert len(told) == 6
    assert {*told, "web_address"} <= known
