"""Which calls a function makes alike, inside of one call: for the capstone's tests."""

import gc
import inspect
import sys
import threading
import time
from collections import Counter

READS = "workbook.runtime.calls"  # to read an observation again changes nothing


class TimeUp(BaseException):
    """The call took too long."""


def count_calls(function, other, limit_s, args, kwargs):
    """Call a function; return how it ended, with what, and the calls it made alike.

    "returned" comes with the result, "raised" with the error, "hung" with None, after
    `limit_s` of computing. Of calls that begin with equal values, made by code from the
    function's own module (or that of what it wraps, such as `@tool`) or to `other`:
    name, how many, whether it was `other`.
    """
    plain = inspect.unwrap(function)
    cells = [cell.cell_contents for cell in getattr(plain, "__closure__", None) or ()]
    homes = [f.__globals__ for f in (plain, *cells) if hasattr(f, "__globals__")]
    others = getattr(inspect.unwrap(other), "__code__", None)
    made = Counter()
    here, began, collecting = threading.get_ident(), time.thread_time(), None

    def collect(phase, _):
        """Leave out the time of the garbage collector: a large heap is not theirs."""
        nonlocal began, collecting
        if threading.get_ident() == here:
            now = time.thread_time()
            began += now - collecting if phase == "stop" and collecting else 0
            collecting = now if phase == "start" else None

    def look(frame, event, _):
        if frame.f_code is collect.__code__:
            return None
        if not collecting and time.thread_time() - began > limit_s:
            raise TimeUp
        frame.f_trace_opcodes = True  # `while True: pass` has no other event
        code, caller = frame.f_code, frame.f_back
        is_plain = code.co_name[0] != "<" and not code.co_flags & inspect.CO_GENERATOR
        by_them = is_plain and caller and any(caller.f_globals is h for h in homes)
        reads = frame.f_globals.get("__name__") == READS
        if event == "call" and not reads and (by_them or code is others):
            made[code, _written(frame.f_locals.values())] += 1
        return look

    traced = sys.gettrace()
    gc.callbacks.insert(0, collect)
    sys.settrace(look)
    try:
        ended = "returned", function(*args, **kwargs)
    except TimeUp:
        ended = "hung", None
    except Exception as error:
        ended = "raised", error
    finally:
        sys.settrace(traced)
        gc.callbacks.remove(collect)
    return *ended, [(c.co_name, n, c is others) for (c, _), n in made.items()]


def _written(values):
    """Return arguments as text; those that cannot be written are like no others."""
    try:
        return repr([*values])[:200]
    except Exception:  # an object that is not made yet, in its `__init__`
        return object()
