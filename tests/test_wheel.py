"""The wheel: what somebody who does not clone gets, in an environment that holds nothing else of ours.

What it needs is taken from the environment of the tests, so that nothing is fetched; `.ci/wheel`, in
`make patient`, fetches all of it.
"""

import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import urllib.request
import venv
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest

from loopforge import __version__
from loopforge.models.embedded.embedded_install import PACKAGE
from tests.child_process import run_python

ROOT = Path(__file__).parent.parent
INSTALLED = Path(sysconfig.get_path("purelib"))
NOWHERE = "http://127.0.0.1:1/simple"
"""An index that nobody serves."""
LINK = re.compile(r"http://127\.0\.0\.1:\d+")


def build(source: Path, to: Path) -> Path:
    """The wheel of this source, built offline by its own backend."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(to)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (wheel,) = to.glob("loopforge_city-*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    return build(ROOT, tmp_path_factory.mktemp("wheel"))


def environment(at: Path, wheel: Path, *without: str) -> Path:
    """An environment with this wheel and what it needs, less some; the folder of its commands."""
    venv.create(at, symlinks=True)
    (packages,) = at.glob("lib/python*/site-packages")
    for each in INSTALLED.iterdir():
        ours = "loopforge" in each.name or each.suffix == ".pth"
        if not ours and not each.name.startswith(without or "\0"):
            (packages / each.name).symlink_to(each)
    pip = (at / "bin" / "python", "-m", "pip", "install", "--no-index", "--no-deps", wheel)
    subprocess.run(pip, check=True, capture_output=True)
    return at / "bin"


def surroundings(commands: Path, person: Path) -> dict[str, str]:
    """The environment variables of somebody who has these commands, and nothing set."""
    return {
        "PATH": f"{commands}:/usr/bin:/bin",
        "HOME": str(person),
        "TERM": "xterm",
        "LOOPFORGE_WEB_PORT": "0",
    }


def files_of(source: Path) -> set[str]:
    """Every file of the package in this source."""
    return {
        str(path.relative_to(source / "src"))
        for path in (source / "src" / "loopforge").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def described(wheel: Path) -> Message:
    """What the wheel says of itself."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """It has the code, prompts, mates, pages, the ladder, migrations, and nothing else."""
    with zipfile.ZipFile(wheel) as archive:
        inside = set(archive.namelist())
        points = next(name for name in inside if name.endswith("entry_points.txt"))
        for name in ("loopforge", "loopforge-city"):
            assert f"{name} = loopforge.cli:main" in archive.read(points).decode()
        (licence,) = (name for name in inside if name.endswith("licenses/LICENSE"))
        assert archive.read(licence) == (ROOT / "LICENSE").read_bytes()
    shipped = {name for name in inside if ".dist-info/" not in name}
    pages = {f"loopforge/docs/{page.name}" for page in (ROOT / "docs").glob("[a-z]*.md")}
    assert shipped == files_of(ROOT) | pages | {"loopforge/docs/changelog.md"}
    texts = (
        path.read_text("utf-8")
        for each in ("py", "html")
        for path in (ROOT / "src").rglob(f"*.{each}")
    )
    named = {
        f"loopforge/{page}" for text in texts for page in re.findall(r"docs/[a-z-]+\.md", text)
    }
    assert named
    assert named < pages
    for data in (
        "py.typed",
        "models/shipped_models.toml",
        "models/embedded_model.txt",
        "policies/prompts/base.md",
    ):
        assert f"loopforge/{data}" in shipped
    assert sum(name.startswith("loopforge/mates/shipped/") for name in shipped) >= 3


def test_what_it_says_of_itself(wheel: Path) -> None:
    """Version, licence and authors are ours; its description is a page whose links lead somewhere."""
    said = described(wheel)
    assert said["Version"] == __version__
    assert said["License-Expression"] == "MIT"
    assert said["Author"] in (ROOT / "LICENSE").read_text()
    assert said["Description-Content-Type"] == "text/markdown"
    page = (ROOT / "docs" / "installing.md").read_text("utf-8")
    assert str(said.get_payload()).strip() == page.strip()
    links = re.findall(r"\]\(([^)]*)\)", page)
    assert links
    assert all(link.startswith("https://") for link in links)


def test_the_image_holds_what_was_tested() -> None:
    """Its lock has all that running needs, at the versions and hashes that the tests ran with."""

    def locked(name: str) -> set[str]:
        text = (ROOT / "requirements" / f"{name}.txt").read_text("utf-8")
        return set(re.findall(r"^[a-z0-9._-]+==[^#]*?(?=\n[a-z]|\n *#|\Z)", text, re.MULTILINE))

    assert locked("run")
    assert locked("run") < locked("container") < locked("all")


def test_the_source_distribution_makes_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    """What is in the archive of the source is enough to build from, and no more than that."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (packed,) = tmp_path.glob("loopforge_city-*.tar.gz")
    shutil.unpack_archive(packed, tmp_path)
    source = tmp_path / packed.name.removesuffix(".tar.gz")
    assert {each.name for each in source.iterdir()} == {
        ".gitignore", "CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "docs", "pyproject.toml", "src",
    }  # fmt: skip
    again = build(source, tmp_path / "again")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert {each: one.read(each) for each in one.namelist()} == {
            each: other.read(each) for each in other.namelist()
        }


def test_the_image_is_built_of_what_it_copies(wheel: Path, tmp_path: Path) -> None:
    """What the Containerfile copies of what .dockerignore lets through makes the same wheel."""
    asked = (ROOT / ".dockerignore").read_text("utf-8")
    sent = {path for each in re.findall(r"^!(.+)", asked, re.MULTILINE) for path in ROOT.glob(each)}
    copies = re.findall(
        r"^COPY (?!--)(.+) (.+)", (ROOT / "Containerfile").read_text(), re.MULTILINE
    )
    for names, to in copies:
        for source in (ROOT / name for name in names.split()):
            target = tmp_path / to / (source.name if to.endswith("/") else "")
            files = [each for each in [source, *source.rglob("*")] if each.is_file()]
            came = [each for each in files if sent & {each, *each.parents}]
            assert came, source
            for each in came:
                place = target / each.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(each, place)
    again = build(tmp_path, tmp_path / "again")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert set(one.namelist()) == set(other.namelist())


@pytest.mark.patient
def test_alone_in_an_empty_folder_it_opens_a_home(wheel: Path, tmp_path: Path) -> None:
    """`loopforge` without a word makes a home there, serves its pages, and ends when it is told to."""
    commands = environment(tmp_path / "env", wheel)
    home = tmp_path / "mates"
    home.mkdir()
    environ = surroundings(commands, tmp_path)
    version = subprocess.run(
        ["loopforge-city", "--version"], env=environ, capture_output=True, text=True, check=True
    )
    assert version.stdout == f"loopforge {__version__}\n"
    with subprocess.Popen(
        [commands / "loopforge"],
        cwd=home,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = next(found[0] for line in process.stdout if (found := LINK.search(line)))
        with urllib.request.urlopen(address, timeout=120) as page:
            assert "Loopforge" in page.read().decode()
        with urllib.request.urlopen(f"{address}/static/style.css", timeout=120) as style:
            assert style.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0, process.stderr.read()
    assert {each.name for each in (home / "mates").iterdir()} == {"maya.md", "merlin.md", "zuzu.md"}
    assert (home / "data" / "loopforge.db").exists()


def test_among_other_files_nothing_is_made_unasked(tmp_path: Path) -> None:
    """`loopforge` alone in somebody's folder tells what there is, and leaves the folder as it was."""
    (tmp_path / "letter.txt").touch()
    done = run_python("-m", "loopforge", cwd=tmp_path)
    assert "Usage: loopforge" in done.stdout + done.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["letter.txt"]


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment without the small model and without what reports need."""
    return environment(tmp_path_factory.mktemp("bare") / "env", wheel, PACKAGE, "scipy")


def test_an_extra_is_got_by_the_pip_of_the_very_environment(bare: Path, tmp_path: Path) -> None:
    """Who has no clone is told no `make`, but a command that is theirs."""
    doctor = [str(bare / "loopforge"), "--home", str(tmp_path / "home"), "doctor"]
    done = subprocess.run(doctor, env=surroundings(bare, tmp_path), capture_output=True, text=True)
    (said,) = (line for line in done.stdout.splitlines() if "extras:" in line)
    python = re.escape(str(bare / "python"))
    assert re.search(rf"reports\. `{python}\S* -m pip install 'loopforge-city\[all\]'` gets", said)


def test_the_documents_that_texts_point_to_can_be_read(bare: Path, tmp_path: Path) -> None:
    """`loopforge docs` lists what the wheel carries, and shows one by the name that texts call it."""

    def docs(*words: str) -> subprocess.CompletedProcess[str]:
        command, environ = [str(bare / "loopforge"), "docs", *words], surroundings(bare, tmp_path)
        return subprocess.run(command, cwd=tmp_path, env=environ, capture_output=True, text=True)

    assert "\nweb\tThe web room\n" in docs().stdout
    page = (ROOT / "docs" / "web.md").read_text("utf-8")
    assert {docs(name).stdout.rstrip() for name in ("web", "docs/web.md")} == {page.rstrip()}
    news = (ROOT / "CHANGELOG.md").read_text("utf-8").rstrip()
    assert {docs(name).stdout.rstrip() for name in ("changelog", "CHANGELOG.md")} == {news}
    lost = docs("nothing")
    assert (lost.returncode, lost.stderr.count("`loopforge docs` lists them")) == (2, 1)


def test_without_the_small_model_it_says_how_to_get_it(bare: Path, tmp_path: Path) -> None:
    """Where the index cannot be reached the command says what to do, and no home is made."""
    home = tmp_path / "mates"
    home.mkdir()
    done = subprocess.run(
        [bare / "loopforge", "up", "--model", "--headless"],
        cwd=home,
        env=surroundings(bare, tmp_path) | {"PIP_INDEX_URL": NOWHERE, "PIP_RETRIES": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "Try again with `loopforge up --model`" in done.stderr
    assert list(home.iterdir()) == []


@pytest.mark.patient
def test_who_sits_at_a_terminal_is_asked_first(wheel: Path, tmp_path: Path) -> None:
    """The first start says what the small model weighs; without it, the room opens all the same."""
    commands = environment(tmp_path / "env", wheel, PACKAGE)
    home = tmp_path / "mates"
    home.mkdir()
    sat = pexpect.spawn(
        str(commands / "loopforge"),
        cwd=str(home),
        env=surroundings(commands, tmp_path),
        encoding="utf-8",
        timeout=120,
    )
    sat.expect("109 MB")
    sat.expect(r"Fetch it now\? \[Y/n\]: ")
    assert list(home.iterdir()) == []
    sat.sendline("n")
    sat.expect("127.0.0.1")
    sat.close(force=True)
    assert (home / "mates" / "maya.md").exists()
