"""What keeps a language model from answering: its causes, and words for them.

Each cause has words for everybody in a room, which tell nothing of keys or accounts, and words for
the owner of the home, which say what to mend and where. Pure.
"""

from collections.abc import Iterable
from typing import Literal, get_args

from loopforge.core.text.spoken_lists import about_in_words

Cause = Literal[
    "",
    "key",
    "credit",
    "unknown",
    "nothing",
    "busy",
    "broken",
    "unreachable",
    "nowhere",
    "certificate",
    "barred",
    "silent",
    "endless",
    "stalled",
    "long",
    "cut",
    "garbled",
    "wordless",
    "empty",
    "rejected",
    "unheard",
    "missing",
    "budget",
]
"""Why one attempt at a model came to nothing. "": it did not, or nobody knows."""

Delay = Literal["slow", "busy", "thinking", "stalled"]
"""How a model lets one wait: no sign of life; it is asked too often, and asked again in a while;
signs, but no words; words, and then nothing more."""

CAUSES: tuple[Cause, ...] = get_args(Cause)[1:]

MENDED_BY_OWNER: frozenset[str] = frozenset(
    (
        *("key", "credit", "unknown", "nothing", "unreachable", "nowhere", "certificate", "barred"),
        *("rejected", "missing"),
    )
)
"""Causes that saying it again does not help against: the owner has to mend something."""

PASSING: frozenset[str] = frozenset(("busy", "broken", "silent", "stalled", "cut", "empty"))
"""Causes that mostly pass by themselves: who has the time asks again in a while."""

OWNER: dict[str, str] = {
    "key": "the key for {model} is refused: set the right one (Admin, Models says which)",
    "credit": "the account behind {model} has no credit left: top it up at its service",
    "unknown": "its server does not know {model}: name one that it has (Admin, Models)",
    "nothing": "there is nothing at the address of {model} (404), and its answer names no model: "
    "correct its `base_url`, which mostly ends in /v1, or what is asked for (Admin, Models)",
    "busy": "the service of {model} is too busy, or its limit is reached: wait, or let another "
    "model stand in (Admin, Models)",
    "broken": "the server of {model} failed: its own log says why",
    "unreachable": "the server of {model} cannot be reached: start it, or correct its address "
    "(Admin, Models)",
    "nowhere": "no server has the name in the address of {model}: correct it (Admin, Models)",
    "certificate": "no secure connection to {model}: its address begins with https where the "
    "server speaks http, or its certificate is not trusted (Admin, Models)",
    "barred": "the way to {model} is barred by a proxy (HTTPS_PROXY names it), by a firewall, or "
    "by its service, which does not serve every country: the raw error is in Why?",
    "silent": "{model} accepted the question and said nothing in time: see whether its server is "
    "well; model_first_token_seconds is the longest wait",
    "endless": "{model} did not come to an end in time; model_total_seconds is the longest wait",
    "stalled": "{model} stopped in the middle of its answer and sends no more: see whether its "
    "server is well; model_first_token_seconds is the longest wait for more",
    "long": "the prompt is longer than {model} takes: set its `window` in loopforge.toml",
    "cut": "the connection to {model} broke in the middle of its answer",
    "garbled": "what the server of {model} sent is no answer: is that the address of a server that "
    "speaks OpenAI's protocol? (Admin, Models)",
    "wordless": "{model} used up its tokens and wrote no word, mostly by thinking: give it room by "
    "`thinking` in its table in loopforge.toml",
    "empty": "{model} ended its answer without a word: ask again, and where it goes on so, let "
    "another model stand in (Admin, Models)",
    "rejected": "the server of {model} does not take the question: the raw error is in Why?",
    "unheard": "the server of {model} does not take that voice note: it may be damaged, too long, "
    "or of a kind that it does not know; the raw error is in Why?",
    "missing": "{model} cannot be asked: Admin, Models says what it needs",
    "budget": "the budget is used up ({model}): wait, or set a higher one (Admin, Budgets)",
    "file": "the mate's file, {model}, cannot be used: mend it, or put it back from its history "
    "(Mates)",
    "slow": "{model} accepted the question and says nothing: it may be busy with other answers, or "
    "still loading; Admin, Models asks whether its server is well",
    "thinking": "{model} sends thoughts, or what is not for people, and no words so far; "
    "model_total_seconds is the longest wait",
    "secret": "it was about to tell a key or password of this home, {model}; nothing of it went "
    "out. Why? shows what it had read; change that key if it may be known by now",
}
"""What is told the owner alone, `{model}` by its name. Of the last four no model is the cause: a
mate's file in its place, an answer that may still come, and how a secret was hidden."""

EVERYBODY: dict[str, str] = {
    "busy": "the model is too busy just now",
    "broken": "the model's server failed",
    "silent": "the model did not say a word in time",
    "endless": "the model did not come to an end",
    "stalled": "the model stopped in the middle of its answer",
    "long": "the conversation is longer than the model takes",
    "cut": "the model was cut off",
    "garbled": "the model's server sent what is no answer",
    "wordless": "the model thought until no room was left for its words",
    "empty": "the model's answer was empty",
    "unheard": "it may be damaged, too long, or of a kind that the model does not know",
    "budget": "the budget is used up",
}
MEND = "the owner of this home has to mend something"
OUTCOMES = {
    "failed": "no model answered",
    "timed_out": "the model took too long",
    "malformed": "the model's answer made no sense",
    "refused": "the model would not answer",
}
"""What came of a question that has no answer, in words for anybody."""


UNREACHED = ("failed", "timed_out")
"""Of those, what means that no model answered."""

Trouble = tuple[str, ...]
"""A model that did not answer, the cause, and where its server does not know it what that has."""


def cause_to_report(causes: Iterable[str]) -> str:
    """Of the causes of one answer's attempts, the one worth telling: what somebody can mend."""
    known = [cause for cause in causes if cause in OWNER]
    return next((cause for cause in known if cause in MENDED_BY_OWNER), known[0] if known else "")


def explain_no_answer(cause: str) -> str:
    """Why there is no answer, in words for anybody."""
    return MEND if cause in MENDED_BY_OWNER else EVERYBODY.get(cause, OUTCOMES["failed"])


def advice_for(why: str, wait: float = 0.0) -> str:
    """What whoever asked can do where this is why there is no answer; "" for nothing.

    `wait`: the seconds until it is worth trying again, as `seconds_asked` has them.
    """
    if why == EVERYBODY["long"]:
        return "/new begins another."
    if why == MEND:
        return ""
    return f"Say it again in {about_in_words(wait)}." if wait else "Say it again to try once more."


def seconds_asked(tries: Iterable[tuple[str, str, float]]) -> float:
    """For how long every model that may answer again asked to be left alone; 0 for no time.

    Of each try the model, the cause, and the seconds that its service said.
    """
    last = {model: wait for model, cause, wait in tries if cause in PASSING}
    return min(last.values(), default=0.0)


def explain_attempt(outcome: str, cause: str, detail: str) -> str:
    """What came of one attempt, in words for anybody: the error as it came is the owner's alone."""
    if outcome == "refused":
        return OUTCOMES[outcome]
    return explain_no_answer(cause) if cause or outcome in ("failed", "timed_out") else detail


def fixes_for_owner(attempts: Iterable[Trouble]) -> str:
    """What to mend, of troubles: each once, in the order met; "" for nothing."""
    told: dict[str, None] = {}
    for model, cause, *has in attempts:
        if cause in OWNER:
            known = f"; there are: {has[0]}" if has else ""
            told[OWNER[cause].format(model=model) + known] = None
    return "; ".join(told)
