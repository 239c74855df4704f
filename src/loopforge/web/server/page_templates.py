"""The templates' environment: what pages may call."""

from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.web.rendering.avatar_faces import AvatarFaces
from loopforge.web.rendering.markdown_html import render_markdown
from loopforge.web.server.link_reach import OPENED, OPENING
from loopforge.web.server.page_context import PageContext
from loopforge.web.server.qr_code import qr_svg


def template_environment(
    site: PageContext | None = None,
    zone: Callable[[], ZoneInfo] = lambda: ZoneInfo("UTC"),
    faces: AvatarFaces = AvatarFaces(),  # noqa: B008  it holds nothing
    hears: Callable[[], str] = str,
) -> Environment:
    """Templates with everything they may call. `hears` tells the model that hears voice notes."""
    if site is not None:
        zone, hears = lambda: site.live.zone, lambda: site.live.now.transcription_model
        faces = AvatarFaces(site.pictures.name)
    made = Environment(
        loader=PackageLoader("loopforge.web"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    def local(at: datetime) -> datetime:
        return at.astimezone(zone())

    made.globals.update(
        faces=faces,
        face_svg=faces.mate,
        initials_svg=faces.person,
        markdown=render_markdown,
        notice=site.notice if site else str,
        boot=site.boot if site else "",
        surfaces=site.surfaces if site else {},
        hears=hears,
    )
    if site is not None:
        made.globals.update(reach=site.reach, setting=site.setting, qr_svg=qr_svg)
        made.globals.update(guests=lambda: site.front.rooms.guests)
        made.globals.update(OPENING=OPENING, OPENED=OPENED)
    made.filters.update(local=local, coded=coded, spelled_out=spelled_out)
    return made


def coded(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them stands alone
        return escape(text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if nth % 2 else part for nth, part in enumerate(parts))
