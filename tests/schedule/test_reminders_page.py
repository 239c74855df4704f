"""What docs/reminders.md shows is so."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "reminders.md").read_text("utf-8")


def test_its_program_runs() -> None:
    """The example of checking forms holds, line by line."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/reminders.md", "exec"), {})
    assert program.count("assert") == 6


def test_its_commands_are_understood() -> None:
    """Each /remind of the page is set, as its words say."""
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from loopforge.schedule.reminder_check import check, filled_form
    from loopforge.schedule.reminder_form import Fits

    now = datetime(2026, 3, 25, 14, 0, tzinfo=ZoneInfo("Europe/Berlin"))
    shown = re.findall(r"^/remind (.+?): ", PAGE, re.MULTILINE)
    assert len(shown) == 4
    for said in shown:
        form = filled_form(said, now, "Europe/Berlin", "en")
        assert isinstance(check(form, now, "Europe/Berlin"), Fits)
