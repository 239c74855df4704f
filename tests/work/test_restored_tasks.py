"""Tasks of a home that was restored from a backup: what they showed can still be decided on."""

import shutil
from pathlib import Path

import pytest

from loopforge.backup.backup_store import BackupStore
from loopforge.backup.make_backup import back_up, note_erasures
from loopforge.errors import Changed
from loopforge.ledger.erasure.text_erasure import ErasureRequest
from loopforge.runtime.system_clock import SystemClock
from loopforge.work.task_state import PREFIX
from tests.backup.test_backup import restored
from tests.work.conftest import Workshop, in_order, says, uses, working
from tests.work.test_task_results import STEPS, git, mended, project

__all__ = ["project"]


async def kept(shop: Workshop, place: Path) -> BackupStore:
    """A backup of a home in which tasks stand."""
    store = BackupStore(str(place / "kept"), SystemClock())
    await back_up(shop.app.settings, shop.app.ledger, store, SystemClock())
    return store


async def come_back(store: BackupStore, place: Path) -> Path:
    """The home that was made of it."""
    await restored(store, place / "new", place / "parts")
    return place / "new"


async def test_what_was_shown_is_approved_and_taken_back(place: Path, project: Path) -> None:
    """The very commit that was shown before; a merge of before the backup is taken back, too."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        offered = (await shop.state(id)).offered
        store = await kept(shop, place)
    assert offered is not None
    async with working(await come_back(store, place), in_order()) as shop:
        told = await shop.tasks.approve(id, "ana", offered.commit)
        assert told.startswith("Merged as ")
        assert git(project, "rev-parse", "main") == offered.commit
        assert "task/" not in git(project, "branch", "--list")
        shutil.rmtree(place / "parts")
        again = await kept(shop, place / "again")
    shutil.rmtree(place / "new")
    async with working(await come_back(again, place), in_order()) as shop:
        assert "taken back" in await shop.tasks.undo(id, "ana")
        assert "return 3" in (project / "app.py").read_text()


async def test_a_no_deletes_its_branch(place: Path, project: Path) -> None:
    """As it would have before."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        store = await kept(shop, place)
    async with working(await come_back(store, place), in_order()) as shop:
        assert (await shop.tasks.reject(id, "ana")).startswith("Rejected; the branch is gone")
        assert git(project, "branch", "--list") == "* main"


async def test_it_goes_on_and_proposes_anew(place: Path, project: Path) -> None:
    """On a new clone, where nothing of its workspace is left; its own branch is no stranger's."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        first = (await shop.state(id)).offered
        store = await kept(shop, place)
    script = in_order(*STEPS[:-1], says("done", "Once more: two() gives 2."))
    async with working(await come_back(store, place), script) as shop:
        await shop.tasks.say(id, "ana", "Do it once more.")
        offered = (await shop.rest(id)).offered
        assert offered is not None
        assert offered != first
        assert [str(one) for one in offered.files] == ["app.py"]
        assert (await shop.tasks.approve(id, "ana", offered.commit)).startswith("Merged as ")


async def test_a_merge_that_git_has_swept_away_is_proposed_again(
    place: Path, project: Path
) -> None:
    """Only its branch keeps a commit; one that was made for a target that had moved on has none."""
    meanwhile = uses("work_run", command="sleep 0")
    async with working(place / "home", in_order(meanwhile, *STEPS)) as shop:
        known = await shop.tasks.places.repositories.registered.register(project)
        id = await shop.tasks.open("Fix two() in app.py, it gives 3", "ana", repo=known.name)
        await shop.until(id, "effect.running")
        (project / "other.py").write_text("x = 1\n")
        git(project, "add", "other.py")
        git(project, "commit", "-qm", "meanwhile")
        offered = (await shop.rest(id)).offered
        assert offered is not None
        store = await kept(shop, place)
    git(project, "gc", "-q", "--prune=now")
    async with working(await come_back(store, place), in_order(*STEPS)) as shop:
        with pytest.raises(
            Changed, match=r"^What was shown is in no repository any more\. Say [^.]*\.$"
        ):
            await shop.tasks.approve(id, "ana", offered.commit)
        assert git(project, "log", "-1", "--format=%s", "main") == "meanwhile"


async def test_a_clone_that_comes_back_from_elsewhere_is_the_one_it_worked_in(
    place: Path, project: Path
) -> None:
    """Copies of workspaces may lie in a bucket: what was not proposed yet is not cloned over."""
    note = uses("work_write", path="repo/note.txt", text="So.\n")
    question = says("question", "Which?")
    async with working(place / "home", in_order(note, question)) as shop:
        id = await mended(shop, project)
        store = await kept(shop, place)
    new, copies = await come_back(store, place), Path("data", "checkpoints")
    shutil.copytree(place / "home" / copies, new / copies)
    async with working(new, in_order(*STEPS)) as shop:
        await shop.tasks.say(id, "ana", "the first")
        offered = (await shop.rest(id)).offered
        assert offered is not None
        assert {str(one) for one in offered.files} == {"app.py", "note.txt"}


async def test_what_was_forgotten_since_is_in_no_record(place: Path, project: Path) -> None:
    """What a task proposed is its own words as well; another's is there."""
    async with working(place / "home", in_order(*STEPS, *STEPS)) as shop:
        gone, stays = await mended(shop, project), await mended(shop, project)
        store = await kept(shop, place)
        await shop.app.ledger.erase(ErasureRequest(stream=PREFIX + gone))
        await note_erasures(shop.app.ledger, store)
    new = await come_back(store, place)
    (record,) = (new / "data" / "work").glob("*/repository.json")
    assert stays in record.parent.name
