"""Which browser somebody uses, in few words, from the long line that browsers send.

For people who look through their sessions, and for nothing else: the line says what it likes.
"""

LONGEST = 60

_PROGRAMS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Safari/", "Safari"),
)
"""What tells a browser, the one that says most first: many call themselves by several names."""
_SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


def browser(agent: str) -> str:
    """Such as "Firefox on Linux"; what is not known, as it came, cut short."""
    program = next((name for sign, name in _PROGRAMS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    if program and system:
        return f"{program} on {system}"
    plain = "".join(sign if sign.isprintable() else " " for sign in agent)
    return program or " ".join(plain.split())[:LONGEST].strip() or "a browser"
