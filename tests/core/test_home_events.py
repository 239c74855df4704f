"""Facts of the home: a setting's values can be forgotten, a key's stand nowhere."""

from loopforge.core.events import decode_body, encode_body
from loopforge.core.home_events import KeyChanged, SettingChanged
from loopforge.core.text.erasable_text import Words


def test_values_of_settings_are_words_that_can_be_forgotten() -> None:
    """What was saved stands in the event as a digest alone, nothing as nothing."""
    before, after = Words("", "0" * 64), Words('"Ana"', "a" * 64)
    stored = encode_body(SettingChanged(setting="person", before=before, after=after))
    assert b"Ana" not in stored
    told = decode_body(stored)
    assert isinstance(told, SettingChanged)
    assert (told.setting, told.how, told.after.ref) == ("person", "change", "a" * 64)


def test_a_key_is_named_and_not_shown() -> None:
    """Which variable, and whether there is one now."""
    stored = encode_body(KeyChanged(variable="OPENAI_API_KEY", kept=True))
    assert decode_body(stored) == KeyChanged(variable="OPENAI_API_KEY", kept=True)
