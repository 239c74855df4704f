"""Language models behind the `Models` port: tiers, providers, the embedded one, tapes, scripts.

    tiers      which models there are, in what order, and why some cannot be used (pure)
    router     TieredModels: tries, waits, goes on to the tier's next model, counts tokens
    provider   one attempt at one model over the network
    local      the small model that comes along, served inside the process
    scripted   a model that answers by script, without a network
    tape       record and replay
    prices     what an answer cost

Heavy libraries are imported where they are used; importing any module here is cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from loopforge.models.router import TieredModels
    from loopforge.runtime.ports import Clock, Dice


class ModelSettings(Protocol):
    """The settings that concern language models; see the table in settings.py."""

    @property
    def models(self) -> Mapping[str, Any]:
        """The table `[models]` of loopforge.toml."""
        ...

    @property
    def tiers(self) -> Mapping[str, Any]:
        """The table `[tiers]`."""
        ...

    @property
    def keys(self) -> Mapping[str, str]:
        """The variables of providers that are set."""
        ...

    @property
    def model_first_token_seconds(self) -> float:
        """Longest wait for the first word."""
        ...

    @property
    def model_total_seconds(self) -> float:
        """Longest wait for a whole answer."""
        ...

    @property
    def model_tries(self) -> int:
        """Tries at one model."""
        ...

    @property
    def model_backoff_seconds(self) -> float:
        """Wait before the second try."""
        ...

    @property
    def embedded_model(self) -> bool:
        """Whether the embedded model may be used."""
        ...

    @property
    def embedded_context(self) -> int:
        """Its window in tokens."""
        ...

    @property
    def embedded_threads(self) -> int:
        """Its threads; 0: as many as are good for it."""
        ...


def open_models(settings: ModelSettings, clock: Clock, dice: Dice) -> TieredModels:
    """The language models of a home. Raises BadSettings; asks and loads nothing yet."""
    from loopforge.models.local import Embedded
    from loopforge.models.router import Patience, TieredModels
    from loopforge.models.tiers import Limits, read_tiers

    limits = Limits(
        first_token_seconds=settings.model_first_token_seconds,
        total_seconds=settings.model_total_seconds,
        embedded=settings.embedded_model,
        embedded_window=settings.embedded_context,
    )
    tiers = read_tiers(settings.models, settings.tiers, settings.keys, limits)
    patience = Patience(tries=settings.model_tries, wait=settings.model_backoff_seconds)
    embedded = Embedded(dice, window=limits.embedded_window, threads=settings.embedded_threads)
    return TieredModels(tiers, clock, dice, patience=patience, embedded=embedded)
