"""A question's page: exactly what it wants to do, and somebody's yes or no.

The page is for whoever sees the question in the room; whether their answer counts is the rooms' to
say. It works without scripts, and on a phone.
"""

from typing import Annotated, Any

from litestar import Response, get, post
from litestar.params import Parameter
from litestar.response import Template

from loopforge.chat.room.permissions import may
from loopforge.chat.room.room_store import stream_of
from loopforge.core.room_vocabulary import Told
from loopforge.errors import Unknown
from loopforge.web.rendering import markdown_html
from loopforge.web.room.room_pages import form_response
from loopforge.web.server.access_guards import RoomAccess
from loopforge.web.server.page_context import Asked, Fields, PageContext, render_page

Number = Annotated[int, Parameter(ge=1, le=10**6)]


@get("/rooms/{room:str}/questions/{number:int}")
async def question(
    request: Asked, site: PageContext, place: RoomAccess, number: Number
) -> Template:
    """What is asked, and a form for the answer while it is open; in the room itself, a card."""
    card = "hx-request" in request.headers
    events = await site.ledger.read(stream_of(place.room), kinds=["room.told"])
    for event in events:
        body = event.body
        if isinstance(body, Told) and body.asks == number and place.sight.sees(event.seq):
            found = await site.front.questions.asked(event)
            state = await site.front.rooms.state(place.room)
            changes = may(state, place.visitor.person, "change", owner=place.owner)
            return render_page(
                "question-card.html" if card else "question-page.html",
                place.visitor,
                here="rooms",
                place=place,
                number=number,
                card=card,
                open=found is not None and found.open,
                always=found is not None and found.always and changes,
                once=found is not None and found.once,
                lapse=(body.text.text or "").rpartition(" and why. ")[2],
                ended=await site.front.questions.ended(found) if found else "",
                asked=markdown_html.render_markdown(_what(body.text.text or "This was forgotten.")),
            )
    raise Unknown("There is no such question in this room.")


def _what(told: str) -> str:
    """What is asked, without the commands by which it is answered elsewhere: the last paragraph."""
    return told.rpartition("\n\n")[0] or told


@post("/rooms/{room:str}/questions/{number:int}")
async def answer(
    request: Asked, site: PageContext, place: RoomAccess, number: Number, data: Fields
) -> Response[Any]:
    """Yes, or no with a reason."""
    answered = data.get("answer", "")
    verb = "approve" if answered in ("yes", "always") else "deny"
    why = data.get("why", "").strip() if verb == "deny" else answered.removeprefix("yes")
    person = place.visitor.person
    told = await site.front.commands.act(
        place.room, person, verb, f"{number} {why}".strip(), owner=place.owner
    )
    return form_response(request, place.room, told=told)
