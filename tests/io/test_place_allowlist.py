"""Where mates talk on a platform, as it is set: a word that names no place is asked back for."""

from pathlib import Path

import pytest

from loopforge.errors import BadSettings
from loopforge.settings import load_settings


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("discord_places", "konwn", "konwn"),
        ("discord_places", "open, 4711", "open"),
        ("discord_places", "４７１１", "４７１１"),
        ("telegram_groups", "-1001234567890 lab", "lab"),
        ("telegram_groups", "1001234567890", "1001234567890"),
        ("telegram_groups", "-1001234567890/7", "-1001234567890/7"),
    ],
)
def test_what_names_no_place(tmp_path: Path, name: str, value: str, wrong: str) -> None:
    """Nobody would be served by it, and nobody told; so the home says what to write there."""
    (tmp_path / "loopforge.toml").write_text(f'{name} = "{value}"\n')
    with pytest.raises(BadSettings, match=f"`{name}` .*: {wrong} is no id .*known, open, or ids"):
        load_settings(tmp_path, environ={})


@pytest.mark.parametrize("value", ["Known", " open ", "", "-4711", "-4711; -1001234567890,"])
def test_what_names_places(tmp_path: Path, value: str) -> None:
    """One of the two words, ids with anything between, or nothing at all."""
    (tmp_path / "loopforge.toml").write_text(f'telegram_groups = "{value}"\n')
    load_settings(tmp_path, environ={})
