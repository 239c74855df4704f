"""REST: `/api/v10/...` carried out by SimCord's router, with faults before and after, and nonces.

One backend serves many applications: its identity is set to the caller's just before each call,
which is carried out without awaiting. Knows which calls SimCord leaves out or does otherwise: see
`_OWN`. A route or field nobody serves answers 501 and is a deviation.
"""

import io
import json
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from aiohttp import web
from simcord.backend import errors, serializers
from simcord.backend.errors import BackendError
from simcord.components import validate_components
from simcord.http import router
from simcord.http import routes as _routes  # noqa: F401 (its import registers SimCord's handlers)

from loopforge.runtime.ports import Clock
from tests.discord import mend, rules
from tests.discord.faults import Fault
from tests.discord.gateway import Gateway, addressed
from tests.discord.words import Bot, Call
from tests.listening import form_parts

WINDOW = 300.0
"""Seconds for which Discord remembers a nonce: "the past few minutes"."""
SECOND = 50
"""Calls that a bot may make in a second, over all routes."""
TRUE = ("1", "true", "True")
WEBHOOKS = 15
"""Webhooks a channel may have."""
BUCKETS = {
    ("POST", "messages"): (5, 1.0),
    ("PATCH", "messages"): (5, 1.0),
    ("DELETE", "messages"): (5, 0.2),
    ("PUT", "reactions"): (1, 0.05),
    ("DELETE", "reactions"): (1, 0.05),
    ("POST", "typing"): (5, 1.0),
    ("POST", "webhooks"): (5, 0.4),
}
"""Calls of one route in one place, and for which share of `Rest.window`."""
QUICK = 1.0
"""Seconds of that window; Discord's are five."""


@dataclass
class File:
    """An upload, as SimCord reads it."""

    filename: str
    fp: io.BytesIO
    description: str | None = None


@dataclass
class Asked:
    """One call, parsed."""

    bot: Bot | None
    method: str
    path: str
    query: dict[str, str]
    body: Any
    files: list[File]
    reason: str | None

    @property
    def parts(self) -> list[str]:
        """The path's segments."""
        return self.path.strip("/").split("/")


def _used_up(asked: Asked, headers: dict[str, str]) -> Fault | None:
    """The refusal of a call beyond the limit of its route."""
    if not headers.pop("X-Used-Up", ""):
        return None
    wait = float(headers["X-RateLimit-Reset-After"])
    body = {"message": "You are being rate limited.", "retry_after": wait, "global": False}
    told = {"Retry-After": "1", "X-RateLimit-Scope": "user", "Via": "1.1 google"}
    return Fault("bucket", asked.path, status=429, body=body, headers=told)


class Rest(Gateway):
    """A world that answers calls."""

    def __init__(self, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self.calls: list[Call] = []
        self.refused: list[float] = []
        self.a_second = SECOND
        self.maker = 0
        self.portal: dict[str, Any] = {}
        self.window = QUICK
        self._buckets: dict[tuple[str, ...], tuple[float, int]] = {}
        self._times: dict[str, deque[float]] = defaultdict(deque)
        self._nonces: dict[tuple[int, str], tuple[float, int, int]] = {}

    async def serve_rest(self, request: web.Request, base: str, gateway: str) -> web.StreamResponse:
        """One call."""
        asked = await self._parse(request)
        name = asked.bot.name if asked.bot is not None else ""
        headers = self._bucket(asked)
        fault = self._limited(asked) or _used_up(asked, headers)
        fault = fault or self.faults.take(("call",), f"{asked.method} {asked.path}", name)
        if fault is not None and not fault.carried:
            await fault.wait()
        carried = fault is None or fault.carried or fault.status == 0
        status, out = self._carry(asked, gateway) if carried else (0, None)
        if fault is not None and fault.carried:
            await fault.wait()
        if fault is not None and fault.status != 0:
            status, out = fault.status or 0, fault.body
        told = "" if fault is None else f"{fault.kind} {fault.status}"
        seq, at = self.town.stamp()
        call = Call(seq, at, name, asked.method, asked.path, status, carried, told, asked.body)
        self.calls.append(call)
        if status in (401, 403, 429):
            self.refused.append(at)
        self.stir()
        if fault is not None and fault.status is None and request.transport is not None:
            request.transport.abort()
        return self._reply(status, out, base, headers | (fault.headers if fault else {}))

    def _limited(self, asked: Asked) -> Fault | None:
        """Discord's limit for a bot as a whole."""
        _, now = self.town.stamp()
        body: dict[str, Any] = {"message": "You are being rate limited."}
        if asked.bot is None or asked.parts[0] in ("interactions", "webhooks"):
            return None
        times = self._times[asked.bot.name]
        while times and now - times[0] >= 1.0:
            times.popleft()
        if len(times) < self.a_second:
            times.append(now)
            return None
        wait = round(1.0 - (now - times[0]), 3)
        headers = {"Retry-After": "1", "X-RateLimit-Global": "true", "Via": "1.1 google"}
        headers["X-RateLimit-Scope"] = "global"
        body |= {"retry_after": wait, "global": True}
        return Fault("global", asked.path, status=429, body=body, headers=headers)

    def _bucket(self, asked: Asked) -> dict[str, str]:
        """What stands in the headers on the limit of this route: `window` 0 is none."""
        parts, (_, now) = asked.parts, self.town.stamp()
        kind = next((each for each in parts[2:] if each in ("messages", "reactions", "typing")), "")
        if parts[0] == "webhooks" and len(parts) == 3:
            kind = "webhooks"
        if "reactions" in parts:
            kind = "reactions"
        most, share = BUCKETS.get((asked.method, kind), (1000, 1.0))
        lasts = self.window * share or 1.0
        names = [part if not part.isdigit() else "0" for part in parts[2:]]
        route = sha256(f"{asked.method} {parts[0]} {names[:3]}".encode()).hexdigest()[:32]
        left, until = 999, now + lasts
        if self.window and most < 1000:
            bot = asked.bot.name if asked.bot is not None else ""
            key = (route, bot, *parts[:2])
            until, used = self._buckets.get(key, (0.0, 0))
            if until <= now:
                until, used = now + lasts, 0
            left = most - used - 1
            self._buckets[key] = until, used + 1
        return {
            "X-RateLimit-Limit": str(most),
            "X-RateLimit-Remaining": str(max(0, left)),
            "X-RateLimit-Reset-After": str(round(max(0.001, until - now), 3)),
            "X-RateLimit-Bucket": route,
        } | ({"X-Used-Up": "yes"} if left < 0 else {})

    def story(self) -> str:
        """What happened last, and what was called."""
        return (
            f"{super().story()}\nand called {[(c.bot, c.route, c.status) for c in self.calls[-6:]]}"
        )

    async def _parse(self, request: web.Request) -> Asked:
        path = "/" + request.match_info["tail"]
        body: Any = None
        files: list[File] = []
        if request.content_type.startswith("multipart/"):
            fields: dict[str, str] = {}
            for part in await form_parts(request):
                if part.filename is not None and part.name != "payload_json":
                    files.append(File(part.filename, io.BytesIO(part.data)))
                else:
                    fields[part.name] = part.data.decode()
            body = json.loads(fields["payload_json"]) if "payload_json" in fields else fields
        elif request.can_read_body:
            body = await request.json()
        described = (body.get("attachments") or []) if isinstance(body, dict) else []
        for one, told in zip(files, described, strict=False):
            one.description = told.get("description")
        reason = request.headers.get("X-Audit-Log-Reason")
        bot = self._caller(request.headers.get("Authorization", ""), path)
        return Asked(bot, request.method, path, dict(request.query), body, files, reason)

    def _caller(self, authorization: str, path: str) -> Bot | None:
        token = authorization.removeprefix("Bot ")
        found = next((bot for bot in self.bots.values() if bot.token == token), None)
        parts = path.strip("/").split("/")
        if parts[0] == "interactions":
            return self.asked.get(int(parts[1]))
        if parts[0] == "webhooks" and len(parts) > 2:
            apps = [bot for bot in self.bots.values() if str(bot.application) == parts[1]]
            return apps[0] if apps else self.town.owners.get(int(parts[1]), found)
        return found

    def _carry(self, asked: Asked, gateway: str) -> tuple[int, Any]:
        anonymous = asked.parts[0] == "webhooks" and len(asked.parts) > 2
        if asked.bot is None and not anonymous:
            return 401, {"message": "401: Unauthorized", "code": 0}
        if asked.bot is not None:
            self.as_bot(asked.bot)
        self.judge.request(asked.method, asked.path, asked.body)
        try:
            sizes = [file.fp.getbuffer().nbytes for file in asked.files]
            rules.check(self.town, asked.method, asked.parts, asked.body, sizes)
            out = self._served(asked, gateway)
            status = 204 if out is None else self.judge.success(asked.method, asked.path)
        except (router.RouteNotImplemented, router.UnsupportedField) as error:
            status, out = 501, error.to_json()
            self.judge.note(f"{asked.method} {asked.path}", error.message)
        except BackendError as error:
            status, out = error.status, error.to_json()
        out = mend.anything(json.loads(json.dumps(out)), self) if status != 204 else None
        self.judge.response(asked.method, asked.path, status, out)
        return status, out

    def _reply(
        self, status: int, out: Any, base: str, headers: dict[str, str]
    ) -> web.StreamResponse:
        if out is None:
            return web.Response(status=status or 204, headers=headers)
        if isinstance(out, str):
            return web.Response(text=out, status=status, headers=headers, content_type="text/html")
        # The type must be exactly this: with a charset discord.py takes the body for text.
        headers["Content-Type"] = "application/json"
        text = addressed(json.dumps(out), base)
        return web.Response(body=text.encode(), status=status or 500, headers=headers)

    # ------------------------------------------------------------------ serving

    def _served(self, asked: Asked, gateway: str) -> Any:
        if asked.method in ("POST", "PATCH") and isinstance(asked.body, dict):
            asked = replace(asked, body=mend.stored(asked.body))
        match [asked.method, *asked.parts]:
            case ["GET", "users", "@me", "guilds"] if asked.bot is not None:
                return mend.guilds(self._dispatch_rest(asked), asked.bot, self)
            case ["DELETE", "users", "@me", "guilds", _] if asked.bot is not None:
                return self._leave(asked.bot)
            case ["GET", "guilds", _]:
                made = mend.guild(self._dispatch_rest(asked))
                if asked.query.get("with_counts") in TRUE:
                    count = len(self.guild.members)
                    made |= {"approximate_member_count": count, "approximate_presence_count": count}
                return made
            case ["GET", "guilds", _, "threads", "active"]:
                return {"has_more": False, **self._dispatch_rest(asked)}
            case ["GET", "gateway"]:
                return {"url": gateway}
            case ["GET", "gateway", "bot"]:
                limits = {"total": 1000, "remaining": 1000, "reset_after": 0, "max_concurrency": 1}
                return {"url": gateway, "shards": 1, "session_start_limit": limits}
            case ["GET", "applications" | "oauth2", *_] if asked.parts[-1] == "@me":
                return self._application(asked)
            case ["PATCH", "users", "@me"]:
                return self._profile(asked)
            case ["GET", "channels", _, "messages"] if "after" in asked.query:
                return self._after(asked)
            case ["POST", "channels", channel, "messages"]:
                return self._create(asked, int(channel))
            case ["POST", "channels", channel, "webhooks"]:
                return self._webhook(asked, int(channel))
            case ["GET", "channels" | "guilds", _, "webhooks"]:
                return [self._owned(asked, one) for one in self._dispatch_rest(asked)]
            case ["GET", "webhooks", _]:
                return self._owned(asked, self._dispatch_rest(asked))
            case ["PATCH", "webhooks", webhook]:
                return self._changed(asked, int(webhook))
            case [_, "webhooks", webhook, _, *_] if int(webhook) in self.town.webhooks:
                return self._execute(asked, int(webhook))
            case ["POST", "interactions", *_]:
                made = self._dispatch_rest(asked)
                return made if asked.query.get("with_response") in TRUE else None
        return self._dispatch_rest(asked)

    def _dispatch_rest(self, asked: Asked) -> Any:
        approved = asked.bot is None or "message_content" in asked.bot.approved
        return router.dispatch(
            self.town,
            asked.method,
            asked.path,
            json=asked.body,
            params=dict(asked.query),
            files=asked.files,
            reason=asked.reason,
            message_content_access=approved,
        )

    def _after(self, asked: Asked) -> Any:
        """Discord gives those that came next; SimCord gives the newest of all that came."""
        limit = int(asked.query.get("limit", 50))
        query = {**asked.query, "limit": str(1 << 30)}
        return self._dispatch_rest(replace(asked, query=query))[-limit:]

    def _application(self, asked: Asked) -> Any:
        assert asked.bot is not None
        made = self._dispatch_rest(
            Asked(asked.bot, "GET", "/oauth2/applications/@me", {}, None, [], None)
        )
        flags = mend.portal_flags(asked.bot)
        if self.maker:
            made["owner"] = dict(serializers.user_payload(self.town.users[self.maker]))
        return {**mend.APPLICATION, **made, "flags": flags, "flags_new": str(flags), **self.portal}

    def _profile(self, asked: Asked) -> Any:
        body = dict(asked.body or {})
        user = self.town.bot_user
        if "avatar" in body:
            image = body.pop("avatar")
            user.avatar = None if image is None else sha256(image.encode()).hexdigest()[:32]
        body.pop("banner", None)
        if body:
            return self._dispatch_rest(Asked(asked.bot, "PATCH", asked.path, {}, body, [], None))
        self.town.emit("USER_UPDATE", dict(serializers.user_payload(user)))
        return dict(serializers.user_payload(user))

    def _leave(self, bot: Bot) -> None:
        """A bot leaves; the guild stays."""
        self.town.remove_member(self.guild.id, bot.id)
        self.to_bot(bot, "GUILD_DELETE", {"id": str(self.guild.id)})

    def _create(self, asked: Asked, channel: int) -> Any:
        recipients = self.town.get_channel(channel).recipient_ids
        if any(one in self.closed for one in recipients):
            raise BackendError(403, 50007, "Cannot send messages to this user")
        body = asked.body or {}
        nonce = body.get("nonce")
        assert asked.bot is not None
        key = (asked.bot.id, str(nonce))
        now = self.town.clock.now().timestamp()
        if nonce is not None and body.get("enforce_nonce") and key in self._nonces:
            at, where, made = self._nonces[key]
            if now - at < WINDOW:
                message = self.town.messages.get(where, {}).get(made)
                if message is None:
                    raise errors.unknown_message()
                return {**serializers.message_payload(self.town, message), "nonce": nonce}
        self.town.nonce = None if nonce is None else str(nonce)
        try:
            out = self._dispatch_rest(asked)
        finally:
            self.town.nonce = None
        if nonce is not None:
            self._nonces[key] = (now, channel, int(out["id"]))
            out["nonce"] = nonce
        return out

    # ----------------------------------------------------------------- webhooks

    def _webhook(self, asked: Asked, channel: int) -> Any:
        having = [one for one in self.town.webhooks.values() if one.channel_id == channel]
        if len(having) >= WEBHOOKS:
            raise BackendError(400, 30007, "Maximum number of webhooks reached (15)")
        made = self._dispatch_rest(asked)
        assert asked.bot is not None
        self.town.owners[int(made["id"])] = asked.bot
        self._face(int(made["id"]), asked.body)
        return self._owned(asked, made)

    def _changed(self, asked: Asked, webhook: int) -> Any:
        """A webhook's name and picture; SimCord has no picture."""
        body = {key: value for key, value in asked.body.items() if key != "avatar"}
        plain = Asked(asked.bot, asked.method, asked.path, asked.query, body, [], asked.reason)
        made = self._dispatch_rest(plain)
        self._face(webhook, asked.body)
        return self._owned(asked, made)

    def _face(self, webhook: int, body: dict[str, Any]) -> None:
        if "avatar" in body:
            image = body["avatar"]
            face = None if image is None else sha256(image.encode()).hexdigest()[:32]
            self.town.users[webhook].avatar = face

    def _owned(self, asked: Asked, webhook: dict[str, Any]) -> dict[str, Any]:
        """A webhook of an application: others do not see its token."""
        owner = self.town.owners.get(int(webhook["id"]))
        webhook = {**webhook, "avatar": self.town.users[int(webhook["id"])].avatar}
        if owner is None:
            return webhook
        shown = {**webhook, "application_id": str(owner.application)}
        token = shown.get("token")
        if owner is not asked.bot:
            shown.pop("token", None)
        elif token is not None:
            shown["url"] = f"https://discord.com/api/webhooks/{webhook['id']}/{token}"
        return shown

    def _with_buttons(self, asked: Asked, webhook: int) -> Any:
        """An application's own webhook may always send components; SimCord knows no such one."""
        body = dict(asked.body) if isinstance(asked.body, dict) else {}
        if self.town.owners.get(webhook) is None or "components" not in body:
            return self._dispatch_rest(asked)
        components = validate_components(body.pop("components"))
        out = self._dispatch_rest(replace(asked, body=body))
        message = self.town.get_message(self.town.webhooks[webhook].channel_id, int(out["id"]))
        message.components = components
        return {**out, "components": message.components}

    def _execute(self, asked: Asked, webhook: int) -> Any:
        """A webhook by its token: `thread_id` and `wait` are Discord's, SimCord has neither."""
        town, hook = self.town, self.town.webhooks[webhook]
        if town.bot_user.id not in town.users:
            town.bot_user = town.users[hook.creator_id]
        home, thread = hook.channel_id, asked.query.get("thread_id")
        if thread is not None:
            found = town.channels.get(int(thread))
            if found is None or found.parent_id != home:
                raise errors.unknown_channel()
            hook.channel_id = found.id
        try:
            out = self._with_buttons(asked, webhook)
        finally:
            if webhook in town.webhooks:
                hook.channel_id = home
        if asked.method in ("GET", "PATCH") and len(asked.parts) == 3:
            known = {**out, "token": hook.token}  # whoever knows the token is told it
            del known["user"]
            return known
        executed = asked.method == "POST" and len(asked.parts) == 3
        if executed and asked.query.get("wait") not in TRUE:
            return None
        return out
