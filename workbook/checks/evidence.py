"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the rule. A second paragraph "perhaps: …" is its guess at the
cause of a wrong result; "perhaps, of ERROR or KeyError: …" is shown only where the
function returned ERROR or raised a KeyError. No name of the tests' own is shown.
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from linecache import getlines
from traceback import extract_tb
from typing import Any

LONG, HEAD, BEFORE = 240, 60, 30  # characters: of a value, its beginning, before a gap
MOST_CALLS = 50  # of a test
_NOISE = re.compile(
    r"""('(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")  # quoted: stays as it is
    | <([A-Za-z_]\w*\.\w+):\ [^<>]*>
    | (<[^'"]*?)\ at\ 0x[0-9a-fA-F]+(?=>)""",
    re.VERBOSE,
)
GUESS = re.compile(r"perhaps(?:, of ([^:]*))?: (.*)")


class ArgumentChanged(AssertionError):  # noqa: N818 - what happened
    """The function changed what it was given: its name, before, after."""


@dataclass
class Call:
    """One call of the function, as a text, and what came of it."""

    text: str
    result: Any = None
    error: BaseException | None = None
    printed: str = ""


@dataclass
class Seen:
    """What was seen while a test ran."""

    calls: deque[Call] = field(default_factory=lambda: deque(maxlen=MOST_CALLS))
    wanted: str = ""  # the exception that the test waits for, in words
    compared: tuple[str, Any, Any] | None = None  # an operator and two values


def evidence(
    seen: Seen, error: BaseException, statement: str, guesses: list[str], file: str
) -> Iterator[tuple[str, str]]:
    """Yield what is known of a failed test: a label and a text each.

    `statement` is the test's that failed, `file` is the function's.
    """
    raised = [call for call in seen.calls if call.error is error]
    calls = raised or seen.calls
    call, right = (calls[-1] if calls else Call("")), tuple[Any, ...]()
    compared = seen.compared if isinstance(error, AssertionError) else None
    operator, *values = compared or ("",)
    if operator in ("==", "is") and not raised:
        for value, other in (values, values[::-1]):
            for each in reversed(seen.calls):
                if not right and not each.error and each.result is value:
                    call, right = each, (other,)
    if call.text:
        yield "called", call.text
    if isinstance(error, ArgumentChanged):
        name, before, after = error.args
        yield "changed", f"{name}, which is now {clip(after)}"
        yield "expected", f"{name} stays {clip(before)}"
        return
    if call.error and (raised or seen.wanted):
        yield "raised", in_words(call.error)
        if place := error_place(call.error, file):
            yield "at", place
    elif call.text and not call.error:
        yield "returned", both(call.result, *right)[0]
    # The message of an `assert` that has one says what the test saw.
    reason = clip(f"\n{plain(error, str)}".partition("\nassert ")[0].strip())
    if seen.wanted:
        yield "expected", seen.wanted + ("" if call.error else " is raised")
    elif right:
        yield "expected", both(call.result, *right)[1]
        if reason:
            yield "because", reason
    elif raised:
        pass
    elif not isinstance(error, AssertionError):
        yield "but", f"what came back cannot be used: {in_words(error)}"
    elif reason:
        yield "but", reason
    elif values:
        found, expected = both(*values)
        name = "".join(re.findall(r"assert .*\.(\w+) (?:==|is) ", statement))
        if operator not in ("==", "is"):
            yield "expected", f"{found} {operator} {expected}"
        elif plain(getattr(call.result, name, seen)) == plain(values[0]):
            yield "expected", f"its {name} is {expected}"
        else:
            yield "expected", expected
        if operator in ("==", "is"):
            yield "but", f"it is {found}"
    if call.printed.strip():
        yield "printed", clip(repr(call.printed))
    for guess in filter(None, map(GUESS.match, guesses)):
        came = type(call.error).__name__ if call.error else plain(call.result, str)
        if came in guess[1].split(" or ") if guess[1] else not call.error:
            yield "perhaps", guess[2]
            return


def both(found: Any, wanted: Any = None) -> tuple[str, str]:
    """Return two values as text: what differs is in sight; a type tells like ones."""
    one, two = plain(found), plain(wanted)
    if one == two and type(found) is not type(wanted):
        one, two = (f"{one} ({type(value).__name__})" for value in (found, wanted))
    pairs = enumerate(zip(one, two, strict=False))
    same = next((n for n, (a, b) in pairs if a != b), min(len(one), len(two)))
    start = same - BEFORE if same > LONG - BEFORE else 0
    return clip(one, start), clip(two, start)


def shown(value: object, limit: int = LONG) -> str:
    """Return a value as text; a long one loses its middle."""
    return clip(plain(value), limit=limit)


def plain(value: object, form: Callable[[object], str] = repr) -> str:
    """Return a repr, or a `str`, with `State.THINK` for `<State.THINK: 'THINK'>`.

    It is without addresses, and comes whatever a learner's class does.
    """
    try:
        text = str(form(value))
    except (Exception, SystemExit) as error:
        reason = f"whose {form.__name__} raised {type(error).__name__}"
        return f"<{with_article(type(value).__name__)} {reason}>"
    if len(text) > 100 * LONG:  # little of it is shown
        return text
    text = _NOISE.sub(lambda found: found[1] or found[2] or found[3], text)
    return re.sub(r"[\w.]*<locals>\.", "", text).replace("approx(", "about (")


def clip(text: str, start: int = 0, limit: int = LONG) -> str:
    """Return a text, or its beginning and what follows `start`, or its two ends."""
    if len(text) <= limit:
        return text
    end = limit // 2 - 2
    if start:
        rest = text[start : start + limit - HEAD]
        more = " …" if len(text) > start + limit - HEAD else ""
        return f"{text[:HEAD]} … ({len(text):,} characters) … {rest}{more}"
    return f"{text[:end]} … ({len(text):,} characters) … {text[-end:]}"


def with_article(noun: str) -> str:
    """Return a noun after "a" or "an"."""
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def wanted_error(kinds: Any, match: str | None) -> str:
    """Say which exception a `pytest.raises` waits for: one part for each lookahead."""
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    words = " or ".join(with_article(kind.__name__) for kind in kinds)
    parts = re.findall(r"\(\?=\.\*(.+?)\)", match or "") or [match]
    has = " and ".join(re.sub(r"\\(\W)", r"\1", f'"{part}"') for part in parts)
    return f"{words} whose message has {has}" if match else words


def in_words(error: BaseException) -> str:
    """Return an error's kind and message on one line."""
    text = clip(" ".join(plain(error, str).split()))
    return f"{type(error).__name__}: {text}".removesuffix(": ")


def error_place(error: BaseException, file: str) -> str:
    """Return the learner's line that raised: `line 5 of parse_turn: x = text[3]`."""
    own = [f for f in extract_tb(error.__traceback__) if f.filename == file]
    if not own or not own[-1].lineno:
        return ""
    return place_in("".join(getlines(file)), own[-1].lineno, own[-1].name)


def place_in(text: str, number: int, name: str) -> str:
    """Return a line of a module as its author counts: from the `def` it stands in."""
    lines = text.splitlines()[:number]
    if len(lines) < number:
        return ""
    begins = re.compile(rf"\s*(async )?def {re.escape(name)}\b")
    first = max((n for n, line in enumerate(lines) if begins.match(line)), default=None)
    place = "" if first is None else f"line {number - first} of {name}: "
    return place + clip(lines[-1].strip())
