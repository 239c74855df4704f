"""Tokens: which account a mate has where, from the environment and from the home's file."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from loopforge.errors import BadSettings, Unknown
from loopforge.io.tokens import Account, Tokens
from loopforge.settings import load_settings


def test_from_the_environment(tmp_path: Path) -> None:
    """DISCORD_TOKEN is there for all mates, DISCORD_TOKEN_MAYA for Maya alone."""
    environ = {"DISCORD_TOKEN": "one", "DISCORD_TOKEN_MAYA": "two", "TELEGRAM_TOKEN_ZU_ZU": "three"}
    settings = load_settings(tmp_path, environ=environ)
    accounts = Tokens(settings.data, settings.tokens).accounts()
    assert [(each.platform, each.mates, each.source) for each in accounts] == [
        ("discord", ("*",), "DISCORD_TOKEN"),
        ("discord", ("maya",), "DISCORD_TOKEN_MAYA"),
        ("telegram", ("zu-zu",), "TELEGRAM_TOKEN_ZU_ZU"),
    ]
    assert "two" not in repr(accounts)
    assert "two" not in repr(settings)


def test_kept_for_its_owner_alone(tmp_path: Path) -> None:
    """What is kept is read back, only its owner may read the file, and it can be dropped."""
    tokens = Tokens(tmp_path / "data", {})
    tokens.keep(Account(platform="discord", token="one", mates=("maya",)))
    tokens.keep(Account(platform="discord", token="new", mates=("maya",)))
    tokens.keep(Account(platform="telegram", token="two", mates=("maya", "otto")))
    path = tmp_path / "data" / "accounts.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert tokens.secrets() == ["new", "two"]
    tokens.drop("telegram", "otto")
    assert [each.mates for each in tokens.accounts("telegram")] == [("maya",)]
    tokens.drop("telegram", "maya")
    assert tokens.accounts("telegram") == []
    with pytest.raises(Unknown, match="otto is not connected to telegram"):
        tokens.drop("telegram", "otto")


def test_the_environment_wins(tmp_path: Path) -> None:
    """A token that both name is the environment's, and only there it can be taken away."""
    Tokens(tmp_path, {}).keep(Account(platform="discord", token="old", mates=("maya",)))
    tokens = Tokens(tmp_path, {"DISCORD_TOKEN_MAYA": "new", "DISCORD_TOKEN_OTTO": "x"})
    assert tokens.secrets() == ["new", "x"]
    with pytest.raises(Unknown, match="unset that variable"):
        tokens.drop("discord", "otto")


def test_a_damaged_file(tmp_path: Path) -> None:
    """A damaged file is named, with what to do, and nothing of it is shown."""
    (tmp_path / "accounts.json").write_text('[{"token": "secret"')
    with pytest.raises(BadSettings, match="connect the mates anew") as caught:
        Tokens(tmp_path, {}).accounts()
    assert "secret" not in str(caught.value)
