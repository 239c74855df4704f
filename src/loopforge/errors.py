"""Every error Loopforge raises on purpose.

    LoopforgeError
      InputError            what came in cannot be used as it is
        BadPlan             a plan breaks the seam's rules
        BadPerception       a perception breaks the seam's rules
        BadReflection       a reflection breaks the seam's rules
        BadMate             a mate file cannot be read; names the file and the line
        BadSettings         loopforge.toml or an environment variable is wrong
        BadLine             a line is too long, empty, or not text
          TooLarge          a line or a file is longer than this home takes
        BadScenario         a scenario, a protocol or an experiment of the Factory cannot be used
        BadRun              a folder is no run of the Factory, or its log is damaged
        BadAccount          a name or a password that no account can have
        NotLetIn            a link, a name or a password does not open the door; or not for you
          TooEarly          it was wrong too often: there is to be waited before the next try
        Unknown             no such event, room, mate or policy
        Changed             what was edited became another meanwhile; nothing was written
      LedgerError           the ledger
        LedgerBusy          the database stayed locked; nothing was written
        LedgerFull          the disk is full; nothing was written
        LedgerReadOnly      the database may only be read now; nothing was written
        LedgerBroken        what is stored does not agree with its hashes
        LedgerBehind        the schema is older or newer than this program
        LedgerRewound       the database has lost what this process knows to have stood there
        Conflict            the stream moved on meanwhile; nothing was written
      ArtifactError         a kept file cannot be written or read
        DamagedArtifact     its bytes are no longer those that were given
      BackupError           backups cannot be reached, or one is damaged
        DamagedBackup       a backup is not, or not all of it, what was written
      RepositoryError       git did not do what was asked, or what a task made is not taken over
      NotInstalled          a library that only some homes need is missing
      ModelError            the language-model layer is not usable as configured
        ModelLost           no question of a run will be answered before somebody has mended it
      SendFailed            a surface did not take a message; says whether to try again
      HostTaken             another process runs this home already
        HostElsewhere       another process runs its ledger, in another home or on another machine
        Overtaken           it has taken over the ledger of this one, which may write no more
      Unreachable           the running host cannot be reached

The message is for the person who reads it: what happened, and what to do. Model
refusals, time-outs and malformed answers are not errors: they are outcomes, and
they stand in the ledger.
"""


class LoopforgeError(Exception):
    """The root. `str(error)` is one clear sentence, with what to do about it."""


class InputError(LoopforgeError, ValueError):
    """What came in cannot be used as it is."""


class BadPlan(InputError):
    """A plan breaks the seam's rules."""


class BadPerception(InputError):
    """A perception breaks the seam's rules."""


class BadReflection(InputError):
    """A reflection breaks the seam's rules."""


class BadMate(InputError):
    """A mate file cannot be read. `line` is 1-based, or 0 where no line is to blame."""

    def __init__(self, source: str, line: int, problem: str) -> None:
        self.source, self.line, self.problem = source, line, problem
        place = f"{source}, line {line}" if line else source
        super().__init__(f"{place}: {problem}")


class BadSettings(InputError):
    """loopforge.toml or an environment variable is wrong."""


class BadLine(InputError):
    """A line is too long, empty, or not text."""


class TooLarge(BadLine):
    """A line or a file is longer than this home takes."""

    @classmethod
    def file(cls, name: object, size: int, most: int) -> "TooLarge":
        """Of a file of so many bytes, where at most so many are taken."""
        return cls(f"{name} is too large: {size:,} bytes of at most {most:,}. Give a part of it.")


class BadScenario(InputError):
    """A scenario, a protocol or an experiment of the Factory cannot be used as it is."""


class BadRun(InputError):
    """A folder is no run of the Factory, or its log is damaged; nothing in it was changed."""


class BadAccount(InputError):
    """A name or a password that no account can have."""


class NotLetIn(InputError):
    """A link, a name or a password does not open the door; or it opens for others alone."""


class TooEarly(NotLetIn):
    """It was wrong too often: there is to be waited first. `told`: this wait was told of before."""

    def __init__(self, why: str, *, told: bool) -> None:
        self.told = told
        super().__init__(why)


class Unknown(InputError):
    """No such event, room, mate or policy."""


class Changed(InputError):
    """What was edited became another meanwhile; nothing was written."""


class LedgerError(LoopforgeError):
    """The ledger could not do what was asked."""


class LedgerBusy(LedgerError):
    """The database stayed locked; nothing was written."""


class LedgerFull(LedgerError):
    """The disk is full; nothing was written."""


class LedgerReadOnly(LedgerError):
    """The database may only be read now; nothing was written."""


class LedgerBroken(LedgerError):
    """What is stored does not agree with its hashes."""


class LedgerBehind(LedgerError):
    """The database's schema is older or newer than this program."""


class LedgerRewound(LedgerError):
    """The database lost events that this process knows, or another one is in its place."""


class Conflict(LedgerError):
    """The stream moved on meanwhile; nothing was written."""


class ArtifactError(LoopforgeError):
    """A kept file cannot be written or read."""


class DamagedArtifact(ArtifactError):
    """The bytes of a kept file are no longer those that were given."""


class BackupError(LoopforgeError):
    """Backups cannot be reached, or one is damaged."""


class DamagedBackup(BackupError):
    """A backup is not, or not all of it, what was written: another one may be whole."""


class SendFailed(LoopforgeError):
    """A surface did not take a message, or nobody knows whether it did.

    `final`: trying again would not help. `gone`: nor would sending anything else to that place.
    `uncertain`: it may have arrived, and must not be sent again. `unsent`: nothing was sent, for
    certain. `after`: seconds to wait first. `moved`: the place has another key now, under which
    what is owed can be sent.
    """

    def __init__(
        self,
        why: str,
        *,
        final: bool = False,
        gone: bool = False,
        uncertain: bool = False,
        unsent: bool = False,
        after: float = 0.0,
        moved: str = "",
    ) -> None:
        self.why, self.final, self.gone = why, final or gone or bool(moved), gone
        self.uncertain, self.unsent, self.after, self.moved = uncertain, unsent, after, moved
        super().__init__(why)


class RepositoryError(LoopforgeError):
    """Git did not do what was asked, or what a task made is not taken over."""


class NotInstalled(LoopforgeError):
    """A library that only some homes need is missing; the sentence says how to get it."""


class ModelError(LoopforgeError):
    """The language-model layer is not usable as configured."""


class ModelLost(ModelError):
    """The one model of a run answers no question before somebody has mended something."""


class HostTaken(LoopforgeError):
    """Another process runs this home already."""


class HostElsewhere(HostTaken):
    """Another process runs this ledger already, in another home or on another machine."""


class Overtaken(HostTaken, LedgerError):
    """Another process has taken over the ledger of this one, which may write nothing more."""


class Unreachable(LoopforgeError):
    """The running host cannot be reached."""
