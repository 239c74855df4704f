"""The templates' environment: what pages may call."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape

from loopforge.core.egress.hidden_signs import spelled_out
from loopforge.web.rendering.avatar_faces import AvatarFaces
from loopforge.web.rendering.markdown_html import render_markdown
from loopforge.web.server.link_reach import OPENED, OPENING
from loopforge.web.server.page_context import PageContext
from loopforge.web.server.qr_code import qr_svg

FORMS = {
    "moment": ("medium short", "%-d %b %Y, %H:%M"),
    "exact": ("medium medium", "%-d %b %Y, %H:%M:%S"),
    "date": ("medium", "%-d %b %Y"),
    "time": (" short", "%H:%M"),
    "seconds": (" medium", "%H:%M:%S"),
}
"""How a time is told: the styles of its date and of its hour in a browser, and the same here."""
MARKED = re.compile("\x1f([0-9]{1,11})\x1f")


def marked_time(at: datetime) -> str:
    """A time within a sentence, for the filter `timed`."""
    return f"\x1f{int(at.timestamp())}\x1f"


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

    def when(at: datetime, form: str = "moment") -> Markup:
        """By the home's clock; theme.js tells it by that of the reader."""
        styles, told = FORMS[form]
        return Markup('<time datetime="{:%Y-%m-%dT%H:%M:%SZ}" data-as="{}">{}</time>').format(
            at.astimezone(UTC), styles, local(at).strftime(told)
        )

    def timed(text: str) -> Markup:
        parts = MARKED.split(text)  # every other one is a time
        return Markup("").join(
            when(datetime.fromtimestamp(int(part), UTC), "time") if nth % 2 else escape(part)
            for nth, part in enumerate(parts)
        )

    made.globals.update(
        faces=faces,
        face_svg=faces.mate,
        initials_svg=faces.person,
        markdown=render_markdown,
        notice=site.notice if site else str,
        boot=site.boot if site else "",
        surfaces=site.surfaces if site else {},
        hears=hears,
        home_zone=lambda: zone().key,
    )
    if site is not None:
        made.globals.update(reach=site.reach, setting=site.setting, qr_svg=qr_svg)
        made.globals.update(guests=lambda: site.front.rooms.guests)
        made.globals.update(OPENING=OPENING, OPENED=OPENED)
    made.filters.update(local=local, when=when, timed=timed, coded=coded, spelled_out=spelled_out)
    return made


def coded(text: str) -> Markup:
    """A sentence in which what stands between backticks is code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one of them stands alone
        return escape(text)
    code = Markup("<code>{}</code>")
    return Markup("").join(code.format(part) if nth % 2 else part for nth, part in enumerate(parts))
