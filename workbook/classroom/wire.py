"""Values as data between two processes that do not trust each other: JSON, no pickle.

What is plain data is copied. Of objects only those of the workbook's own frozen classes
are, field by field; anything else gets a number, and stays where it is. So nothing that
a learner's process sends can be more than data here: no class of its own, no `__eq__`.
"""

import dataclasses
import importlib
import json
import math
import sys
import types
from collections.abc import Callable, Iterator
from enum import Enum
from fractions import Fraction
from typing import Any

from workbook.classroom.remote import Foreign

MOST_VALUES, MOST_DEPTH = 1_000_000, 200
LONGEST_NAME = 100  # characters: such texts are there once, as Python's own names are
SAFE_INT = 2**53  # a larger one is written in hexadecimal: Python limits its digits
TRUSTED = ("workbook.", "sqlite3")  # modules whose exceptions travel as what they are
ITERATORS = ("builtins", "itertools")  # modules whose iterators travel whole
OURS = "workbook."  # modules whose other values do


class WireError(TypeError):
    """A value that cannot travel: which, and why."""


class Wire:
    """One end: writes values as JSON and reads them, and keeps what has a number.

    `trusted`: the other end may name functions of the package, and give iterators.
    """

    def __init__(self, ask: Callable[..., Any], trusted: bool) -> None:
        self.ask, self.trusted = ask, trusted
        self.kept: dict[int, Any] = {}  # ours, by number
        self.numbers: dict[int, int] = {}  # by id
        self.theirs: dict[int, tuple[Any, int]] = {}  # by id: it, and its number

    def number(self, thing: Any) -> int:
        """Return the number of a thing that stays here."""
        number = self.numbers.setdefault(id(thing), len(self.kept) + 1)
        self.kept[number] = thing
        return number

    def dumps(self, value: Any) -> bytes:
        """Return a value as JSON; a WireError says why it cannot be sent."""
        self.left = MOST_VALUES
        try:
            return json.dumps(self.encode(value, 0)).encode()
        except RecursionError:
            raise WireError("the value is nested too deeply") from None

    def loads(self, text: bytes) -> Any:
        """Return the value; a WireError where it is none that we take."""
        try:
            return self.decode(json.loads(text))
        except WireError:
            raise
        except Exception as error:
            raise WireError(f"it is no value: {type(error).__name__}") from None

    def encode(self, value: Any, depth: int) -> Any:
        self.left -= 1
        if self.left < 0 or depth > MOST_DEPTH:
            deep = "nested too deeply" if depth > MOST_DEPTH else "too large"
            raise WireError(f"the value is {deep}")
        kind = type(value)
        if value is None or kind is bool:
            return value
        if isinstance(value, Enum) and kind.__module__.startswith(OURS):
            return {"e": [_path(kind), value.name]}
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            whole = int.__index__(value)
            return whole if abs(whole) < SAFE_INT else {"i": hex(whole)}
        if isinstance(value, float):
            number = float.__float__(value)
            return number if math.isfinite(number) else {"f": repr(number)}
        if isinstance(value, bytes):
            return {"b": bytes(value).hex()}
        if id(value) in self.theirs and self.theirs[id(value)][0] is value:
            return {"back": self.theirs[id(value)][1]}
        if isinstance(value, BaseException):
            return self._error(value, depth)
        if (fields := _fields(value)) is not None:
            told = {name: self.encode(each, depth + 1) for name, each in fields.items()}
            return {"o": [_path(kind), told], "n": self.number(value)}
        return self._contents(value, depth + 1)

    def _contents(self, value: Any, depth: int) -> Any:
        if isinstance(value, list):
            return [self.encode(each, depth) for each in list.__iter__(value)]
        if isinstance(value, tuple):
            return {"t": [self.encode(each, depth) for each in tuple.__iter__(value)]}
        if isinstance(value, dict):
            pairs = dict.items(value)
            told = [[self.encode(k, depth), self.encode(v, depth)] for k, v in pairs]
            return {"d": told}
        if isinstance(value, set):
            return {"s": [self.encode(each, depth) for each in set.__iter__(value)]}
        if isinstance(value, frozenset):
            items = frozenset.__iter__(value)
            return {"z": [self.encode(each, depth) for each in items]}
        if isinstance(value, Fraction):
            return {"q": [int(value.numerator), int(value.denominator)]}
        if isinstance(value, type) and _known(value):
            return {"c": _path(value)}
        if not self.trusted:  # we are, and the other end is not
            if isinstance(value, types.FunctionType) and _is_at_its_path(value):
                return {"g": _path(value)}
            if isinstance(value, Iterator) and type(value).__module__ in ITERATORS:
                return {"it": [self.encode(each, depth) for each in value]}
        return self._about(value)

    def _about(self, value: Any) -> dict[str, Any]:
        from workbook.exercises.report import shorten

        name = getattr(value, "__name__", type(value).__name__)
        text = shorten(value, 120)
        return {"r": self.number(value), "name": str(name)[:80], "text": text}

    def _error(self, error: BaseException, depth: int) -> Any:
        known = [kind for kind in type(error).__mro__ if _known(kind)]
        args, more = error.args, {}
        for name, value in getattr(error, "__dict__", {}).items():
            if not name.startswith("_"):
                more[name] = value
        try:
            told = [self.encode(each, depth + 1) for each in (args, more)]
        except WireError:
            told = [{"t": []}, {"d": []}]
        cause = error.__cause__
        return {
            "x": [_path(known[0]), type(error).__name__[:80], *told],
            "n": self.number(error),
            "cause": self.encode(cause, depth + 1) if cause else None,
        }

    def decode(self, told: Any) -> Any:
        if isinstance(told, str):  # `state is State.DONE` is true in one process
            return sys.intern(told) if len(told) < LONGEST_NAME else told
        if told is None or isinstance(told, bool | int | float):
            return told
        if isinstance(told, list):
            return [self.decode(each) for each in told]
        if "back" in told:
            return self.kept[told["back"]]
        if "r" in told:
            return self._note(Foreign(self.ask, told), told["r"])
        if "o" in told:
            path, fields = told["o"]
            fields = {str(name): self.decode(each) for name, each in fields.items()}
            return self._note(_make(_find(path), fields), told["n"])
        if "x" in told:
            return self._note(self._caught(told), told["n"])
        ((letter, content),) = told.items()
        return self._plain(letter, content)

    def _plain(self, letter: str, content: Any) -> Any:
        match letter:
            case "t" | "s" | "z" | "it":
                kinds = {"t": tuple, "s": set, "z": frozenset, "it": iter}
                kind: Callable[[Any], Any] = kinds[letter]  # type: ignore[assignment]
                return kind([self.decode(each) for each in content])
            case "d":
                return {self.decode(key): self.decode(each) for key, each in content}
            case "i":
                return int(content, 16)
            case "f":
                return float(content)
            case "b":
                return bytes.fromhex(content)
            case "q":
                return Fraction(*content)
            case "e":
                return _find(content[0])[content[1]]
            case "c":
                return _find(content)
            case "g" if self.trusted:
                return _at(content)
        raise WireError(f"it is no value: {letter!r}")

    def _note(self, value: Any, number: int) -> Any:
        self.theirs[id(value)] = (value, number)
        return value

    def _caught(self, told: dict[str, Any]) -> BaseException:
        path, name, args, more = told["x"]
        kind = _find(path)
        if kind.__name__ != name:
            kind = type(str(name), (kind,), {"__module__": "learner"})
        error: BaseException = kind.__new__(kind)
        error.args = tuple(self.decode(args))
        for key, value in self.decode(more).items():
            setattr(error, str(key), value)
        if told.get("cause"):
            error.__cause__ = self.decode(told["cause"])
        return error


def _path(kind: Any) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _at(path: str) -> Any:
    """Return what stands at a path of the package or of the standard exceptions."""
    module, _, name = path.partition(":")
    if module != "builtins" and not f"{module}.".startswith(TRUSTED):
        raise WireError(f"{path} is none of the workbook's")
    found: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split("."):
        found = vars(found)[part]
    return found


def _find(path: str) -> Any:
    found = _at(path)
    if not (isinstance(found, type) and _known(found)):
        raise WireError(f"{path} is no class of values")
    return found


def _known(kind: type) -> bool:
    """Whether a class means the same in both processes, and its values are data."""
    module = kind.__module__
    if issubclass(kind, BaseException):
        return module == "builtins" or f"{module}.".startswith(TRUSTED)
    return module.startswith(OURS) or kind in (str, int, float, bool, list, dict)


def _is_at_its_path(function: Any) -> bool:
    if not function.__module__.startswith(OURS) or "<" in function.__qualname__:
        return False
    return _at(_path(function)) is function


def _fields(value: Any) -> dict[str, Any] | None:
    """Return the fields of one of the workbook's frozen objects, else None."""
    kind = type(value)
    if not kind.__module__.startswith(OURS):
        return None
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, tuple.__iter__(value), strict=True))
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters and parameters.frozen:
        return {
            each.name: getattr(value, each.name) for each in dataclasses.fields(value)
        }
    return None


def _make(kind: Any, fields: dict[str, Any]) -> Any:
    """Return one of the workbook's objects; its own checks may refuse the fields."""
    if dataclasses.is_dataclass(kind):
        known = {each.name for each in dataclasses.fields(kind) if each.init}
        fields = {name: value for name, value in fields.items() if name in known}
    elif not hasattr(kind, "_fields"):
        raise WireError(f"{kind.__name__} is no class of values")
    try:
        return kind(**fields)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        raise WireError(f"it is no {kind.__name__}: {said}") from None
