"""The cast: who lives here, at this moment."""

from datetime import UTC, datetime
from pathlib import Path

from loopforge.mates.mate_cache import MateCache
from loopforge.mates.mate_roster import MateRoster
from tests.sim_clock import SimClock


def test_a_mate_made_just_now_is_there(tmp_path: Path) -> None:
    """A look at the files holds for a moment, but whoever is asked for by name is looked for."""
    cast = MateCache(MateRoster(tmp_path), SimClock(datetime(2026, 11, 22, tzinfo=UTC)))
    assert list(cast) == []
    (tmp_path / "otto.md").write_text("---\nname: Otto\n---\nYou are Otto.\n")
    assert "otto" in cast
    assert cast["otto"].name == "Otto"
    assert "anna" not in cast
