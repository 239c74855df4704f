"""Links that let in: the owner's, made on this machine; invites; and renewals of lost passwords.

A link's secret is a token of 16 random bytes, told once; only its digest is kept. Each lets in
once. Does not know passwords' hashing, nor what a room is.
"""

from datetime import datetime, timedelta

from loopforge.core.events import from_epoch_micros
from loopforge.core.people_events import (
    AccountLinked,
    AccountOpened,
    Invited,
    InviteTaken,
    InviteWithdrawn,
    RenewalOffered,
    SignedOut,
)
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_book import InviteRecord
from loopforge.people.accounts.account_decisions import AccountDecisions, Decision
from loopforge.people.accounts.account_values import Invite, Inviters, Visitor
from loopforge.people.accounts.credential_store import (
    DEVICE,
    ELSEWHERE,
    INVITE,
    OWNER,
    RENEWAL,
    combine_work,
    delete_sessions,
    insert_link,
    no_work,
    redeem_link,
    replace_link,
    store_password,
)
from loopforge.people.accounts.login_sessions import token_digest
from loopforge.people.identity.account_names import valid_account_name
from loopforge.people.identity.password_rules import check_new_password
from loopforge.people.identity.person_registry import PersonRegistry

HOUR = timedelta(minutes=60)
"""How long the owner's link is valid."""
DAY = timedelta(days=1)
"""How long a link to a new password is valid."""
QUARTER = timedelta(minutes=15)
"""How long a link for another device is valid."""
DAYS = 365
"""The most days for which an invite may be valid."""

NO_LINK = (
    "This link lets nobody in: it was used, its hour is over, or a newer one was made. "
    "Make a new one on the machine where Loopforge runs."
)
NO_DEVICE = (
    "This link lets nobody in: it was used, its quarter of an hour is over, or a newer one was "
    "made. Make another where you are signed in."
)
NO_RENEWAL = (
    "This link sets no password: it was used, its day is over, or a newer one was made. "
    "Ask the owner of this home for another."
)
NO_INVITE = (
    "This invite is not valid: it was taken or withdrawn, or its time is over. "
    "Ask whoever sent it for a new one."
)


NOT_INVITING: dict[Inviters, str] = {
    "members": "",
    "owner": "In this home the owner alone invites people; ask them for a link.",
    "nobody": (
        "Nobody invites people into this home just now. Its owner can change that: Admin, Invites."
    ),
}


class AccessLinks:
    """The links of this home. `inviters` says who may make invites, from now on."""

    def __init__(self, decisions: AccountDecisions, people: PersonRegistry) -> None:
        self._decisions, self._people = decisions, people
        self.inviters: Inviters = "members"

    # ------------------------------------------------------------ the owner's

    async def offer(self) -> str:
        """A fresh one-time token, valid for an hour; earlier ones are void. For any process."""
        token, link = self._decisions.link(OWNER, HOUR)
        await self._decisions.vault.offer(link)
        return token

    async def waits(self, token: str) -> bool:
        """Whether this token would let the owner in."""
        link = await self._decisions.vault.link(token_digest(token), OWNER)
        return link is not None and self._decisions.now < link.until

    async def enter(
        self, token: str, name: str, agent: str, seal: str = "", login: str = ""
    ) -> tuple[Visitor, str]:
        """Let the owner in by the one-time token, and spend it; with the session's token.

        Who comes first becomes the owner: the person called `name` in this machine's terminal,
        which means them by `login` too from then on. Later the names are no matter. `agent` is what
        the browser calls itself, `seal` stands at the end of the session's token, after a dot.
        Raises NotLetIn, or BadAccount for the name; then the link stays good.
        """
        decisions = self._decisions
        await self._check_waiting(token)
        await decisions.refresh()
        person = decisions.book.owner() or await self._future_owner(name)
        start = decisions.start(person, agent, "link", seal)

        async def decide() -> Decision:
            await self._check_waiting(token)
            work = combine_work(redeem_link(token_digest(token), NotLetIn(NO_LINK)), start.work)
            if owner := decisions.book.owner():
                if owner != person:
                    raise NotLetIn(NO_LINK)
                return [start.fact], work
            decisions.free(decisions.book.name(person))
            opened = AccountOpened(person=person, right="owner")
            return [opened, *self._terminal_links(person, login), start.fact], work

        await decisions.decide(person, decide)
        return decisions.visitor(start), start.token

    async def _check_waiting(self, token: str) -> None:
        if not await self.waits(token):
            raise NotLetIn(NO_LINK)

    async def _future_owner(self, name: str) -> str:
        """Who becomes the owner: somebody the terminal knows, however called, or a new person."""
        known = await self._people.named(name.strip())
        if not any(one.surface == "terminal" and one.name.text is not None for one in known):
            name = valid_account_name(name)
        self._decisions.free(name)
        return (await self._people.meet("terminal", name.strip())).id

    def _terminal_links(self, person: str, login: str) -> list[AccountLinked]:
        """What makes the name that the terminal goes by one more self of the owner."""
        known = self._people.who("terminal", login) if login else None
        if not login or (known and known.id == person):
            return []
        was = known.id if known else ""
        linked = AccountLinked(person=person, surface="terminal", account=Words(login), was=was)
        return [linked]

    # ------------------------------------------------------------ invites

    def why_not(self, person: str) -> str:
        """Why somebody may not invite, whichever surface they ask on; "" where they may."""
        account = self._decisions.book.account(person)
        owns = account is not None and account.right == "owner"
        return "" if owns and self.inviters == "owner" else NOT_INVITING[self.inviters]

    async def invite(
        self, by: str, room: str = "", past: bool = False, days: int = 7
    ) -> tuple[Invite, str]:
        """Invite somebody; with the token of the link. Raises InputError, NotLetIn."""
        if why := self.why_not(by):
            raise InputError(why)
        if not 1 <= days <= DAYS:
            raise InputError(f"An invite is valid for 1 to {DAYS} days, not for {days}.")
        token, link = self._decisions.link(INVITE, timedelta(days=days))
        said = Invited(invite=link.invite, by=by, room=room, past=past)

        async def decide() -> Decision:
            self._decisions.entry(by)
            return [said], insert_link(link)

        await self._decisions.decide(by, decide)
        return self._invite_card(self._invite_record(link.invite), link.until), token

    async def invited(self, token: str) -> Invite | None:
        """The invite of this token, if it is still to be taken."""
        link = await self._decisions.vault.link(token_digest(token), INVITE)
        if link is None:
            return None
        await self._decisions.refresh()
        card = self._invite_card(self._invite_record(link.invite), link.until)
        return card if card.state == "open" else None

    async def take(
        self, token: str, name: str, password: str, agent: str, seal: str = ""
    ) -> tuple[Visitor, str, Invite]:
        """Open an account by an invite, and sign in; with the session's token.

        Raises NotLetIn, or BadAccount for the name or the password; then the invite stays open.
        """
        decisions = self._decisions
        invite = await self._valid_invite(token)
        name = decisions.free(valid_account_name(name))
        check_new_password(password, name)
        hash = await decisions.passwords.hash(password)
        person = (await self._people.meet("web", name)).id
        start = decisions.start(person, agent, "invite", seal)

        async def decide() -> Decision:
            await self._valid_invite(token)
            decisions.free(name)
            facts = (
                AccountOpened(person=person, right="member"),
                InviteTaken(invite=invite.invite, person=person),
                start.fact,
            )
            return facts, combine_work(store_password(person, hash), start.work)

        await decisions.decide(person, decide)
        taken = self._invite_card(self._invite_record(invite.invite), invite.until)
        return decisions.visitor(start), start.token, taken

    async def take_as(self, token: str, visitor: Visitor) -> Invite:
        """Take an invite into a room for somebody who is signed in. Raises NotLetIn, InputError."""
        invite = await self._valid_invite(token)
        if not invite.room:
            raise InputError("You are in already; this invite is for somebody new. Pass it on.")

        async def decide() -> Decision:
            await self._valid_invite(token)
            self._decisions.entry(visitor.person)
            return [InviteTaken(invite=invite.invite, person=visitor.person)], no_work

        await self._decisions.decide(visitor.person, decide)
        return self._invite_card(self._invite_record(invite.invite), invite.until)

    async def withdraw(self, invite: str, by: str) -> None:
        """Let an open invite be valid no longer; for who wrote it, and the owner."""

        async def decide() -> Decision:
            known = self._invite_record(invite)
            if not self._decisions.may(by, known.said.by):
                raise Unknown(f"There is no invite {invite!r} of yours.")
            if known.person:
                raise InputError("This invite was taken already; nothing is left to withdraw.")
            return [] if known.withdrawn else [InviteWithdrawn(invite=invite, by=by)], no_work

        await self._decisions.decide(by, decide)

    # ------------------------------------------------------------ another device

    async def device(self, person: str) -> str:
        """A one-time token, valid for a quarter of an hour, by which they sign in elsewhere.

        Earlier ones of theirs are void; so is it where a session of theirs is ended, or their
        password changed. No guess at it holds it up. Raises NotLetIn.
        """
        await self._decisions.refresh()
        self._decisions.entry(person)
        token, link = self._decisions.link(DEVICE, QUARTER)
        await self._decisions.vault.code(
            link._replace(invite=ELSEWHERE + person), self._decisions.now
        )
        return token

    async def joining(self, token: str) -> str:
        """Whom this token would sign in; "" if nobody."""
        return await self._person_of_link(token, DEVICE)

    async def join(self, token: str, agent: str, seal: str = "") -> tuple[Visitor, str]:
        """Sign in by the token of another device, and spend it. Raises NotLetIn."""
        decisions = self._decisions
        person = await self._whose_link(token, DEVICE, NO_DEVICE)
        start = decisions.start(person, agent, "link", seal)

        async def decide() -> Decision:
            await self._whose_link(token, DEVICE, NO_DEVICE)
            spend = redeem_link(token_digest(token), NotLetIn(NO_DEVICE), DEVICE)
            return [start.fact], combine_work(spend, start.work)

        await decisions.decide(person, decide)
        return decisions.visitor(start), start.token

    async def _person_of_link(self, token: str, kind: str) -> str:
        """Whom a link is named by, if it is good and they may sign in; else ""."""
        link = await self._decisions.vault.link(token_digest(token), kind)
        if link is None or self._decisions.now >= link.until:
            return ""
        await self._decisions.refresh()
        person = link.invite.removeprefix(ELSEWHERE)
        return person if self._decisions.book.account(person) else ""

    async def _whose_link(self, token: str, kind: str, refusal: str) -> str:
        person = await self._person_of_link(token, kind)
        if not person:
            raise NotLetIn(refusal)
        return person

    # ------------------------------------------------------------ lost passwords

    async def renewal(self, person: str, by: str) -> str:
        """A one-time token, valid for a day, by which this person sets a new password.

        Earlier ones of theirs are void. Whoever holds it can sign in as them. Raises Unknown.
        """
        decisions = self._decisions
        token, link = decisions.link(RENEWAL, DAY)
        said = RenewalOffered(person=person, by=by)

        async def decide() -> Decision:
            if not decisions.may(by, person) or decisions.book.account(person) is None:
                raise Unknown("There is no such account.")
            return [said], replace_link(link._replace(invite=person), decisions.now)

        await decisions.decide(by, decide)
        return token

    async def renewing(self, token: str) -> str:
        """Whose password this token would set; "" if nobody's."""
        return await self._person_of_link(token, RENEWAL)

    async def renew(
        self, token: str, password: str, agent: str, seal: str = ""
    ) -> tuple[Visitor, str]:
        """Set a new password by the token, spend it, and sign in; every other session ends.

        Raises NotLetIn, or BadAccount for the password; then the token stays good.
        """
        decisions = self._decisions
        person = await self._whose_link(token, RENEWAL, NO_RENEWAL)
        check_new_password(password, decisions.book.name(person))
        hash = await decisions.passwords.hash(password)
        start = decisions.start(person, agent, "password", seal)

        async def decide() -> Decision:
            await self._whose_link(token, RENEWAL, NO_RENEWAL)
            rows = await decisions.vault.sessions(person, from_epoch_micros(0))
            old = [row.session for row in rows]
            facts = [SignedOut(person=person, session=one, by=person) for one in old]
            spend = redeem_link(token_digest(token), NotLetIn(NO_RENEWAL), RENEWAL)
            work = combine_work(
                spend, delete_sessions(old), store_password(person, hash), start.work
            )
            return [*facts, start.fact], work

        await decisions.decide(person, decide)
        return decisions.visitor(start), start.token

    async def every(self) -> list[Invite]:
        """Every invite there was, newest first."""
        await self._decisions.refresh()
        untils = await self._decisions.vault.untils()
        passes = self._decisions.book.invites()
        return [self._invite_card(one, untils.get(one.said.invite, one.at)) for one in passes]

    async def _valid_invite(self, token: str) -> Invite:
        invite = await self.invited(token)
        if invite is None:
            raise NotLetIn(NO_INVITE)
        return invite

    def _invite_record(self, invite: str) -> InviteRecord:
        known = self._decisions.book.invite(invite)
        if known is None:
            raise Unknown(f"There is no invite {invite!r} of yours.")
        return known

    def _invite_card(self, known: InviteRecord, until: datetime) -> Invite:
        state = self._decisions.book.state(known, until, self._decisions.now)
        return Invite(
            invite=known.said.invite,
            by=known.said.by,
            room=known.said.room,
            past=known.said.past,
            at=known.at,
            until=until,
            state="held" if state == "open" and self.why_not(known.said.by) else state,
            person=known.person,
        )
