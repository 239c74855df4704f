"""What keeps a model from answering, in words for everybody and for the owner."""

from loopforge.core.model_trouble import (
    CAUSES,
    EVERYBODY,
    OWNER,
    cause_to_report,
    explain_no_answer,
    fixes_for_owner,
)


def test_every_cause_has_words() -> None:
    """For the owner each its own; nobody else ever reads of a key, an account or an address."""
    assert set(CAUSES) <= set(OWNER)
    assert len(set(OWNER.values())) == len(OWNER)
    for cause in CAUSES:
        said = explain_no_answer(cause)
        assert not any(word in said for word in ("key", "credit", "account", "address", "{"))
    assert set(EVERYBODY) <= set(OWNER)
    assert cause_to_report(["silent", "key"]) == "key"
    assert cause_to_report(["busy", ""]) == "busy"
    assert cause_to_report([]) == ""


def test_what_the_owner_reads() -> None:
    """Each trouble once, with the model's name, in the order met; what nobody knows is left out."""
    told = fixes_for_owner([("a", "key"), ("b", "busy"), ("a", "key"), ("c", "")])
    assert told.startswith("the key for a is refused")
    assert told.count(";") == 1
    assert "the service of b" in told
    assert fixes_for_owner([]) == ""
