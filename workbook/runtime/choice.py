"""Which model is in use: by name, or by the variable `WORKBOOK_MODEL`.

`scripted` plays given turns, `local` runs in this process, any other name is a hosted
model's, at OpenAI or at `OPENAI_BASE_URL`. A key is shown nowhere.
"""

import os
from typing import Any

import httpx

from .hosted import NO_KEY, HostedModel
from .hosted import OPENAI as OPENAI_URL
from .local import (
    NAME,
    LocalModelError,
    LocalTextModel,
    shared_server,
    weights_file,
    weights_path,
)
from .model import Model

VARIABLE, KEY, BASE_URL = "WORKBOOK_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"
CHOICES = (
    "scripted (plays given turns), local (SmolLM2 in this process), or"
    " openai:gpt-4o-mini or any other name of a hosted model"
)


class UnknownModel(ValueError):  # noqa: N818 - what is wrong, not an error's name
    """No model has this name, or nothing can be asked at this address."""


class MissingKey(RuntimeError):  # noqa: N818 - what is wrong, not an error's name
    """There is no usable key for the hosted model."""


def model_name(name: str | None = None) -> str:
    """Return the chosen model: `name`, else `WORKBOOK_MODEL`, else `scripted`.

    `openai:` in front of a name is dropped; what names no model is an UnknownModel.

    >>> model_name("openai:gpt-4o-mini")
    'gpt-4o-mini'
    """
    chosen = name if name is not None else os.environ.get(VARIABLE) or "scripted"
    bare = chosen.strip()
    if bare.lower() in ("scripted", "local"):
        return bare.lower()
    if bare.lower().startswith("openai:"):
        bare = bare[len("openai:") :].strip()
    if not bare or not bare.isprintable() or " " in bare:
        given = repr(chosen) if name is not None else f"{VARIABLE}={chosen!r}"
        raise UnknownModel(f"{given} names no model. Choose {CHOICES}.")
    return bare


def get_text_model(name: str | None = None, **options: Any) -> Model:
    """Return the chosen model; the options are `LocalTextModel`'s or `HostedModel`'s.

    UnknownModel, MissingKey, WeightsError or LocalModelError says why it cannot be had.
    """
    chosen = model_name(name)
    if chosen == "local":
        return LocalTextModel(**options)
    if chosen != "scripted":
        return HostedModel(chosen, **hosted_options(chosen), **options)
    raise UnknownModel(
        "The scripted model writes the turns that it is given: Script([…]) of"
        f" {__package__}.script. Or choose another with {VARIABLE}: {CHOICES}."
    )


def hosted_options(name: str) -> dict[str, Any]:
    """Return a hosted model's `base_url` and `api_key`, as the environment has them.

    What is no URL is an UnknownModel; a key that is needed and not there, or that can
    be none, is a MissingKey.
    """
    url = os.environ.get(BASE_URL, "").strip() or None
    key = os.environ.get(KEY, "").strip()
    if url and host_of(url) is None:
        raise UnknownModel(
            f"{BASE_URL} is no URL: a whole one begins with http:// or https:// and a"
            " host, as http://localhost:11434/v1 does."
        )
    if not key and url is None:
        raise MissingKey(
            f"The model {name!r} needs a key, and {KEY} is not set. Set it; or set"
            f" {BASE_URL} to an endpoint that needs no key (Ollama:"
            " http://localhost:11434/v1); or choose WORKBOOK_MODEL=local or"
            " WORKBOOK_MODEL=scripted, which need none."
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise MissingKey(
            f"{KEY} holds characters that no key has (a space, a line break, a curly"
            " quote?): copy the key again."
        )
    return {"base_url": url, "api_key": key or NO_KEY}


def host_of(url: str | None) -> str | None:
    """Return the host of an endpoint (None: OpenAI's), or None where it is no URL."""
    try:
        parts = httpx.URL(url or OPENAI_URL)
        return parts.host or None if parts.scheme in ("http", "https") else None
    except (httpx.InvalidURL, ValueError):  # idna refuses a host with a ValueError
        return None


def model_health(name: str | None = None) -> tuple[bool, str, str]:
    """Return whether the chosen model can be asked, what it is, and what to do first."""
    try:
        chosen = model_name(name)
        if chosen == "scripted":
            return True, "scripted (plays given turns; no key, no download)", ""
        if chosen == "local":
            return _local_health()
        options = hosted_options(chosen)
    except (UnknownModel, MissingKey) as error:
        return False, "none", str(error)
    key = "without a key" if options["api_key"] == NO_KEY else f"{KEY} is set"
    return True, f"{chosen} at {host_of(options['base_url'])} ({key})", ""


def _local_health() -> tuple[bool, str, str]:
    found = f"local ({NAME} "
    try:
        if shared := shared_server():
            return True, f"{found}at {shared.url})", ""
    except LocalModelError as error:
        return False, f"{found}of a class)", str(error)
    if path := weights_path():
        return True, f"{found}in this process; weights: {path})", ""
    where = f"no weights in {weights_file().parent} yet"
    fix = "To fetch 93 MB: `python -m workbook fetch-model`"
    return True, f"{found}in this process; {where})", fix


def describe_model(name: str | None = None) -> str:
    """Return one line that says which model is in use."""
    _, found, fix = model_health(name)
    return f"model: {found}. {fix}" if fix else f"model: {found}"
