"""As what a task is taken: a table of lines, and what each is taken as."""

import pytest

from loopforge.core.work.task_classifier import (
    BRANCHING,
    breakglass_request,
    classify_task,
    complexity_of,
    correction_of,
    says_wrong,
    shell_command,
    wants_options,
)
from tests.every_row import every_row

TABLE = """
simple      general           hi
simple      general           Hello there!
simple      general           hey everyone
simple      general           Good morning, team!
simple      general           thanks a lot
simple      general           Thank you!
simple      general           danke schön
simple      general           Guten Morgen zusammen
simple      general           how are you today?
simple      general           hello, who are you?
simple      general           Hi Maya! What is a monad?
simple      general           wie geht es dir
simple      general           well done!
simple      general           nice work
simple      general           ok
simple      general           congratulations!
simple      general           What is a monad?
simple      general           Who wrote The Trial?
simple      general           When was Debian 12 released?
simple      general           Where does pip keep its cache?
simple      general           Why is the sky blue?
simple      general           How many bytes are in a kilobyte?
simple      general           How does a B-tree work?
simple      general           Is SQLite safe with several processes?
simple      general           Are generators slower than lists?
simple      general           Does Python have tail calls?
simple      general           explain closures to me
simple      general           define idempotent
simple      general           tell me what a mutex is
simple      general           Was ist ein Zeiger?
simple      general           Warum ist der Himmel blau?
simple      general           Wie funktioniert ein Kühlschrank?
simple      general           which licence has Redis now?
simple      doc-writer        Compose a poem on slugs
simple      doc-writer        I need a letter to my landlord about the heating
simple      doc-writer        a short story with a dragon and a tax office, please
simple      doc-writer        Translate this into French: good evening
simple      doc-writer        Ein Gedicht über den Herbst bitte
simple      doc-writer        a speech for my sister's wedding
shell       command-executor  run kubectl get pods
shell       command-executor  run ls -la
shell       command-executor  please run git status
shell       command-executor  Run: df -h
shell       command-executor  execute docker ps -a
shell       command-executor  run `pytest -q tests`
shell       command-executor  exec uname -a
shell       command-executor  run ps aux | grep python
shell       command-executor  run make test
shell       command-executor  führe date aus
branch      architect         What are different approaches to caching?
branch      architect         pros and cons of event sourcing
branch      architect         explore options for storing sessions
branch      architect         I'd like to see multiple solutions for this
branch      architect         brainstorm names for a queue
branch      architect         are there different ways to shard?
branch      architect         compare approaches to leader election
branch      architect         what are the tradeoffs of gRPC?
branch      architect         which approach would you take for retries?
branch      dba               pros and cons of sqlite for a web app
branch      devops-engineer   which approach is best for deploying to kubernetes?
branch      python-coder      compare approaches to parsing in Python
sequential  python-coder      Fix the bug in parser.py
sequential  python-coder      Write a Python script that renames my photos
sequential  python-coder      Add pytest tests for the tokenizer
sequential  python-coder      Make the flask app return 404 for unknown users
sequential  python-coder      Refactor utils.py into two modules
sequential  python-coder      create a FastAPI endpoint for /health
sequential  python-coder      update setup.py to the new name
sequential  python-coder      Schreib ein Python-Skript, das Zeilen zählt
sequential  python-coder      Implement a pandas pipeline for sales.csv
sequential  js-coder          Fix the flicker in App.tsx
sequential  js-coder          Convert index.js to TypeScript
sequential  js-coder          Add a React component for the avatar
sequential  js-coder          upgrade the npm dependencies and change what breaks
sequential  js-coder          Write a Vue form with validation
sequential  js-coder          build a Node.js server that echoes
sequential  devops-engineer   Write a Dockerfile for this service
sequential  devops-engineer   create a GitHub Actions pipeline that tests every push
sequential  devops-engineer   add a helm chart
sequential  devops-engineer   Fix the nginx config so that uploads of 20 MB pass
sequential  devops-engineer   Create a terraform module for the bucket
sequential  devops-engineer   make a systemd unit for the worker
sequential  dba               Add an index to the sqlite table of orders
sequential  dba               Write a SQL query for monthly revenue
sequential  dba               Fix the slow query on the postgres database
sequential  dba               create a schema migration for the users
sequential  code-reviewer     Review the changes in this branch
sequential  code-reviewer     code review of src/, please
sequential  code-reviewer     I want a second opinion on the locking
sequential  code-reviewer     audit the permissions of our scripts
sequential  architect         Design a system for a million sensors
sequential  architect         system design of a chat for ten thousand rooms
sequential  architect         an ADR on message brokers
sequential  doc-writer        Update the README with the new options
sequential  doc-writer        Write documentation for the public functions
sequential  doc-writer        add docstrings everywhere
sequential  doc-writer        Write a tutorial for newcomers
sequential  researcher        Research heat pumps for old houses
sequential  researcher        find out who maintains left-pad
sequential  researcher        investigate why our downloads fell in May
sequential  researcher        look up papers on tool use of small models
-           -                 make a file hello.txt
-           -                 Please take care of the logs
-           -                 it does not work any more
-           -                 Do the thing we spoke of yesterday
-           -                 clean up
-           -                 the customer is angry again
-           -                 run a marathon
-           -                 run the numbers for me
-           -                 42
-           -                 Sort my bookmarks by topic
-           -                 Bitte kümmere dich um das Archiv
"""
FLOWS = {"sequential": "sequential-thinking"}
LINES = [tuple(line.split(None, 2)) for line in TABLE.strip().splitlines()]


def test_the_table_is_long_enough() -> None:
    """It has a hundred lines at the least, of every kind there is."""
    assert len(LINES) >= 100
    assert {flow for flow, _, _ in LINES} == {"simple", "shell", "branch", "sequential", "-"}


@every_row(LINES)
def test_a_line_is_taken_as(flow: str, role: str, text: str) -> None:
    """Clear lines have their flow and their role with a reason; others are a model's to judge."""
    found = classify_task(text)
    if flow == "-":
        assert found is None
        return
    assert found is not None
    assert (found.flow, found.role) == (FLOWS.get(flow, flow), role)
    assert found.reason


@pytest.mark.parametrize("phrase", BRANCHING)
def test_every_phrase_of_options_is_known(phrase: str) -> None:
    """Wherever one stands, several options are wanted; within another word it is none."""
    assert wants_options(f"I want {phrase.upper()} here") == phrase
    assert not wants_options(f"x{phrase}")


@pytest.mark.parametrize(
    ("text", "flow"),
    [
        ("no, just answer", "simple"),
        ("Just tell me", "simple"),
        ("nein, einfach nur antworten", "simple"),
        ("No, give me some options", "branch"),
        ("really do it", "sequential-thinking"),
        ("no, work on it", "sequential-thinking"),
        ("use the other file", None),
        ("answer the door in the story", None),
    ],
)
def test_a_reply_corrects(text: str, flow: str | None) -> None:
    """A reply says that it is to be taken otherwise, or says something else."""
    assert correction_of(text) == flow


@pytest.mark.parametrize(
    ("text", "wrong", "asked"),
    [
        ("no, use tabs", True, False),
        ("Nein, die andere Datei", True, False),
        ("No.", True, False),
        ("that's wrong", True, True),
        ("No, that is not what I want", True, True),
        ("still wrong: use spaces", True, True),
        ("das ist falsch", True, True),
        ("I said spaces", True, True),
        ("not like that, please", True, True),
        ("no idea", False, False),
        ("no problem, go on", False, False),
        ("note the spaces", False, False),
        ("this is good", False, False),
        ("what is wrong here?", False, False),
        ("nothing to add", False, False),
    ],
)
def test_somebody_says_that_it_is_wrong(text: str, wrong: bool, asked: bool) -> None:
    """Such a line corrects; a mere no to a question of the mate is an answer."""
    assert says_wrong(text) == wrong
    assert says_wrong(text, asked=True) == asked


def test_somebody_may_be_asked_past_all() -> None:
    """A tier or a model by its name, and what it is asked; a word of a mail address is none."""
    assert breakglass_request("@tier-3 what is 2 + 2?") == ("tier-3", "what is 2 + 2?")
    assert breakglass_request("@claude-opus-4.5 say\nhello") == ("claude-opus-4.5", "say\nhello")
    assert breakglass_request("write to me@home.example soon") == ("", "")
    assert breakglass_request("@tier-3") == ("", "")


def test_one_command_is_one_line() -> None:
    """The command is as it was written; what has more lines, or names no program, is none."""
    assert shell_command("run kubectl get pods -n prod") == "kubectl get pods -n prod"
    assert shell_command("run ls\nrm -rf /") == ""
    assert shell_command("run away from ls") == ""
    assert shell_command("run ls" + " " * 500_000 + "\nx") == ""  # in one pass: else an hour


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("fix a typo in the readme", "SIMPLE"),
        ("add a flag to the command", "MEDIUM"),
        ("rewrite the whole service from scratch", "COMPLEX"),
        ("- one\n- two\n- three\n- four", "COMPLEX"),
        ("x " * 500, "COMPLEX"),
    ],
)
def test_complexity_is_read_from_words(text: str, wanted: str) -> None:
    """By length, parts and words that tell."""
    assert complexity_of(text) == wanted


@pytest.mark.timeout(30)
@pytest.mark.parametrize("unit", [".", ", ", "\n", "sk-", "hi, "])
def test_no_line_takes_long_to_be_taken_as_something(unit: str) -> None:
    """A hundred thousand signs that nearly fit each case: all of it is over in a moment."""
    text = unit * (100_000 // len(unit)) + "x"
    assert correction_of(text) is None
    assert classify_task(text) is None
    assert complexity_of(text) == "COMPLEX"
    assert shell_command(f"run{text}") == ""
