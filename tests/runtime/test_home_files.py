"""Files of a home: no pipe, no device and no file of holes is read as one."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from loopforge.errors import BadSettings
from loopforge.mates.prompt_files import PromptFiles
from loopforge.runtime.installation.home_files import LARGEST, bytes_of, replace_whole, text_of
from loopforge.settings import load_settings


def _odd(path: Path, kind: str) -> None:
    """Make something that no person wrote."""
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "folder":
            path.mkdir()
        case "ring":
            path.symlink_to(path)
        case _:
            path.touch()
            os.truncate(path, 1 << 40)


ODD = pytest.mark.parametrize("kind", ["pipe", "device", "folder", "ring", "holes"])


@ODD
@pytest.mark.timeout(20)
def test_what_is_no_file_is_not_waited_for(kind: str, tmp_path: Path) -> None:
    """A pipe was waited for, and a device was read until there was no memory."""
    _odd(tmp_path / "x", kind)
    with pytest.raises(OSError, match=r"no file|directory|links|larger"):
        bytes_of(tmp_path / "x")


@ODD
@pytest.mark.timeout(20)
def test_a_home_of_a_stranger_is_told_about_in_a_sentence(kind: str, tmp_path: Path) -> None:
    """Nothing is waited for, and a prompt that is none leaves the shipped one in place."""
    (tmp_path / "prompts").mkdir()
    _odd(tmp_path / "loopforge.toml", kind)
    _odd(tmp_path / "prompts" / "talk.md", kind)
    with pytest.raises(BadSettings, match=r"loopforge.toml cannot be read"):
        load_settings(tmp_path, environ={})
    assert dict(PromptFiles(tmp_path / "prompts")) == dict(PromptFiles())


def test_many_replace_a_file_at_once(tmp_path: Path) -> None:
    """Each does it whole, and nothing is left beside it."""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda nth: replace_whole(tmp_path / "x", nth * b"a"), range(200)))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert set((tmp_path / "x").read_bytes()) <= {ord("a")}


def test_a_file_of_the_largest_size_is_read(tmp_path: Path) -> None:
    """And the mark of its encoding is no word of it."""
    (tmp_path / "x").write_bytes(b"\xef\xbb\xbf" + b"a" * (LARGEST - 3))
    assert text_of(tmp_path / "x") == "a" * (LARGEST - 3)


def test_a_setting_of_a_hundred_thousand_letters_is_told_in_a_sentence(tmp_path: Path) -> None:
    """It stood whole in it, and what nobody sees was in it, too."""
    (tmp_path / "loopforge.toml").write_text(f'"\u202e{"a" * 100_000}" = 1\n', "utf-8")
    with pytest.raises(BadSettings) as told:
        load_settings(tmp_path, environ={})
    assert len(str(told.value)) < 500
    assert "\\u202eaaa" in str(told.value)
