"""Tokens: by which bot accounts the mates of this home are on which platform.

A mate has an account of its own, or one account is there for many mates. Tokens come from the
environment (a platform's name and _TOKEN for the shared account, _TOKEN_MAYA for Maya's own) or
from a file in the home's data that only its owner can read; the environment wins. A token is never
shown: what stands for it is its account's number, which is no secret.

Does not know whether a token is good; that is asked of the platform.
"""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from loopforge.errors import BadSettings, Unknown
from loopforge.runtime.installation.home_files import exclusive_access, write_private

EVERYBODY = "*"
"""Stands for all mates of the home."""
FILE = "accounts.json"
VARIABLE = re.compile(r"([A-Z0-9]+)_TOKEN(?:_([A-Z0-9_]+))?")


def tokens_in(environ: Mapping[str, str], platforms: Collection[str]) -> dict[str, str]:
    """What is set of these platforms' variables: NAME_TOKEN, NAME_TOKEN_MAYA and so on."""
    return {
        name: value
        for name, value in environ.items()
        if value and (found := VARIABLE.fullmatch(name)) and found[1].lower() in platforms
    }


class BotAccount(Struct, frozen=True, kw_only=True):
    """A bot account of a platform, and the mates that speak by it (handles, or "*" for all).

    `shared`: its mates speak under their own names all the same, where the platform lets them.
    `source` is where the token comes from: a variable's name, or the file's.
    """

    platform: str
    token: str
    mates: tuple[str, ...]
    source: str = ""

    @property
    def shared(self) -> bool:
        """Whether it is there for more than one mate."""
        return self.mates == (EVERYBODY,) or len(self.mates) > 1

    @property
    def renewal(self) -> str:
        """What gives it another token, as the end of a sentence."""
        if VARIABLE.fullmatch(self.source):
            return f"set {self.source} anew, and start the home again"
        return "connect the mate anew"

    def speaks_for(self, mate: str) -> bool:
        """Whether this mate is on the platform by this account."""
        return mate in self.mates or EVERYBODY in self.mates

    def amiss(self, known: Collection[str]) -> str:
        """What is wrong with whose it is; "" if nothing, or where no mate is known at all."""
        missing = [mate for mate in self.mates if mate != EVERYBODY and mate not in known]
        if not missing or not known:
            return ""
        which = f": {', '.join(missing)}" if len(self.mates) > 1 else ""
        return f"no such mate{which}; known: {', '.join(known)}"

    def __repr__(self) -> str:
        """Without the token."""
        return f"Account({self.platform}, {', '.join(self.mates)}, from {self.source})"


class BotTokens:
    """The accounts of one home: those of the environment, and the file's."""

    def __init__(self, data: Path, environ: Mapping[str, str]) -> None:
        self._path = data / FILE
        self._environ = environ

    def accounts(self, platform: str | None = None) -> list[BotAccount]:
        """Every account, the environment's first; one that both name is the environment's."""
        return [
            account
            for account, why in self.weighed()
            if not why and platform in (None, account.platform)
        ]

    def weighed(self) -> list[tuple[BotAccount, str]]:
        """Every account, and why it is passed over: another one has its token. "" if it is not."""
        found: dict[tuple[str, tuple[str, ...]], BotAccount] = {}
        for account in (*self._given(), *self._kept()):
            found.setdefault((account.platform, account.mates), account)
        first: dict[tuple[str, str], BotAccount] = {}
        for account in found.values():
            first.setdefault((account.platform, account.token), account)
        return [(each, _same(first[each.platform, each.token], each)) for each in found.values()]

    def written(self) -> int:
        """When the file was written last, in nanoseconds; 0 where there is none."""
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return 0

    def secrets(self) -> list[str]:
        """Every token, to be kept out of what anybody sees."""
        return [account.token for account in self.accounts()]

    def keep(self, account: BotAccount) -> None:
        """Keep an account in the file, in place of others that its mates had there."""
        with exclusive_access(self._path):
            others = [
                _without(each, account.mates) if each.platform == account.platform else each
                for each in self._kept()
            ]
            self._write([*(each for each in others if each.mates), account])

    def drop(self, platform: str, mate: str) -> BotAccount:
        """Forget the account of this mate, or it among the mates of one. Raises Unknown."""
        with exclusive_access(self._path):
            return self._drop(platform, mate)

    def _drop(self, platform: str, mate: str) -> BotAccount:
        kept = self._kept()
        mine = (each for each in kept if each.platform == platform and mate in each.mates)
        if (found := next(mine, None)) is None:
            for account in self._given():
                if account.platform == platform and account.speaks_for(mate):
                    raise Unknown(
                        f"{mate}'s token comes from {account.source}; unset that variable, and "
                        "start the home anew."
                    )
            raise Unknown(f"{mate} is not connected to {platform}.")
        left = (_without(each, (mate,)) if each is found else each for each in kept)
        self._write([each for each in left if each.mates])
        return found

    def _given(self) -> Iterator[BotAccount]:
        for name, token in sorted(self._environ.items()):
            if found := VARIABLE.fullmatch(name):
                mate = (found[2] or "").lower().replace("_", "-")
                mates = (mate or EVERYBODY,)
                yield BotAccount(
                    platform=found[1].lower(), token=token.strip(), mates=mates, source=name
                )

    def _kept(self) -> list[BotAccount]:
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadSettings(f"{self._path.name} cannot be read: {error.strerror}.") from error
        try:
            return msgspec.json.decode(text, type=list[BotAccount])
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise BadSettings(
                f"{self._path} is damaged. Take it away, and connect the mates anew with "
                "`loopforge mate connect`."
            ) from None

    def _write(self, accounts: list[BotAccount]) -> None:
        shown = [msgspec.structs.replace(each, source=FILE) for each in accounts]
        write_private(self._path, msgspec.json.format(msgspec.json.encode(shown), indent=1))


class UntoldToken:
    """The tokens, which mates never say: all that there were since the home began.

    Where the file of accounts cannot be read just now, the platforms tell of it.
    """

    def __init__(self, tokens: BotTokens) -> None:
        self._tokens, self._known = tokens, frozenset[str]()
        self._written = -1

    def __call__(self) -> frozenset[str]:
        """Those that are known now, also of accounts that were connected a moment ago."""
        if (written := self._tokens.written()) != self._written:
            with contextlib.suppress(BadSettings):
                self._known |= {*self._tokens.secrets()}
            self._written = written
        return self._known


def _without(account: BotAccount, mates: Collection[str]) -> BotAccount:
    """The account as it is for its other mates, if any."""
    left = tuple(mate for mate in account.mates if mate not in mates)
    return msgspec.structs.replace(account, mates=left)


def _same(first: BotAccount, account: BotAccount) -> str:
    """Why the second of two accounts by one token is passed over; "" of the first itself."""
    if first is account:
        return ""
    whose = "" if first.source != FILE else f", {', '.join(first.mates)}'s"
    return f"the same token as {first.source}{whose}"
