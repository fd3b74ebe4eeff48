"""An object of the other process, asked there; and what may be asked of one of ours."""

import copy
import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any


class Foreign:
    """An object of the other process: it is asked there, and equals nothing here."""

    def __init__(self, ask: Callable[..., Any], about: dict[str, Any]) -> None:
        object.__setattr__(self, "_ask", functools.partial(ask, about["r"]))
        object.__setattr__(self, "_about", about)
        # As a function has them: how it is called and what it is called.
        object.__setattr__(self, "__name__", about["name"])

    def __repr__(self) -> str:
        return str(self._about["text"])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._ask("call", *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._ask("get", name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._ask("set", name, value)

    def __enter__(self) -> Any:
        return self._ask("enter")

    def __exit__(self, *error: Any) -> bool:
        return bool(self._ask("exit", error[1]))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._ask("list"))

    def __bool__(self) -> bool:
        return self._ask("bool") is True

    def __len__(self) -> int:
        return operator.index(self._ask("len"))

    def __getitem__(self, key: Any) -> Any:
        return self._ask("item", key)

    def __copy__(self) -> Any:
        return self._ask("copy")

    def count_calls(self, *given: Any) -> Any:
        """Call it there, under watch, as `call_recorder.count_calls` does here."""
        return self._ask.func(0, "count_calls", self, *given)


def perform(thing: Any, what: str, *args: Any, **kwargs: Any) -> Any:
    """Do what the other process asked of one of our objects."""
    plain = isinstance(thing, types.ModuleType | type) or callable(thing)
    if what in ("get", "set"):
        name = str(args[0])
        of = type(thing).__module__
        if name.startswith("_") or of in ("builtins", "types"):
            raise AttributeError(f"{name} is out of reach")
        return getattr(thing, name) if what == "get" else setattr(thing, *args)
    if what == "call":
        return thing(*args, **kwargs)
    if plain and what == "copy":
        return thing
    deeds: dict[str, Callable[..., Any]] = {
        "enter": lambda: thing.__enter__(),
        "exit": lambda error: thing.__exit__(
            type(error) if error else None, error, None
        ),
        "list": lambda: [each for each, _ in zip(thing, range(10_000), strict=False)],
        "bool": lambda: bool(thing),
        "len": lambda: len(thing),
        "item": lambda key: thing[key],
        "copy": lambda: copy.copy(thing),
    }
    return deeds[what](*args)
