"""A watched repository: new commits are seen once, and docstrings are offered on a branch."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from loopforge.core.work.watch_events import CodePlace, CommitsSeen, DocstringsWanted, WatchBegan
from loopforge.errors import InputError, RepositoryError, Unknown
from loopforge.runtime.ports import Question
from loopforge.work.task_state import TaskState
from loopforge.work.watching.watch_state import WatchState
from tests.work.conftest import Step, Workshop, in_order, says, uses, working
from tests.work.test_task_results import git
from tests.work.test_thread_tasks import commons

OLD = "def old(x):\n    return x\n"
NEW = "\n\ndef new(x):\n    return x + 1\n"
WRITTEN = '\n\ndef new(x):\n    """Give the next one."""\n    return x + 1\n'
EDIT = uses(
    "work_edit",
    path="repo/app.py",
    old="def new(x):\n",
    new='def new(x):\n    """Give the next one."""\n',
)
DONE = says("done", "It has its docstring.")


@pytest.fixture
def project(place: Path) -> Path:
    """A repository whose code has no docstrings, beside the home."""
    folder = place / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    committed(folder, OLD)
    return folder


def committed(project: Path, text: str, path: str = "app.py") -> None:
    """Commit a file that says so."""
    (project / path).write_text(text)
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "a change")


class Watched:
    """A home that watches the project."""

    def __init__(self, shop: Workshop) -> None:
        self.shop, self.watch = shop, shop.app.work.watch

    async def begin(self, project: Path) -> None:
        """Have it watched; the first look is over."""
        name = (await self.shop.tasks.places.repositories.registered.register(project)).name
        await self.watch.begin(name, "ana", "every day at 9:00", 0.25)
        await self.rest()

    async def look(self) -> WatchState:
        """Look now; the watch as it stands when nothing is left to do."""
        await self.watch.want_look("project", "ana")
        return await self.rest()

    async def rest(self) -> WatchState:
        """Wait until nothing is left to do, of its task neither."""
        stream, before = "watch:project", 0
        while True:
            await self.shop.app.lanes.settled(stream)
            state = await self.watch.world.fold(stream)
            if state.task:
                await self.shop.rest(state.task)
            if state.seq == before:
                return state
            before = state.seq
            self.shop.app.lanes.wake(stream)

    async def task(self) -> TaskState:
        """The task that is open."""
        return await self.shop.state((await self.rest()).task)


async def test_new_code_is_offered_its_docstring_once(place: Path, project: Path) -> None:
    """What was there before is left; one task, in its budget; its own merge makes no other one."""
    async with working(place / "home", in_order(EDIT, DONE)) as shop:
        home = Watched(shop)
        await home.begin(project)
        assert (await home.look()).task == ""
        committed(project, OLD + NEW)
        state = await home.look()
        assert [(one.name, one.line) for one in state.places] == [("new", 5)]
        task = await home.task()
        assert (task.task.repo, task.task.budget, task.stage) == ("project", 0.25, "finished")
        assert "app.py, line 5: `new`" in str(task.task.text)
        assert task.offered is not None
        assert str(task.offered.branch).startswith("task/write-the-docstrings")
        asked = len(shop.models.asked)
        assert (await home.look()).task == task.id
        await shop.tasks.approve(task.id, "ana")
        state = await home.look()
        assert (project / "app.py").read_text() == OLD + WRITTEN
        assert (state.task, state.missing) == ("", ())
        assert state.mark == git(project, "rev-parse", "main")
        await shop.tasks.undo(task.id, "ana")
        assert (await home.look()).missing == ()
        assert len(await shop.tasks.tasks()) == 1
        assert len(shop.models.asked) == asked


async def test_what_was_refused_is_not_offered_again(place: Path, project: Path) -> None:
    """While nobody decides what is new adds up; a no is for good, also after a new start."""
    later = uses(
        "work_edit", path="repo/app.py", old="class Late:\n", new='class Late:\n    """Late."""\n'
    )
    async with working(place / "home", in_order(EDIT, DONE)) as shop:
        home = Watched(shop)
        await home.begin(project)
        committed(project, OLD + NEW)
        first = (await home.look()).task
        committed(project, OLD + NEW.replace("+ 1", "+ 2") + "\n\nclass Late:\n    x = 1\n")
        state = await home.look()
        assert (state.task, [one.name for one in state.missing]) == (first, ["Late"])
        await shop.tasks.reject(first, "ana")
    async with working(place / "home", in_order(later, DONE)) as shop:
        home = Watched(shop)
        state = await home.rest()
        assert state.task not in ("", first)
        assert [one.name for one in state.places] == ["Late"]
        assert (await home.task()).stage == "finished"
        wanted = await shop.app.ledger.read("watch:project", kinds=["watch.docstrings_wanted"])
        assert [isinstance(one.body, DocstringsWanted) for one in wanted] == [True, True]


async def test_a_task_that_a_crash_left_ungiven_is_given_once(place: Path, project: Path) -> None:
    """The process died between that it was wanted and that it was given; two starts give one."""
    async with working(place / "home", in_order(DONE)) as shop:
        home = Watched(shop)
        await home.begin(project)
        committed(project, OLD + NEW)
        wanted = DocstringsWanted(places=(CodePlace(path="app.py", name="new", line=5),))
        home.watch.world.hosted = False
        fact = shop.app.stamp.fact(wanted, actor="runtime")
        await shop.app.ledger.append("watch:project", [fact])
        assert await shop.tasks.tasks() == []
    for _ in range(2):
        async with working(place / "home", in_order(EDIT, DONE)) as shop:
            state = await Watched(shop).rest()
            assert state.task == fact.id
            assert [one.id for one in await shop.tasks.tasks()] == [fact.id]


async def test_a_rewritten_history_is_no_news(place: Path, project: Path, ledger_url: str) -> None:
    """Its head is remembered and nothing more; a look that finds nothing writes nothing."""
    (place / "home").mkdir()
    (place / "home" / "loopforge.toml").write_text(f'database_url = "{ledger_url}"\n')
    async with working(place / "home", in_order()) as shop:
        home = Watched(shop)
        await home.begin(project)
        committed(project, NEW)
        git(project, "commit", "-q", "--amend", "-m", "first")
        git(project, "checkout", "-q", "--orphan", "other")
        git(project, "commit", "-q", "-m", "from the beginning")
        git(project, "branch", "-M", "main")
        assert (await home.look()).task == ""
        committed(project, NEW + "\n\n# a word\n")
        seq = (await home.look()).seq
        assert (await home.look()).seq == seq + 1  # that it was asked for, and no more
        seen = await shop.app.ledger.read("watch:project", kinds=["watch.commits_seen"])
        bodies = [one.body for one in seen if isinstance(one.body, CommitsSeen)]
        assert [(bool(one.before), one.missing) for one in bodies] == [(False, ())] * 2 + [
            (True, ())
        ]
        assert (shop.models.asked, await shop.tasks.tasks()) == ([], [])


async def test_a_change_of_code_is_not_offered(place: Path, project: Path) -> None:
    """The mate is told why and tries once more; then it stands there with nothing to merge."""
    told: list[str] = []
    spoilt = uses("work_edit", path="repo/app.py", old="x + 1", new="x + 2")

    answers = in_order(spoilt, DONE, says("done", "I leave it."))

    def script(asked: Question) -> Step:
        told.append(str(asked))
        return answers(asked)

    async with working(place / "home", script) as shop:
        home = Watched(shop)
        await home.begin(project)
        committed(project, OLD + NEW)
        await home.look()
        task = await home.task()
        assert task.stage == "finished"
        assert task.offered is not None
        assert task.offered.commit == ""
        why = "Nothing but docstrings was to be changed. app.py: its code is changed."
        assert str(task.offered.message) == why
        assert any(why in one for one in told)
        assert git(project, "branch", "--list") == "* main"


@pytest.mark.patient
async def test_a_room_is_told_of_it_and_decides(place: Path, project: Path) -> None:
    """Its mate says that it begins, and what it offers; /approve there merges that."""
    async with commons(place / "home", in_order(EDIT, DONE)) as room:
        home = Watched(room.shop)
        name = (await room.shop.tasks.places.repositories.registered.register(project)).name
        how = "every day at 9:00"
        await home.watch.begin(name, room.ana, how, 0.25, mate="otto", thread="room:commons")
        committed(project, OLD + NEW)
        await home.look()
        await room.rest()
        said = await room.said()
        assert said[0].startswith("otto: Ana wants: ")
        assert "Starting work." in said[0]
        assert '+    """Give the next one."""' in said[-1]
        assert (await room.does("approve")).startswith("Merged as")
        assert (await home.rest()).task == ""
        assert (project / "app.py").read_text() == OLD + WRITTEN


async def test_a_watch_gives_no_task_where_nobody_would_see_it(place: Path, project: Path) -> None:
    """Its mate was sent out of the room, or that was deleted: it says so, and spends nothing."""
    async with commons(place / "home", in_order(EDIT, DONE)) as room:
        home = Watched(room.shop)
        name = (await room.shop.tasks.places.repositories.registered.register(project)).name
        how = "every day at 9:00"
        await home.watch.begin(name, room.ana, how, 0.25, mate="otto", thread="room:commons")
        await room.does("remove", "otto")
        committed(project, OLD + NEW)
        state = await home.look()
        assert (state.task, [one.name for one in state.missing]) == ("", ["new"])
        assert (await home.watch.shown())[0].trouble.startswith("otto is not in the room commons")
        await room.app.closing.close_room("commons", room.ana)
        assert (await home.look()).task == ""
        assert "was deleted: start it anew" in (await home.watch.shown())[0].trouble
        assert (await room.shop.tasks.tasks(), room.shop.models.asked) == ([], [])
        await home.watch.begin(name, room.ana, how, 0.25, mate="otto")
        assert (await home.look()).task
        assert (await home.task()).stage == "finished"


async def test_a_watch_is_begun_and_ended_with_clear_words(place: Path, project: Path) -> None:
    """When it looks has to be said, by a mate that is there, for money; ended, nothing is due."""
    async with working(place / "home", in_order()) as shop:
        home = Watched(shop)
        await home.begin(project)
        for every, budget, mate, why in (
            ("tomorrow at 9:00", 0.5, "", "says no repetition"),
            (" ", 0.5, "", "says no repetition; say such as"),
            ("every minute", 0.5, "", "more often"),
            ("every day at 9:00 in Tokyo", 0.5, "", "the clock of this home, UTC"),
            ("every day at 9:00", 0.0, "", "needs a budget"),
            ("every day at 9:00", 0.5, "nobody", "no mate"),
        ):
            with pytest.raises((InputError, Unknown), match=why):
                await home.watch.begin("project", "ana", every, budget, mate=mate)
        (shown,) = await home.watch.shown()
        assert shown.next is not None
        assert shown.next.hour == 9
        shop.tasks.places.repositories.registered.remove("project")
        committed(project, OLD + NEW)
        assert (await home.look()).task == ""
        assert "No repository" in (await home.watch.shown())[0].trouble
        assert "no longer" in await home.watch.end("project", "ana")
        assert await home.watch.shown() == []
        with pytest.raises(Unknown, match="is not watched"):
            await home.watch.want_look("project", "ana")


async def test_a_folder_that_is_gone_is_told(place: Path, project: Path) -> None:
    """Nobody can begin to watch it, and hears what to do; once it is back, it is watched.

    Where it goes later, or its branch does, that stands beside the watch.
    """
    async with working(place / "home", in_order()) as shop:
        home = Watched(shop)
        await shop.tasks.places.repositories.registered.register(project)
        away = shutil.move(project, place / "away")
        with pytest.raises(RepositoryError, match=r"no folder .* Bring it back"):
            await home.watch.begin("project", "ana", "every day at 9:00", 0.25)
        shutil.move(away, project)
        await home.begin(project)
        assert (await home.look()).mark == git(project, "rev-parse", "main")
        shutil.move(project, place / "away")
        await home.look()
        (shown,) = await home.watch.shown()
        assert "Bring it back" in shown.trouble
        shutil.move(away, project)
        git(project, "branch", "-qm", "trunk")
        (shown,) = await home.watch.shown()
        assert "no branch 'main' any more" in shown.trouble


def test_the_next_look_goes_by_the_clock_on_the_wall() -> None:
    """At nine where the home is, summer and winter."""
    body = WatchBegan(
        repo="p",
        person="ana",
        rule="FREQ=DAILY;BYHOUR=9;BYMINUTE=0",
        start="2026-01-01T00:00",
        zone="Europe/Berlin",
        budget=1,
    )
    state = WatchState(stream="watch:p", began=body)
    for month, hour in ((1, 8), (7, 7)):
        after = datetime(2026, month, 10, tzinfo=UTC)
        assert state.next_look(after) == after + timedelta(hours=hour)
