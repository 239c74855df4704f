"""What can be set of the tools of the web: where search, Wikipedia and arXiv are asked."""

from dataclasses import dataclass
from functools import partial

from loopforge.errors import BadSettings
from loopforge.runtime.plugins.setting_checks import web_parts
from loopforge.runtime.plugins.setting_declarations import SettingsPart, setting


def checked_place(name: str, text: str, source: str) -> str:
    """The address, if it is one of the web. Raises BadSettings."""
    if text and web_parts(text.replace("{language}", "en")) is None:
        raise BadSettings(
            f"`{name}` ({source}) is {text[:80]!r}; it must be such as "
            "https://search.example.org/search."
        )
    return text.rstrip("/")


def checked_inside(text: str, source: str) -> str:
    """The names, if each is one. Raises BadSettings."""
    for name in filter(None, (each.strip() for each in text.split(","))):
        if "/" in name or not name.isascii() or any(map(str.isspace, name)):
            raise BadSettings(
                f"`lookup_inside` ({source}) holds {name[:80]!r}; it must be names with commas "
                "between, such as wiki.local, 192.168.1.5:8080."
            )
    return text


@dataclass(frozen=True, kw_only=True)
class LookupSettings:
    """What can be set of the tools of the web."""

    search: str = setting(
        "",
        "Where `search_web` asks, such as http://127.0.0.1:8888/search: a SearXNG that gives JSON, "
        "or what answers as it does. Without it there is no such tool.",
        shown="none",
        live=True,
        clean=partial(checked_place, "lookup_search"),
    )
    wikipedia: str = setting(
        "https://{language}.wikipedia.org/w/api.php",
        "Where `wikipedia` asks: the API of a MediaWiki; {language} is put in.",
        live=True,
        clean=partial(checked_place, "lookup_wikipedia"),
    )
    arxiv: str = setting(
        "https://export.arxiv.org",
        "Where `arxiv` asks.",
        live=True,
        clean=partial(checked_place, "lookup_arxiv"),
    )
    inside: str = setting(
        "",
        "Names of your own network that `read_page` may read, with commas between, such as "
        "wiki.local, 192.168.1.5:8080. Everything else there is closed to it.",
        shown="none",
        live=True,
        clean=checked_inside,
    )


PART = SettingsPart("Tools of the web", LookupSettings)


def inside_of(chosen: LookupSettings) -> frozenset[str]:
    """What may be reached of one's own network, as "name:port"."""
    names = (name.strip().lower() for name in chosen.inside.split(","))
    return frozenset(each for name in names if name for each in _ports(name))


def _ports(name: str) -> tuple[str, ...]:
    place, _, port = name.rpartition(":")
    return (name,) if place and port.isdigit() else (f"{name}:80", f"{name}:443")
