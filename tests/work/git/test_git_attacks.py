"""What a task may try against the host, and the person's repository, by way of its clone.

Each attack is made in the sandbox, as a mate that was talked into it could; then its work is taken
over, and approved where it can be. An attack that wins runs a program of its own on the host, which
leaves WON beside the home, or brings something into the person's repository that leads elsewhere.
"""

import shlex
import subprocess
from pathlib import Path

import pytest

from loopforge.errors import Changed, InputError, RepositoryError
from loopforge.runtime.system_clock import SystemClock
from loopforge.work.git.bare_repository import BareRepository
from loopforge.work.git.change_review import (
    FILE,
    NOTHING,
    PathChange,
    change_objections,
    notes_on,
)
from loopforge.work.git.host_git import COMMITTER_NAME
from loopforge.work.git.merge_proposals import ResultNote, make_proposal
from loopforge.work.git.task_clone import REF
from tests.work.git.conftest import OWN, TASK, Bench, git, write

EDIT = "echo '# edited' >> a.py"
HARMLESS = {
    "a monitor of files": "git config core.fsmonitor {evil}",
    "hooks": "for h in pre-commit commit-msg post-commit post-checkout post-merge pre-push "
    "reference-transaction post-index-change update pre-receive; do cp {script} .git/hooks/$h; "
    "done; git config core.hooksPath /workspace/repo/.git/hooks",
    "a filter, in its own attributes": "mkdir -p .git/info; echo '* filter=evil diff=evil' > "
    ".git/info/attributes; for k in filter.evil.clean filter.evil.smudge filter.evil.process "
    "diff.evil.textconv diff.evil.command; do git config $k {evil}; done",
    "programs that git starts": "for k in core.pager core.editor core.sshCommand core.askPass "
    "core.gitProxy sequence.editor diff.external gpg.program gpg.ssh.program credential.helper "
    "uploadpack.packObjectsHook core.alternateRefsCommand trailer.x.command pager.diff "
    "interactive.diffFilter; do git config $k {evil}; done; git config commit.gpgSign true; "
    "git config alias.bundle '!{evil}'",
    "a configuration for everybody": "printf '[core]\\nfsmonitor = {evil}\\nhooksPath = /workspace\\n"
    "[include]\\npath = /workspace/more\\n' > /workspace/.gitconfig",
    "included configuration": "git config include.path ../../evil; printf '[core]\\n"
    "fsmonitor = {evil}\\n' > /workspace/evil",
    "another's objects": "mkdir -p .git/objects/info; echo {project}/.git/objects > "
    ".git/objects/info/alternates",
    "replaced objects": "git replace HEAD $(git commit-tree HEAD^{{tree}} -m other)",
    "grafts": "mkdir -p .git/info; git rev-parse HEAD > .git/info/grafts",
    "other refs": "git tag v9; git update-ref refs/heads/main HEAD; "
    "git update-ref refs/remotes/origin/main HEAD; git update-ref refs/heads/task/other HEAD; "
    "git symbolic-ref refs/heads/x refs/heads/main",
    "a branch of another name": "git switch -q -c 'x;touch${{IFS}}WON'",
    "no branch": "git checkout -q --detach",
    "a name of a person": "git -c user.name=Ana -c user.email=ana@example.org commit -q "
    "--allow-empty -m 'by Ana'",
    "a signature": "T=$(git rev-parse HEAD^{{tree}}); printf 'tree %s\\nparent %s\\nauthor A <a@b> 1 "
    "+0000\\ncommitter A <a@b> 1 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n x\\n -----END PGP "
    "SIGNATURE-----\\n\\nsigned\\n' $T $(git rev-parse HEAD) | git hash-object -t commit -w --stdin "
    "> /workspace/c; git reset -q --soft $(cat /workspace/c)",
    "a bundle laid out for it": "ln -sf /etc/passwd ../.result.bundle",
}
"""What is taken over all the same, for it does nothing."""
SETTINGS = [*HARMLESS][:9]
"""Those that do not disturb one another."""

REFUSED = {
    "a filter": "echo '*.py filter=lfs' > .gitattributes",
    "a driver for differences": "echo '*.py diff=evil' >> .gitattributes",
    "a driver for merges": "mkdir -p sub; echo '* merge=evil' > sub/.gitattributes",
    "an encoding": "echo 'a.py working-tree-encoding=ISO-8859-1' >> .gitattributes",
    "a filter behind a break that git knows none of": "printf '[!\\342\\200\\250#]*.py filter=evil\\n' > "
    ".gitattributes",
    "a filter behind a zero byte": "printf '#\\0\\n*.py filter=evil\\n' > .gitattributes",
    "a filter behind a million signs": "(head -c 1100000 /dev/zero | tr '\\0' '#'; printf '\\n*.py "
    "filter=evil\\n') > .gitattributes",
    "attributes in capitals": "echo '* filter=evil' > .GitAttributes",
    "a link to a commit": "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; "
    "git commit -qm sub; mkdir -p sub; git init -q sub; git -C sub -c user.name=x -c user.email=x@y "
    "commit -q --allow-empty -m x",
    "submodules to come": "printf '[submodule \"x\"]\\npath = x\\nurl = ext::sh -c evil\\n' > .gitmodules",
    "a server of large files": "printf '[lfs]\\nurl = http://127.0.0.1/\\n' > .lfsconfig",
    "a link out, absolute": "ln -s /etc/passwd link",
    "a link out, upwards": "mkdir -p d; ln -s ../../secret d/link",
    "a link out, by a detour": "ln -s docs/../../secret link",
    "a link into git's folder": "ln -s .git/config link",
    "a link into git's folder, in capitals": "ln -s .GIT/hooks link",
    "a way with backslashes": "echo evil > 'x\\..\\..\\y'",
    "the same name in capitals": "echo evil > A.PY",
    "a folder of the same name in capitals": "mkdir -p DOCS; echo evil > DOCS/new.md",
    "a name that writes on a terminal": "echo evil > $'\\e]0;x\\a.py'",
    "a name of two lines": "echo evil > $'a\\nb.py'",
    "a name that turns round": "echo evil > $'a\\u202eyp.exe'",
    "a name that is no text": "echo evil > $'\\xff.py'",
    "a device": "echo evil > aux.txt",
    "a history of its own": "git checkout -q --orphan x; git commit -qm x",
}
"""What is not taken over, so that nobody can approve it."""


def evil(bench: Bench) -> tuple[str, str]:
    """A program that leaves its mark, if the host runs it; in the clone, and as a command."""
    mark = shlex.quote(str(bench.place / "WON"))
    (bench.place / "evil.sh").write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    (bench.place / "evil.sh").chmod(0o755)
    return f"{bench.place}/evil.sh", f"#!/bin/sh\ntouch {mark}\ncat\n"


async def attack(bench: Bench, script: str) -> None:
    """Make it, as a command of the task; whether it goes well is its own business."""
    program, text = evil(bench)
    bench.task.files.write("evil.sh", text.encode(), executable=True)
    filled = script.replace("{{", "{").replace("}}", "}")
    for name, value in (
        ("{evil}", program),
        ("{script}", "/workspace/evil.sh"),
        ("{project}", str(bench.project)),
    ):
        filled = filled.replace(name, value)
    await bench.task.run(f"cd repo && {EDIT}; {filled}")


def lost(bench: Bench) -> bool:
    """Whether nothing of it ran on the host, and the person's git runs nothing of it either."""
    git(bench.project, "status", "--porcelain")
    git(bench.project, "diff", "main~0")
    git(bench.project, "log", "-p", "--all", "-n", "3")
    git(bench.project, "fsck", "--strict")
    return not (bench.place / "WON").exists()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "names", [SETTINGS, *([name] for name in HARMLESS if name not in SETTINGS)]
)
async def test_what_a_clone_is_set_up_to_do_is_done_by_nobody(
    bench: Bench, names: list[str]
) -> None:
    """Its work is merged, by Loopforge's name, and nothing of the rest comes along."""
    before = git(bench.project, "for-each-ref", "--format=%(refname)")
    config = (bench.project / ".git/config").read_text()
    await bench.begin()
    for name in names:
        await attack(bench, HARMLESS[name])
    shown = await bench.propose()
    await bench.git.approve(TASK, shown.commit)
    assert lost(bench)
    assert bench.file("a.py").endswith("# edited\n")
    assert [file.path for file in shown.files] == ["a.py"]
    assert git(bench.project, "log", "--format=%an", "-n", "1") == COMMITTER_NAME
    assert git(bench.project, "rev-list", "--count", "main") == "2"
    assert git(bench.project, "for-each-ref", "--format=%(refname)") == before
    assert (bench.project / ".git/config").read_text() == config


@pytest.mark.parametrize(
    "text",
    ["# none\n*.py filter=lfs", "[!\u2028#]*.py filter=lfs", "[!\x0b#]*.py\ttext merge=x", None],
)
def test_attributes_are_read_as_git_reads_them(text: str | None) -> None:
    """Of all breaks it knows one; and it goes by a file that is no text as well."""
    change = PathChange(".gitattributes", NOTHING, FILE, "1" * 40, "0" * 40)
    texts = {} if text is None else {change.path: text}
    assert len([*change_objections([change], [change.path], texts)]) == 1
    assert not [
        *change_objections([change], [change.path], {change.path: "# filter=lfs\n*.py text"})
    ]


@pytest.mark.patient
async def test_what_would_lead_elsewhere_is_not_taken_over(bench: Bench) -> None:
    """It is said why; the person's repository has no branch of it, and no object."""
    await bench.begin()
    won, base = list[str](), bench.git.branch(TASK).base
    for name, script in REFUSED.items():
        clean = "git symbolic-ref HEAD refs/heads/clean; git clean -qffdx"
        await bench.task.run(
            f"cd repo; git update-ref refs/heads/clean {base}; {clean}; git reset -q --hard {base}"
        )
        await attack(bench, script)
        try:
            won.append(f"{name}: {(await bench.propose()).files}")
        except RepositoryError as error:
            if "not taken over" not in str(error) and "no history" not in str(error):
                won.append(f"{name} was not tried: {error}")
    assert won == []
    assert lost(bench)
    assert git(bench.project, "rev-list", "--all", "--count") == "1"
    assert "in-pack: 0" in git(bench.project, "count-objects", "-v")


LINK, TREE, BLOB, COMMIT = "120000", "40000", "100644", "160000"
NAMES = [
    (BLOB, ".."), (TREE, ".."), (TREE, "."), (BLOB, ".git"), (TREE, ".git"), (TREE, ".GIT"),
    (TREE, ".Git "), (TREE, ".git."), (TREE, "git~1"), (TREE, ".g\u200cit"), (BLOB, "x/../../y"), (BLOB, "/etc/x"),
    (BLOB, "a.py"), (LINK, "docs"), (COMMIT, "sub"), (LINK, "link"), ("100666", "mode"),
    ("104755", "setuid"), ("060000", "device"), (BLOB, ".gitmodules"), (LINK, ".gitattributes"),
]  # fmt: skip
"""Entries of a tree that no git writes, or none in this way; `a.py` and `docs` are there already."""


def run(folder: Path, *command: str, stdin: bytes = b"") -> bytes:
    """What a program of the person's says."""
    ended = subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, env=OWN, check=True
    )
    return ended.stdout


async def test_a_tree_that_git_itself_would_not_write_is_not_taken_over(bench: Bench) -> None:
    """Written byte by byte, as a bundle may hold it, whatever git in the sandbox would say.

    Of modes that git reads as others, those others are written.
    """
    shelf, branch = await shelf_of(bench), bench.git.branch(TASK)
    clone = bench.place / "clone"
    git(bench.place, "clone", "-q", str(bench.project), str(clone))

    def stored(kind: str, data: bytes) -> str:
        line = ("git", "hash-object", "-t", kind, "-w", "--stdin", "--literally")
        return run(clone, *line, stdin=data).decode().strip()

    blob, inner = stored("blob", b"../../evil"), stored("tree", b"")
    base = run(clone, "git", "cat-file", "tree", "HEAD")
    won = []
    for mode, name in NAMES:
        what = {TREE: inner, COMMIT: branch.base}.get(mode, blob)
        entry = f"{mode} {name}\0".encode() + bytes.fromhex(what)
        tree = stored("tree", base + entry)
        commit = git(clone, "commit-tree", tree, "-p", "HEAD", "-m", "evil")
        git(clone, "update-ref", REF, commit)
        git(clone, "bundle", "create", "-q", "out", REF, "^HEAD")
        try:
            result = await shelf.add_result((clone / "out").read_bytes(), REF)
            note, at = ResultNote("x"), SystemClock().now()
            made = await make_proposal(shelf, branch, result, branch.base, note, (), at)
            put = run(shelf.folder, "git", "cat-file", "tree", f"{made.tip}^{{tree}}")
            if f"{mode} {name}\0".encode() in put:
                won.append((mode, name))
        except RepositoryError:
            pass
    assert won == []


@pytest.mark.patient
async def test_a_bomb_is_refused(bench: Bench) -> None:
    """300 MB of nothing, packed into some kilobytes."""
    await bench.begin()
    await bench.does(
        "git config core.bigFileThreshold 1m; "
        "B=$(head -c 300000000 /dev/zero | git hash-object -w --stdin); "
        "git update-index --add --cacheinfo 100644,$B,big; git commit -qm big; "
        "git update-index --skip-worktree big"
    )
    with pytest.raises(RepositoryError, match=r"MiB|more than"):
        await bench.propose()
    assert git(bench.project, "rev-list", "--all", "--count") == "1"


def bundled(bench: Bench, *refs: str, edit: bool = True) -> bytes:
    """A bundle as a task could write it, of the person's history and a commit on it."""
    clone = bench.place / "clone"
    subprocess.run(["git", "clone", "-q", bench.project, clone], env=OWN, check=True)
    if edit:
        write(clone, {"new.txt": "new\n"})
        git(clone, "add", "-A")
        git(clone, "commit", "-qm", "new")
    for ref in refs:
        git(clone, "update-ref", ref, "HEAD")
    git(clone, "bundle", "create", "-q", "out", *refs, "^origin/main")
    return (clone / "out").read_bytes()


async def shelf_of(bench: Bench) -> BareRepository:
    """The shelf of a task that began."""
    await bench.begin()
    shelf = BareRepository(bench.place / "shelf")
    await shelf.make()
    head = git(bench.project, "rev-parse", "main")
    await shelf.add_history(
        await bench.git._persons_repository(bench.git.branch(TASK)).history("main"), head
    )
    return shelf


async def test_only_a_bundle_with_one_result_is_taken(bench: Bench) -> None:
    """No other ref, whatever it is called; no bundle of another form; none that is broken."""
    shelf, good = await shelf_of(bench), bundled(bench, REF)
    ref = REF.encode()
    pack = good.index(b"\n\nPACK") + 2
    bad = {
        "another ref": good.replace(ref, b"refs/heads/main"),
        "an option for a ref": good.replace(ref, b"--upload-pack=touch WON"),
        "a second ref": good.replace(b"\n\nPACK", b"\n" + b"1" * 40 + b" HEAD\n\nPACK", 1),
        "a form to come": good.replace(b"# v2", b"# v3", 1),
        "a filter": good.replace(b"# v2 git bundle", b"# v3 git bundle\n@filter=blob:none", 1),
        "another commit": good.replace(good[:pack].split()[-2], b"2" * 40, 1),
        "no pack": good[:pack],
        "half a pack": good[: (pack + len(good)) // 2],
        "a turned bit": good[:-30] + bytes([good[-30] ^ 1]) + good[-29:],
        "no bundle": b"#!/bin/sh\ntouch WON\n",
        "nothing": b"",
    }
    won = list[tuple[str, str]]()
    for name, data in bad.items():
        with pytest.raises(RepositoryError):
            won.append((name, await shelf.add_result(data, REF)))
    assert won == []
    assert await shelf.add_result(good, REF) == git(bench.place / "clone", "rev-parse", "HEAD")
    assert not list(bench.place.rglob("WON"))


async def test_an_object_of_which_the_task_was_not_given_is_not_its_to_name(bench: Bench) -> None:
    """Something of the person's that lies in no branch of theirs cannot be had by its hash."""
    (bench.project / "private.txt").write_text("private\n")
    hidden = git(bench.project, "hash-object", "-w", "private.txt")
    await bench.begin()
    await bench.does(
        f"{EDIT}; git add -A; {{ git ls-tree $(git write-tree); printf '100644 blob {hidden}\\tp\\n'; }} "
        "| git mktree --missing > ../t; git update-ref HEAD $(git commit-tree $(cat ../t) -p HEAD -m x); "
        "git read-tree HEAD; git update-index --skip-worktree p || true"
    )
    with pytest.raises(RepositoryError):
        await bench.propose()
    assert git(bench.project, "rev-list", "--all", "--count") == "1"


async def test_a_message_is_words(bench: Bench) -> None:
    """No escapes, no signs that turn the direction, and nobody signs who did not."""
    await bench.begin()
    await bench.does(EDIT)
    summary = (
        "Fix\x1b]0;x\x07 \u202eit\n\nSigned-off-by: Ana <ana@example.org>\nCo-authored-by: X <x@y>"
    )
    shown = await bench.propose(summary)
    assert "\x1b" not in shown.message
    assert "\u202e" not in shown.message
    trailers = git(bench.project, "log", "-1", "--format=%(trailers)", shown.commit)
    assert trailers.strip() == ""
    assert not any(line.startswith(("Signed", "Co-auth")) for line in shown.message.splitlines())


async def test_what_stood_in_the_work_only_for_a_while_does_not_come_along(bench: Bench) -> None:
    """Neither the task's own commits nor what was in them is in the person's repository."""
    bench.secrets.add("zinc-harbour-4711")
    await bench.begin()
    await bench.does("echo zinc-harbour-4711 > key; git add -A; git commit -qm key; git rm -q key")
    await bench.does(EDIT)
    shown = await bench.propose()
    await bench.git.approve(TASK, shown.commit)
    objects = git(bench.project, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    blobs = [line.split()[0] for line in objects if " blob " in line]
    assert not any("zinc" in git(bench.project, "cat-file", "blob", blob) for blob in blobs)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "line",
    [
        "echo zinc-harbour-4711 > key.txt",
        "echo zinc-harbour-4711 | base64 > key.txt",
        "echo 1174-ruobrah-cniz > key.txt",
        "printf '\\000\\001zinc-harbour-4711\\000' > key.bin",
        "echo x > zinc-harbour-4711.txt",
    ],
)
async def test_a_key_of_the_home_does_not_get_into_a_repository(bench: Bench, line: str) -> None:
    """As it is, in another form, in a file that is no text, as a name."""
    bench.secrets.add("zinc-harbour-4711")
    await bench.begin()
    await bench.does(line)
    with pytest.raises(RepositoryError, match="key or password"):
        await bench.propose()
    assert git(bench.project, "rev-list", "--all", "--count") == "1"


async def test_what_looks_like_a_key_is_not_shown(bench: Bench) -> None:
    """In the diff that people see, which goes to platforms."""
    await bench.begin()
    key = "sk-ant-" + "a1" * 20
    await bench.does(f"echo 'k = \"{key}\"' > k.py")
    shown = await bench.propose()
    assert key not in shown.diff
    assert '+k = "[redacted]"' in shown.diff


async def test_what_hides_in_a_text_is_seen(bench: Bench) -> None:
    """Signs that turn the direction of code are spelled out, and named."""
    await bench.begin()
    await bench.does(
        "printf 'x = 1 \\u202e\\n' > t.py; echo 'all: evil' > Makefile; mkdir .husky; "
        "echo evil > .husky/pre-commit; chmod +x .husky/pre-commit"
    )
    shown = await bench.propose()
    assert "+x = 1 \\u202e" in shown.diff
    assert "t.py holds characters that cannot be seen (U+202E)." in shown.notes
    assert ".husky/pre-commit is hooks of git." in shown.notes
    assert ".husky/pre-commit becomes a program that can be run." in shown.notes


def test_a_name_with_letters_that_leave_no_trace_is_not_taken_over() -> None:
    """It looks like another name, which may be there already."""
    for hidden in ("\u3164", "\ufe00", "\u200d"):
        change = PathChange(f"a{hidden}.js", NOTHING, FILE, "1" * 40, "0" * 40)
        assert [*change_objections([change], [change.path], {})]


@pytest.mark.timeout(60)
def test_thousands_of_deep_paths_are_looked_at_in_a_moment() -> None:
    """Each folder once: for each path all of those above it took minutes, of the whole home."""
    paths = [f"{'a/' * 480}{nth}" for nth in range(5_000)]
    changes = [PathChange(path, NOTHING, FILE, "1" * 40, "0" * 40) for path in paths]
    assert not [*change_objections(changes, paths, {})]
    clash = "A/" + "a/" * 479 + "b"
    twice = [*changes, PathChange(clash, NOTHING, FILE, "1" * 40, "0" * 40)]
    found = [*change_objections(twice, [*paths, clash], {})]
    assert (len(found), all("small and capital letters" in why for why in found)) == (5_001, True)


def test_what_other_agents_obey_is_named() -> None:
    """Who reviews looks twice at orders to programs that will work there later."""
    paths = ["AGENTS.md", "sub/CLAUDE.md", ".claude/settings.json", ".mcp.json", ".cursorrules"]
    changes = [PathChange(path, NOTHING, FILE, "1" * 40, "0" * 40) for path in paths]
    assert notes_on(changes, {}, {}) == [f"{path} is what other agents obey." for path in paths]


async def test_hooks_that_a_task_may_change_are_not_run_by_a_merge(bench: Bench) -> None:
    """Where the person's git looks for hooks among the very files that were merged."""
    program, text = evil(bench)
    hooks = {
        f".husky/{name}": text
        for name in ("reference-transaction", "post-checkout", "post-merge", "post-index-change")
    }
    bench.commit(hooks)
    for name in hooks:
        (bench.project / name).chmod(0o755)
    git(bench.project, "commit", "-qam", "hooks")
    git(bench.project, "config", "core.hooksPath", ".husky")
    git(bench.project, "config", "core.fsmonitor", program)
    (bench.place / "WON").unlink(missing_ok=True)
    shown = await bench.proposed(EDIT)
    await bench.git.approve(TASK, shown.commit)
    await bench.git.take_back(TASK)
    assert not (bench.place / "WON").exists()


async def test_no_place_of_the_home_is_registered(bench: Bench) -> None:
    """A workspace would be a repository that a task itself set up."""
    await bench.begin()
    with pytest.raises(InputError, match="of this home's own"):
        await bench.git.registered.register(bench.task.place / "repo", "mine")
    link = bench.place / "link"
    link.symlink_to(bench.task.place / "repo")
    with pytest.raises(InputError, match="of this home's own"):
        await bench.git.registered.register(Path(link), "mine")


async def test_what_is_approved_is_what_was_shown(bench: Bench) -> None:
    """What the task changes after it was shown is not in it, nor is another commit merged for it."""
    first = await bench.proposed(EDIT)
    await bench.does("echo evil > evil.py; git add -A; git commit -qm evil")
    second = await bench.propose()
    assert second.commit != first.commit
    with pytest.raises(Changed, match="Something else is proposed"):
        await bench.git.approve(TASK, first.commit)
    for odd in ("main", "HEAD", "", "--help", first.commit[:12]):
        with pytest.raises(InputError):
            await bench.git.approve(TASK, odd)
    assert git(bench.project, "rev-parse", "main") == first.before
