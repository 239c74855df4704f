"""No language model: for commands that open rooms without letting anybody speak in them."""

from collections.abc import Callable, Sequence

from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.runtime.ports import ModelFacts, ModelReply, Question, Route


class NullModels:
    """The Models port, where nobody is to be asked: every question fails plainly."""

    async def ask(self, question: Question, hear: Callable[[str], None]) -> ModelReply:  # noqa: ARG002
        """Nobody answers."""
        return ModelReply(outcome="failed")

    async def count(self, route: Route, texts: Sequence[str]) -> list[int]:  # noqa: ARG002
        """Estimated."""
        return [estimate_tokens(text) for text in texts]

    def facts(self, route: Route) -> ModelFacts:  # noqa: ARG002
        """A model of no use."""
        return ModelFacts(name="nobody", window=4096)

    async def close(self) -> None:
        """Nothing to close."""
