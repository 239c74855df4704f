"""What is left of a task whose words were forgotten: nothing."""

from pathlib import Path
from typing import Any

import pytest

from loopforge.core.events import Event, Fact
from loopforge.core.work.work_vocabulary import TaskClassified
from loopforge.errors import Changed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.ledger.sql_ledger import SqlLedger
from loopforge.work.task_state import PREFIX, TaskState
from loopforge.work.task_store import TaskStore
from loopforge.work.work_place import WorkPlaces
from loopforge.work.workspace.task_workspace import folder_name
from tests.work.conftest import in_order, says, uses, working
from tests.work.test_task_results import git, project

__all__ = ["project"]


def tasks_with_files(home: Path) -> list[str]:
    """The folders of tasks of which a checkpoint is kept."""
    return [path.name for path in (home / "data" / "checkpoints").iterdir()]


async def test_files_and_checkpoints_of_a_forgotten_task_go(place: Path) -> None:
    """Those of others stay, and a process that died before does it at its next start."""
    script = in_order(uses("work_write", path="a.txt", text="private\n"))
    async with working(place, script) as home:
        kept = await home.give("Write something.")
        gone = await home.give("Write something private.")
        home.file(gone, "b.txt").write_text("private\n")
        left = place / "data" / "checkpoints" / folder_name(PREFIX + gone)
        assert left.is_dir()
        await home.app.ledger.erase(ErasureRequest(stream=PREFIX + gone))
    async with working(place, script) as home:
        await home.app.work.forgetting.sweep()
        assert not home.file(gone, "").exists()
        assert not left.exists()
        assert home.file(kept, "").is_dir()
        assert await home.app.work.forgetting.sweep() == []
    assert set(tasks_with_files(place)) == {folder_name(PREFIX + kept)}


def holding(home: Path, words: bytes) -> list[Path]:
    """The files of a home in which these bytes stand."""
    return [path for path in home.rglob("*") if path.is_file() and words in path.read_bytes()]


async def test_a_task_is_forgotten_when_somebody_says_so(place: Path, project: Path) -> None:
    """Not while it is at work; then no byte of it is anywhere, and nobody can have it go on."""
    script = in_order(
        uses("work_write", path="repo/lantern.txt", text="lantern\n" * 1000),
        uses("work_run", command="cat lantern.txt; sleep 300"),
        uses("work_run", command="cat lantern.txt; ls lantern.txt"),
        says("done", "The lantern is lit."),
    )
    async with working(place / "home", script) as home:
        kept = await home.give("Hello!")
        repo = (await home.tasks.places.repositories.registered.register(project)).name
        text = "Write the lantern with Python"
        id = await home.tasks.open(text, "ana", owner=True, repo=repo)
        await home.until(id, "effect.running", 2)
        with pytest.raises(Changed, match="stop it first"):
            await home.app.work.forgetting.forget(id, "ana")
        await home.tasks.stop(id, "ana")
        await home.rest(id)
        await home.tasks.resume(id, "ana")
        await home.rest(id)
        offered = (await home.state(id)).offered
        assert offered
        assert "lantern" in git(project, "branch", "--list", str(offered.branch))
        assert len(holding(place / "home", b"lantern\n")) >= 3
        assert (await home.app.work.forgetting.forget(id, "ana")).startswith("Forgotten")
        await home.app.keeper.sweep()
        for late in (home.tasks.resume(id, "ana"), home.tasks.approve(id, "ana")):
            with pytest.raises(Changed, match="was forgotten"):
                await late
        assert await home.app.work.forgetting.forget(id, "ana") == "It is forgotten already."
        assert len(await home.bodies(id, TaskClassified)) == 1
        assert (await home.state(kept)).task.text.text == "Hello!"
        assert not home.file(id, "").exists()
        assert git(project, "branch", "--list") == "* main"
        assert (await home.app.ledger.verify()).sound
    assert holding(place / "home", b"lantern") == []


async def test_what_is_being_shown_of_a_forgotten_task_is_not_kept(
    place: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result is not written down behind that, nor do files stay that were made meanwhile."""
    offer, write = WorkPlaces.offer, uses("work_write", path="repo/b.txt", text="lantern\n")
    async with working(place / "home", in_order(write, says("done", "Lit."))) as home:

        async def forgotten(places: WorkPlaces, state: TaskState) -> list[Fact]:
            facts = await offer(places, state)
            await home.app.work.forgetting.forget(state.id, "ana")
            await places.save(state)
            return facts

        monkeypatch.setattr(WorkPlaces, "offer", forgotten)
        repo = (await home.tasks.places.repositories.registered.register(project)).name
        id = await home.give("Write the lantern with Python", repo=repo)
        after = [one.kind for one in await home.events(id) if one.kind.startswith("task.")]
        assert after[-2:] == ["task.workspace_saved", "task.summarized"]
        await home.app.work.forgetting.sweep()
        assert not home.file(id, "").exists()
    assert holding(place / "home", b"lantern") == []


class ErasingLedger:
    """A ledger in which the words of a stream are erased while it is read for the first time."""

    def __init__(self, ledger: SqlLedger) -> None:
        self.ledger, self.erased = ledger, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self.ledger, name)

    async def read(self, stream: str, **more: Any) -> list[Event]:
        """What stood there before."""
        found = await self.ledger.read(stream, **more)
        if not self.erased:
            self.erased = True
            await self.ledger.erase(ErasureRequest(stream=stream))
        return found


async def test_what_is_erased_while_a_task_is_read_is_held_by_nobody(place: Path) -> None:
    """It is read anew: no state keeps words that stand in the ledger no more."""
    async with working(place, in_order()) as home:
        id = await home.give("Write something private.")
        ledger: Any = ErasingLedger(home.app.ledger)
        store = TaskStore(ledger, home.app.work.ports.signals)
        state = await store.state(PREFIX + id)
        assert state.forgotten
        assert state.summary is not None
        assert state.summary.text is None
