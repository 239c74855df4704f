"""A time limit for code that nobody here wrote, and that may never come back.

    made = within(5.0, lambda: mind(seen))     # raises OutOfTime in there, and out of here

In the main thread an alarm rings in the code itself, which wakes it from a sleep or a lock, too;
elsewhere a watcher raises the same in its thread. Counted is the processor time of the thread, so
that a busy machine ends nobody, and beyond `PATIENCE` times as much, time by the clock. What
swallows the error gets it again, ever faster. An alarm that was set before rings when it would
have, or right after.

Where the innermost code is that of `logging`, `threading` or imports, a moment is waited for:
between taking a lock and being bound to give it back, an error would leave it taken, and others
would wait for ever.

Covers no single call that never leaves C (a sum over an endless iterator): nothing can be raised in
there, and only the process can be ended.
"""

import ctypes
import logging
import math
import signal
import sys
import threading
import time

# what `signal.signal` calls: its enums take thirty times as long as the call
from _signal import signal as set_handler  # type: ignore[import-not-found]
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")
PATIENCE = 12.0
"""How many times its processor time something may take by the clock."""
FIRST, LOOK, AGAIN = 0.5, 0.25, 0.002
"""Seconds until it is first looked after, between two looks, and between two errors."""
GRACE = 0.5
"""Seconds for which that code is let be: it may itself wait for what never comes."""
LOCKING = frozenset(
    {
        logging.Handler.acquire.__code__.co_filename,
        threading.Event.wait.__code__.co_filename,
        "<frozen importlib._bootstrap>",
        __file__,
    }
)
"""Files of code that takes and gives back locks of the whole program; and this, which an alarm may
meet at work there.
"""


class OutOfTime(BaseException):
    """The time is over. No Exception, so that it is not taken for one in passing."""


class _Stopwatch:
    """How long the thread that made it has been at work, on its own processor time and in all.

    The processor's time counts from the first look on: to ask for it costs more than most calls.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds, self._thread = seconds, threading.get_ident()
        self._worked, self._began = math.inf, time.perf_counter()
        self.over = False
        self._ended = 0.0

    def look(self) -> bool:
        """Whether the time is over."""
        now = time.clock_gettime(time.pthread_getcpuclockid(self._thread))
        self._worked = min(self._worked, now)
        worked, waited = now - self._worked, time.perf_counter() - self._began
        if not self.over and (worked >= self._seconds or waited >= self._seconds * PATIENCE):
            self.over, self._ended = True, self._began + waited
        return self.over

    def spares(self, frame: FrameType | None) -> bool:
        """Whether the code at a frame, whose time is over, is let be for a moment."""
        locking = frame is not None and frame.f_code.co_filename in LOCKING
        return locking and time.perf_counter() - self._ended < GRACE

    @property
    def since(self) -> float:
        """Seconds by the clock."""
        return time.perf_counter() - self._began


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """What a call gives. Raises OutOfTime, in it and then here, once its time is over."""
    watch = _Stopwatch(seconds)
    main = threading.current_thread() is threading.main_thread()
    guard: _Alarm | _Watcher = _Alarm(watch) if main else _Watcher(watch)
    try:
        guard.start()
        try:
            return _inside(call)
        finally:
            guard.end()
    except OutOfTime:
        guard.end()  # one that was on its way may have come before the end
        raise
    finally:
        if watch.over:
            raise OutOfTime  # also where it swallowed the error, and came back all the same


def _inside(call: Callable[[], T]) -> T:
    """The call itself: nothing is raised but while this stands on the stack."""
    return call()


def _is_inside(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _inside.__code__:
        frame = frame.f_back
    return frame is not None


class _Alarm:
    """By the alarm of the process, for its main thread."""

    def __init__(self, watch: _Stopwatch) -> None:
        self._watch = watch
        self._left = self._interval = 0.0
        self._ended = False

    def start(self) -> None:
        """Set it, and keep what was set before."""
        self._before = set_handler(signal.SIGALRM, self._ring)
        self._left, self._interval = signal.setitimer(signal.ITIMER_REAL, FIRST, LOOK)

    def _ring(self, _number: int, frame: FrameType | None) -> None:
        known = self._watch.over
        if _is_inside(frame) and self._watch.look():
            if not known:  # set once: others' alarms would put off the next one again and again
                signal.setitimer(signal.ITIMER_REAL, AGAIN, AGAIN)
            if not self._watch.spares(frame):
                raise OutOfTime

    def end(self) -> None:
        """Put back what was set before."""
        if not self._ended:
            self._ended = True
            signal.setitimer(signal.ITIMER_REAL, 0)
            set_handler(signal.SIGALRM, self._before)
            if self._left:
                left = max(self._left - self._watch.since, AGAIN)
                signal.setitimer(signal.ITIMER_REAL, left, self._interval)


class _Watcher:
    """By another thread, for any."""

    def __init__(self, watch: _Stopwatch) -> None:
        self._watch, self._there = watch, threading.get_ident()
        self._done = threading.Event()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin to watch."""
        threading.Thread(target=self._follow, name="time limit", daemon=True).start()

    def _follow(self) -> None:
        while not self._done.wait(AGAIN if self._watch.over else LOOK):
            with self._lock:
                frame = sys._current_frames().get(self._there)  # noqa: SLF001 - no other way
                over = not self._done.is_set() and _is_inside(frame) and self._watch.look()
                if over and not self._watch.spares(frame):
                    _raise(self._there, OutOfTime)

    def end(self) -> None:
        """Watch no more, and take back what was not raised yet."""
        self._done.set()
        with self._lock:
            _raise(self._there, None)


def _raise(thread: int, error: type[BaseException] | None) -> None:
    """Have an error raised in a thread, or take one back that was not raised yet."""
    what = ctypes.py_object(error) if error is not None else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), what)
