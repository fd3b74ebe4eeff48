"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the rule. A second paragraph "perhaps: …" is its guess at the
cause of a wrong result; "perhaps, of ERROR or KeyError: …" is shown only where the
function returned ERROR or raised a KeyError. No name of the tests' own is shown.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from linecache import getlines
from traceback import extract_tb
from typing import Any

LONG, HEAD, BEFORE = 240, 60, 30  # characters: of a value, its beginning, before a gap
_NOISE = re.compile(
    r"""('(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*")  # quoted: stays as it is
    | <([A-Za-z_]\w*\.\w+):\ [^<>]*>
    | (<[^'"]*?)\ at\ 0x[0-9a-fA-F]+(?=>)""",
    re.VERBOSE,
)


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
class Failed:
    """What was seen of a test that failed."""

    rule: list[str]  # the paragraphs of the test's docstring
    error: BaseException
    statement: str  # of the test, or of a helper in its file
    compared: tuple[str, Any, Any] | None  # an operator and two values
    wanted: str  # the exception that the test waited for, in words
    calls: Sequence[Call]
    file: str  # of the function


def evidence(seen: Failed) -> Iterator[tuple[str, str]]:
    """Yield what is known of a failed test: a label and a text each."""
    raised = [call for call in seen.calls if call.error is seen.error]
    calls = raised or seen.calls
    call, right = (calls[-1] if calls else Call("")), tuple[Any, ...]()
    if seen.compared and not raised and seen.compared[0] in ("==", "is"):
        _, one, two = seen.compared
        for value, other in ((one, two), (two, one)):
            for each in reversed(seen.calls):
                if not right and not each.error and each.result is value:
                    call, right = each, (other,)
    if call.text:
        yield "called", call.text
    if isinstance(seen.error, ArgumentChanged):
        name, before, after = seen.error.args
        yield "changed", f"{name}, which is now {clip(after)}"
        yield "expected", f"{name} stays {clip(before)}"
        return
    if call.error and (raised or seen.wanted):
        yield "raised", in_words(call.error)
        if place := error_place(call.error, seen.file):
            yield "at", place
    elif call.text and not call.error:
        yield "returned", both(call.result, *right)[0]
    if seen.wanted:
        yield "expected", seen.wanted + ("" if call.error else " is raised")
    elif right:
        yield "expected", both(call.result, *right)[1]
        if reason := _reason(seen.error):
            yield "because", reason
    elif not raised:
        yield from _asserted(seen, call.result)
    if call.printed.strip():
        yield "printed", clip(repr(call.printed))
    if guess := _guess(seen.rule[1:], call):
        yield "perhaps", guess


def _asserted(seen: Failed, result: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(seen.error, AssertionError):
        yield "but", f"what came back cannot be used: {in_words(seen.error)}"
    elif reason := _reason(seen.error):  # it says what the test saw
        yield "but", reason
    elif seen.compared:
        operator, *values = seen.compared
        found, expected = both(*values)
        if operator in ("==", "is"):
            name = "".join(re.findall(r"assert .*\.(\w+) (?:==|is) ", seen.statement))
            is_own = plain(getattr(result, name, seen)) == plain(values[0])
            yield "expected", f"its {name} is {expected}" if is_own else expected
            yield "but", f"it is {found}"
        else:
            yield "expected", f"{found} {operator} {expected}"


def _reason(error: BaseException) -> str:
    """Return the message of an `assert` that has one."""
    return clip(f"\n{written(error, str)}".partition("\nassert ")[0].strip())


def _guess(paragraphs: list[str], call: Call) -> str:
    """Return a test's own guess, where what came of the call bears it out."""
    came = type(call.error).__name__ if call.error else written(call.result, str)
    for paragraph in paragraphs:
        guess = re.match(r"perhaps(?:, of ([^:]*))?: (.*)", paragraph)
        if guess and (came in guess[1].split(" or ") if guess[1] else not call.error):
            return guess[2]
    return ""


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


def plain(value: object) -> str:
    """Return a repr with `State.THINK` for `<State.THINK: 'THINK'>`, no addresses."""
    return tidy(written(value))


def tidy(text: str) -> str:
    """Return a text without the noise of reprs."""
    if len(text) > 100 * LONG:  # little of it is shown
        return text
    text = _NOISE.sub(lambda found: found[1] or found[2] or found[3], text)
    return re.sub(r"[\w.]*<locals>\.", "", text).replace("approx(", "about (")


def clip(text: str, start: int = 0, limit: int = LONG) -> str:
    """Return a text, or its beginning and what follows `start`, or its two ends."""
    if len(text) <= limit:
        return text
    size = f"({len(text):,} characters)"
    if start:
        rest = text[start : start + limit - HEAD]
        more = " …" if len(text) > start + limit - HEAD else ""
        return f"{text[:HEAD]} … {size} … {rest}{more}"
    end = limit // 2 - 2
    return f"{text[:end]} … {size} … {text[-end:]}"


def written(value: object, form: Callable[[object], str] = repr) -> str:
    """Return the repr of a value, or its `str`, whatever a learner's class does."""
    try:
        return str(form(value))
    except (Exception, SystemExit) as error:
        reason = f"whose {form.__name__} raised {type(error).__name__}"
        return f"<{with_article(type(value).__name__)} {reason}>"


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
    text = clip(tidy(" ".join(written(error, str).split())))
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
