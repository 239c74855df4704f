"""The CDN: attachments that were uploaded, downloaded again by their signed addresses."""

from aiohttp import web
from simcord.backend.cdn import CDN_BASE

from tests.discord.rest import Rest


async def serve_cdn(world: Rest, request: web.Request) -> web.StreamResponse:
    """The bytes, or 404. Faults strike it as `GET /attachments/**`."""
    path = f"/attachments/{request.match_info['tail']}"
    fault = world.faults.take(("call",), f"GET {path}", "")
    if fault is not None:
        await fault.wait()
    if fault is not None and fault.status:
        return web.json_response(fault.body, status=fault.status)
    blob = world.town.cdn.get(f"{CDN_BASE}{path}")
    if blob is None or "hm" not in request.query:
        return web.Response(status=404, text="This content is no longer available.")
    return web.Response(body=blob)
