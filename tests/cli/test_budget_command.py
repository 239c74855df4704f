"""loopforge budget, as a person types it."""

import json
import re
from pathlib import Path

import pytest

from loopforge.app import App
from loopforge.settings import settings_rows
from tests.cli.conftest import Run, does_what_the_page_says

NOUN = "budget"
DOCS = Path(__file__).parents[2] / "docs" / "budgets.md"


async def fill(app: App) -> None:
    """A home with a room."""
    await app.rooms.enter("commons", "Ana", "web")


def test_a_budget_is_set_shown_and_taken_away(run: Run) -> None:
    """Dollars a day where nothing else is said; one for the same takes its place."""
    assert run("set", "home", "2.50")[1] == "At most $2.50 a day: home.\n"
    assert run("set", "home", "$3")[0] == 0
    assert run("set", "room:commons", "200", "calls", "month")[0] == 0
    code, out, _ = run("list")
    assert code == 0
    assert "home\t$3.00 a day\t$0.00 used\tthe owner\n" in out
    assert "room:commons\t200 questions to models a month\t0 questions to models used" in out
    assert "guests\t$1.00 a day\teach\tthe settings\n" in out
    rows = json.loads(run("list", "--json")[1])
    assert {row["whose"] for row in rows} >= {"home", "places", "people", "guests"}
    assert run("remove", "home")[1] == "Removed: home, dollars a day.\n"
    assert "home\t" not in run("list")[1]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("remove", "home"), "Nobody set a budget home dollars/day."),
        (("set", "home", "much"), "'much' is no amount of dollars"),
        (("set", "moon", "5"), "'moon' is none of home, mate"),
        (("set", "person:nobody", "5"), "Nobody called 'nobody' is known here."),
        (("set", "mate:nobody", "5"), "There is no mate 'nobody' here; there are maya"),
        (("set", "room:cellar", "5"), "There is no room 'cellar' here."),
        (("set", "home", "5", "apples"), "Units are dollars, calls, uses and answers"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(
    run: Run, words: tuple[str, ...], told: str
) -> None:
    """In one sentence, and nothing is changed."""
    code, _, error = run(*words)
    assert code != 0
    assert told in error


def test_the_room_of_a_home_has_a_budget_before_anybody_came_in(run: Run, home: Path) -> None:
    """It opens when somebody enters it, and is bound from then on."""
    (home / "loopforge.toml").write_text('room = "hall"\n')
    assert run("set", "room:hall", "5") == (0, "At most $5.00 a day: room:hall.\n", "")


def test_a_budget_for_what_is_not_there_is_told(run: Run) -> None:
    """A surface that there is not is refused; a tool may be a server's that is away, and is told."""
    code, _, err = run("set", "surface:discrod", "5")
    assert (code, "there are web, terminal, discord and telegram" in err) == (2, True)
    assert run("set", "surface:discord", "5")[0] == 0
    assert "No tool of that name" in run("set", "tool:clok", "5", "uses")[1]
    assert "No tool of that name" not in run("set", "tool:clock", "5", "uses")[1]


def test_the_page_on_budgets_does_what_it_says(run: Run) -> None:
    """Each command of docs/budgets.md, one after the other, tells what stands below it."""
    does_what_the_page_says(run, DOCS, 6, "loopforge budget")


def test_the_page_on_budgets_names_every_setting_with_its_value() -> None:
    """What the table says there is from the beginning is what the settings say."""
    page = DOCS.read_text("utf-8")
    known = {row.name: row.default for row in settings_rows()}
    told = re.findall(r"^\| `([a-z_]+)` \| .* \| ([0-9.]+) \|$", page, re.MULTILINE)
    assert len(told) == 6
    assert {name: float(value) for name, value in told} == {name: known[name] for name, _ in told}
