"""The home: the folder a Loopforge lives in, made on first use and held by one process at a time.

    loopforge.toml   settings; as made, every one stands there as a comment, with its default
    mates/           one file per mate; the shipped ones to begin with
    prompts/         your own versions of the shipped prompts
    scenarios/       your own scenarios for the factory
    data/            the database, files, logs: everything that is written while running

Making a home never overwrites anything. Data, mates and settings are closed to all but their owner,
at every start anew. Knows nothing of what runs in it.
"""

import json
import logging
import re
import stat
import textwrap
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from loopforge.errors import LoopforgeError
from loopforge.runtime.installation.settings_file import FILE
from loopforge.runtime.plugins.setting_declarations import SettingsRow
from loopforge.settings import settings_rows

log = logging.getLogger(__name__)

FOLDERS = ("mates", "prompts", "scenarios", "data")
HEAD = """\
Settings of this home. Take the # away from a line that begins with #name to change it; each can
also be set by an environment variable, LOOPFORGE_ and its name in capitals, which wins. Settings
stand above the first [table]. `loopforge doctor` says what is wrong, and in which line."""

MODELS_HEAD = """\
Below is the ladder of models as it ships. What you write under [tiers] and [models] comes on top
of it, so take the # away only from what you change. Keys never stand in this file: they come from
the providers' own variables, such as OPENAI_API_KEY. See docs/adding-models.md."""

PROMPTS_NOTE = """\
# Your own prompts

A file here is used instead of the shipped prompt of the same name, from the next turn on. Words in
braces, such as {name}, are filled in. The shipped prompts:

"""

SCENARIOS_NOTE = """\
# Your own scenarios

Scenarios of the factory live here, one file each.
"""


def make_home(home: Path) -> list[Path]:
    """Make what is missing of a home, and return what was made, in order.

    The shipped mates are put in only together with their folder: one that you delete stays away.
    """
    made: list[Path] = []
    try:
        fresh_mates = not (home / "mates").exists()
        for folder in (home, *(home / name for name in FOLDERS)):
            if not folder.exists():
                folder.mkdir(0o700 if folder.name == "data" else 0o777, parents=True)
                made.append(folder)
        for path, text in _contents(home, fresh_mates):
            if _put(path, text):
                made.append(path)
        _close_off(home)
    except OSError as error:
        raise LoopforgeError(f"The home {home} cannot be made: {error}.") from error
    return made


def _close_off(home: Path) -> None:
    """What may hold something private is for its owner alone, whoever made it and however."""
    data = home / "data"
    for path in (data, home / "mates", home / FILE, *data.glob("*.db*"), *data.glob("logs/*")):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & 0o077:
                path.chmod(mode & 0o700)
        except FileNotFoundError:  # a link that leads nowhere; a journal that was closed just now
            continue
        except OSError as error:
            if path == data:
                raise
            log.warning("%s stays open to others: %s", path, error.strerror)


def _contents(home: Path, fresh_mates: bool) -> Iterator[tuple[Path, str]]:
    yield home / FILE, example()
    prompts = "".join(f"- {name}\n" for name in _texts("policies/prompts"))
    yield home / "prompts" / "README.md", PROMPTS_NOTE + prompts
    yield home / "scenarios" / "README.md", SCENARIOS_NOTE
    if fresh_mates:
        for name, text in shipped_mates().items():
            yield home / "mates" / name, text


def _put(path: Path, text: str) -> bool:
    """Write a new file; an existing one stays as it is."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    return True


def shipped_mates() -> dict[str, str]:
    """The mates that come along, by file name."""
    return _texts("mates/shipped")


def _texts(folder: str) -> dict[str, str]:
    shipped = [f for f in files("loopforge").joinpath(folder).iterdir() if f.name.endswith(".md")]
    return {file.name: file.read_text("utf-8") for file in sorted(shipped, key=lambda f: f.name)}


# ---------------------------------------------------------------- the example file


def example() -> str:
    """loopforge.toml with every setting and the model ladder as comments."""
    parts = [_prose(HEAD)]
    group = ""
    for row in settings_rows():
        if row.group != group:
            group = row.group
            parts.append(f"\n# {f' {group} ':-^76}")
        parts.append("\n" + _entry(row))
    parts.append(f"\n# {' Model tiers ':-^76}\n\n{_prose(MODELS_HEAD)}\n\n{_ladder()}")
    return "\n".join(parts)


def _entry(row: SettingsRow) -> str:
    default = f" Default: {row.shown}." if row.told else ""
    value = json.dumps(row.default, ensure_ascii=False)  # as TOML writes texts, numbers and truth
    return f"{_prose(f'{row.help} ({row.allowed}){default}')}\n#{row.name} = {value}"


def _prose(text: str) -> str:
    return "\n".join(f"# {line}" for line in textwrap.wrap(" ".join(text.split()), 96))


def _ladder() -> str:
    """The shipped ladder, from its first table on, with # before each line."""
    text = files("loopforge").joinpath("models", "shipped_models.toml").read_text("utf-8")
    body = text[text.index("\n[tiers]") + 1 :]
    return re.sub(r"^(?=[^#\n])", "#", body, flags=re.MULTILINE)
