"""loopforge mate connect and disconnect: what is asked, refused and said. Nobody is visited."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
import typer

from loopforge.cli import main
from loopforge.cli.connect_command import conclude
from loopforge.home import make_home
from loopforge.io.platforms.account_findings import AccountFinding, ConnectReport
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens

TELEGRAM = f"123456:{'A' * 35}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the mates that come along, and nobody at its terminal."""
    make_home(tmp_path / "home")
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return tmp_path / "home"


def run(home: Path, *arguments: str) -> int:
    """One command in this home; its exit code."""
    return main(["--home", str(home), "mate", *arguments])


def test_a_bad_token(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is no token is refused with where to find one; it is neither shown nor kept."""
    monkeypatch.setattr("sys.stdin", io.StringIO("0123456789abcdef0123456789abcdef\n"))
    assert run(home, "connect", "maya", "--to", "discord", "--token-from-stdin") == 2
    said = capsys.readouterr().err
    assert "no token of a bot of Discord" in said
    assert "https://discord.com/developers/applications" in said
    assert "0123456789abcdef" not in said
    assert BotTokens(home / "data", {}).accounts() == []


def test_a_token_of_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mate's own variable is taken before anybody is asked, and named."""
    monkeypatch.setenv("DISCORD_TOKEN_MAYA", TELEGRAM)
    assert run(home, "connect", "Maya", "--to", "discord") == 2
    said = capsys.readouterr().err
    assert "taken from DISCORD_TOKEN_MAYA" in said
    assert "This is a token of Telegram, not of Discord." in said
    assert TELEGRAM not in said


def test_nobody_to_ask(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal and a variable it is said how to give the token."""
    assert run(home, "connect", "all", "--to", "telegram") == 2
    said = capsys.readouterr().err
    assert "Set TELEGRAM_TOKEN, or give it" in said
    assert "--token-from-stdin" in said


def test_never_on_the_command_line(home: Path) -> None:
    """A token that is given as an argument is not taken."""
    assert run(home, "connect", "maya", TELEGRAM, "--to", "telegram") == 2
    assert run(home, "connect", "maya", "--to", "telegram", "--token", TELEGRAM) == 2


def test_a_mate_that_is_not(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mate that does not exist cannot be connected; those that do are named."""
    assert run(home, "connect", "mayo", "--to", "discord") == 2
    said = capsys.readouterr().err
    assert "There is no mate 'mayo'. Known: maya, merlin, zuzu." in said


def test_what_is_missing_comes_last(capsys: pytest.CaptureFixture[str]) -> None:
    """Where nobody can talk yet nothing says "connected": what to mend ends it, with exit code 1."""
    account = BotAccount(platform="discord", token="t", mates=("maya",))
    bad = AccountFinding("bad", "its Message Content Intent is off.", "Switch it on.")
    good, ways = AccountFinding("ok", "it is in the server Here."), (("Bring it", "https://x"),)
    with pytest.raises(typer.Exit) as ended:
        conclude(account, "Discord", {}, ConnectReport((bad, good), ways))
    assert ended.value.exit_code == 1
    said = capsys.readouterr().out
    assert said.endswith("WRONG  its Message Content Intent is off.\n       -> Switch it on.\n")
    assert "connected" not in said
    conclude(account, "Discord", {}, ConnectReport((good,), ways))
    assert "maya is connected to Discord." in capsys.readouterr().out


def test_disconnected(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mate that is disconnected is forgotten, and the others of its bot stay."""
    tokens = BotTokens(home / "data", {})
    tokens.keep(BotAccount(platform="telegram", token=TELEGRAM, mates=("maya", "merlin")))
    assert run(home, "disconnect", "Maya", "--from", "telegram") == 0
    assert "Its bot goes on for merlin." in capsys.readouterr().out
    assert [each.mates for each in tokens.accounts()] == [("merlin",)]
    assert run(home, "disconnect", "merlin", "--from", "telegram") == 0
    assert "The token is forgotten here." in capsys.readouterr().out
    assert tokens.accounts() == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("zuzu", "zuzu speaks by the bot that is there for all; disconnect `all`."),
        ("merlin", "merlin's token comes from TELEGRAM_TOKEN_MERLIN; unset that variable"),
        ("all", ""),
    ],
)
def test_what_speaks_otherwise(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    said: str,
) -> None:
    """Who speaks by the bot of all, or by a variable, is told how to end that."""
    monkeypatch.setenv("TELEGRAM_TOKEN_MERLIN", f"7{TELEGRAM}")
    BotTokens(home / "data", {}).keep(BotAccount(platform="telegram", token=TELEGRAM, mates=("*",)))
    assert run(home, "disconnect", name, "--from", "telegram") == (2 if said else 0)
    assert said in capsys.readouterr().err


def test_the_doctor_offline(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Offline the doctor says which accounts there are, asks nobody, and shows no token."""
    tokens = BotTokens(home / "data", {})
    tokens.keep(BotAccount(platform="telegram", token=TELEGRAM, mates=("maya", "merlin")))
    tokens.keep(BotAccount(platform="discord", token="secret", mates=("*",)))
    assert main(["--home", str(home), "doctor", "--offline"]) == 0
    said = capsys.readouterr().out
    assert "note   Telegram (maya, merlin): by accounts.json; not asked." in said
    assert "note   Discord (all mates): by accounts.json; not asked." in said
    assert TELEGRAM not in said
    assert "secret" not in said


def test_the_doctor_on_accounts_that_nobody_talks_by(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One token for two mates, and a token for a mate that is not there, are wrong; both named."""
    for name in ("MAYA", "MERLIN"):
        monkeypatch.setenv(f"DISCORD_TOKEN_{name}", "one and the same")
    monkeypatch.setenv("DISCORD_TOKEN_MAYO", "another")
    assert main(["--home", str(home), "doctor", "--offline"]) == 1
    said = capsys.readouterr().out
    assert "WRONG  Discord (merlin): by DISCORD_TOKEN_MERLIN: the same token as " in said
    assert "as DISCORD_TOKEN_MAYA, so it is passed over." in said
    assert "WRONG  Discord (mayo): by DISCORD_TOKEN_MAYO: no such mate; known: maya, merlin" in said
    assert "-> `loopforge mate new mayo` makes it; else unset DISCORD_TOKEN_MAYO." in said
    assert "2 wrong." in said


def test_nobody_is_disconnected(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who wants to disconnect a mate that is not there is told who is."""
    assert run(home, "disconnect", "nobody", "--from", "discord") == 2
    assert "There is no mate 'nobody'. Known: maya, merlin, zuzu." in capsys.readouterr().err
    assert run(home, "disconnect", "zuzu", "--from", "discord") == 2
    assert "zuzu is not connected to Discord." in capsys.readouterr().err


def test_the_doctor_on_a_damaged_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of accounts that is damaged is wrong, and named."""
    (home / "data").mkdir(exist_ok=True)
    (home / "data" / "accounts.json").write_text("[")
    assert main(["--home", str(home), "doctor"]) == 1
    assert "accounts.json is damaged" in capsys.readouterr().out
