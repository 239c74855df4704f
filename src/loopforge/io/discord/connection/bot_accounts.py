"""The accounts of ours that are there: who speaks for whom, who sees what, who is one of us.

Waits for an account that is about to be back. Does not send, and does not start anybody.
"""

import asyncio
import base64
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import discord
from loopforge.core.mates.mate_file import Mate
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.api_errors import (
    BEFORE,
    OUT,
    as_send_failure,
    is_refused_by_proxy,
)
from loopforge.io.discord.connection.gateway_client import GatewayClient, Talk
from loopforge.io.platforms.bot_tokens import EVERYBODY, BotAccount
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock

PREFIX = "discord:"
GATHERING = 5.0
"""Seconds that are waited for accounts that are about to be there."""
AWAY = 30.0
"""Seconds that somebody who speaks waits for an account; how long in all, deliveries decide."""
CONTESTED = (
    "another program speaks by this bot, too, so that people are answered twice: end that one, or "
    "make a new token in the developer portal, and "
)
"""What is said of an account by which another program speaks, before what to do then."""
Standing = Literal["waiting", "connected", "refused"]


class AccountState(NamedTuple):
    """How an account stands, also in plain words."""

    standing: Standing = "waiting"
    said: str = "it is being connected"


class AccountSeat(NamedTuple):
    """A client, and a place as it sees that."""

    client: GatewayClient
    channel: Talk


def place_of(channel: int) -> str:
    """The key of a place."""
    return f"{PREFIX}{channel}"


def channel_of(place: str) -> int:
    """The id behind the key of a place."""
    return int(place.removeprefix(PREFIX))


def user_of(token: str) -> int:
    """The id of the bot that a token is for, which is its first part; 0 where it is none."""
    head = token.partition(".")[0]
    try:
        plain = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode("ascii")
    except ValueError:
        return 0
    return int(plain) if plain.isdecimal() else 0


def channel_label(channel: object) -> str:
    """What a place is called in a sentence."""
    if isinstance(channel, discord.DMChannel):
        return "a private talk"
    name = str(getattr(channel, "name", "") or "the channel")
    return name if isinstance(channel, discord.Thread) else f"#{name}"


class BotAccounts:
    """Our accounts and their clients, by the accounts' order."""

    def __init__(
        self, accounts: Sequence[BotAccount], mates: Mapping[str, Mate], clock: Clock
    ) -> None:
        self.accounts = tuple(accounts)
        self._mates, self._clock, self._tasks = mates, clock, BackgroundTasks()
        self._clients: dict[int, GatewayClient] = {}
        self._users = {user_of(account.token): account for account in accounts}
        self._states = [AccountState() for _ in accounts]
        self._changed = asyncio.Event()
        self._late: set[int] = set()
        self._left = False

    def leave(self) -> None:
        """Nobody of us is there any more: who waits for an account waits no longer."""
        self._left = True
        self._changed.set()

    # ------------------------------------------------------------ how they stand

    def states(self) -> dict[str, str]:
        """How it stands with each account, by its mates."""
        return {
            ", ".join(account.mates): state.said
            for account, state in zip(self.accounts, self._states, strict=True)
        }

    def stands(self, index: int, standing: Standing, why: str = "") -> None:
        """An account's standing is another one now."""
        if standing != "waiting":
            self._late.discard(index)
        said = why or f"connected as {self._clients[index].user}"
        self._states[index] = AccountState(standing, said)
        self._changed.set()
        self._changed = asyncio.Event()

    def contested(self, index: int) -> None:
        """Another program speaks by an account of ours."""
        renewal = self.accounts[index].renewal
        said = f"connected as {self._clients[index].user}; {CONTESTED}{renewal}"
        self._states[index] = AccountState("connected", said)

    def place(self, index: int, client: GatewayClient) -> None:
        """This client is the account's from now on."""
        self._clients[index] = client

    def index(self, client: GatewayClient) -> int:
        """Which account a client is of."""
        return self.accounts.index(client.account)

    def clients(self) -> Iterator[GatewayClient]:
        """Those that are connected."""
        for index, client in self._clients.items():
            if self._states[index].standing == "connected":
                yield client

    async def gathered(self) -> None:
        """Every account is connected or refused; one that took too long once is not awaited."""
        try:
            async with asyncio.timeout(GATHERING):
                while self._waiting() - self._late:
                    await self._changed.wait()
        except TimeoutError:
            self._late |= self._waiting()

    def _waiting(self) -> set[int]:
        return {i for i, state in enumerate(self._states) if state.standing == "waiting"}

    # ------------------------------------------------------------ who is who

    def mates_of(self, account: BotAccount) -> tuple[str, ...]:
        """The mates that are there by this account; "*": all that have none of their own."""
        if not account.shared:
            return account.mates
        own = {mate for each in self.accounts if not each.shared for mate in each.mates}
        wanted = self._mates if EVERYBODY in account.mates else account.mates
        return tuple(mate for mate in wanted if mate not in own)

    def ours(self, user: int) -> GatewayClient | None:
        """The client that is this user; None for anybody else."""
        return next((client for client in self._clients.values() if client.id == user), None)

    def users(self) -> dict[int, BotAccount]:
        """The users that are our bots, connected or not, each with its account."""
        met = {client.id: client.account for client in self._clients.values()}
        return {user: account for user, account in {**self._users, **met}.items() if user}

    def us(self, user: int) -> bool:
        """Whether this user is one of our bots, connected or not."""
        return user in self.users()

    def applications(self) -> set[int]:
        """The ids of our applications, connected or not.

        Since 2016 an application has the id of its bot; an older one's is known when it connects.
        """
        known = {each.application_id for each in self._clients.values() if each.application_id}
        return known | self.users().keys()

    def name(self, mate: str) -> str:
        """What a mate is called."""
        return self._mates[mate].name if mate in self._mates else mate

    def looks(self, mate: str) -> tuple[str, str]:
        """A mate's face (an emoji, or a letter) and its colour; "" of one that is not known."""
        known = self._mates.get(mate)
        return (known.face, known.colour) if known is not None else ("", "")

    def mates_in(self, channel: object) -> tuple[str, ...]:
        """All mates that are in a place by one of our accounts."""
        found: dict[str, None] = {}
        for client in self.clients():
            if client.sees(_same(client, channel)):
                found |= dict.fromkeys(self.mates_of(client.account))
        return tuple(found)

    def mates_awaited(self) -> tuple[str, ...]:
        """All mates by an account that is about to be there, so that their places are not known."""
        return tuple(m for i in sorted(self._waiting()) for m in self.mates_of(self.accounts[i]))

    def first(self, channel: int) -> GatewayClient | None:
        """The account that speaks for all of ours on what happens in a place: it is told of it."""
        for client in self.clients():
            if client.in_session and client.sees(
                client.privates.get(channel) or client.get_channel(channel)
            ):
                return client
        return None

    # ------------------------------------------------------------ seats

    async def seat(self, place: str, mate: str = "", *, owed: bool = True) -> AccountSeat:
        """The account by which this mate (or anybody) speaks in a place.

        Its own, or the one it shares; waits for one that is about to be back, since what another
        one said before could not be told to be this. Raises SendFailed, where something is `owed`
        there also once the account has been away for a while.
        """
        until = self._clock.ticks() + AWAY
        while True:
            changed, pending = self._changed, False
            for index in self._order(mate):
                standing = self._states[index].standing
                if standing == "waiting":
                    pending = True
                    if self.accounts[index].speaks_for(mate):
                        break
                elif standing == "connected":
                    client = self._clients[index]
                    channel = await self._found(client, channel_of(place))
                    if channel is not None:
                        return AccountSeat(client, channel)
            if self._left:
                raise SendFailed("this home is leaving Discord.", after=1.0)
            if not pending:
                raise self._nobody()
            if not owed:
                await changed.wait()
            elif not await self._within(changed, until - self._clock.ticks()):
                # Waited for again at once, and by deliveries until they tire.
                whose = f"the bot of {self.name(mate)}" if mate else "the bot"
                raise SendFailed(f"{whose} was not connected to Discord.", unsent=True, after=1.0)

    async def _within(self, changed: asyncio.Event, seconds: float) -> bool:
        """Wait for a change of how our accounts stand, so long at most; whether there was one."""
        waiting = self._tasks.spawn(changed.wait(), "a change of accounts")
        alarm = self._tasks.spawn(self._clock.sleep(max(seconds, 0.0)), "patience with accounts")
        try:
            await asyncio.wait({waiting, alarm}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            alarm.cancel()
        return changed.is_set()

    async def _found(self, client: GatewayClient, channel: int) -> Talk | None:
        """A place as this client sees it; not asked for where another one knows better."""
        first = self.first(channel)
        if first is not None and first is not client and client.get_channel(channel) is None:
            if channel in first.privates:
                return None
            guild = getattr(first.get_channel(channel), "guild", None)
            if guild is not None and client.get_guild(guild.id) is None:
                return None
        return await find_channel(client, channel)

    def _order(self, mate: str) -> list[int]:
        """The accounts by how well they speak for a mate: as its own first."""

        def rank(index: int) -> tuple[bool, bool]:
            account = self.accounts[index]
            return account.mates != (mate,), not account.speaks_for(mate)

        return sorted(range(len(self.accounts)), key=rank)

    def _nobody(self) -> SendFailed:
        if all(state.standing == "refused" for state in self._states):
            return SendFailed(OUT, final=True)
        return SendFailed(
            "none of the bots of this home can see that place any more. Whoever manages that "
            "server can invite them again, or let them view the channel.",
            gone=True,
        )


def _same(client: GatewayClient, channel: object) -> object:
    """The same place as this client sees it; None if it knows of none."""
    if isinstance(channel, discord.DMChannel):
        mine = channel.me is not None and channel.me.id == client.id
        return channel if mine else None
    if isinstance(channel, discord.abc.GuildChannel | discord.Thread):
        guild = client.get_guild(channel.guild.id)
        return guild.get_channel_or_thread(channel.id) if guild is not None else None
    return None


async def find_channel(client: GatewayClient, id: int) -> Talk | None:
    """A place by its id, if this client sees it. Raises SendFailed where nobody can know now."""
    channel: object = client.privates.get(id) or client.get_channel(id)
    if channel is None:
        try:
            channel = await client.fetch_channel(id)
        except (discord.Forbidden, discord.NotFound) as error:
            if is_refused_by_proxy(error):
                raise SendFailed(BEFORE.format(status=error.status)) from None
            return None
        except discord.InvalidData:
            return None
        except Exception as error:
            raise as_send_failure(error, "the channel") from None
    if not client.sees(channel):
        return None
    return client.met(channel)
