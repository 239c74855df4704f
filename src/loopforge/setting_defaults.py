"""The table of settings: each with its type, default, group, bounds and help.

Names are the same in the environment (`LOOPFORGE_` and the name in capitals), in `loopforge.toml`
and in pages. What each plugin declares comes beside it, and values are read by settings.py.

Knows nothing of where a value comes from, nor of what it is used for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from loopforge.runtime.installation.settings_file import FILE
from loopforge.runtime.plugins.setting_checks import (
    checked_address,
    checked_backups,
    checked_host,
    checked_keep,
    checked_proxies,
    checked_room,
)
from loopforge.runtime.plugins.setting_declarations import rows_of, setting
from loopforge.schedule.quiet_hours import checked_quiet

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Every setting of a home; those of plugins come in a class made of this one."""

    room: str = setting(
        "commons",
        "The room that opens when none is named.",
        "The home",
        live=True,
        clean=checked_room,
    )
    person: str = setting(
        "",
        "Your name in rooms, when a terminal does not say another.",
        shown="your login name",
        live=True,
    )
    timezone: str = setting(
        "",
        "Time zone of the dates and times that mates are told, such as Europe/Berlin.",
        shown="the machine's",
        live=True,
    )
    log_level: Literal["debug", "info", "warning", "error"] = setting(
        "info", "How much is written to data/logs/loopforge.log."
    )
    host_socket: str = setting(
        "", "Unix socket on which terminals reach the running host.", shown="data/host.sock"
    )

    database_url: str = setting(
        "",
        "Where the ledger lives: sqlite:///PATH, or postgresql://USER@HOST/NAME (install-all).",
        "The ledger",
        shown="SQLite in data/loopforge.db",
        secret=True,
    )
    database_durability: Literal["normal", "full"] = setting(
        "normal",
        "SQLite only. normal: a killed process loses nothing, a power cut may lose the last "
        "moments; full: a power cut loses nothing either, and each write is slower.",
    )

    backup_to: str = setting(
        "",
        "Where backups of this home lie: a folder, or a bucket such as s3://NAME/PATH. While the "
        "home runs, they are made there.",
        "Backups",
        shown="no backups by itself",
        clean=checked_backups,
    )
    backup_every_hours: float = setting(
        24.0, "Hours between two backups of a home that runs.", least=1, most=24 * 31
    )
    backup_keep: str = setting(
        "7 days, 4 weeks, 12 months",
        "Which backups are kept: the newest one of each of the last so many days, weeks, months "
        "and years.",
        clean=checked_keep,
    )

    debounce_seconds: float = setting(
        0.6,
        "Lines that follow within this many seconds are answered together.",
        "Rooms",
        least=0,
        most=60,
        live=True,
    )
    idle_minutes: float = setting(
        240.0,
        "A conversation ends after this many minutes without a line. 0: never.",
        least=0,
        most=5_256_000,
        live=True,
    )
    history_lines: int = setting(
        50, "Lines shown to somebody who joins a room.", least=0, most=10_000
    )
    line_limit: int = setting(
        8000,
        "Longest line a person may say, in characters.",
        least=1,
        most=1_000_000,
        live=True,
    )
    say_limit: int = setting(
        100_000,
        "Longest line a mate may say, in characters; a longer one is cut, visibly.",
        least=1,
        most=1_000_000,
        live=True,
    )
    file_limit_bytes: int = setting(
        200_000,
        "Largest text file a person may give to a room, in bytes.",
        least=1,
        most=50_000_000,
    )

    energy_capacity: int = setting(
        6,
        "Lines that mates may say in a row, all together, without a person.",
        "Mates in rooms",
        least=0,
        most=1000,
        live=True,
    )
    energy_refill: int = setting(
        4,
        "Lines of mates that each line of a person gives back.",
        least=0,
        most=1000,
        live=True,
    )
    max_speakers: int = setting(
        2,
        "Most mates that answer one line without having been addressed.",
        least=0,
        most=100,
        live=True,
    )
    fallback_mate: str = setting(
        "",
        "Handle of the mate that answers for another one that was called and cannot run: its file "
        "is broken or gone, or no model answers it. Without one the room is told why it "
        "does not answer.",
        shown="nobody",
        live=True,
    )
    max_steps: int = setting(
        4,
        "Most steps of one mate in a row (notes to itself, tools, thinking on).",
        least=1,
        most=100,
        live=True,
    )

    context_share: float = setting(
        0.75,
        "Share of a model's window that a prompt may fill before old lines are purged.",
        "Context",
        least=0.1,
        most=0.95,
        live=True,
    )
    context_low_water: float = setting(
        0.35,
        "A purge goes on until lines fill only this share of what they may.",
        least=0.1,
        most=0.95,
        live=True,
    )

    server_model: str = setting(
        "",
        "Which of its models the server at OPENAI_BASE_URL or LITELLM_BASE_URL is asked for. Its "
        "variable is OPENAI_MODEL.",
        "Models",
        shown="the first that talks",
        variable="OPENAI_MODEL",
        live=True,
    )
    model_first_token_seconds: float = setting(
        60.0,
        "Longest wait for the first word of one model's answer (its equal share of what is left of "
        "model_climb_seconds, where that is less), and for more of it once there are words.",
        least=0.1,
        most=3600,
        live=True,
    )
    model_climb_seconds: float = setting(
        90.0,
        "Longest wait for a first word over all models of a tier together.",
        least=0.1,
        most=7200,
        live=True,
    )
    model_total_seconds: float = setting(
        180.0,
        "Longest wait for a whole answer.",
        least=0.1,
        most=7200,
        live=True,
    )
    model_tries: int = setting(
        2,
        "Tries at one model before the tier's next one is asked.",
        least=1,
        most=10,
        live=True,
    )
    model_backoff_seconds: float = setting(
        1.0,
        "Wait before a second try; doubled for each one after.",
        least=0,
        most=300,
        live=True,
    )
    embedded_model: bool = setting(
        True,
        "Whether the small model that comes along serves tiers that have no key.",
        live=True,
    )
    embedded_file: str = setting(
        "",
        "A larger model to run here: a name in data/models, or the whole path of a file.",
        shown="the small one",
    )
    embedded_files_from: str = setting(
        "https://huggingface.co", "Where larger models to run here are fetched from."
    )
    embedded_context: int = setting(
        4096, "Window of the model run here; the small one has 8192.", least=512, most=131_072
    )
    embedded_threads: int = setting(
        0,
        "Threads of the embedded model.",
        least=0,
        most=256,
        shown="all cores but one, at most four",
    )

    web: bool = setting(True, "Whether the web room is open while this home runs.", "The web room")
    web_browser: bool = setting(
        True, "Whether `loopforge up` opens the web room in a browser, where there is a screen."
    )
    web_host: str = setting(
        "127.0.0.1",
        "Where the web room listens: 127.0.0.1 for this machine alone, 0.0.0.0 for the network.",
        clean=checked_host,
    )
    web_port: int = setting(
        8321,
        "Its port; 0 for any. Where none is set and this one is taken, the next free one.",
        least=0,
        most=65_535,
    )
    web_address: str = setting(
        "",
        "The address by which browsers reach it behind a proxy, such as https://mates.example.org.",
        shown="made of host and port",
        clean=checked_address,
    )
    web_proxies: str = setting(
        "",
        "Proxies, with commas between, whose X-Forwarded-For is believed.",
        clean=checked_proxies,
    )
    web_connections: int = setting(
        256,
        "Connections that one address may hold at once, such as that of a class room or an office. "
        "This machine's own, by which a proxy on it brings everybody, are not counted.",
        least=8,
        most=4_096,
    )
    upload_limit_bytes: int = setting(
        5_000_000,
        "Largest file of any kind a person may give to a room in the browser, in bytes.",
        least=1,
        most=500_000_000,
    )

    who_may_invite: Literal["members", "owner", "nobody"] = setting(
        "members",
        "Who may make links that let somebody in: everybody with an account, the owner alone, or "
        "nobody. While somebody may not, the links they made let nobody in.",
        "Guests",
        live=True,
    )
    guest_rooms: bool = setting(
        True, "Whether guests may open rooms of their own in the browser.", live=True
    )
    guest_mates: str = setting(
        "",
        "Handles of the mates that guests in the browser may bring into rooms, and that answer "
        "them there, with commas between; none: no mate does.",
        shown="all mates",
        live=True,
    )
    guest_files: Literal["all", "no-pictures", "none"] = setting(
        "all", "Which files guests may give to a room in the browser.", live=True
    )

    dollars_a_day: float = setting(
        0.0,
        "US dollars that mates may spend in a day, all together; 0: as many as they like. Other "
        "budgets are set in Admin, Budgets, or by `loopforge budget`.",
        "Budgets",
        least=0,
        most=100_000,
        live=True,
    )
    dollars_per_place_a_day: float = setting(
        5.0,
        "US dollars that mates may spend in a day in one room on platforms; 0: as many as they "
        "like.",
        least=0,
        most=100_000,
        live=True,
    )
    dollars_per_guest_a_day: float = setting(
        1.0,
        "US dollars that mates may spend in a day for one guest; 0: as many as they like.",
        least=0,
        most=100_000,
        live=True,
    )
    budget_first_mark: float = setting(
        0.8,
        "The share of a budget from which on the cheapest tier answers.",
        least=0.05,
        most=1,
        live=True,
    )
    metrics_token: str = setting(
        "",
        "What Prometheus has to bring (as a bearer token) to read /metrics, which is off without.",
        shown="none",
        secret=True,
    )
    answers_per_place_a_day: int = setting(
        500,
        "How many lines mates say in one room on platforms in a day; 0: as many as they like.",
        least=0,
        most=10**9,
        live=True,
    )
    answers_per_person_a_day: int = setting(
        200,
        "How many lines mates say to one person in a day, on platforms and in the browser; the "
        "owner may have more. 0: as many as they like.",
        least=0,
        most=10**9,
        live=True,
    )

    quiet_hours: str = setting(
        "",
        "Hours in which no reminder rings; those that are due wait until they are over, such as "
        "`22:00-07:00`. People may choose their own, or none, by `/quiet`.",
        "Reminders",
        shown="none",
        live=True,
        clean=checked_quiet,
    )
    reminders_a_person: int = setting(
        50, "How many reminders of one person may wait in a room.", least=1, most=1_000, live=True
    )

    platform_streaming: bool = setting(
        True, "Whether platforms show what a mate is saying while it says it.", "Platforms"
    )
    platform_marks: bool = setting(
        True, "Whether a line that called a mate bears a mark: seen, waiting, answered, or failed."
    )
    platform_patience_hours: float = setting(
        12.0,
        "Hours for which lines wait. What was said on a platform while the home was away is not "
        "answered any more after that, and what a mate said is not sent any more to a platform "
        "that could not be reached for so long.",
        least=0,
        most=24 * 365,
    )

    action_log_path: str = setting(
        "",
        "A file to which runs of the Factory that a command or a script begins append their rows, "
        "besides the log in the run's own folder. Its variable is ACTION_LOG_PATH.",
        "The Factory",
        shown="logs/loopforge_actions.jsonl",
        variable="ACTION_LOG_PATH",
    )

    home: Path = Path()
    models: Mapping[str, Any] = field(default_factory=dict)
    tiers: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    strays: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)

    def of(self, plugin: str, declared: type[T]) -> T:
        """What is set of a plugin, as the dataclass that it declares its settings by."""
        rows = rows_of(declared)
        found = {row.name: getattr(self, f"{plugin}_{row.name}", row.default) for row in rows}
        return declared(**found)

    @property
    def data(self) -> Path:
        """The folder of everything that is written while running."""
        return self.home / "data"

    @property
    def file(self) -> Path:
        """loopforge.toml of this home, whether it exists or not."""
        return self.home / FILE
