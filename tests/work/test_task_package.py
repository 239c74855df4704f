"""A real, small package from PyPI with a bug: a test of it fails, it is mended, all pass."""

from pathlib import Path

from tests.work.conftest import in_order, working
from tests.work.real_package import ALL, BUG, ONE, PACKAGE, TASK, WHOLE, mending, planted
from tests.work.test_task_results import git


async def test_a_real_package_is_mended(place: Path) -> None:
    """Red before, green after; the commit names the test, and main has it after a yes."""
    folder = planted(place)
    async with working(place / "home", in_order(*mending(f"{ALL} {ONE}"))) as shop:
        known = await shop.tasks.places.repositories.registered.register(folder)
        id = await shop.give(TASK, repo=known.name)
        state = await shop.state(id)
        _, _, red, _, green = state.uses
        assert "[exit code 1" in red.value
        assert "FAILED" in red.value
        assert "[exit code 0" in green.value
        assert state.confidence > 60
        assert state.offered is not None
        assert set(map(str, state.offered.files)) == {
            f"{PACKAGE}/cursor.py",
            f"{PACKAGE}/tests/smoke.py",
        }
        assert f"{ALL} {ONE}" in str(state.offered.message)
        assert BUG in (folder / PACKAGE / "cursor.py").read_text()
        await shop.tasks.approve(id, "ana", state.offered.commit)
        assert WHOLE in (folder / PACKAGE / "cursor.py").read_text()
        assert git(folder, "rev-parse", "main") == state.offered.commit
