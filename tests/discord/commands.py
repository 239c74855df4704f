"""What persons ask of applications: slash commands, commands over a message, completions.

Each returns an Answer: what came back, live. Only commands that an application has really
registered can be used, by those whom Discord would let. Does not cover subcommands, options that
are no texts, and commands over persons.
"""

from collections.abc import Mapping
from typing import Any

from simcord import interactions
from simcord.backend import serializers
from simcord.backend.command_access import command_access
from simcord.backend.models import Interaction, Message
from simcord.components import validate_modal, walk_components

from loopforge.runtime.ports import Clock
from tests.discord.people import People
from tests.discord.words import Bot, Line, Person, Place

COMMAND, PRESS, COMPLETION, FORM = 2, 3, 4, 5
"""Discord's kinds of interaction."""
BUTTON = 2
"""Its kind of component."""


class Answer:
    """What came back to one person."""

    def __init__(self, world: People, record: Interaction) -> None:
        self._world, self._record = world, record

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
        """The message that came back."""
        town, id = self._world.town, self._record.message_id
        return next((town.line(m) for m in town.written if m.id == id), None)

    @property
    def text(self) -> str:
        """What it says."""
        return self.line.text if self.line is not None else ""

    @property
    def form(self) -> dict[str, Any] | None:
        """The form that was shown, if one was."""
        return self._record.modal


class Commands(People):
    """A world in which persons use applications.

    `deadline`: seconds until an interaction that was not acknowledged is unknown (10062). Discord
    gives three; here are more, so that a slow machine fails no test.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.asked: dict[int, Bot] = {}
        self.deadline = 60.0

    async def slash(
        self,
        person: Person | str,
        place: Place | int | str,
        bot: Bot | str,
        name: str,
        options: Mapping[str, str] | None = None,
        *,
        settled: bool = True,
    ) -> Answer:
        """Use a slash command; wait for what comes back.

        A deferred answer is waited for until it is filled; with `settled=False` it is returned as
        soon as the application acknowledged.
        """
        app, given = self.app(bot), options or {}
        root = self._command(app, person, place, name, 1)
        declared = {one["name"]: one for one in root.get("options") or []}
        missing = [n for n, o in declared.items() if o.get("required") and n not in given]
        assert not missing, f"{name} needs {missing}"
        made = []
        for key, value in given.items():
            interactions.validate_option_value(name, declared[key], value)
            made.append({"name": key, "type": declared[key]["type"], "value": value})
        data = {**self._data(root), "options": made}
        return Answer(self, await self._ask(app, person, place, COMMAND, data, settled=settled))

    async def autocomplete(
        self,
        person: Person | str,
        place: Place | int | str,
        bot: Bot | str,
        name: str,
        option: str,
        typed: str,
    ) -> list[dict[str, Any]]:
        """Type into an option; the choices that were offered (`name`, `value`)."""
        app = self.app(bot)
        root = self._command(app, person, place, name, 1)
        focused = next(one for one in root["options"] if one["name"] == option)
        assert focused.get("autocomplete"), f"option {option} of /{name} completes nothing"
        made = {"name": option, "type": focused["type"], "value": typed, "focused": True}
        data = {**self._data(root), "options": [made]}
        record = await self._ask(app, person, place, COMPLETION, data)
        return list(record.autocomplete_choices or [])

    async def context(
        self, person: Person | str, bot: Bot | str, name: str, target: Line | int
    ) -> Answer:
        """Use a command of the menu over a message."""
        app, message = self.app(bot), self.find(target)
        root = self._command(app, person, message.channel_id, name, 3)
        payload = serializers.message_payload(self.town, message)
        resolved = {"messages": {str(message.id): dict(payload)}}
        data = {**self._data(root), "resolved": resolved, "target_id": str(message.id)}
        return Answer(self, await self._ask(app, person, message.channel_id, COMMAND, data))

    async def press(
        self,
        person: Person | str,
        line: Line | int,
        label: str = "",
        *,
        id: str = "",
        settled: bool = True,
    ) -> Answer:
        """Press the button with this label, or one of another `id` that is there no more.

        `settled` as of a slash command.
        """
        message = self.find(line)
        found = [one for one in walk_components(message.components) if one.get("label") == label]
        assert found or id, f"there is no button {label!r}: {message.components}"
        data = {"custom_id": id or found[0]["custom_id"], "component_type": BUTTON}
        hook = self.town.webhooks.get(message.webhook_id or 0)
        maker = hook.creator_id if hook is not None else message.author_id
        app = next(bot for bot in self.bots.values() if bot.id == maker)
        where = message.channel_id
        record = await self._ask(app, person, where, PRESS, data, message, settled=settled)
        return Answer(self, record)

    async def fill(self, person: Person | str, answer: Answer, **written: str) -> Answer:
        """Send the form that a press was answered with, filled in so, by whoever was shown it."""
        record, form = answer._record, answer.form
        assert form is not None, f"no form was shown: {answer.text!r}"
        assert record.user_id == self.who(person).id
        made, spec = list[dict[str, Any]](), validate_modal(form)
        for one in spec["components"]:
            child = one["component"]
            text = written.get(child["custom_id"], "")
            assert text or not child.get("required", True), f"{child['custom_id']} is empty"
            assert len(text) <= child.get("max_length", 4000)
            field = {"type": 4, "id": child.get("id", 2), "custom_id": child["custom_id"]}
            made.append({"type": 18, "id": one.get("id", 1), "component": {**field, "value": text}})
        data = {"custom_id": spec["custom_id"], "components": made}
        message = self.find(record.source_message_id or 0)
        app, where = self.asked[record.id], message.channel_id
        return Answer(self, await self._ask(app, person, where, FORM, data, message))

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

    def _data(self, root: dict[str, Any]) -> dict[str, Any]:
        return {key: root[key] for key in ("id", "name", "type")}

    async def _ask(
        self,
        bot: Bot,
        person: Person | str,
        place: Place | int | str,
        kind: int,
        data: dict[str, Any],
        message: Message | None = None,
        *,
        settled: bool = True,
    ) -> Interaction:
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
        if message is not None:
            record.source_message_id = message.id
            shown = serializers.message_payload(town, message)
            payload["message"] = {**shown, "author": shown["author"]}
        self.asked[record.id] = bot
        self.to_bot(bot, "INTERACTION_CREATE", payload)
        await self.until(lambda: record.responded and not (settled and record.loading))
        return record
