"""Personas: a speaker is one voice in one place, and `Personas` finds it.

    own      by an account that is this very mate, wherever that is
    hook     by a webhook of ours with a mate's name and face; where there is no room for one, and
             for people, one webhook lends itself to all, with a name in each call
    quoted   by an account that is somebody else, with the name before the words

The same voice posts, changes and takes away. Every failure is a SendFailed. Does not cut texts.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

import discord
from loopforge.errors import SendFailed
from loopforge.io.discord.connection.account_checks import permission_label
from loopforge.io.discord.connection.api_errors import (
    FAILURES,
    as_send_failure,
    bot_timeout_failure,
    missing_permission_failure,
    redact_tokens,
)
from loopforge.io.discord.connection.bot_accounts import (
    PREFIX,
    AccountSeat,
    BotAccounts,
    channel_label,
    channel_of,
    find_channel,
)
from loopforge.io.discord.connection.gateway_client import NOBODY, own_permissions
from loopforge.io.discord.connection.posted_messages import PostedMessage
from loopforge.io.discord.sending.webhooks import DiscordWebhooks
from loopforge.io.discord.text.markdown import webhook_name

T = TypeVar("T")
DiscordButtons: TypeAlias = "discord.ui.View | None"
UNTOUCHED: DiscordButtons = discord.utils.MISSING
"""Of an edit: the buttons stay as they are; with None they go."""
UNKNOWN_HOOK, ELSEWHERE = 10015, (10003, 10008)
"""Discord's codes where a webhook was taken away, and what one that was moved may be told."""
log = logging.getLogger(__name__)
NO_HOOK = "its webhook was taken away, or moved; there will be another one."


class DiscordSpeaker:
    """Speaks in one place. `name` is shown over (hook) or before (`quoted`) what it says.

    `whose`: the mate that the account itself is, "" if it lends its voice. `names`: all names that
    a webhook may have borne for this speaker; `person`: one behind which it said where they were.
    `lost` is told of a webhook that is there no more. `otherwise` is how it may have spoken before
    webhooks were allowed there, or forbidden: to look for that, not to speak by it.
    """

    def __init__(
        self,
        seat: AccountSeat,
        hook: discord.Webhook | None = None,
        name: str = "",
        quoted: str = "",
        whose: str = "",
        names: Sequence[str] = (),
        person: str = "",
        lost: Callable[[discord.Webhook], None] | None = None,
    ) -> None:
        self.seat, self.hook, self.name, self.quoted = seat, hook, name, quoted
        self.whose, self._lost = whose, lost
        self._names, self._person = {name, *names}, person
        self.by_hook = hook is not None
        self.otherwise: DiscordSpeaker | None = None

    @property
    def place(self) -> str:
        """What the place is called in a sentence."""
        return channel_label(self.seat.channel)

    def bore(self, name: str) -> bool:
        """Whether a webhook may have borne this name for it: a place has another one by now."""
        elsewhere = bool(self._person) and name.startswith(f"{self._person} (")
        return elsewhere or name in self._names

    @property
    def reads(self) -> bool:
        """Whether what stands there can be read back; without the right, Discord shows nothing."""
        channel = self.seat.channel
        if isinstance(channel, discord.DMChannel):
            return True
        return own_permissions(channel).read_message_history

    @property
    def most(self) -> int:
        """Bytes of the largest upload."""
        guild = getattr(self.seat.channel, "guild", None)
        return guild.filesize_limit if guild is not None else 0

    async def post(
        self,
        text: str,
        nonce: str,
        reply: int | None = None,
        files: Sequence[discord.File] = (),
        buttons: discord.ui.View | None = None,
    ) -> int:
        """Say it, as a reply where Discord takes one; the id of the message. Raises SendFailed.

        It bears no preview of a link, then and ever: for one Discord asks whoever keeps that
        address, who by that is told all that a mate was talked into writing there.
        """
        channel, reference = self.seat.channel, None
        if self.hook is not None:
            call = partial(
                self.hook.send,
                text,
                username=self.name,
                wait=True,
                files=list(files),
                allowed_mentions=NOBODY,
                suppress_embeds=True,
                thread=self._thread(),
                view=buttons or discord.utils.MISSING,
            )
            said = await self._try_work(self.seat.client.calls.answer(call))
            self.seat.client.speech.said(said.id)
            await self._check_stayed(said)
            return said.id
        if reply is not None and self.reads:
            reference = discord.MessageReference(
                message_id=reply, channel_id=channel.id, fail_if_not_exists=False
            )
        sent = partial(
            channel.send,
            text,
            nonce=nonce,
            reference=reference,
            mention_author=False,
            files=list(files),
            allowed_mentions=NOBODY,
            suppress_embeds=True,
            view=buttons,
        )
        lacks = self._lacking_permission(files=bool(files))
        message = await self._try_work(self.seat.client.calls.answer(sent), lacks)
        self.seat.client.speech.said(message.id)
        return message.id

    async def _check_stayed(self, said: PostedMessage) -> None:
        """Take it back if somebody moved the webhook to another channel. Raises SendFailed then."""
        if isinstance(self.seat.channel, discord.Thread) or said.channel_id == self.seat.channel.id:
            return
        assert self.hook is not None
        if self._lost is not None:
            self._lost(self.hook)
        try:
            await self.hook.delete_message(said.id)
        except Exception as error:
            log.warning("what a moved webhook said stands elsewhere: %s", redact_tokens(error))
        raise SendFailed(NO_HOOK)

    async def edit(self, message: int, text: str, buttons: DiscordButtons = UNTOUCHED) -> bool:
        """Change what was said, and its buttons; True. Raises SendFailed."""
        if self.hook is not None:
            changed = partial(
                self.hook.edit_message,
                message,
                content=text,
                allowed_mentions=NOBODY,
                thread=self._thread(),
                view=buttons,
            )
            await self._try_work(self.seat.client.calls.answer(changed))
        else:
            said = self.seat.channel.get_partial_message(message)
            edited = partial(said.edit, content=text, allowed_mentions=NOBODY, view=buttons)
            await self._try_work(self.seat.client.calls.answer(edited))
        return True

    async def delete(self, message: int) -> bool:
        """Take it away; False where it is gone, or another webhook's. Raises SendFailed."""
        try:
            if self.hook is not None:
                await self.hook.delete_message(message, thread=self._thread())
            else:
                await self.seat.channel.get_partial_message(message).delete()
        except discord.NotFound as error:
            if await self._is_webhook_gone(error):
                raise SendFailed(NO_HOOK) from None
            return False
        except Exception as error:
            raise as_send_failure(error, self.place) from None
        return True

    def _thread(self) -> Any:
        channel = self.seat.channel
        return channel if isinstance(channel, discord.Thread) else discord.utils.MISSING

    @property
    def gives(self) -> bool:
        """Whether it may give files there; a webhook always may."""
        return self.by_hook or not self._lacking_permission(files=True)

    def _lacking_permission(self, *, files: bool) -> str:
        """The permission that its account has not, and needs to post there; "" for none."""
        channel = self.seat.channel
        if isinstance(channel, discord.DMChannel):
            return ""
        thread = isinstance(channel, discord.Thread)
        needed = ["send_messages_in_threads" if thread else "send_messages"]
        needed += ["attach_files"] if files else []
        lacked = [each for each in needed if not getattr(own_permissions(channel), each)]
        return permission_label(lacked[0]) if lacked else ""

    async def _try_work(self, work: Awaitable[T], lacks: str = "") -> T:
        """What comes of it; `lacks`: the permission without which it is refused."""
        try:
            return await work
        except Exception as error:
            if await self._is_webhook_gone(error):
                raise SendFailed(NO_HOOK) from None
            me = getattr(getattr(self.seat.channel, "guild", None), "me", None)
            known = bot_timeout_failure(error, me) or missing_permission_failure(
                error, lacks, self.place
            )
            raise known or as_send_failure(error, self.place) from None

    async def _is_webhook_gone(self, error: Exception) -> bool:
        """Whether its webhook is there no more; then nobody speaks by that again.

        Raises SendFailed where Discord does not say.
        """
        if self.hook is None or not isinstance(error, discord.NotFound):
            return False
        moved = error.code in ELSEWHERE and await self._is_webhook_moved(self.hook)
        gone = moved or error.code == UNKNOWN_HOOK
        if gone and self._lost is not None:
            self._lost(self.hook)
        return gone

    async def _is_webhook_moved(self, hook: discord.Webhook) -> bool:
        """Whether a webhook is in another channel, by which it knows nothing of this place."""
        channel = self.seat.channel
        host = channel.parent_id if isinstance(channel, discord.Thread) else channel.id
        try:
            return (await hook.fetch()).channel_id != host
        except discord.NotFound:
            return True
        except Exception as error:
            raise as_send_failure(error, self.place) from None


class Personas:
    """Finds voices. Each raises SendFailed where nobody of ours can speak."""

    def __init__(self, crowd: BotAccounts, hooks: DiscordWebhooks) -> None:
        self._crowd, self._hooks = crowd, hooks

    async def mate(self, place: str, mate: str) -> DiscordSpeaker:
        """A mate's: own account, own webhook, everybody's webhook, or name before words."""
        seat = await self._crowd.seat(place, mate)
        if seat.client.account.mates == (mate,):
            return DiscordSpeaker(seat, whose=mate)
        name, (face, _) = self._crowd.name(mate), self._crowd.looks(mate)
        shown = f"{name} {face}" if face and not face.isalnum() else name
        alone = self._crowd.mates_of(seat.client.account) == (mate,)
        if alone and isinstance(seat.channel, discord.DMChannel):
            return DiscordSpeaker(seat, whose=mate)
        quoted = f"**{name}:** "
        if (own := await self._webhook_of(seat, mate)) is not None:
            return self._speaker_named(seat, own, quoted, name, shown)
        return self._speaker_named(seat, await self._webhook_of(seat), quoted, shown, name)

    async def person(self, place: str, name: str, surface: str) -> DiscordSpeaker:
        """That of a person who is elsewhere: on another platform, or in another place of this."""
        seat = await self._crowd.seat(place)
        where = self._place_name(surface)  # nobody of us knows, before one is connected
        hint = f" ({where})" if where else ""
        hook, quoted = await self._webhook_of(seat), f"**{name}**{hint}: "
        return self._speaker_named(seat, hook, quoted, f"{name}{hint}", person=name)

    async def anybody(self, place: str) -> DiscordSpeaker:
        """That of whichever account is there."""
        return DiscordSpeaker(await self._crowd.seat(place))

    async def behind(self, voice: DiscordSpeaker, message: int) -> DiscordSpeaker | None:
        """The voice that said a message, if it was another one of ours; None else.

        Lines that stand there may be by another webhook, or an account that the mate had once. What
        a webhook said that is there no more, nobody can change: only a bot can take it away.
        """
        if not voice.reads:
            return None
        client, channel = voice.seat
        try:
            found = await channel.fetch_message(message)
        except discord.NotFound:
            return None
        except Exception as error:
            raise as_send_failure(error, voice.place) from None
        if found.webhook_id is not None:
            hook = await self._hooks.by(channel, found.webhook_id)
            if hook is None:
                return DiscordSpeaker(voice.seat)
            other = voice.hook is None or hook.id != voice.hook.id
            return DiscordSpeaker(voice.seat, hook, lost=self._hooks.lost) if other else None
        author = self._crowd.ours(found.author.id)
        if author is None or (voice.hook is None and author is client):
            return None
        seen = await find_channel(author, channel.id)
        return DiscordSpeaker(AccountSeat(author, seen)) if seen is not None else None

    async def change(
        self,
        voice: DiscordSpeaker,
        message: int,
        text: str,
        buttons: DiscordButtons = UNTOUCHED,
    ) -> None:
        """Let a message of ours say something else, by whichever voice said it."""
        await self._done(voice, message, lambda each: each.edit(message, text, buttons))

    async def take(self, voice: DiscordSpeaker, message: int) -> None:
        """Take a message of ours away, by whichever voice said it."""
        await self._done(voice, message, lambda each: each.delete(message))

    async def _done(
        self,
        voice: DiscordSpeaker,
        message: int,
        work: Callable[[DiscordSpeaker], Awaitable[bool]],
    ) -> None:
        refused = None
        try:
            if await work(voice):
                return
        except SendFailed as failure:
            if not failure.final or failure.gone:
                raise
            refused = failure
        if (other := await self.behind(voice, message)) is not None:
            await work(other)
        elif refused is not None:
            raise refused

    def _place_name(self, surface: str) -> str:
        """What people call the place where somebody is; Discord's own name is refused in names."""
        if not surface.startswith(PREFIX):
            platform = surface.partition(":")[0]
            return platform.capitalize() if ":" in surface else platform
        for client in self._crowd.clients():
            channel = client.get_channel(channel_of(surface))
            if channel is not None and not isinstance(channel, discord.abc.PrivateChannel):
                return str(channel.name)
        return "in private"

    async def _webhook_of(self, seat: AccountSeat, mate: str = "") -> discord.Webhook | None:
        try:
            return await self._hooks.of(seat.client, seat.channel, mate)
        except Exception as error:
            raise as_send_failure(error, "that place") from None

    def _speaker_named(
        self,
        seat: AccountSeat,
        hook: discord.Webhook | None,
        quoted: str,
        *names: str,
        person: str = "",
    ) -> DiscordSpeaker:
        """By a webhook under the first of these names, else with what is `quoted` before words."""
        name, *others = map(webhook_name, names)
        known = webhook_name(person) if person else ""
        hooked = DiscordSpeaker(seat, hook, name, "", "", others, known, self._hooks.lost)
        quoting = DiscordSpeaker(seat, quoted=quoted)
        hooked.by_hook, hooked.otherwise, quoting.otherwise = True, quoting, hooked
        return hooked if hook is not None else quoting


async def post_notice(seat: AccountSeat, message: discord.Message, text: str) -> None:
    """Say this in answer to a message; nothing where there is nothing to say, or it is refused."""
    if not text:
        return
    try:
        await DiscordSpeaker(seat).post(text[:2000], f"n{message.id}", message.id)
    except FAILURES as error:
        log.info("a notice could not be shown: %s", redact_tokens(error))


async def tell_author_alone(seat: AccountSeat, message: discord.Message, text: str) -> None:
    """The same in private; where they take no private messages, where it was said."""
    if not text:
        return
    try:
        said = await message.author.send(text[:2000])
        seat.client.speech.said(said.id)
    except FAILURES:
        await post_notice(seat, message, text)
