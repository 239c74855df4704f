"""The language models of a home, as its settings and the keys at hand give them.

A part of the composition root (app.py), apart from it since commands and the Factory want models
without rooms.
"""

import dataclasses
from collections.abc import Mapping
from functools import partial

from loopforge.live_settings import LiveSettings
from loopforge.models.embedded.embedded_install import is_embedded_model_missing
from loopforge.models.embedded.embedded_model import (
    ABSENT,
    BETTER,
    FOR_TRYING,
    SMALL_WINDOW,
    TO_INSTALL,
    EmbeddedModel,
)
from loopforge.models.files.model_library import file_of, is_small
from loopforge.models.model_router import TieredModels
from loopforge.models.model_tiers import SMALL_MODEL, TierLimits, Tiers, read_tiers
from loopforge.models.providers.own_servers import Catalogues
from loopforge.models.retry_patience import RetryPatience
from loopforge.runtime.ports import Clock, Dice, Models, Pictures, Route
from loopforge.runtime.system_clock import Stamp
from loopforge.setting_defaults import Settings


def tiers_of(settings: Settings, catalogues: Catalogues = {}) -> Tiers:  # noqa: B006
    """The ladder of models that the settings and the keys at hand give.

    `catalogues` are what servers of one's own said they have, by address.
    """
    limits = TierLimits(
        first_token_seconds=settings.model_first_token_seconds,
        total_seconds=settings.model_total_seconds,
        embedded=settings.embedded_model,
        embedded_window=window_of(settings),
        embedded_id=settings.embedded_file or SMALL_MODEL,
        embedded_small=is_small(file_of(settings.data, settings.embedded_file)),
        model=settings.server_model,
    )
    return read_tiers(settings.models, settings.tiers, settings.keys, limits, catalogues)


def window_of(settings: Settings) -> int:
    """The window of the model run here, in tokens."""
    most = settings.embedded_context
    return most if settings.embedded_file else min(most, SMALL_WINDOW)


def patience_of(settings: Settings) -> RetryPatience:
    """How failures of a model are met."""
    return RetryPatience(
        tries=settings.model_tries,
        wait=settings.model_backoff_seconds,
        climb=settings.model_climb_seconds,
    )


def embedded_of(dice: Dice, settings: Settings) -> EmbeddedModel:
    """The model that runs here, by its file. Not loaded yet."""
    path, most = file_of(settings.data, settings.embedded_file), settings.embedded_threads
    return EmbeddedModel(dice, window=window_of(settings), threads=most, path=path)


def open_models(
    settings: Settings, clock: Clock, dice: Dice, pictures: Pictures | None = None
) -> TieredModels:
    """The language models that the settings and the keys at hand give. Loads none of them yet."""
    return TieredModels(
        tiers_of(settings),
        clock,
        dice,
        patience=patience_of(settings),
        embedded=embedded_of(dice, settings),
        pictures=pictures,
        read=partial(tiers_of, settings),
    )


def keyed_models(live: LiveSettings, stamp: Stamp, keys: Mapping[str, str]) -> TieredModels:
    """The models that such keys would give. Loads none of them yet."""
    return open_models(dataclasses.replace(live.now, keys=keys), stamp.clock, stamp.dice)


def notice_of(models: Models, *, owner: bool = True) -> str:
    """What people are told on entering about the model; the owner also, what to set for another."""
    facts = models.facts(Route())
    if not facts.embedded or not facts.small:
        return ""
    if (
        isinstance(models, TieredModels)
        and is_embedded_model_missing()
        and models.embedded.path is None
    ):
        return ABSENT + TO_INSTALL * owner
    return FOR_TRYING + BETTER * owner
