"""One person with several selves: an account proves by a one-time code whose it is.

    where somebody is known     offer_code -> K7QF-2MXD, for fifteen minutes
    where they want to be too   claim(that code) -> from now on this account means them

Both sides become one person, with every account of either: whoever offered the code, unless only
the other may sign in to the web room; who signs in stays who they are. With `claim_as`, for who is
at home here (on their page, at this machine), it is the other way round: the claimer stays. What
was said before stands in the ledger under the id it was said by; `PersonRegistry.same` tells
whom that became.

Does not know surfaces: whoever calls vouches for the account. Wrong codes are counted in memory,
by the account that claims; a restart forgets them.
"""

from collections.abc import Sequence
from datetime import timedelta

from loopforge.core.people_events import AccountLinked, AccountUnlinked
from loopforge.core.text.erasable_text import Words
from loopforge.errors import InputError, NotLetIn, Unknown
from loopforge.people.accounts.account_decisions import AccountDecisions, Decision
from loopforge.people.accounts.credential_store import LINKING, no_work, redeem_link
from loopforge.people.accounts.login_throttle import GuessLockout
from loopforge.people.accounts.typed_codes import code_digest, code_digests
from loopforge.people.identity.person_registry import Person, PersonRegistry
from loopforge.runtime.ports import Clock

VALID = timedelta(minutes=15)
"""How long a code is good."""

WRONG = (
    "This code links nothing: it was mistyped, used already, replaced by a newer one, or its "
    "fifteen minutes are over. Ask for a new one where you are known, and type it here."
)
AGAIN = (
    "This account is linked already. If it was by this code, all is done: a code is good once. "
    "For another account, ask for a new code where you are known, and type it here."
)
SELF = "This is you already: the code is your own. Type it where you are not known yet."
TWO_ACCOUNTS = (
    "Both of these people sign in to the web room, and two accounts cannot become one. "
    "Close one of them first, or link the other self to one account only."
)
OTHER_WAY = (
    "You sign in to this home, so a code that you type here would make whoever asked for it you. "
    "Nothing was linked. If that is you: ask for a code here, by /link, and type it there."
)
REFUSED = (
    "The owner of this home has refused one of these accounts, so nothing was linked. "
    "Ask the owner to let it in first."
)
BOT = "A program of somebody else's has no other selves; nothing was linked."

_NAME = "code:"
"""Before the id of a person, what their code is kept under."""


class AccountLinking:
    """The codes by which accounts become one person's."""

    def __init__(self, decisions: AccountDecisions, people: PersonRegistry, clock: Clock) -> None:
        self._decisions, self._people = decisions, people
        self._guesses = GuessLockout(clock, "code")

    async def offer_code(self, person: str) -> str:
        """A code by which another account becomes this person's; earlier ones of theirs are void.

        Whoever types it becomes them. Raises Unknown, or InputError for a bot.
        """
        await self._decisions.refresh()
        known = self._known(person)
        if known.bot:
            raise InputError(BOT)
        code, link = self._decisions.code(LINKING, _NAME + known.id, VALID)
        await self._decisions.vault.code(link, self._decisions.now)
        return code

    async def expose(self, text: str) -> bool:
        """Spend the codes that were said where others read them; whether one of them was good."""
        vault = self._decisions.vault
        found = [row for key in code_digests(text) if (row := await vault.link(key, LINKING))]
        for row in found:
            await vault.void(row)
        return any(self._decisions.now < row.until for row in found)

    async def claim(self, code: str, surface: str, account: str) -> Person:
        """Link an account by the code that its person was given elsewhere; the person it means now.

        Raises NotLetIn for a code that is not good or after too many of these, InputError where
        these two cannot become one; then the code stays good.
        """
        return await self._claim(code, surface, account)

    async def claim_as(self, code: str, person: str) -> Person:
        """The same for somebody at home here, who stays who they are; the other becomes them.

        Unless only the other may sign in. Raises Unknown besides, for who is not known.
        """
        await self._decisions.refresh()
        known = self._known(person)
        selves = self._people.selves(known.id)
        if not selves:
            raise Unknown("The account by which you were met is forgotten; nothing can be linked.")
        return await self._claim(code, selves[0].surface, selves[0].account, at_home=True)

    async def unlink(self, person: str, surface: str, account: str, by: str = "") -> None:
        """Let a linked account mean again whom it meant at first; for themselves and the owner.

        Raises Unknown where it is not linked to this person.
        """
        decisions, people = self._decisions, self._people

        async def decide() -> Decision:
            whose, decider = people.same(person), people.same(by) if by else ""
            linked = [one for one in people.selves(whose) if one.linked]
            if not (decider == whose or decisions.may(decider, whose)) or not any(
                (one.surface, one.account.casefold()) == (surface, account.casefold())
                for one in linked
            ):
                raise Unknown(f"No account {account!r} of {surface} is linked to this person.")
            return [AccountUnlinked(person=whose, surface=surface, account=Words(account))], no_work

        await decisions.decide(by, decide)

    # ------------------------------------------------------------ two become one

    async def _claim(
        self, code: str, surface: str, account: str, *, at_home: bool = False
    ) -> Person:
        decisions, key = self._decisions, f"{surface}:{account.casefold()}"
        self._guesses.begin(key)
        try:
            by, _ = await self._union(code, surface, account, at_home)
        except NotLetIn:
            mine = self._people.who(surface, account)
            if mine is not None and len(self._people.selves(mine.id)) > 1:
                raise NotLetIn(AGAIN) from None
            raise
        except InputError:
            self._guesses.uncounted(key)  # nor forgiven: one's own code would be free guesses
            raise
        self._guesses.uncounted(key)

        async def decide() -> Decision:
            _, facts = await self._union(code, surface, account, at_home)
            return facts, redeem_link(code_digest(code), NotLetIn(WRONG), LINKING)

        await decisions.decide(by, decide)
        return self._known(by)

    async def _union(
        self, code: str, surface: str, account: str, at_home: bool
    ) -> tuple[str, list[AccountLinked]]:
        """Who two become by this code now, and every fact of it. Raises NotLetIn, InputError."""
        decisions, people = self._decisions, self._people
        await decisions.refresh()
        row = await decisions.coded(code, LINKING)
        offered = people.person(people.same(row.invite.removeprefix(_NAME))) if row else None
        if offered is None or offered.name.text is None:
            raise NotLetIn(WRONG)
        claiming = people.who(surface, account)
        if claiming is None:
            self._refuse_refused(offered.id, [(surface, account)])
            link = AccountLinked(person=offered.id, surface=surface, account=Words(account))
            return offered.id, [link]
        if claiming.id == offered.id:
            raise InputError(SELF)
        if claiming.bot or offered.bot:
            raise InputError(BOT)
        stays, joins = self._order(offered.id, claiming.id, at_home)
        known = [one for each in (stays, joins) for one in people.selves(each)]
        self._refuse_refused(stays, [(one.surface, one.account) for one in known])
        return stays, [
            AccountLinked(person=stays, surface=one.surface, account=Words(one.account), was=joins)
            for one in people.selves(joins)
        ]

    def _order(self, offered: str, claiming: str, at_home: bool) -> tuple[str, str]:
        """Who stays, and who becomes them. Raises InputError where both must stay.

        And where whoever signs in here typed a code on a platform: nobody is talked into that.
        """
        signs_in = [self._decisions.book.account(one) is not None for one in (offered, claiming)]
        if all(signs_in):
            raise InputError(TWO_ACCOUNTS)
        if signs_in[1] and not at_home:
            raise InputError(OTHER_WAY)
        turned = signs_in[1] or (at_home and not signs_in[0])
        return (claiming, offered) if turned else (offered, claiming)

    def _refuse_refused(self, stays: str, accounts: Sequence[tuple[str, str]]) -> None:
        """Raise InputError where one of these was refused: nobody but the owner takes it in."""
        book = self._decisions.book
        entry = book.account(stays)
        owns = entry is not None and entry.right == "owner"
        if not owns and any(book.knocks.verdict(*one) == "refused" for one in accounts):
            raise InputError(REFUSED)

    def _known(self, person: str) -> Person:
        known = self._people.person(self._people.same(person))
        if known is None or known.name.text is None:
            raise Unknown("Nobody of that id is known here.")
        return known
