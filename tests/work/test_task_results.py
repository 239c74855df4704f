"""What comes of a task in a repository: shown, approved as it was shown, rejected, undone."""

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from loopforge.app import open_aside
from loopforge.errors import Changed, LedgerError, Unknown
from loopforge.settings import load_settings
from loopforge.work.task_transcript import lines_of
from loopforge.work.threads.task_rights import possible_acts
from loopforge.work.threads.thread_posts import told_of
from tests.work.conftest import Workshop, in_order, says, uses, working

STEPS = (
    uses("work_run", command="python3 -B -c 'import app; assert app.two() == 2'"),
    uses("work_edit", path="repo/app.py", old="return 3", new="return 2"),
    uses("work_run", command="python3 -B -c 'import app; assert app.two() == 2'"),
    says("done", "two() gives 2 now."),
)
TASK = "Fix two() in app.py, it gives 3 in Python"


def git(folder: Path, *words: str) -> str:
    """What git says in a folder."""
    who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.org"]
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repository(place: Path, **files: str) -> Path:
    """A repository beside the home, whose first commit has these modules."""
    folder = place / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "--allow-empty", "-m", "begin")
    return folder


@pytest.fixture
def project(place: Path) -> Path:
    """One with a bug."""
    return repository(place, app="def two():\n    return 3\n")


async def mended(shop: Workshop, project: Path) -> str:
    """A task that mends the bug, to its end."""
    known = shop.tasks.places.repositories.registered
    return await shop.give(TASK, repo=(await known.register(project)).name)


async def test_what_was_shown_is_merged_once(place: Path, project: Path) -> None:
    """The commit that was shown and no other; a second yes does nothing; undo takes it back."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        state = await shop.state(id)
        assert state.offered is not None
        assert [str(file) for file in state.offered.files] == ["app.py"]
        assert "+    return 2" in str(state.offered.diff)
        assert "return 3" in (project / "app.py").read_text()
        with pytest.raises(Changed, match="Something else is offered"):
            await shop.tasks.approve(id, "ana", "0" * 40)
        assert (await shop.tasks.approve(id, "ana")).startswith("Merged as ")
        assert "return 2" in (project / "app.py").read_text()
        assert git(project, "rev-parse", "main") == state.offered.commit
        again = await shop.tasks.approve(id, "ana")
        assert again == "It is approved already; nothing was done again."
        assert "taken back" in await shop.tasks.undo(id, "ana")
        assert "return 3" in (project / "app.py").read_text()


async def test_of_two_who_take_a_merge_back_at_once_one_does(place: Path, project: Path) -> None:
    """The other is told: one step further back was nobody's wish."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        await shop.tasks.approve(id, "ana")
        seen = (await shop.state(id)).standing
        came = await asyncio.gather(
            shop.tasks.undo(id, "ana", seen),
            shop.tasks.undo(id, "bo", seen),
            return_exceptions=True,
        )
        done, late = sorted(came, key=lambda one: isinstance(one, Changed))
        assert done == "The merge was taken back by a commit of its own."
        (undone,) = [one for one in await shop.events(id) if one.kind == "task.undone"]
        assert lines_of(undone) == ["The merge was taken back."]
        assert isinstance(late, Changed)
        assert "return 2" in shop.file(id, "repo/app.py").read_text()


async def test_what_is_to_be_looked_at_twice_is_said_wherever_a_result_is(
    place: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that git runs by itself, and a diff that is longer than what is shown of it."""
    monkeypatch.setattr("loopforge.work.git.merge_proposals.MOST_SHOWN", 200)
    wrote = uses("work_write", path="repo/.husky/pre-commit", text="echo evil\n" * 40)
    async with working(place / "home", in_order(wrote, *STEPS)) as shop:
        id = await mended(shop, project)
        state = await shop.state(id)
        assert state.offered is not None
        hook, cut = map(str, state.offered.notes)
        assert hook == ".husky/pre-commit is hooks of git."
        assert cut.startswith("Only the first 200 characters of the diff are shown; `git diff ")
        command = cut.split("`")[1].split()
        assert git(project, *command[1:]).count("evil") == 40
        (event,) = [e for e in await shop.events(id) if e.body == state.offered]
        told = ["\n".join(lines_of(event)), told_of(event, state)]
        assert all(hook in text and cut in text for text in told)


async def test_what_is_refused_leaves_no_branch(place: Path, project: Path) -> None:
    """The repository is as it was, the workspace is still there."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        assert git(project, "branch", "--list").count("\n") == 1
        assert (await shop.tasks.reject(id, "ana")).startswith("Rejected; the branch is gone")
        assert git(project, "branch", "--list") == "* main"
        assert "return 2" in shop.file(id, "repo/app.py").read_text()
        with pytest.raises(Changed, match="the task is rejected"):
            await shop.tasks.approve(id, "ana")
        with pytest.raises(Changed, match="This task is rejected"):
            await shop.tasks.undo(id, "ana")


async def test_a_branch_that_is_checked_out_is_said_to_stay(place: Path, project: Path) -> None:
    """Whoever looks at the work in their own folder is not told that it is gone from there."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        offered = (await shop.state(id)).offered
        assert offered is not None
        git(project, "switch", "-q", str(offered.branch))
        told = await shop.tasks.reject(id, "ana")
        assert told.endswith(
            "Its branch was not deleted: it is checked out in a folder or was moved."
        )
        assert git(project, "branch", "--list").count("\n") == 1


async def test_where_there_was_no_branch_none_is_said_to_be_gone(place: Path) -> None:
    """Of a task without a repository it is said that its workspace is still there, and no more."""
    script = in_order(uses("work_write", path="a.txt", text="1"), says("done", "Written."))
    async with working(place / "home", script) as shop:
        id = await shop.give("Write a number into a.txt with Python")
        assert await shop.tasks.reject(id, "ana") == "Rejected; the workspace is still there."


async def test_of_a_task_that_proposed_nothing_no_branch_is_said_to_be_gone(
    place: Path, project: Path
) -> None:
    """There was none yet: it stood still before it came so far."""
    async with working(place / "home", in_order(says("question", "Which?"))) as shop:
        id = await mended(shop, project)
        assert await shop.tasks.reject(id, "ana") == "Rejected; the workspace is still there."


async def test_undo_takes_back_the_first_change_too(place: Path) -> None:
    """A short task has but one change: without it there is nothing, and it can begin anew."""
    script = in_order(uses("work_write", path="a.txt", text="1"), says("done", "Written."))
    async with working(place / "home", script) as shop:
        id = await shop.give("Write a number into a.txt with Python")
        assert "after turn 0" in await shop.tasks.undo(id, "ana")
        state = await shop.state(id)
        assert not shop.file(id, "a.txt").exists()
        assert (state.turns, state.stage, state.uses) == (0, "stopped", [])
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"


async def test_a_change_can_be_taken_back_where_there_is_one(place: Path) -> None:
    """Offered on its page once files were changed, until all is taken back; not after an answer."""
    script = in_order(uses("work_write", path="a.txt", text="1"), says("done", "Written."))
    async with working(place / "home", script) as shop:
        for text, undoable in (
            ("What is a monad?", False),
            ("Write a number into a.txt with Python", True),
            ("Review a.py", False),
        ):
            id = await shop.give(text)
            assert ("undo" in possible_acts(await shop.state(id))) == undoable
            await shop.tasks.approve(id, "ana")
            assert ("undo" in possible_acts(await shop.state(id))) == undoable
            if undoable:
                await shop.tasks.undo(id, "ana")
                assert "undo" not in possible_acts(await shop.state(id))
            with pytest.raises(Unknown, match="no file was changed since"):
                await shop.tasks.undo(id, "ana")


async def test_what_a_command_left_that_was_stopped_in_the_first_turn_is_taken_back(
    place: Path,
) -> None:
    """No turn was over, but files were changed: that is offered, and gone back on, once."""
    script = in_order(uses("work_run", command="echo half > a.txt; sleep 60"))
    async with working(place / "home", script) as shop:
        id = await shop.tasks.open("Fix app.py in Python", "ana", owner=True)
        await shop.until(id, "effect.running")
        async with asyncio.timeout(60):
            while not shop.file(id, "a.txt").exists():
                await asyncio.sleep(0.02)
        await shop.tasks.stop(id, "ana")
        assert "undo" in possible_acts(await shop.rest(id))
        assert "after turn 0" in await shop.tasks.undo(id, "ana")
        assert not shop.file(id, "a.txt").exists()
        assert "undo" not in possible_acts(await shop.rest(id))


async def test_a_branch_goes_with_a_no_wherever_the_task_stands(place: Path, project: Path) -> None:
    """Taken back or in conflict, too: what nobody takes leaves no branch."""
    note = uses("work_write", path="repo/note.txt", text="So.")
    async with working(place / "home", in_order(*STEPS, note)) as shop:
        id = await mended(shop, project)
        await shop.tasks.undo(id, "ana")
        assert git(project, "branch", "--list").count("\n") == 1
        assert (await shop.tasks.reject(id, "ana")).startswith("Rejected")
        assert git(project, "branch", "--list") == "* main"


async def test_undo_takes_back_files_and_conversation(place: Path) -> None:
    """To the copy before the last change; what was said since is gone from what a mate is shown."""
    steps = [uses("work_write", path="a.txt", text=f"{nth}") for nth in range(1, 8)]
    async with working(place / "home", in_order(*steps, says("done", "Written."))) as shop:
        id = await shop.give("Write numbers into a.txt with Python")
        state = await shop.state(id)
        assert [one.nth for one in state.checkpoints] == [0, 5, 8]
        assert await shop.tasks.undo(id, "ana") == (
            "Files and conversation are as they were after turn 5."
        )
        state = await shop.state(id)
        assert shop.file(id, "a.txt").read_text() == "5"
        assert (state.turns, state.stage, len(state.uses)) == (5, "stopped", 5)
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"
        worked = [one for one in shop.models.asked if "state" in (one.schema or {})["properties"]]
        assert "6" not in str([text for _, text in worked[-1].messages[2:-1]])


async def test_what_it_came_to_after_a_word_is_what_is_shown(place: Path, project: Path) -> None:
    """A person had it go on: the commit that they see and take holds that, and is another one."""
    word = uses("work_edit", path="repo/app.py", old="return 2", new="return 2  # two")
    async with working(place / "home", in_order(*STEPS, word)) as shop:
        id = await mended(shop, project)
        first = (await shop.state(id)).offered
        await shop.tasks.say(id, "ana", "add a comment that says two")
        await shop.rest(id)
        second = (await shop.state(id)).offered
        assert first
        assert second
        assert first.commit != second.commit
        with pytest.raises(Changed, match="Something else is offered"):
            await shop.tasks.approve(id, "ana", first.commit)
        assert (await shop.tasks.approve(id, "ana", second.commit)).startswith("Merged as ")
        assert "return 2  # two" in (project / "app.py").read_text()


async def test_a_branch_that_moved_on_is_taken_in(place: Path, project: Path) -> None:
    """Both changed one line: that is said, nothing is lost, and after `refresh` both are merged."""
    both = "def two():\n    return 2  # not 4\n"
    commit = "git -c user.name=o -c user.email=o@example.org commit -qm both"
    more = (
        uses("work_git", do="refresh"),
        uses("work_run", command="git merge origin/main; cat app.py"),
        uses("work_write", path="repo/app.py", text=both),
        uses("work_run", command=f"git add -A && {commit}"),
        says("done", "Both are in."),
    )
    async with working(place / "home", in_order(*STEPS, *more)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        id = await shop.tasks.open(TASK, "ana", repo=name, owner=True)
        await shop.until(id, "task.leased")
        (project / "app.py").write_text("def two():\n    return 4\n")
        (project / "notes.txt").write_text("mine\n")
        git(project, "add", ".")
        git(project, "commit", "-qm", "meanwhile")
        (project / "notes.txt").write_text("mine, and open\n")
        await shop.rest(id)
        with pytest.raises(Changed, match="main and the task both changed"):
            await shop.tasks.approve(id, "ana")
        assert git(project, "branch", "--list").count("\n") == 1
        await shop.tasks.say(id, "ana", "refresh")
        await shop.rest(id)
        assert "<<<<<<<" in (await shop.state(id)).uses[-3].value
        assert (await shop.tasks.approve(id, "ana")).startswith("Merged as ")
        assert (project / "app.py").read_text() == both
        assert (project / "notes.txt").read_text() == "mine, and open\n"
        assert "meanwhile" in git(project, "log", "--format=%s")


async def test_who_is_quicker_decides(place: Path) -> None:
    """Of two who decide at once one is told that it stands otherwise: never do both count."""
    async with working(place / "home", in_order()) as shop:
        for first, second in (("approve", "say"), ("reject", "say"), ("approve", "reject")):
            id = await shop.give("Write a number into a.txt with Python")
            deeds = {
                "approve": shop.tasks.approve(id, "ana"),
                "reject": shop.tasks.reject(id, "ana"),
                "say": shop.tasks.say(id, "bo", "and a note"),
            }
            told = await asyncio.gather(
                *(deeds[one] for one in (second, first)), return_exceptions=True
            )
            [deeds[one].close() for one in deeds.keys() - {first, second}]
            assert [type(one) for one in told].count(Changed) == 1, told
            await shop.rest(id)
            over = [
                e for e in await shop.events(id) if e.kind in ("task.approved", "task.rejected")
            ]
            assert len(over) == (0 if isinstance(told[1], Changed) and second == "say" else 1)


async def test_of_two_who_decide_at_once_one_is_told_that_it_is_decided(
    place: Path, project: Path
) -> None:
    """What is merged is not rejected as well, nor the other way round, whoever was first."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        told = await asyncio.gather(
            shop.tasks.approve(id, "ana"), shop.tasks.reject(id, "bo"), return_exceptions=True
        )
        (late,) = [one for one in told if isinstance(one, Changed)]
        merged = (await shop.state(id)).stage == "approved"
        assert str(late).startswith("There is nothing to ")
        assert str(late).endswith("the task is approved." if merged else "the task is rejected.")
        assert ("return 2" in (project / "app.py").read_text()) == merged


@pytest.mark.sample(2)
@pytest.mark.parametrize("second", ["approve", "reject"])
async def test_two_programs_decide_once(
    second: str, place: Path, project: Path, ledger_url: str
) -> None:
    """Who decides on the command line while the page merges is told; it stands there once."""
    (place / "home").mkdir()
    (place / "home" / "loopforge.toml").write_text(f'database_url = "{ledger_url}"\n')
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        settings = load_settings(place / "home", environ={"LOOPFORGE_TIMEZONE": "UTC"})
        async with open_aside(settings) as other:
            deeds = (shop.tasks.approve, getattr(other.work.tasks, second))
            told = await asyncio.gather(*(do(id, "ana") for do in deeds), return_exceptions=True)
        over = {"task.approved", "task.rejected"}
        (kind,) = [e.kind for e in await shop.events(id) if e.kind in over]
        late = f"There is nothing to {'reject' if kind == 'task.approved' else 'approve'}"
        assert any(str(one).startswith((late, "It is approved already")) for one in told), told
        assert ("return 2" in (project / "app.py").read_text()) == (kind == "task.approved")


async def test_what_is_done_after_files_are_put_back_stays(place: Path) -> None:
    """Who has a task go on while its files are put back waits for that; or is first."""
    steps = (
        uses("work_write", path="a.txt", text="1"),
        says("question", "What is next?"),
        uses("work_write", path="b.txt", text="2"),
        says("done", "Both."),
    )
    async with working(place, in_order(*steps)) as shop:
        id = await shop.give("Write a Python file a.py")
        undone, _ = await asyncio.gather(
            shop.tasks.undo(id, "ana"), shop.tasks.resume(id, "bo"), return_exceptions=True
        )
        assert (await shop.rest(id)).stage == "finished"
        assert shop.file(id, "b.txt").read_text() == "2"
        assert shop.file(id, "a.txt").exists() == isinstance(undone, Changed)


async def test_an_undo_that_was_not_written_down_goes_no_further_back(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ended with the files put back: asked for again it is that undo, the next not."""
    steps = [uses("work_write", path="a.txt", text=f"{nth}") for nth in range(1, 8)]
    async with working(place / "home", in_order(*steps, says("done", "Written."))) as shop:
        id = await shop.give("Write numbers into a.txt with Python")

        async def dies(*_: object, **__: object) -> None:
            raise LedgerError("The program ended.")

        with monkeypatch.context() as ending:
            ending.setattr(type(shop.tasks), "_append_facts", dies)
            with pytest.raises(LedgerError):
                await shop.tasks.undo(id, "ana")
        assert shop.file(id, "a.txt").read_text() == "5"
        assert "after turn 5" in await shop.tasks.undo(id, "ana")
        assert shop.file(id, "a.txt").read_text() == "5"
        assert "after turn 0" in await shop.tasks.undo(id, "ana")
        assert not shop.file(id, "a.txt").exists()


@pytest.mark.parametrize("kept", [True, False])
async def test_a_merge_that_was_taken_back_and_not_written_down_is_once(
    place: Path, project: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """The program ended after the commit, before or after that was kept: one commit, one fact."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        id = await mended(shop, project)
        await shop.tasks.approve(id, "ana")

        async def dies(*_: object, **__: object) -> None:
            raise LedgerError("The program ended.")

        with monkeypatch.context() as ending:
            where = (
                (shop.tasks, "_append_facts")
                if kept
                else (shop.tasks.places.repositories, "_settle_proposal")
            )
            ending.setattr(type(where[0]), where[1], dies)
            with pytest.raises(LedgerError):
                await shop.tasks.undo(id, "ana")
        commits = git(project, "rev-list", "--count", "main")
        assert "taken back" in await shop.tasks.undo(id, "ana")
        assert git(project, "rev-list", "--count", "main") == commits
        assert "return 3" in (project / "app.py").read_text()
        assert (await shop.state(id)).stage != "approved"


async def test_a_question_goes_with_the_change_that_led_to_it(place: Path) -> None:
    """Taken back, it is asked no more: the task stands still, goes on when told to, and asks anew."""
    steps = (uses("work_write", path="a.txt", text="1\n"), says("question", "Which colour?"))
    async with working(place / "home", in_order(*steps * 2)) as shop:
        id = await shop.give("Fix app.py in Python")
        assert (await shop.state(id)).stage == "waiting"
        told = await shop.tasks.undo(id, "ana")
        assert told == "Files and conversation are as they were after turn 0."
        await shop.rest(id)
        state = await shop.state(id)
        assert (state.stage, shop.file(id, "a.txt").exists()) == ("stopped", False)
        assert await shop.tasks.resume(id, "ana") == "It goes on."
        await shop.rest(id)
        assert (await shop.state(id)).stage == "waiting"
        asked = [one for one in shop.models.asked if "Which colour?" in str(one.messages)]
        assert not asked


async def test_why_it_cannot_begin_is_told_in_whole_sentences(place: Path, project: Path) -> None:
    """A repository that is gone is said to be, by one full stop; brought back, it begins."""
    async with working(place / "home", in_order(*STEPS)) as shop:
        name = (await shop.tasks.places.repositories.registered.register(project)).name
        away = shutil.move(project, place / "away")
        id = await shop.give(TASK, repo=name)
        state = await shop.state(id)
        (event,) = [one for one in await shop.events(id) if one.kind == "task.stopped"]
        for told in (*lines_of(event), told_of(event, state), str(state.summary)):
            assert "Bring it back" in told
            assert not {"..", ".)"} & {told[nth : nth + 2] for nth in range(len(told))}
        shutil.move(away, project)
        await shop.tasks.resume(id, "ana")
        assert (await shop.rest(id)).stage == "finished"
