"""About what a question takes, before it is put or where it was cut off: tokens, and their cost.

Pure. Tokens are a stated estimate; which models may be asked is model_tiers.py's to say.
"""

import json
from collections.abc import Sequence
from decimal import Decimal

from msgspec.structs import replace

from loopforge.core.context_window import PICTURE_TOKENS
from loopforge.core.turn_events import Usage
from loopforge.models.providers.answer_cost import of_minutes, usage_cost
from loopforge.models.providers.model_spec import ModelSpec
from loopforge.models.providers.token_estimate import estimate_tokens
from loopforge.models.transcription.transcription_attempt import RESERVED_MINUTES
from loopforge.runtime.ports import Question


def most_taken(specs: Sequence[ModelSpec], question: Question) -> Usage:
    """A whole answer of the dearest of these models; of those without a price only the tokens."""
    usages = [_priced(spec, question, question.max_tokens + spec.thinking) for spec in specs]
    return max(usages, key=lambda one: Decimal(one.cost or -1), default=Usage())


def taken_until(spec: ModelSpec, question: Question, heard: str) -> Usage:
    """What an answer took that was cut off after these words."""
    return _priced(spec, question, estimate_tokens(heard))


def _priced(spec: ModelSpec, question: Question, written: int) -> Usage:
    if spec.hears and spec.minute_price is not None:
        return Usage(written=written, cost=of_minutes(spec.minute_price, RESERVED_MINUTES))
    usage = Usage(read=_prompt_tokens(spec, question), written=written)
    return replace(usage, cost=usage_cost(spec, usage))


def _prompt_tokens(spec: ModelSpec, question: Question) -> int:
    """Messages, pictures that it is shown, the tools it is offered, the form of its answer."""
    forms = [offer.schema for offer in question.tools] + [question.schema or {}]
    texts = [text for _, text in question.messages]
    texts += [offer.summary for offer in question.tools] + [json.dumps(form) for form in forms]
    return sum(map(estimate_tokens, texts)) + PICTURE_TOKENS * len(question.pictures) * spec.vision
