"""What persons ask of applications: slash commands, context menus, completions.

Each returns an Answer: what came back, live (a later follow-up shows in it). Only commands that an
application has really registered can be used, by those whom Discord would let.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simcord import interactions
from simcord.backend import serializers
from simcord.backend.command_access import command_access
from simcord.backend.models import Interaction

from tests.discord.people import People
from tests.discord.words import Bot, Line, Person, Place

COMMAND, COMPLETION = 2, 4
"""Discord's kinds of interaction."""
USER, CHANNEL, MENTIONABLE, ATTACHMENT = 6, 7, 9, 11
"""Kinds of options whose values are told of beside them."""


class Answer:
    """What came back to one person. `kind`: message, deferred, ... or None yet."""

    def __init__(self, world: People, bot: Bot, record: Interaction) -> None:
        self._world, self._record = world, record
        self.bot = bot
        self.id, self.token = record.id, record.token

    @property
    def kind(self) -> str | None:
        """How the application answered."""
        kind = self._record.response_kind
        return None if kind is None else str(kind)

    @property
    def ephemeral(self) -> bool:
        """Whether only the asker sees it."""
        return self._record.ephemeral

    @property
    def deferred(self) -> bool:
        """Whether the asker still sees "thinking"."""
        return self._record.loading

    @property
    def line(self) -> Line | None:
        """The first message that came back."""
        found = self._lines([self._record.message_id] if self._record.message_id else [])
        return found[0] if found else None

    @property
    def text(self) -> str:
        """What the first message says."""
        return self.line.text if self.line is not None else ""

    @property
    def followups(self) -> list[Line]:
        """What came after it."""
        return self._lines(self._record.followup_ids)

    @property
    def choices(self) -> list[dict[str, Any]]:
        """What was offered for completion."""
        return list(self._record.autocomplete_choices or [])

    def plain(self) -> dict[str, Any]:
        """All of it, for another process."""
        names = (
            "id",
            "kind",
            "ephemeral",
            "deferred",
            "line",
            "text",
            "followups",
            "choices",
        )
        return {name: getattr(self, name) for name in names}

    def _lines(self, ids: Sequence[int]) -> list[Line]:
        town = self._world.town
        return [town.line(m) for m in town.written if m.id in ids and m.id not in town.gone]


class Commands(People):
    """A world in which persons use applications.

    `deadline`: seconds until an interaction that was not acknowledged is unknown (10062). Discord
    gives three; here are more, so that a slow machine fails no test. Advance the town's clock.
    """

    def __init__(self, guild: str = "The City") -> None:
        super().__init__(guild)
        self.asked: dict[int, Bot] = {}
        self.deadline = 60.0

    async def slash(
        self,
        person: Person | str,
        place: Place | int | str,
        bot: Bot | str,
        name: str,
        options: Mapping[str, Any] | None = None,
        *,
        settled: bool = True,
        timeout: float = 120.0,
    ) -> Answer:
        """Use a slash command (`"mate show"` for a subcommand); wait for what comes back.

        A deferred answer is waited for until it is filled; with `settled=False` it is returned as
        soon as the application acknowledged.
        """
        app, parts = self.app(bot), name.split()
        root = self._command(app, person, place, parts[0], 1)
        leaf, nesting = interactions.walk_to_subcommand(root, parts[1:])
        resolved: dict[str, Any] = {}
        made = self._options(leaf, options or {}, self.where(place), resolved)
        data = self._data(root, interactions.nest_options(root, nesting, made), resolved)
        return await self._ask(app, person, place, COMMAND, data, settled, timeout)

    async def autocomplete(
        self,
        person: Person | str,
        place: Place | int | str,
        bot: Bot | str,
        name: str,
        option: str,
        typed: str,
        filled: Mapping[str, Any] | None = None,
        *,
        timeout: float = 120.0,
    ) -> list[dict[str, Any]]:
        """Type into an option; the choices that were offered (`name`, `value`)."""
        app, parts = self.app(bot), name.split()
        root = self._command(app, person, place, parts[0], 1)
        leaf, nesting = interactions.walk_to_subcommand(root, parts[1:])
        focused = next(one for one in leaf["options"] if one["name"] == option)
        assert focused.get("autocomplete"), f"option {option} of /{name} completes nothing"
        made = self._options(leaf, filled or {}, self.where(place), {}, partial=True)
        made.append({"name": option, "type": focused["type"], "value": typed, "focused": True})
        data = self._data(root, interactions.nest_options(root, nesting, made), {})
        answer = await self._ask(app, person, place, COMPLETION, data, True, timeout)
        return answer.choices

    async def context(
        self,
        person: Person | str,
        bot: Bot | str,
        name: str,
        target: Line | int | Person,
        *,
        place: Place | int | str | None = None,
        settled: bool = True,
        timeout: float = 120.0,
    ) -> Answer:
        """Use a command of the menu over a message, or over a person (then `place` says where)."""
        app, town = self.app(bot), self.town
        if isinstance(target, Person):
            assert place is not None, "a command over a person is used somewhere: give place="
            where, kind, wanted = self.where(place), 2, target.id
            resolved: dict[str, Any] = self._resolved_user(target.id)
        else:
            message = self.find(target)
            where, kind, wanted = message.channel_id, 3, message.id
            payload = serializers.message_payload(town, message)
            resolved = {"messages": {str(wanted): dict(payload)}}
        root = self._command(app, person, where, name, kind)
        data = {**self._data(root, [], resolved), "target_id": str(wanted)}
        return await self._ask(app, person, where, COMMAND, data, settled, timeout)

    # --------------------------------------------------------------- plumbing

    def _command(
        self, bot: Bot, person: Person | str, place: Place | int | str, name: str, kind: int
    ) -> dict[str, Any]:
        town, where = self.as_bot(bot), self.where(place)
        found = town.find_command(name, town.get_channel(where).guild_id, kind)
        known = sorted(one for scope in bot.commands.values() for one, _ in scope)
        assert found is not None, f"{bot.name} has registered no {name}, only {known}"
        access = command_access(town, found, user_id=self.who(person).id, channel_id=where)
        assert access.allowed, f"{person} may not use {name} there: {access.reason}"
        return found

    def _data(self, root: dict[str, Any], options: Any, resolved: dict[str, Any]) -> dict[str, Any]:
        data: dict[str, Any] = {"id": root["id"], "name": root["name"], "type": root["type"]}
        if options:
            data["options"] = options
        if resolved:
            data["resolved"] = resolved
        if root.get("guild_id"):
            data["guild_id"] = root["guild_id"]
        return data

    def _options(
        self,
        leaf: dict[str, Any],
        given: Mapping[str, Any],
        where: int,
        resolved: dict[str, Any],
        *,
        partial: bool = False,
    ) -> list[dict[str, Any]]:
        declared = {one["name"]: one for one in leaf.get("options") or []}
        missing = [n for n, o in declared.items() if o.get("required") and n not in given]
        assert partial or not missing, f"{leaf['name']} needs {missing}"
        made = []
        for name, value in given.items():
            option = declared[name]
            made.append({"name": name, "type": option["type"]})
            made[-1]["value"] = self._value(leaf, option, value, where, resolved)
        return made

    def _value(
        self,
        leaf: dict[str, Any],
        option: dict[str, Any],
        value: Any,
        where: int,
        resolved: dict[str, Any],
    ) -> Any:
        if option["type"] in (USER, MENTIONABLE):
            who = self.who(value)
            for key, payload in self._resolved_user(who.id).items():
                resolved.setdefault(key, {}).update(payload)
            return str(who.id)
        if option["type"] == CHANNEL:
            found = self.town.get_channel(self.where(value))
            channel: dict[str, Any] = {"id": str(found.id), "name": found.name, "type": found.type}
            channel["permissions"] = str(
                self.town.compute_permissions(self.guild.id, self.guild.owner_id)
            )
            resolved.setdefault("channels", {})[channel["id"]] = channel
            return channel["id"]
        interactions.validate_option_value(leaf["name"], option, value)
        if option["type"] == ATTACHMENT:
            return interactions.store_interaction_attachment(
                self.town, where, value[0], value[1], resolved
            )
        return value

    def _resolved_user(self, user: int) -> dict[str, Any]:
        town, guild = self.town, self.guild
        payload = serializers.user_payload(town.get_user(user))
        resolved: dict[str, Any] = {"users": {str(user): dict(payload)}}
        if user in guild.members:
            member = serializers.member_payload(town, guild, guild.members[user], with_user=False)
            told = {k: one for k, one in member.items() if k not in ("deaf", "mute")}
            told["permissions"] = str(town.compute_permissions(guild.id, user))
            resolved["members"] = {str(user): told}
        return resolved

    async def _ask(
        self,
        bot: Bot,
        person: Person | str,
        place: Place | int | str,
        kind: int,
        data: dict[str, Any],
        settled: bool,
        timeout: float,
    ) -> Answer:
        town, where = self.as_bot(bot), self.where(place)
        record, payload = interactions.base_payload(
            town,
            type=kind,
            channel_id=where,
            guild_id=town.get_channel(where).guild_id,
            user_id=self.who(person).id,
            data=data,
        )
        owners = {"0": payload["guild_id"]} if "guild_id" in payload else {"0": "0"}
        payload["authorizing_integration_owners"] = owners
        record.initial_response_deadline = town.iso_after(self.deadline)
        self.asked[record.id] = bot
        answer = Answer(self, bot, record)
        self.to_bot(bot, "INTERACTION_CREATE", payload)
        await self.until(lambda: record.responded and not (settled and record.loading), timeout)
        return answer
