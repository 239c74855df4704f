"""A workspace that somebody takes away: what is lost is said, and no link leads out of the home."""

import shutil
from pathlib import Path

import pytest

from loopforge.core.work.work_vocabulary import TaskStopped, WorkspaceRecovered
from loopforge.errors import ArtifactError, InputError, LoopforgeError
from loopforge.runtime.ports import Question
from loopforge.work.workspace.task_workspace import Workspaces
from tests.work.conftest import Step, in_order, says, uses, working
from tests.work.test_task_results import STEPS, TASK, project
from tests.work.test_thread_tasks import commons

__all__ = ["project"]
ORDER = "Fix app.py in Python"
QUESTION = says("question", "Which?")
WRITE = [uses("work_write", path=f"{name}.txt", text="So.\n") for name in "abc"]


async def test_what_goes_amid_the_work_is_back_and_told(place: Path) -> None:
    """The room and the mate are told what is lost, before the next turn; it goes on from there."""
    script = in_order(*WRITE, uses("work_list"), uses("work_list"), says("done", "Here."))
    shown: list[str] = []

    def meddled(asked: Question) -> Step:
        answer = script(asked)
        if len(shown) == 2:
            shutil.rmtree(next((place / "workspaces").iterdir()))
        shown.append(str(asked.messages))
        return answer

    async with commons(place, meddled) as room:
        await room.hears("otto, write a Python server in serve.py")
        (task,) = await room.tasks()
        told = (
            "The workspace was gone from the disk. It is put back as it was before the first turn; "
            "what turns 1 to 3 changed in files is lost."
        )
        (back,) = await room.shop.bodies(task, WorkspaceRecovered)
        assert (str(back.what), back.nth, back.checkpoint) == (told, 0, "1")
        assert f"otto: {told}" in await room.said()
        assert [told in one for one in shown[:5]] == [False, False, False, True, True]
        ends = [use.value for use in (await room.shop.state(task)).uses]
        assert "There is no workspace here: no task began, or its folder was taken away." in ends[2]
        assert ends[3] == "There are no files in the workspace."


async def test_what_goes_while_a_task_stands_still_is_back_and_told(place: Path) -> None:
    """As it was kept when it stood still: nothing of its turns is lost, and it says so."""
    async with working(place, in_order(*WRITE[:1], QUESTION)) as shop:
        id = await shop.give(ORDER)
        shutil.rmtree(place / "workspaces")
        await shop.tasks.say(id, "ana", "the first")
        await shop.rest(id)
        (back,) = await shop.bodies(id, WorkspaceRecovered)
        assert str(back.what) == (
            "The workspace was gone from the disk. It is put back as it was after turn 2; "
            "nothing of its turns is lost."
        )
        assert shop.file(id, "a.txt").read_text() == "So.\n"
        workspace = shop.tasks.places.workspaces.known(f"task:{id}")
        assert await workspace.checkpoints() == [1, 2, 3], "as it began, with a.txt, and put back"


async def test_a_loss_is_told_though_the_repository_is_gone_as_well(
    place: Path, project: Path
) -> None:
    """A disk that is away: what is lost is on record, and the clone is made when it is back."""
    home, away = place / "home", place / "away"
    async with working(home, in_order(QUESTION)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        id = await shop.give(TASK, repo=name)
        for folder in ("workspaces", "data/checkpoints"):
            shutil.rmtree(home / folder)
        shutil.move(project, away)
        await shop.tasks.say(id, "ana", "the first")
        assert (await shop.rest(id)).stage == "stopped"
        (back,) = await shop.bodies(id, WorkspaceRecovered)
        assert "No copy of it is left" in str(back.what)
    shutil.move(away, project)
    async with working(home, in_order(*STEPS)) as shop:
        await shop.tasks.resume(id, "ana")
        state = await shop.rest(id)
        assert state.offered is not None
        assert [str(one) for one in state.offered.files] == ["app.py"]


async def test_without_a_copy_it_begins_with_a_new_clone(place: Path, project: Path) -> None:
    """Its copies are gone, too: that is said, and what it does from then on can be taken."""
    home = place / "home"
    note = uses("work_write", path="repo/note.txt", text="So.\n")
    async with working(home, in_order(note, QUESTION, *STEPS)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        id = await shop.give(TASK, repo=name)
        for folder in ("workspaces", "data/checkpoints"):
            shutil.rmtree(home / folder)
        await shop.tasks.say(id, "ana", "the first")
        state = await shop.rest(id)
        (back,) = await shop.bodies(id, WorkspaceRecovered)
        assert str(back.what) == (
            "The workspace was gone from the disk. No copy of it is left, so it is empty but for a "
            "new clone of project; what was done in files is lost."
        )
        assert state.offered is not None
        assert [str(one) for one in state.offered.files] == ["app.py"]
        assert (await shop.tasks.approve(id, "ana")).startswith("Merged as")


async def test_a_clone_that_lost_its_git_is_told_in_words(place: Path, project: Path) -> None:
    """Nothing can be offered of it, and why stands there; one step back it has it again."""
    note = uses("work_write", path="repo/note.txt", text="So.\n")
    async with working(place / "home", in_order(note, QUESTION, *STEPS)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        id = await shop.give(TASK, repo=name)
        shutil.rmtree(shop.file(id, "repo/.git"))
        await shop.tasks.say(id, "ana", "the first")
        state = await shop.rest(id)
        assert state.offered is not None
        assert str(state.offered.message).startswith("repo/ has lost its .git, so nothing of it")
        await shop.tasks.undo(id, "ana", state.standing)
        assert shop.file(id, "repo/.git").is_dir()
        assert shop.file(id, "repo/note.txt").read_text() == "So.\n"


async def test_what_a_home_has_not_kept_is_told_as_it_is(place: Path, project: Path) -> None:
    """Where its record is lost, who decides on a proposal reads where it stands, and it stays."""
    home = place / "home"
    async with working(home, in_order(*STEPS)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        id = await shop.give(TASK, repo=name)
        shutil.rmtree(home / "data" / "work")
        offered = (await shop.state(id)).offered
        assert offered is not None
        with pytest.raises(LoopforgeError, match=r"kept of that is gone.*stands on its branch"):
            await shop.tasks.approve(id, "ana", offered.commit)
        told = await shop.tasks.reject(id, "ana", offered.commit)
        assert "Its branch was not deleted: This task works on no repository; or" in told
        assert "the branch is gone" not in told


async def test_a_link_in_its_place_is_not_followed(place: Path) -> None:
    """Where it leads nothing is read, written or made readable; the task stands still and says so."""
    async with working(place, in_order(*WRITE[:1], QUESTION, *WRITE[1:])) as shop:
        id = await shop.give(ORDER)
        folder, away = shop.file(id, "a.txt").parent, place / "away"
        folder.rename(away)
        (away / "key").touch(0o400)
        folder.symlink_to(away)
        await shop.tasks.say(id, "ana", "the first")
        assert (await shop.rest(id)).stage == "stopped"
        (stopped,) = await shop.bodies(id, TaskStopped)
        assert "is a link to somewhere else, which is not followed" in str(stopped.why)
        assert str(place) not in str(stopped.why)
        with pytest.raises(InputError, match="is a link"):
            shop.tasks.places.workspaces.known(f"task:{id}")
        await shop.app.work.forgetting.forget(id, "ana")
        assert not folder.is_symlink()
        assert sorted(one.name for one in away.iterdir()) == ["a.txt", "key"]
        assert (away / "key").stat().st_mode & 0o777 == 0o400


async def test_a_copy_that_cannot_be_read_leaves_no_empty_folder(place: Path) -> None:
    """Tried again, it is as lost as before: else the task would go on in an empty one."""
    async with working(place, in_order(*WRITE[:1], QUESTION)) as shop:
        id = await shop.give(ORDER)
        workspaces: Workspaces = shop.tasks.places.workspaces
        shutil.rmtree(place / "workspaces")
        for file in (place / "data/checkpoints").glob("*/files/*/*"):
            file.write_text("What it was not.\n")
        for _ in range(2):
            with pytest.raises(ArtifactError, match="is damaged"):
                await workspaces.recovered(f"task:{id}")
        await shop.tasks.say(id, "ana", "the first")
        assert (await shop.rest(id)).stage == "stopped"
        assert await shop.bodies(id, WorkspaceRecovered) == []
