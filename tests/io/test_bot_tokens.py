"""Tokens: which account a mate has where, from the environment and from the home's file."""

import dataclasses
import stat
from pathlib import Path

import pytest

from loopforge.app import open_app
from loopforge.core.room_vocabulary import Heard, Said
from loopforge.core.text.erasable_text import Words
from loopforge.errors import BadSettings, Unknown
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens, UntoldToken
from loopforge.models.scripted_model import ScriptedModels
from loopforge.runtime.system_clock import SystemClock
from loopforge.settings import load_settings
from tests.rooms.conftest import write_mates


def test_from_the_environment(tmp_path: Path) -> None:
    """DISCORD_TOKEN is there for all mates, DISCORD_TOKEN_MAYA for Maya alone."""
    environ = {"DISCORD_TOKEN": "one", "DISCORD_TOKEN_MAYA": "two", "TELEGRAM_TOKEN_ZU_ZU": "three"}
    settings = load_settings(tmp_path, environ=environ)
    accounts = BotTokens(settings.data, settings.tokens).accounts()
    assert [(each.platform, each.mates, each.source) for each in accounts] == [
        ("discord", ("*",), "DISCORD_TOKEN"),
        ("discord", ("maya",), "DISCORD_TOKEN_MAYA"),
        ("telegram", ("zu-zu",), "TELEGRAM_TOKEN_ZU_ZU"),
    ]
    assert "two" not in repr(accounts)
    assert "two" not in repr(settings)


def test_kept_for_its_owner_alone(tmp_path: Path) -> None:
    """What is kept is read back, only its owner may read the file, and it can be dropped."""
    tokens = BotTokens(tmp_path / "data", {})
    tokens.keep(BotAccount(platform="discord", token="one", mates=("maya",)))
    tokens.keep(BotAccount(platform="discord", token="new", mates=("maya",)))
    tokens.keep(BotAccount(platform="telegram", token="two", mates=("maya", "otto")))
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
    BotTokens(tmp_path, {}).keep(BotAccount(platform="discord", token="old", mates=("maya",)))
    tokens = BotTokens(tmp_path, {"DISCORD_TOKEN_MAYA": "new", "DISCORD_TOKEN_OTTO": "x"})
    assert tokens.secrets() == ["new", "x"]
    with pytest.raises(Unknown, match="unset that variable"):
        tokens.drop("discord", "otto")


def test_one_token_twice(tmp_path: Path) -> None:
    """Of two accounts by one token the second is passed over, and it is said for which one."""
    BotTokens(tmp_path, {}).keep(BotAccount(platform="discord", token="one", mates=("zuzu",)))
    environ = {"DISCORD_TOKEN_MAYA": "one", "DISCORD_TOKEN_MERLIN": "one", "TELEGRAM_TOKEN": "two"}
    tokens = BotTokens(tmp_path, environ)
    why = "the same token as DISCORD_TOKEN_MAYA"
    assert [(each.mates, said) for each, said in tokens.weighed()] == [
        (("maya",), ""),
        (("merlin",), why),
        (("*",), ""),
        (("zuzu",), why),
    ]
    assert [each.mates for each in tokens.accounts()] == [("maya",), ("*",)]


def test_a_mate_that_is_not() -> None:
    """Of an account whose mate is not known it is said who is; all mates, and none, are no fault."""
    account = BotAccount(platform="discord", token="one", mates=("mayo",))
    both = BotAccount(platform="discord", token="one", mates=("maya", "mayo"))
    assert account.amiss(["maya", "zuzu"]) == "no such mate; known: maya, zuzu"
    assert both.amiss(["maya"]) == "no such mate: mayo; known: maya"
    assert account.amiss([]) == account.amiss(["mayo"]) == ""
    assert BotAccount(platform="discord", token="one", mates=("*",)).amiss(["maya"]) == ""


async def test_a_token_that_came_later_is_not_said(tmp_path: Path) -> None:
    """A mate says no token, also of an account that was connected after the home began."""
    token = f"123456:{'A' * 35}"
    write_mates(tmp_path)
    settings = load_settings(tmp_path, environ={"LOOPFORGE_TIMEZONE": "UTC"})
    settings = dataclasses.replace(settings, debounce_seconds=0.0)
    tokens, clock = BotTokens(settings.data, {}), SystemClock()
    settings.data.mkdir()
    models = ScriptedModels(lambda _: f"It is {token}, I think.", clock=clock)
    async with open_app(settings, models=models, secrets=UntoldToken(tokens), follow=0) as app:
        tokens.keep(BotAccount(platform="telegram", token=token, mates=("zuzu",)))
        scene = await app.front.rooms.enter("commons", "ana", "terminal", ("maya",))
        await app.front.rooms.hear(
            "commons", Heard(person=scene.you, text=Words("maya?"), surface="terminal", source="1")
        )
        await app.front.rooms.settled("commons")
        said = [e.body for e in await app.ledger.read("room:commons") if isinstance(e.body, Said)]
    assert [str(body.text) for body in said] == ["It is [redacted], I think."]


@pytest.mark.parametrize("data", [b'[{"token": "secret"', b'[{"token": "secret\xb0"}]'])
def test_a_damaged_file(tmp_path: Path, data: bytes) -> None:
    """A damaged file is named, with what to do, and nothing of it is shown."""
    (tmp_path / "accounts.json").write_bytes(data)
    with pytest.raises(BadSettings, match="connect the mates anew") as caught:
        BotTokens(tmp_path, {}).accounts()
    assert "secret" not in str(caught.value)
