"""What can be set of voice notes; the setting is called `transcription_model`."""

from dataclasses import dataclass

from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting


@dataclass(frozen=True, kw_only=True)
class TranscriptionSettings:
    """What can be set."""

    model: str = setting(
        "",
        "The model that writes down what is said in voice notes and sound files, by the name of "
        "its table in `[models]`, which says `hears = true`. Empty: none does, and mates see that "
        "there is a voice note, but cannot hear it (docs/adding-models.md).",
        live=True,
    )


PART = SettingsPart("Voice notes", TranscriptionSettings)
