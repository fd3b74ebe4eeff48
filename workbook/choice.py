"""Which model is in use: by name, or by the variable `WORKBOOK_MODEL`.

`scripted` plays given turns, `local` runs in this process, any other name is a hosted
model's, at OpenAI or at `OPENAI_BASE_URL`. A key is shown nowhere.
"""

import os
from typing import Any

import httpx

from workbook.runtime import local
from workbook.runtime.hosted import NO_KEY, OPENAI, HostedModel
from workbook.runtime.model import Model

VARIABLE, KEY, BASE_URL = "WORKBOOK_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"
CHOICES = (
    "scripted (plays given turns), local (SmolLM2 in this process), or"
    " openai:gpt-4o-mini or any other name of a hosted model"
)
OLLAMA = "http://localhost:11434/v1"


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
    if bare.lower().startswith("openai:"):
        bare = bare[len("openai:") :].strip()
    elif bare.lower() in ("scripted", "local"):
        bare = bare.lower()
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
        return local.LocalTextModel(**options)
    if chosen != "scripted":
        return HostedModel(chosen, **hosted_options(chosen), **options)
    raise UnknownModel(
        "The scripted model writes the turns that it is given: Script([…]) of"
        f" {__package__}.script. Or choose another with {VARIABLE}: {CHOICES}."
    )


def hosted_options(name: str) -> dict[str, Any]:
    """Return the `base_url` and `api_key` that the environment has for a hosted model.

    What is no URL is an UnknownModel; no key where one is needed is a MissingKey.
    """
    url, key = (os.environ.get(variable, "").strip() for variable in (BASE_URL, KEY))
    if url and host_of(url) is None:
        raise UnknownModel(
            f"{BASE_URL} is no URL: a whole one begins with http:// or https:// and a"
            f" host, as {OLLAMA} does."
        )
    if not key and not url:
        raise MissingKey(
            f"The model {name!r} needs a key, and {KEY} is not set. Set it; or set"
            f" {BASE_URL} to an endpoint that needs no key (Ollama: {OLLAMA}); or"
            f" choose {VARIABLE}=local or {VARIABLE}=scripted, which need none."
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise MissingKey(
            f"{KEY} holds characters that no key has (a space, a line break, a curly"
            " quote?): copy the key again."
        )
    return {"base_url": url or None, "api_key": key or NO_KEY}


def host_of(url: str | None) -> str | None:
    """Return the host of an endpoint (None: OpenAI's), or None where it is no URL."""
    try:
        parts = httpx.URL(url or OPENAI)
        return parts.host or None if parts.scheme in ("http", "https") else None
    except (httpx.InvalidURL, ValueError):  # idna refuses a host with a ValueError
        return None


def model_health(name: str | None = None) -> tuple[bool, str, str]:
    """Return whether the chosen model can be asked, what it is, and what to do."""
    try:
        return True, *_about(model_name(name))
    except (UnknownModel, MissingKey) as error:
        return False, "none", str(error)
    except local.LocalModelError as error:
        return False, f"local ({local.NAME} of a class)", str(error)


def _about(chosen: str) -> tuple[str, str]:
    """Return what a model is and what to do first; what it cannot be raises."""
    if chosen == "scripted":
        return "scripted (plays given turns; no key, no download)", ""
    if chosen != "local":
        options = hosted_options(chosen)
        key = "without a key" if options["api_key"] == NO_KEY else f"{KEY} is set"
        return f"{chosen} at {host_of(options['base_url'])} ({key})", ""
    if shared := local.shared_server():
        return f"local ({local.NAME} at {shared.url})", ""
    if path := local.weights_path():
        return f"local ({local.NAME} in this process; weights: {path})", ""
    where = f"in this process; no weights in {local.weights_file().parent} yet"
    fix = "To fetch 93 MB: `python -m workbook fetch-model`"
    return f"local ({local.NAME} {where})", fix


def describe_model(name: str | None = None) -> str:
    """Return one line that says which model is in use."""
    _, found, fix = model_health(name)
    return f"model: {found}. {fix}" if fix else f"model: {found}"
