"""The gateway: sessions, sockets, and what each bot is told.

Each session has its own sequence and keeps all it sent, so RESUME replays. Events are gated by
intents (SimCord's rules), and a bot hears only of channels it sees. Does not cover what a bot
without the message-content intent is not told, sharding, voice, or a limit on frames.
"""

import asyncio
import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web
from simcord import intents
from simcord.backend import serializers

import discord
from loopforge.runtime.background_tasks import BackgroundTasks
from loopforge.runtime.ports import Clock
from tests.discord import mend
from tests.discord.commands import Commands
from tests.discord.faults import Faults
from tests.discord.judge import Judge
from tests.discord.town import PRIVILEGED
from tests.discord.words import Bot

HEARTBEAT = 41250
"""Milliseconds, as Discord says."""
UNKNOWN_TOKEN, INVALID_SEQ, DISALLOWED = 4004, 4007, 4014


class Session:
    """One identified connection, and after a cut its memory."""

    def __init__(self, bot: Bot, value: int, name: str) -> None:
        self.bot, self.name = bot, name
        self.intents = discord.Intents._from_value(value)
        self.log: list[dict[str, Any]] = []
        self.kept: tuple[str, dict[str, Any]] | None = None
        self.socket: Socket | None = None
        self.known = True


class Socket:
    """One WebSocket: frames go out in order, compressed as the client asked."""

    def __init__(self, ws: web.WebSocketResponse, compress: str | None, base: str) -> None:
        self.ws, self.base = ws, base
        self.session: Session | None = None
        self.dead = False
        self._queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._press = _press(compress)

    def put(self, frame: dict[str, Any]) -> None:
        """Send it after what is already on its way."""
        if not self.dead:
            self._queue.put_nowait(frame)

    async def pump(self) -> None:
        """Send until the socket is gone; what was not sent is kept in the session."""
        with suppress(ConnectionResetError):
            while True:
                frame = await self._queue.get()
                text = addressed(json.dumps(frame), self.base)
                if self._press is None:
                    await self.ws.send_str(text)
                else:
                    await self.ws.send_bytes(self._press(text.encode()))


def _press(compress: str | None) -> Callable[[bytes], bytes] | None:
    if compress == "zlib-stream":
        deflate = zlib.compressobj()
        return lambda data: deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH)
    if compress == "zstd-stream":
        import zstandard

        zstd = zstandard.ZstdCompressor().compressobj()
        block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        return lambda data: zstd.compress(data) + zstd.flush(block)
    return None


def addressed(text: str, base: str) -> str:
    """Attachments' addresses as the client that asks can reach them."""
    return text.replace("https://cdn.simcord.invalid", base)


class Gateway(Commands):
    """A world that tells bots what happens."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.faults = Faults()
        self.judge = Judge()
        self.sessions: dict[str, Session] = {}
        self.resumed: list[str] = []
        self.identified: list[str] = []
        self.invalidated: list[str] = []
        self.shaken: list[str] = []
        self._tasks = BackgroundTasks()
        self._named = 0
        self._dark = False
        self.town.subscribers.append(self._announce)

    # ---------------------------------------------------------------- telling

    def to_bot(self, bot: Bot, event: str, payload: dict[str, Any]) -> None:
        """Tell all sessions of one bot."""
        for session in list(self.sessions.values()):
            if session.bot is bot:
                self._offer(session, event, payload)

    def _announce(self, event: str, payload: Mapping[str, Any]) -> None:
        for session in list(self.sessions.values()):
            if self._concerns(session, event, payload):
                self._offer(session, event, payload)

    def _concerns(self, session: Session, event: str, payload: Mapping[str, Any]) -> bool:
        bot, town = session.bot, self.town
        if event == "USER_UPDATE":
            return bool(payload["id"] == str(bot.id))
        guild = payload.get("guild_id")
        if self._dark and (guild is not None or event.startswith("GUILD_")):
            return False
        if event in ("GUILD_CREATE", "GUILD_UPDATE"):
            guild = payload["id"]
        if guild is not None and bot.id not in self.guild.members:
            return False
        if event.startswith("CHANNEL_") or "channel_id" not in payload:
            return True
        where = int(payload["channel_id"])
        if guild is None:
            return where in bot.dms.values()
        return where not in town.channels or self.sees(bot, where)

    def _offer(self, session: Session, event: str, payload: Mapping[str, Any]) -> None:
        gate = intents.required_intent(event, payload)
        about = event == "GUILD_MEMBER_UPDATE" and int(payload["user"]["id"]) == session.bot.id
        if gate is not None and not getattr(session.intents, gate) and not about:
            return  # of what befalls itself a bot is always told
        body: dict[str, Any] = json.loads(json.dumps(payload))
        if event in ("MESSAGE_CREATE", "MESSAGE_UPDATE"):
            body = self._message(session, event, body)
        if event == "GUILD_CREATE":
            intents.prune_guild_create(body, session.intents, session.bot.id)
        self._strike(session, event, mend.event(event, body, self))

    def _message(self, session: Session, event: str, body: dict[str, Any]) -> dict[str, Any]:
        body.pop("nonce", None)
        nonce = self.town.nonces.get(int(body["id"]))
        if event == "MESSAGE_CREATE" and nonce is not None:
            body["nonce"] = nonce
        return body

    def _strike(self, session: Session, event: str, body: dict[str, Any]) -> None:
        take, bot = self.faults.take, session.bot.name
        kept, session.kept = session.kept, None
        if take(("drop",), event, bot) is not None:
            session.kept = kept
            return
        if kept is None and take(("swap",), event, bot) is not None:
            session.kept = (event, body)
            return
        spoiled = take(("spoil",), event, bot)
        if spoiled is None:
            self.judge.event(event, body)
        else:
            body = {key: value for key, value in body.items() if key not in spoiled.keys}
        self._dispatch(session, event, body)
        if take(("double",), event, bot) is not None:
            self._dispatch(session, event, body)
        if kept is not None:
            self.judge.event(*kept)
            self._dispatch(session, *kept)

    def _dispatch(self, session: Session, event: str, body: dict[str, Any]) -> None:
        frame = {"op": 0, "s": len(session.log) + 1, "t": event, "d": body}
        session.log.append(frame)
        if session.socket is not None:
            session.socket.put(frame)

    # ----------------------------------------------------------------- faults

    async def cut(self, bot: Bot | str, code: int = 4000) -> None:
        """Cut its sockets. 4000 and most codes: it resumes. 4004, 4010 to 4014: it may not return."""
        for session in self._of(bot):
            socket, session.socket = session.socket, None
            if socket is not None:
                await socket.ws.close(code=code)

    async def silence(self, bot: Bot | str) -> None:
        """Its sockets bring nothing more, which it cannot know: what is told comes as it resumes."""
        for session in self._of(bot):
            if session.socket is not None:
                session.socket.dead = True

    async def reconnect(self, bot: Bot | str) -> None:
        """Ask it to come back by another socket, as Discord does now and then: it resumes."""
        for session in self._of(bot):
            if session.socket is not None:
                session.socket.put({"op": 7, "d": None, "s": None, "t": None})

    async def forget(self, bot: Bot | str) -> None:
        """Its sessions cannot be resumed: RESUME is answered with INVALID_SESSION (then `cut`)."""
        for session in self._of(bot):
            session.known = False

    async def darken(self) -> None:
        """Discord has lost the guild: bots are told so, and of nothing more there."""
        self._dark = True
        for session in self.sessions.values():
            self._dispatch(session, "GUILD_DELETE", {"id": str(self.guild.id), "unavailable": True})

    async def lighten(self) -> None:
        """The guild is there again, as it is now."""
        self._dark = False
        for session in list(self.sessions.values()):
            made = serializers.guild_create_payload(self.as_bot(session.bot), self.guild)
            self._offer(session, "GUILD_CREATE", dict(made))

    def online(self, bot: Bot | str) -> bool:
        """Whether it has a socket on which it is identified."""
        return any(session.socket is not None for session in self._of(bot))

    def _of(self, bot: Bot | str) -> list[Session]:
        app = self.app(bot)
        return [session for session in self.sessions.values() if session.bot is app]

    # ----------------------------------------------------------------- sockets

    async def serve_gateway(
        self, request: web.Request, base: str, resume: str
    ) -> web.StreamResponse:
        """One client's socket, from HELLO to its end."""
        ws = web.WebSocketResponse()
        await ws.prepare(request)
        socket = Socket(ws, request.query.get("compress"), base)
        pump = self._tasks.spawn(socket.pump(), "gateway pump")
        socket.put({"op": 10, "d": {"heartbeat_interval": HEARTBEAT}, "s": None, "t": None})
        try:
            async for message in ws:
                if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    break
                await self._heard(socket, json.loads(message.data), resume)
                self.stir()
        finally:
            pump.cancel()
            self._left(socket, ws.close_code)
            self.stir()
        return ws

    def _left(self, socket: Socket, code: int | None) -> None:
        """A socket is gone; a client that says goodbye (1000, 1001) has no session any more."""
        session = socket.session
        if session is not None and session.socket is socket:
            session.socket = None
            if code in (1000, 1001):
                del self.sessions[session.name]

    async def _heard(self, socket: Socket, frame: dict[str, Any], resume: str) -> None:
        self.judge.frame(frame)
        op, data = frame["op"], frame["d"]
        if op == 1:
            socket.put({"op": 11, "d": None, "s": None, "t": None})
        elif op == 2:
            await self._identify(socket, data, resume)
        elif op == 6:
            await self._resume(socket, data)
        elif socket.session is None:
            await socket.ws.close(code=4003)

    async def _identify(self, socket: Socket, data: dict[str, Any], resume: str) -> None:
        token = data["token"].removeprefix("Bot ")
        bot = next((one for one in self.bots.values() if one.token == token), None)
        if bot is None:
            await socket.ws.close(code=UNKNOWN_TOKEN)
            return
        self._named += 1
        if self.faults.take(("invalidate",), "IDENTIFY", bot.name) is not None:
            self.invalidated.append(bot.name)
            socket.put({"op": 9, "d": False, "s": None, "t": None})
            return
        session = Session(bot, data["intents"], f"session{self._named}")
        if any(getattr(session.intents, n) and n not in bot.approved for n in PRIVILEGED):
            await socket.ws.close(code=DISALLOWED)
            return
        self.sessions[session.name] = session
        session.socket, socket.session = socket, session
        town = self.as_bot(bot)
        inside, flags = bot.id in self.guild.members, mend.portal_flags(bot)
        ready = {
            "v": 10,
            "user": dict(serializers.user_payload(town.bot_user)),
            "guilds": [{"id": str(self.guild.id), "unavailable": True}] if inside else [],
            "session_id": session.name,
            "resume_gateway_url": resume,
            "application": {"id": str(bot.application), "flags": flags, "flags_new": str(flags)},
        }
        self._strike(session, "READY", mend.event("READY", ready, self))
        if inside and not self._dark:
            payload = dict(serializers.guild_create_payload(town, self.guild))
            self._offer(session, "GUILD_CREATE", payload)
        self.identified.append(bot.name)

    async def _resume(self, socket: Socket, data: dict[str, Any]) -> None:
        session = self.sessions.get(data["session_id"])
        if (
            session is None
            or not session.known
            or session.bot.token != data["token"].removeprefix("Bot ")
        ):
            socket.put({"op": 9, "d": False, "s": None, "t": None})
            return
        if self.faults.take(("invalidate",), "RESUME", session.bot.name) is not None:
            self.shaken.append(session.bot.name)
            socket.put({"op": 9, "d": True, "s": None, "t": None})
            return
        if data["seq"] > len(session.log):
            await socket.ws.close(code=INVALID_SEQ)
            return
        session.socket, socket.session = socket, session
        for frame in session.log[data["seq"] :]:
            socket.put(frame)
        self._strike(session, "RESUMED", {})
        self.resumed.append(session.bot.name)
