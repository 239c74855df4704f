"""What a question takes: told beforehand, and added up of all tries afterwards."""

from msgspec.structs import replace

from loopforge.core.text.erasable_text import Words
from loopforge.core.turn_events import Answered, Usage
from loopforge.models.providers.model_spec import ModelSpec, Price
from loopforge.models.usage_estimate import most_taken, taken_until
from loopforge.runtime.ports import Question, QuestionPicture
from tests.models.server import Behaviour
from tests.models.test_model_router import FINE, ask, routed

CHEAP = ModelSpec(name="cheap", provider="openai", id="c", price=Price(read=1, written=2))
DEAR = replace(CHEAP, name="dear", price=Price(read=100, written=500), thinking=1000)
UNKNOWN = replace(CHEAP, name="unknown", price=None)
SHORT = Question(messages=(("user", "x" * 35),), max_tokens=100)


def test_the_dearest_model_that_may_be_asked_says_what_is_held() -> None:
    """Its prompt, and an answer as long as it may be, with what it may think before."""
    held = most_taken([CHEAP, UNKNOWN, DEAR], SHORT)
    assert held.written == 1100
    assert 10 <= held.read <= 12
    assert float(held.cost) == (held.read * 100 + 1100 * 500) / 1e6
    assert most_taken([UNKNOWN], SHORT).cost == ""
    assert most_taken([], SHORT) == Usage()


def test_pictures_count_where_they_are_seen() -> None:
    """A model that sees none is not paid for any."""
    shown = replace(SHORT, pictures=(QuestionPicture(message=0, hash="a" * 64, media="image/png"),))
    seeing = replace(CHEAP, vision=True)
    assert most_taken([seeing], shown).read > most_taken([CHEAP], shown).read


def test_what_was_cut_off_took_what_came() -> None:
    """The prompt, and the words that were there."""
    cut = taken_until(CHEAP, SHORT, "seven letters are two tokens")
    assert cut.written == 8
    assert float(cut.cost) == (cut.read + 16) / 1e6


async def test_a_try_that_failed_costs_what_came_of_it() -> None:
    """It stands at its attempt, the last one's at the reply; on record both are added up."""
    async with routed(price=Price(read=1, written=1)) as (server, models, _):
        server.does(Behaviour(cut=2), FINE)
        reply = await ask(models)
        assert [one.outcome for one in reply.attempts] == ["failed", "answered"]
        first, last = reply.usages
        assert float(first[1].cost) > 0
        assert last[1] == reply.usage
        assert reply.attempts[-1].usage is None
        on_record = Answered(
            turn="t",
            nth=1,
            outcome="answered",
            text=Words(""),
            attempts=reply.attempts,
            usage=reply.usage,
        )
        assert on_record.usages == (first[1], last[1])
