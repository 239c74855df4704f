"""Options: how mates behave on every surface, as it is set in the home. Knows no surface."""

from datetime import timedelta

from msgspec import Struct

from loopforge.artifacts.file_intake import FileLimits


class SurfaceOptions(Struct, frozen=True, kw_only=True):
    """What holds on all of them.

    `streams`: what a mate is saying is shown while it says it. `marks`: lines that called bear
    a mark. `patience`: how old a line may be to be answered. `limits`: of files that people give.
    """

    streams: bool = True
    marks: bool = True
    patience: timedelta = timedelta(hours=12)
    limits: FileLimits = FileLimits(5_000_000, 200_000)
