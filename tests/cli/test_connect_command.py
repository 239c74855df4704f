"""loopforge mate connect and disconnect: what is asked, refused and said. Nobody is visited."""

import io
import shutil
from pathlib import Path

import pytest
import typer

from loopforge.cli import main
from loopforge.cli.connect_command import conclude
from loopforge.io import bot_connecting
from loopforge.io.platforms.bot_tokens import BotAccount, BotTokens
from loopforge.io.platforms.surface_plugin import AccountFinding, ConnectReport
from loopforge.mates.mate_roster import MateRoster
from tests.cli.conftest import Run

NOUN, TELEGRAM = "mate", f"123456:{'A' * 35}"


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is at the terminal."""
    monkeypatch.setattr("sys.stdin", io.StringIO(""))


def test_a_bad_token(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no token is refused with where to find one; it is neither shown nor kept."""
    monkeypatch.setattr("sys.stdin", io.StringIO("0123456789abcdef0123456789abcdef\n"))
    code, _, said = run("connect", "maya", "--to", "discord", "--token-from-stdin")
    assert code == 2
    assert "no token of a bot of Discord" in said
    assert "https://discord.com/developers/applications" in said
    assert "0123456789abcdef" not in said
    assert BotTokens(home / "data", {}).accounts() == []


def test_a_home_without_data(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home that was never started is made whole; its ledger could not be opened."""
    shutil.rmtree(home / "data", ignore_errors=True)
    monkeypatch.setenv("LOOPFORGE_TELEGRAM_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr("sys.stdin", io.StringIO(TELEGRAM))
    _, _, said = run("connect", "maya", "--to", "telegram", "--token-from-stdin")
    assert "cannot be opened" not in said
    assert "cannot be reached, or does not answer" in said


def test_a_token_of_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mate's own variable is taken before anybody is asked, and named."""
    monkeypatch.setenv("DISCORD_TOKEN_MAYA", TELEGRAM)
    code, _, said = run("connect", "Maya", "--to", "discord")
    assert code == 2
    assert "taken from DISCORD_TOKEN_MAYA" in said
    assert "This is a token of Telegram, not of Discord." in said
    assert TELEGRAM not in said


def test_nobody_to_ask(run: Run) -> None:
    """Without a terminal and a variable it is said how to give the token."""
    code, _, said = run("connect", "all", "--to", "telegram")
    assert code == 2
    assert "Set TELEGRAM_TOKEN, or give it" in said
    assert "--token-from-stdin" in said


def test_never_on_the_command_line(run: Run) -> None:
    """A token that is given as an argument is not taken."""
    assert run("connect", "maya", TELEGRAM, "--to", "telegram")[0] == 2
    assert run("connect", "maya", "--to", "telegram", "--token", TELEGRAM)[0] == 2


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


def test_disconnected(run: Run, home: Path) -> None:
    """A mate that is disconnected is forgotten, and the others of its bot stay."""
    tokens = BotTokens(home / "data", {})
    tokens.keep(BotAccount(platform="telegram", token=TELEGRAM, mates=("maya", "merlin")))
    assert "Its bot goes on for merlin." in run("disconnect", "Maya", "--from", "telegram")[1]
    assert [each.mates for each in tokens.accounts()] == [("merlin",)]
    assert "The token is forgotten here." in run("disconnect", "merlin", "--from", "telegram")[1]
    assert tokens.accounts() == []


def test_a_bot_of_a_surface_that_is_gone(
    run: Run, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The doctor says how to forget it, and that does."""
    tokens = BotTokens(home / "data", {})
    tokens.keep(BotAccount(platform="bell", token="ding", mates=("maya",)))
    main(["--home", str(home), "doctor", "--offline"])
    assert "`loopforge mate disconnect maya --from bell`" in capsys.readouterr().out
    assert run("disconnect", "maya", "--from", "bell")[0] == 0
    assert tokens.accounts() == []


def test_a_handle_comes_before_a_name(run: Run, home: Path) -> None:
    """Of two mates that are called Maya the one is meant whose handle is given, in capitals or not."""
    written = (home / "mates" / "maya.md").read_text()
    for handle in ("a-maya", "maya2"):
        other = written.replace("\n---\n", f"\nhandle: {handle}\n---\n", 1)
        (home / "mates" / f"{handle}.md").write_text(other)
    tokens = BotTokens(home / "data", {})
    for n, handle in enumerate(("a-maya", "maya", "maya2")):
        tokens.keep(BotAccount(platform="telegram", token=f"{n}{TELEGRAM}", mates=(handle,)))
    assert run("disconnect", "Maya", "--from", "telegram")[0] == 0
    assert [each.mates for each in tokens.accounts()] == [("a-maya",), ("maya2",)]
    found = bot_connecting.found("maya", MateRoster(home / "mates").mates())
    assert found is not None
    assert found.handle == "maya"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("zuzu", "zuzu speaks by the bot that is there for all; disconnect `all`."),
        ("merlin", "merlin's token comes from TELEGRAM_TOKEN_MERLIN; unset that variable"),
        ("all", ""),
    ],
)
def test_what_speaks_otherwise(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    """Who speaks by the bot of all, or by a variable, is told how to end that."""
    monkeypatch.setenv("TELEGRAM_TOKEN_MERLIN", f"7{TELEGRAM}")
    BotTokens(home / "data", {}).keep(BotAccount(platform="telegram", token=TELEGRAM, mates=("*",)))
    code, _, err = run("disconnect", name, "--from", "telegram")
    assert code == (2 if said else 0)
    assert said in err


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("disconnect", "nobody", "--from"), "no mate 'nobody'. Known: maya, merlin, zuzu."),
        (("disconnect", "zuzu", "--from"), "zuzu is not connected to Discord."),
        (("connect", "mayo", "--to"), "There is no mate 'mayo'. Known: maya, merlin, zuzu."),
    ],
)
def test_a_mate_that_is_not(run: Run, words: tuple[str, ...], said: str) -> None:
    """A mate that does not exist, or not there, is no mate to connect; those that do are named."""
    code, _, err = run(*words, "discord")
    assert code == 2
    assert said in err


def test_the_doctor_on_a_damaged_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of accounts that is damaged is wrong, and named."""
    (home / "data").mkdir(exist_ok=True)
    (home / "data" / "accounts.json").write_text("[")
    assert main(["--home", str(home), "doctor"]) == 1
    assert "accounts.json is damaged" in capsys.readouterr().out
