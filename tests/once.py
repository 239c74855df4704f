"""What comes out the same each time, done once in a process: templates, roots of trust, SQL, models.

Each home that opens compiles its templates and all its SQL, reads a hundred and fifty
roots of trust for each client it makes, looks through every installed distribution, puts some two
hundred routes together, makes forty tables, loads the embeddings and asks them for the same lines: half
a second, which a person who starts Loopforge never notices, and which the tests pay a thousand times
over. Here the real functions keep what they gave, by all that it depends on. Nothing is replaced by anything else.

Child processes have none of this.
"""

import importlib.metadata
import sqlite3
import ssl
import sys
from collections.abc import Callable, Hashable, Sequence
from contextlib import closing, suppress
from copy import copy
from functools import partial, wraps
from pathlib import Path
from threading import Lock
from typing import Any

import httpcore2
from jinja2 import Environment
from litestar import Litestar
from litestar.events import SimpleEventEmitter
from litestar.stores.memory import MemoryStore
from litestar.stores.registry import StoreRegistry
from sqlalchemy.engine import URL, Engine
from sqlalchemy.util import LRUCache

from loopforge.ledger import sql_ledger
from loopforge.ledger.database import database_engine
from loopforge.ledger.database.database_engine import DatabaseEngines
from loopforge.ledger.storage.folded_views import FoldedView
from loopforge.models.embeddings import sentence_model, static_table
from loopforge.web import web_app
from tests import used_tables


def keep() -> None:
    """From now on, in this process."""
    Environment.compile = _kept(Environment.compile, _template)  # type: ignore[method-assign]
    ssl.create_default_context = _kept(ssl.create_default_context, _roots)
    httpcore2.default_ssl_context = _kept(httpcore2.default_ssl_context, _roots_of_system)
    importlib.metadata.entry_points = _kept(importlib.metadata.entry_points, _group)
    sentence_model._load = _kept(sentence_model._load, lambda: "loaded")
    sentence_model._modelled = _kept(
        sentence_model._modelled, lambda _pieces, _model, texts: (*texts,)
    )
    sql_ledger._prepare = _prepared(sql_ledger._prepare)  # type: ignore[assignment]
    made = database_engine.create_engine  # type: ignore[attr-defined]
    database_engine.create_engine = _compiled_once(made)  # type: ignore[attr-defined]
    static_table._vocabulary = _kept(static_table._vocabulary, lambda path: _changed(str(path)))
    web_app._assembled = _for_each_home(web_app._assembled)  # type: ignore[assignment]


def _kept(function: Callable[..., Any], key_of: Callable[..., Hashable]) -> Callable[..., Any]:
    """The same function; what it gave for a key is given again. A key of None is never kept."""
    kept: dict[Hashable, Any] = {}

    @wraps(function)
    def once(*args: Any, **named: Any) -> Any:
        key = key_of(*args, **named)
        if key is None:
            return function(*args, **named)
        if key not in kept:
            kept[key] = function(*args, **named)
        return kept[key]

    return once


def _prepared(
    prepare: Callable[[DatabaseEngines, Sequence[FoldedView]], dict[str, int]],
) -> Callable[[DatabaseEngines, Sequence[FoldedView]], dict[str, int]]:
    """The same function; an empty database gets the tables that the first one with these views got."""
    kept: dict[Hashable, sqlite3.Connection] = {}
    one = Lock()

    def once(store: DatabaseEngines, views: Sequence[FoldedView]) -> dict[str, int]:
        path = Path(str(store.url.database))
        key = tuple((view.name, view.version, view.tables) for view in views)
        if not store.sqlite:
            return used_tables.opened(store, key, partial(prepare, store, views))
        with one:
            if not (path.exists() and path.stat().st_size):
                if key not in kept:
                    heads = prepare(store, views)
                    kept[key] = sqlite3.connect(":memory:", check_same_thread=False)
                    with closing(sqlite3.connect(path)) as made:
                        made.backup(kept[key])
                    return heads
                with suppress(sqlite3.Error):  # it may not grow so far, or the disk is full
                    _copied(kept[key], store)
                    return {}
        return prepare(store, views)

    return once


class _Compiled(LRUCache[Any, Any]):
    """SQL that was compiled, for all databases of one dialect."""

    def get(self, key: Any, default: Any = None) -> Any:
        """SQLAlchemy asks by the engine's own dialect, which is another for each home."""
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), compiled)


def _compiled_once(create: Callable[..., Engine]) -> Callable[..., Engine]:
    """The same function; SQL that was compiled for one home is not compiled again for the next."""
    options = {"compiled_cache": _Compiled(2000)}

    @wraps(create)
    def once(url: URL, **more: Any) -> Engine:
        return create(url, **more, execution_options=options)

    return once


def _for_each_home(assembled: Callable[[int], Litestar]) -> Callable[[int], Litestar]:
    """The same function; what it assembled is given again, with nothing in it of another home."""
    kept = _kept(assembled, lambda most: (most, web_app.PER_MINUTE))

    def once(most: int) -> Litestar:
        app: Litestar = copy(kept(most))
        app.stores = StoreRegistry(default_factory=lambda _: MemoryStore())
        app.event_emitter = SimpleEventEmitter([])
        app.asgi_router = copy(app.asgi_router)
        app.asgi_router.app = app
        app.asgi_handler = app._create_asgi_handler()
        return app

    return once


def _copied(kept: sqlite3.Connection, store: DatabaseEngines) -> None:
    connection = store.writer.raw_connection()
    try:
        target = connection.driver_connection
        assert isinstance(target, sqlite3.Connection)
        kept.backup(target)
    finally:
        connection.close()


def _template(env: Environment, source: Any, *args: Any, **named: Any) -> Hashable:
    """All that the code of a template depends on."""
    if not isinstance(source, str) or env.extensions:
        return None
    known = (*env.filters, *env.tests, *env.globals)
    shape = (env.trim_blocks, env.lstrip_blocks, env.keep_trailing_newline, bool(env.autoescape))
    return (source, args, tuple(named.items()), known, shape, env.undefined)


def _roots(*args: Any, **named: Any) -> Hashable:
    """A file of roots and its last change, as httpx asks; whoever asks for more, asks anew."""
    return _changed(named["cafile"]) if not args and set(named) == {"cafile"} else None


def _roots_of_system(*, _trust_env: bool) -> Hashable:
    """The files of roots that the environment or the system names, as httpx2 asks."""
    return (_trust_env, *(_changed(path or "") for path in ssl.get_default_verify_paths()))


def _group(**wanted: Any) -> Hashable:
    """What is asked for, and each folder of the import path with its last change."""
    return (tuple(wanted.items()), tuple(map(_changed, sys.path)))


def _changed(path: str) -> Hashable:
    try:
        return path, Path(path or ".").stat().st_mtime_ns
    except OSError:
        return path, 0
