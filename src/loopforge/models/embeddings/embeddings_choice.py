"""Which embeddings a home uses: a server's, where one is set, else the best that is installed.

They may change while it runs, or between two runs. Vectors made before serve until they are made
anew, so those that made them can still be asked: by name, those that come in packages always, a
server's as long as this process has known it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from loopforge.errors import NotInstalled
from loopforge.models.embeddings.embeddings_endpoint import EmbeddingsEndpoint
from loopforge.models.providers.model_spec import Secret
from loopforge.runtime.plugins.setting_checks import web_setting
from loopforge.runtime.plugins.setting_declarations import PluginSettings, SettingsPart, setting
from loopforge.runtime.ports import Clock, Embeddings


@dataclass(frozen=True, kw_only=True)
class EmbeddingsSettings:
    """What can be set of embeddings."""

    url: str = setting(
        "",
        "A server that turns texts into vectors as OpenAI's does, up to /v1; tools are found by "
        "it.",
        shown="the best that is installed",
        clean=web_setting("embeddings_url", "such as http://127.0.0.1:11434/v1"),
        live=True,
    )
    model: str = setting(
        "", "The model that is asked of that server.", shown="the server's own", live=True
    )
    key: str = setting("", "The key of that server.", shown="none", secret=True, live=True)


PART = SettingsPart("Embeddings", EmbeddingsSettings)


class EmbeddingsChoice:
    """The embeddings of a home, by the settings in force."""

    def __init__(self, settings: Callable[[], PluginSettings], clock: Clock) -> None:
        self._settings, self._clock = settings, clock
        self._made: dict[str, Embeddings] = {}
        self._now: tuple[EmbeddingsSettings, Embeddings] | None = None

    def today(self) -> Embeddings:
        """Those that are set, or the best that are here. Raises NotInstalled for none."""
        chosen = self._settings().of("embeddings", EmbeddingsSettings)
        if self._now is None or self._now[0] != chosen:
            made = embeddings_of(self._settings(), self._clock)
            self._made[made.name] = made
            self._now = chosen, made
        return self._now[1]

    def called(self, name: str) -> Embeddings | None:
        """Those of this name, if they can be asked now: a table is read, in whatever thread."""
        from loopforge.models.embeddings.sentence_model import SentenceModel
        from loopforge.models.embeddings.static_table import StaticTable

        if name not in self._made:
            for kind in (StaticTable, SentenceModel):
                if kind.name == name:
                    try:
                        self._made[name] = kind().read()
                    except NotInstalled:
                        break
        return self._made.get(name)


def embeddings_of(settings: PluginSettings, clock: Clock) -> Embeddings:
    """The embeddings that are set, or the best that are here. Raises NotInstalled for none."""
    chosen = settings.of("embeddings", EmbeddingsSettings)
    if chosen.url:
        return EmbeddingsEndpoint(chosen.url, chosen.model or "default", Secret(chosen.key), clock)
    from loopforge.models.embeddings.sentence_model import SentenceModel, model_missing
    from loopforge.models.embeddings.static_table import StaticTable

    return StaticTable() if model_missing() else SentenceModel()
