"""Guards: who is asking, and may they? Every handler that is not public stands behind it.

    site      everything pages may use
    visitor   somebody signed in; else they are sent to the sign-in page
    owner     the owner of the home; for anybody else the page does not exist
    place     a room the visitor is in; for anybody else the room does not exist

Handlers name what they need as a parameter, and Litestar brings it; a handler that names none of
the last three is public, and a test counts those.

`AccessGuard` stands before the handlers and turns strangers away before a byte of their form is
read. Then come the tokens of forms (form_csrf.py).
"""

from litestar.datastructures import State
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, Scope, Send
from msgspec import Struct

from loopforge.chat.room.member_visibility import MemberSight
from loopforge.chat.room.permissions import may_close
from loopforge.chat.room.room_snapshot import RoomSnapshot
from loopforge.chat.service.room_list import titled_for
from loopforge.errors import InputError, Unknown
from loopforge.people.accounts.account_values import Visitor
from loopforge.web.server.form_csrf import COOKIE, FormSigner
from loopforge.web.server.page_context import Asked, PageContext

DOORS = ("/sign-in", "/enter/", "/join/", "/renew/", "/device/")
"""Where strangers may send forms to: a name and a password, which are short."""


class NotSignedIn(InputError):
    """Nobody is signed in, and the page is for those who are."""


class RoomAccess(Struct, frozen=True, kw_only=True):
    """A room as one visitor stands in it."""

    room: str
    scene: RoomSnapshot
    sight: MemberSight
    visitor: Visitor

    @property
    def owner(self) -> bool:
        """Whether the visitor is the owner of the home."""
        return self.visitor.right == "owner"

    @property
    def may_close(self) -> bool:
        """Whether they may delete the room: who opened it, or the owner of the home."""
        return may_close(self.scene.opener, self.visitor.person, owner=self.owner)


async def provide_site(state: State) -> PageContext:
    """Everything pages may use."""
    site: PageContext = state["site"]
    return site


async def provide_signer(state: State) -> FormSigner:
    """What is signed with the home's secret."""
    signer: FormSigner = state["signer"]
    return signer


async def visitor_of(request: Asked, site: PageContext) -> Visitor | None:
    """Who is asking, if they are signed in."""
    token = request.cookies.get(COOKIE, "")
    return await site.accounts.decisions.presence.visitor(token) if token else None


async def provide_visitor(request: Asked, site: PageContext) -> Visitor:
    """Somebody signed in. Raises NotSignedIn."""
    visitor = await visitor_of(request, site)
    if visitor is None:
        raise NotSignedIn("Sign in first.")
    request.state.visitor = visitor
    return visitor


async def provide_owner(visitor: Visitor) -> Visitor:
    """The owner of the home. Raises Unknown for anybody else."""
    if visitor.right != "owner":
        raise Unknown("There is no such page.")
    return visitor


async def provide_place(room: str, site: PageContext, visitor: Visitor) -> RoomAccess:
    """The room, if the visitor is in it. Raises Unknown, whether it exists or not."""
    sight = await site.front.lobby.sight(room, visitor.person)
    if not sight.here:
        raise Unknown("There is no such room, or you are not in it.")
    scene = titled_for(await site.front.rooms.scene(room, visitor.person), sight)
    return RoomAccess(room=room, scene=scene, sight=sight, visitor=visitor)


# ---------------------------------------------------------------- before any handler


class AccessGuard:
    """Lets forms of people who are signed in through, and all others only to the doors."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises NotSignedIn before anything of the body is read."""
        if scope["type"] == ScopeType.HTTP and scope["method"] == "POST":
            request = Asked(scope)
            if not scope["path"].startswith(DOORS):
                await provide_visitor(request, scope["litestar_app"].state["site"])
        await self._app(scope, receive, send)


DEPENDENCIES = {
    "site": Provide(provide_site),
    "signer": Provide(provide_signer),
    "visitor": Provide(provide_visitor),
    "owner": Provide(provide_owner),
    "place": Provide(provide_place),
}
