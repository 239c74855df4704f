"""Settings: where a value comes from, and what is refused."""

from pathlib import Path

import pytest

from loopforge.errors import BadSettings
from loopforge.setting_defaults import Settings
from loopforge.settings import find_home, load_settings, secret_values, settings_rows
from tests.child_process import run_python


def read(home: Path, text: str = "", **environ: str) -> Settings:
    """The settings of a home with this loopforge.toml."""
    home.mkdir(exist_ok=True)
    (home / "loopforge.toml").write_text(text)
    return load_settings(home, environ=environ)


def refused(home: Path, text: str = "", **environ: str) -> str:
    """The sentence with which settings are refused."""
    with pytest.raises(BadSettings) as caught:
        read(home, text, **environ)
    return str(caught.value)


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    """Each value comes from the first source that has it, and remembers which."""
    text = "\nmax_steps = 7\nmax_speakers = 3\n"
    settings = read(tmp_path, text, LOOPFORGE_MAX_SPEAKERS="5")
    assert (settings.max_speakers, settings.max_steps, settings.energy_refill) == (5, 7, 4)
    assert settings.sources["max_speakers"] == "LOOPFORGE_MAX_SPEAKERS"
    assert settings.sources["max_steps"] == "loopforge.toml, line 2"
    assert settings.sources["energy_refill"] == "default"


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    """LOOPFORGE_X= leaves the setting to the file."""
    assert read(tmp_path, "max_steps = 7", LOOPFORGE_MAX_STEPS="").max_steps == 7


@pytest.mark.parametrize("name", [row.name for row in settings_rows()])
def test_every_setting_is_read_from_its_variable(tmp_path: Path, name: str) -> None:
    """Each row of the table can be set from the environment, and arrives in its own type."""
    row = next(row for row in settings_rows() if row.name == name)
    texts = {
        "timezone": "Europe/Berlin",
        "backup_keep": "2 weeks",
        "quiet_hours": "22:00-07:00",
        "database_url": "postgresql://h/n",
        "discord_places": "4711",
        "telegram_groups": "-4711",
        "telegram_base_url": "http://h:1",
        "embeddings_url": "http://h:1/v1",
        "lookup_search": "http://h:1/search",
        "lookup_wikipedia": "http://h:1/api.php",
        "lookup_arxiv": "http://h:1",
        "sqs_queue": "https://h/1/x",
        "webhook_url": "http://h:1/events",
        "web_address": "http://h:1",
        "web_proxies": "127.0.0.1",
        "traces_endpoint": "http://h:1",
        "work_branches": "2 1",
        "work_types": "social=1.1",
        "work_roles": "dba=3.3",
    }
    given = {
        "bool": "false",
        "int": f"{(row.least or 0) + 1:g}",
        "float": f"{row.least or 0:g}",
        "str": texts.get(name, "x"),
    }.get(row.type, row.allowed.split(" or ", maxsplit=1)[0])
    settings = read(tmp_path, **{row.variable: given})
    value = getattr(settings, name)
    assert str(value).lower() in {given.lower(), f"{given}.0"} or str(value).endswith(f"/{given}")
    assert settings.sources[name] == row.variable


def test_defaults_that_depend_on_the_home_are_filled_in(tmp_path: Path) -> None:
    """Database, person and time zone are never empty."""
    settings = read(tmp_path, LOGNAME="ada", TZ="Asia/Tokyo")
    assert settings.database_url == f"sqlite:///{tmp_path}/data/loopforge.db"
    assert (settings.person, settings.timezone) == ("ada", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("http://pantry.lan:8321/", "web_address"),
        ("https://[2001:db8::1]", "web_address"),
        ("10.0.0.0/24, ::1", "web_proxies"),
        ("fe80::1%lo", "web_host"),
        ("my-box.local", "web_host"),
        ("gs://bucket/path", "backup_to"),
    ],
)
def test_what_the_pages_and_backups_can_use_is_taken(tmp_path: Path, text: str, name: str) -> None:
    """Addresses with a port or of version 6, networks of proxies and buckets stay as written."""
    assert getattr(read(tmp_path, f"{name} = '{text}'"), name) == text


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("HTTPS://Mates.Example.ORG:8443", "https://mates.example.org:8443"),
        ("https://büro.straße.example", "https://xn--bro-hoa.xn--strae-oqa.example"),
    ],
)
def test_the_address_of_the_pages_is_as_browsers_send_it(
    tmp_path: Path, written: str, sent: str
) -> None:
    """In small letters and ASCII: else cookies would not be told of https, or nobody be let in."""
    assert read(tmp_path, f"web_address = '{written}'").web_address == sent


def test_relative_paths_lie_in_the_home(tmp_path: Path) -> None:
    """sqlite:///x.db and a socket's name are files of the home, wherever the program started."""
    settings = read(tmp_path, 'database_url = "sqlite:///x.db"\nhost_socket = "s"\nbackup_to = "b"')
    assert settings.backup_to == f"{tmp_path}/b"
    assert settings.database_url == f"sqlite:///{tmp_path}/x.db"
    assert settings.host_socket == f"{tmp_path}/s"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("\ndebounce_secs = 1", "line 2: there is no setting `debounce_secs`. Did you mean"),
        (
            "zzz = 1",
            "there is no setting `zzz`. docs/settings.md lists them all; a newer Loopforge may",
        ),
        ("\n\n[room]\nname = 1", "line 3: there is no table [room]"),
        ("[tiers]\n\nmax_steps = 3", "line 3: `max_steps` stands below [tiers]"),
        ("[models.x]\nroom = 'a'", "line 2: `room` stands below [models]"),
        ("models = 3", "line 1: `models` must be a table"),
        (
            "max_steps = 'many'",
            "`max_steps` (loopforge.toml, line 1) is 'many'; it must be a whole",
        ),
        ("max_steps = true", "is True; it must be a whole number from 1 to 100"),
        ("max_steps = 0", "is 0; it must be a whole number from 1 to 100"),
        ("log_level = 'loud'", "it must be debug or info or warning or error"),
        ("embedded_model = 'perhaps'", "it must be true or false"),
        (
            "timezone = 'Mars'",
            "`timezone` (loopforge.toml, line 1) is 'Mars'; it must be a name such",
        ),
        ("database_url = 'mysql://me:secret@x'", "it starts with sqlite:/// or postgresql://"),
        ("max_steps = ", "is not TOML"),
        (f"backup_keep = '{'9' * 5000} days'", "it must be such as 7 days, 4 weeks"),
        (f"max_steps = {'9' * 5000}", "is not TOML: Exceeds the limit (4300 digits)"),
        (
            f"max_steps = {'[' * 5000}",
            "is not TOML: it has tables or lists within each other, too deep",
        ),
        ("metrics_token = ['secret']", "`metrics_token` (loopforge.toml, line 1) must be text."),
        ("web_address = 'mates.example.org'", "must be http:// or https:// and a name"),
        ("web_address = 'http://[::1'", "such as https://mates.example.org"),
        ("web_address = 'http://x:99999'", "with a port or without"),
        ("web_address = 'https://ex ample'", "such as https://mates.example.org"),
        ("web_address = 'https://me:secret@x.org'", "must be http:// or https:// and a name"),
        ("web_address = 'https://x.org/mates'", "and no more"),
        ("web_host = '-1'", "it must be 127.0.0.1 for this machine alone, 0.0.0.0 for the network"),
        ("web_host = '127.0.0.1:80'", "or another address or name of this machine"),
        ("web_host = '10.0.1'", "or another address or name of this machine"),
        ("web_proxies = '127.0.0.1, nginx'", "names 'nginx', which is no address and no network"),
        ("backup_to = 'ftp://x/y'", "it must be a folder, or a bucket such as s3://NAME/PATH"),
        ("traces_endpoint = 'collector:4318'", "must be such as http://127.0.0.1:4318"),
        ("webhook_url = 'http://[::1'", "must be such as https://example.org/events"),
        ("sqs_queue = 'http://[::1'", "must be the URL of a queue"),
        (
            "lookup_search = 'http://[::1'",
            "`lookup_search` (loopforge.toml, line 1) is 'http://[::1'; it must be such as https://search.example.org/search",
        ),
        ("lookup_wikipedia = 'http://{x}:{y}'", "must be such as https://search.example.org"),
        ("embeddings_url = 'http://'", "must be such as http://127.0.0.1:11434/v1"),
        ("work_branches = 'best second'", "it must be two tiers from 1 to 4, such as 4 3"),
        ("work_branches = '4 3 2'", "it must be two tiers from 1 to 4, such as 4 3"),
        ("backup_to = 's3://'", "it must be a folder, or a bucket such as s3://NAME/PATH"),
    ],
)
def test_a_wrong_file_is_refused_in_a_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    """The sentence names the setting, the line and what is allowed."""
    said = refused(tmp_path, text)
    assert sentence in said
    assert "secret" not in said


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """Bytes that are not UTF-8 are a plain error, not a traceback."""
    (tmp_path / "loopforge.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadSettings, match="cannot be read"):
        load_settings(tmp_path, environ={})


def test_a_wrong_variable_is_refused_by_its_name(tmp_path: Path) -> None:
    """The sentence names the variable."""
    said = refused(tmp_path, LOOPFORGE_DEBOUNCE_SECONDS="-1")
    assert said == (
        "`debounce_seconds` (LOOPFORGE_DEBOUNCE_SECONDS) is '-1'; it must be a number from 0 to 60."
    )


def test_variables_that_look_like_settings_are_kept_for_the_doctor(tmp_path: Path) -> None:
    """A misspelt variable is no error, and is not lost either."""
    settings = read(tmp_path, LOOPFORGE_ROM="x", LOOPFORGE_HOME="y", LOOPFORGE_ROOM="z")
    assert settings.strays == ("LOOPFORGE_ROM",)


def test_a_variable_that_a_models_table_names_is_read_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    """Keys and addresses of servers of one's own may stand in variables such as HF_TOKEN."""
    table = '[models.house]\nbase_url = "HOUSE_AT"\nid = "m"\nkey = "HF_TOKEN"\n'
    (tmp_path / "loopforge.toml").write_text(table)
    environ = {"HF_TOKEN": "hf-1", "HOUSE_AT": "http://127.0.0.1:8000/v1", "OTHER_TOKEN": "no"}
    given = load_settings(tmp_path, environ=environ)
    assert given.keys == {"HF_TOKEN": "hf-1", "HOUSE_AT": "http://127.0.0.1:8000/v1"}


def test_keys_are_gathered_and_never_shown(tmp_path: Path) -> None:
    """Providers' variables are read; neither they nor a database password stand in the repr."""
    settings = read(
        tmp_path, OPENAI_API_KEY="sk-1", OPENAI_BASE_URL="http://x", EMPTY_API_KEY="", PATH="/bin",
        LOOPFORGE_DATABASE_URL="postgresql://me:hush@h/n",
    )  # fmt: skip
    assert settings.keys == {"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "http://x"}
    assert "sk-1" not in repr(settings)
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://loop:pa/ssWORD@127.0.0.1:1/x",
        "postgresql://127.0.0.1:1/x?user=loop&password=pa%2FssWORD",
        "postgresql://loop:pa%2FssWORD@127.0.0.1:1/x",
    ],
)
def test_a_database_s_password_is_known_however_it_is_written(tmp_path: Path, url: str) -> None:
    """What mates never say includes a password with a slash, and one in the query."""
    settings = load_settings(tmp_path, environ={"LOOPFORGE_DATABASE_URL": url})
    assert "pa/ssWORD" in secret_values(settings)


def test_a_home_whose_path_would_end_a_databases_address_is_refused(tmp_path: Path) -> None:
    """All homes below a folder with a question mark would share one file."""
    with pytest.raises(BadSettings, match=r"has a \? in its path"):
        load_settings(tmp_path / "what?" / "home", environ={})


def test_tables_of_models_are_passed_on(tmp_path: Path) -> None:
    """[models] and [tiers] arrive as they are written."""
    settings = read(tmp_path, '[tiers]\n1 = ["x"]\n[models.x]\nwindow = 5')
    assert settings.tiers == {"1": ["x"]}
    assert settings.models == {"x": {"window": 5}}


def test_a_file_is_no_home(tmp_path: Path) -> None:
    """Who names a file as the home is told so, and nothing of files that would lie within."""
    file = tmp_path / "home"
    file.write_text("")
    with pytest.raises(BadSettings, match=r"home is a file\. Name a folder"):
        load_settings(file, environ={})


def test_which_folder_is_the_home(tmp_path: Path) -> None:
    """What is named, else here if it is a home or empty, else `home` inside."""
    assert find_home(Path("/a"), {"LOOPFORGE_HOME": "/b"}, tmp_path) == Path("/a")
    assert find_home(None, {"LOOPFORGE_HOME": "/b"}, tmp_path) == Path("/b")
    assert find_home(None, {"LOOPFORGE_HOME": "b"}, tmp_path) == tmp_path / "b"
    (tmp_path / ".hidden").touch()
    assert find_home(None, {}, tmp_path) == tmp_path
    (tmp_path / "README").touch()
    assert find_home(None, {}, tmp_path) == tmp_path / "home"
    (tmp_path / "loopforge.toml").touch()
    assert find_home(None, {}, tmp_path) == tmp_path


def test_settings_at_their_defaults_import_no_validator(tmp_path: Path) -> None:
    """A home that changes nothing does not pay for pydantic."""
    code = (
        "import sys; from pathlib import Path; from loopforge.settings import load_settings\n"
        f"load_settings(Path({str(tmp_path)!r}), environ={{}})\n"
        "print('pydantic' in sys.modules)"
    )
    out = run_python("-c", code, check=True)
    assert out.stdout == "False\n"


def test_a_setting_may_have_a_variable_of_its_own(tmp_path: Path) -> None:
    """ACTION_LOG_PATH names the action log, under that name alone."""
    there = load_settings(tmp_path, environ={"ACTION_LOG_PATH": "/log/a.jsonl"})
    assert there.action_log_path == "/log/a.jsonl"
    assert there.sources["action_log_path"] == "ACTION_LOG_PATH"
    usual = {"LOOPFORGE_ACTION_LOG_PATH": "/log/b.jsonl", "LOOPFORGE_WEB_PORT": "1"}
    there = load_settings(tmp_path, environ=usual)
    assert there.action_log_path == ""
    assert there.strays == ("LOOPFORGE_ACTION_LOG_PATH",)


def test_every_number_has_bounds() -> None:
    """No home can be given a number that nothing can reckon with, such as 1e400."""
    numbers = [row for row in settings_rows() if row.type in ("int", "float")]
    assert len(numbers) > 20
    assert [row.name for row in numbers if row.least is None or row.most is None] == []
