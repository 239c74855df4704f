"""As what a task is taken, where that is clear from its words: type, role, complexity, flow.

    text -> one clear case -> TaskClass, with its reason
         -> nothing clear -> None: a model is asked, held to a form

Also reads what corrects a classification ("no, just answer"), who is to be asked past all of it
("@claude-opus-4.5 ..."), and a single command ("run kubectl get pods"). English and German words;
who writes otherwise has a model decide. Pure.
"""

import re
from typing import NamedTuple

from loopforge.core.work.work_vocabulary import Complexity, FlowName, TaskType

BRANCHING = (
    "different approaches",
    "pros and cons",
    "explore options",
    "multiple solutions",
    "brainstorm",
    "different ways",
    "compare approaches",
    "tradeoffs",
    "trade-offs",
    "which approach",
)
"""Phrases by which somebody wants options, not one solution."""
_BRANCH = re.compile("|".join(rf"\b{phrase}" for phrase in BRANCHING), re.IGNORECASE)


class TaskClass(NamedTuple):
    """As what a task is taken, and why, in a sentence. `model` or `tier` where it names one."""

    type: TaskType
    role: str
    complexity: Complexity
    flow: FlowName
    reason: str
    skipped: tuple[str, ...] = ()
    tier: int = 0
    model: str = ""


_SOCIAL = re.compile(
    r"\W*(?:hi|hello|hey|hallo|moin|servus|good (?:morning|evening|afternoon|night)|guten "
    r"(?:morgen|tag|abend)|thanks?(?: you| a lot| so much)?|thx|danke(?: dir| schön)?|bye|"
    r"see you|tschüss|how are you(?: doing| today)?|wie geht(?:'s| es dir)|what'?s up|well done|"
    r"good job|nice(?: work| one)?|great(?: work)?|cool|ok(?:ay)?|congratulations|happy birthday)"
    r"(?:[ ,]+(?:there|all|everyone|everybody|again|team|friend|zusammen|alle))?\W*",
    re.IGNORECASE,
)
_GREETED = re.compile(
    r"\s*(?:hi|hello|hey|hallo|moin|servus|good (?:morning|evening|afternoon)|guten (?:morgen|tag|"
    r"abend))(?: \w+)?\s*[,.!:;]+\s*(?P<rest>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
"""A greeting, perhaps by name, before what is wanted."""
_SHELL = re.compile(
    r"\s*(?:please\s+)?(?:run|execute|exec|führe?)(?:\s*:)?\s+`?(?P<command>(?P<program>[a-z][\w.+-]*)"
    r"(?:[ \t][^`\n]*+)?)`?(?:\s+aus)?\s*",
    re.IGNORECASE,
)
_PROGRAMS = frozenset(
    "awk bash cargo cat cd chmod cmake cp curl cut date df diff dig docker du echo env file find "
    "free gcc git go gradle grep gzip head helm hostname id java jq kubectl ls make md5sum mkdir "
    "mv mvn mysql netstat node npm npx nslookup openssl pip ping pnpm podman printenv ps psql "
    "pwd pytest python python3 redis-cli rm ruff sed sh sha256sum sleep sort sqlite3 ss stat "
    "systemctl tail tar tee terraform top touch tr traceroute tree uname uniq unzip uptime uv wc "
    "wget which whoami xargs yarn zip".split()
)
"""Programs that a line which begins with "run" may mean."""
_GLASS = re.compile(
    r"\s*@(?P<to>tier[ -]?[1-4]|[a-z0-9][\w.:/-]+)\s+(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL
)

_CODE = re.compile(
    r"\b(?:code|function|class|method|bug|fix|refactor|implement\w*|unit tests?|tests?|compile|"
    r"stack ?trace|traceback|exception|api|endpoint|script|library|module|package|regex|parser|"
    r"program|funktion|klasse|fehler|programm|skript|implementier\w*)\b",
    re.IGNORECASE,
)
_MAKING = re.compile(
    r"\b(?:write|add|create|make|build|implement|fix|refactor|rename|change|update|port|migrate|"
    r"convert|generate|replace|remove|delete|extend|optimi[sz]e|schreib\w*|bau\w*|erstell\w*|"
    r"änder\w*|ergänz\w*|repariere?)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^\s*(?:what|who|when|where|why|which|how (?:many|much|long|old|far|do|does|is|are|can)|is|"
    r"are|does|do (?:you|we|i|they|people)|can you (?:explain|tell)|explain|define|tell me|was|wer|wann|wo|warum|wieso|"
    r"welche[rs]?|wie (?:viele?|lange|alt|funktioniert)|erklär\w*)\b",
    re.IGNORECASE,
)
_WORDS: tuple[tuple[str, TaskType, str], ...] = (
    (
        "code-reviewer",
        "review",
        r"\b(?:review|code review|audit|second opinion|look over|durchsehen)\b",
    ),
    (
        "dba",
        "data",
        r"\b(?:sql|postgres\w*|mysql|sqlite|database|schema migration|query plan|index(?:es)? "
        r"on|slow quer\w+|datenbank)\b",
    ),
    (
        "devops-engineer",
        "operations",
        r"\b(?:deploy\w*|docker\w*|kubernetes|k8s|helm|terraform|ansible|ci|(?:build|release) pipeline|nginx|"
        r"systemd|github actions|container|prometheus)\b",
    ),
    (
        "architect",
        "design",
        r"\b(?:architect\w*|system design|design (?:a|an|the) (?:system|service|platform|"
        r"architecture|schema)|scal(?:e|ing) (?:to|out|up)|adr)\b",
    ),
    (
        "js-coder",
        "coding",
        r"\b(?:javascript|typescript|node(?:\.?js)?|react|vue|svelte|npm|jsx|tsx|\w+\.(?:js|ts|"
        r"tsx|jsx))\b",
    ),
    ("command-executor", "coding", r"\b(?:(?:shell|bash)[ -]scripts?|[\w-]{1,100}\.sh)\b"),
    (
        "python-coder",
        "coding",
        r"\b(?:python|pytest|django|flask|fastapi|pandas|numpy|pip|\w+\.py)\b",
    ),
    (
        "doc-writer",
        "writing",
        r"\b(?:readme|documentation|docstrings?|changelog|tutorial|user guide|docs|dokumentation)"
        r"\b",
    ),
    (
        "researcher",
        "research",
        r"\b(?:research|find out|look up|investigate|survey|compare|sources|papers?|recherchier\w*)"
        r"\b",
    ),
)
_ROLES = tuple((role, type, re.compile(words, re.IGNORECASE)) for role, type, words in _WORDS)
_WRITING = re.compile(
    r"\b(?:essay|poem|story|letter|e-?mail|blog post|article|speech|slogan|press release|summary of"
    r"|translate|gedicht|brief|aufsatz|geschichte|rede)\b",
    re.IGNORECASE,
)
_HARD = re.compile(
    r"\b(?:whole|entire|all (?:the )?(?:modules|services|files|endpoints)|from scratch|end[- ]to"
    r"[- ]end|across|architecture|migrat\w+|rewrite|redesign|distributed|production|scal\w+|"
    r"refactor the|several|multiple (?:files|services|modules))\b",
    re.IGNORECASE,
)
_EASY = re.compile(
    r"\b(?:typo|rename|one[- ]line\w*|single|simple|small|tiny|quick\w*|just|hello world)\b",
    re.IGNORECASE,
)
_PART = re.compile(r"^[^\S\n]*(?:[-*]|\d+[.)])\s", re.MULTILINE)
_SAYING: tuple[tuple[str, FlowName], ...] = (
    (
        r"(?:(?:no|nein|nope|stop)[,. ]*+)?(?:please )?(?:just|only|simply|nur|einfach(?: nur)?) "
        r"(?:answer|tell me|reply|say it|antworten?|antworte|sag es)",
        "simple",
    ),
    (
        r"(?:(?:no|nein)[,. ]*+)?(?:please )?(?:give me|i want|show me|explore)(?: a few| some| the)?"
        r" (?:options|approaches|alternatives)",
        "branch",
    ),
    (
        r"(?:(?:no|nein)[,. ]*+)?(?:please )?(?:do it|really do it|work on it|actually do it|mach es|"
        r"setz es um|implement it)",
        "sequential-thinking",
    ),
)
_WRONG = re.compile(
    r"\W*(?:(?:no|nope|nein)\W+)?(?:still |just |immer noch )?(?:wrong|falsch|not like that|so nicht"
    r"|(?:that|this|it|das|es)(?:['’]s| is| was| ist| war)?(?: still| noch| just)?"
    r" (?:wrong|falsch|not (?:right|what|how)|nicht (?:richtig|was|so))|i (?:said|told you|meant)\b)",
    re.IGNORECASE,
)
_NO = re.compile(r"\W*(?:no|nope|nein)\b(?! (?:idea|hurry|problem|worries|rush)\b)", re.IGNORECASE)
_AGAIN = re.compile(
    r"\b(?:again|retry|once more|re-?run|nochmals?|noch ?mal|erneut)\b", re.IGNORECASE
)
_MENDED = re.compile(
    r"\b(?:try|go(?: on| ahead)?|yes|ok(?:ay)?|sure|done|fixed|mended|repaired|installed|there now|works"
    r"|ja|weiter|fertig|repariert|behoben|installiert)\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:no|not|never|nein|nicht|nie|don['’]?t|why|what|how|warum|was|wie)\b|\?", re.IGNORECASE
)
"""What makes a reply a no, or a question, though a word in it says again."""
_CORRECTION = tuple(
    (re.compile(rf"^\W*+(?:{words})\b", re.IGNORECASE), flow) for words, flow in _SAYING
)


def shell_command(text: str) -> str:
    """The one command that somebody wants run, as it is written; "" if it is not that."""
    said = _SHELL.fullmatch(text)
    if said is None or said["program"].lower() not in _PROGRAMS or said["program"][:1].isupper():
        return ""
    return said["command"].strip()


def wants_again(text: str, *, asked: bool = False) -> bool:
    """Whether somebody has a command run once more; where they were `asked`, a yes says so."""
    said = _AGAIN.search(text) or (asked and _MENDED.search(text))
    return bool(said) and not _NOT.search(text)


def breakglass_request(text: str) -> tuple[str, str]:
    """Which model or tier is to be asked past all of it, and what: ("tier 3", "..."); or nothing.

    Whether there is such a model is not known here.
    """
    said = _GLASS.fullmatch(text)
    return (said["to"], said["rest"].strip()) if said else ("", "")


def wants_options(text: str) -> str:
    """The phrase by which somebody wants options; "" for none."""
    found = _BRANCH.search(text)
    return found[0].lower() if found else ""


def correction_of(text: str) -> FlowName | None:
    """By which flow the task is to be done after all, where a reply says so."""
    return next((flow for words, flow in _CORRECTION if words.match(text)), None)


def says_wrong(text: str, *, asked: bool = False) -> bool:
    """Whether somebody says that what was done is not what they want.

    Where the mate had `asked`, a mere "no" is an answer to that.
    """
    return bool(_WRONG.match(text) or (not asked and _NO.match(text)))


def complexity_of(text: str) -> Complexity:
    """How complex a task looks: by its length, its parts, and words that tell."""
    parts = len(_PART.findall(text)) + text.count(" and then ")
    if len(text) > 800 or parts >= 4 or _HARD.search(text):
        return "COMPLEX"
    if _EASY.search(text) and len(text) < 200 and parts < 2:
        return "SIMPLE"
    return "MEDIUM"


def classify_task(text: str) -> TaskClass | None:
    """The class of a task whose words are clear; None where a model is to say."""
    text = text.strip()
    while (greeted := _GREETED.fullmatch(text)) and not _SOCIAL.fullmatch(text):
        text = greeted["rest"].strip()
    if command := shell_command(text):
        reason = f"It asks for one command: {command[:80]}"
        skipped = ("classification by a model", "planning")
        return TaskClass("command", "command-executor", "SIMPLE", "shell", reason, skipped)
    if phrase := wants_options(text):
        role = _role(text)
        role = None if role and role[1] == "research" else role
        return TaskClass(
            role[1] if role else "design",
            role[0] if role else "architect",
            complexity_of(text),
            "branch",
            f'It says "{phrase}", so it wants options with their trade-offs.',
        )
    if _SOCIAL.fullmatch(text):
        return TaskClass("social", "general", "SIMPLE", "simple", "It is a word among people.")
    role = _role(text)
    if _ASKING.match(text) and not _MAKING.search(text) and len(text) < 300:
        return TaskClass(
            "question", "general", "SIMPLE", "simple", "It is a short question: nothing is to do."
        )
    if _WRITING.search(text) and not (role and role[1] == "coding") and not _CODE.search(text):
        return TaskClass(
            "writing", "doc-writer", "SIMPLE", "simple", "It wants a text, which is one answer."
        )
    if role and (_MAKING.search(text) or role[1] in ("review", "research", "design")):
        reason = f'It is for the {role[0]}: it says "{role[2]}".'
        return TaskClass(role[1], role[0], complexity_of(text), "sequential-thinking", reason)
    return None


def _role(text: str) -> tuple[str, TaskType, str] | None:
    for role, type, words in _ROLES:
        if found := words.search(text):
            return role, type, found[0]
    return None
