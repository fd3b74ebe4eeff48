"""Which model is in use: by name, or by the variable `WORKBOOK_MODEL`.

`scripted` plays given turns, `local` runs in this process, any other name is a hosted
model's, at OpenAI or at `OPENAI_BASE_URL`. A key is shown nowhere.
"""

import os
import re
from typing import Any

from workbook.runtime import local
from workbook.runtime.hosted import NO_KEY, OPENAI, HostedModel
from workbook.runtime.model import Model

VARIABLE, KEY, BASE_URL = "WORKBOOK_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"
CHOICES = (
    "scripted (plays given turns), local (SmolLM2 in this process), or"
    " openai:gpt-4o-mini or any other name of a hosted model"
)
OLLAMA = "http://localhost:11434/v1"
_URL = re.compile(r"https?://(?:[^/@]*@)?([^/:@]+|\[[^]]+\])(?::\d+)?(?:/.*)?")


class ChoiceError(ValueError):
    """The chosen model cannot be asked; the message says why and what to do."""


def model_name(name: str | None = None) -> str:
    """Return the chosen model: `name`, else `WORKBOOK_MODEL`, else `scripted`.

    >>> model_name("openai:gpt-4o-mini")
    'gpt-4o-mini'
    """
    chosen = name if name is not None else os.environ.get(VARIABLE) or "scripted"
    bare = re.sub(r"^openai:\s*", "", chosen.strip(), flags=re.IGNORECASE)
    if len(bare.split()) != 1:
        raise ChoiceError(f"{chosen!r} names no model. Set {VARIABLE} to {CHOICES}.")
    return bare.lower() if bare.lower() in ("scripted", "local") else bare


def get_text_model(name: str | None = None, **options: Any) -> Model:
    """Return the chosen model; the options are `LocalTextModel`'s or `HostedModel`'s.

    ChoiceError or LocalModelError says why it cannot be had.
    """
    chosen = model_name(name)
    if chosen == "local":
        return local.LocalTextModel(**options)
    if chosen == "scripted":
        raise ChoiceError(
            "The scripted model writes the turns that it is given: Script([…]) of"
            f" workbook.runtime.script. Or set {VARIABLE} to another: {CHOICES}."
        )
    url, key, _ = _endpoint(chosen)
    return HostedModel(chosen, base_url=url or None, api_key=key, **options)


def _endpoint(name: str) -> tuple[str, str, str]:
    """Return the URL that is set for a hosted model, if any, the key, and the host."""
    url, key = (os.environ.get(variable, "").strip() for variable in (BASE_URL, KEY))
    if not (found := _URL.fullmatch(url or OPENAI)):
        raise ChoiceError(
            f"{BASE_URL} is no URL: a whole one begins with http:// or https:// and a"
            f" host, as {OLLAMA} does."
        )
    if not key and not url:
        raise ChoiceError(
            f"The model {name!r} needs a key, and {KEY} is not set. Set it; or set"
            f" {BASE_URL} to an endpoint that needs no key (Ollama: {OLLAMA}); or"
            f" choose {VARIABLE}=local or {VARIABLE}=scripted, which need none."
        )
    if not re.fullmatch(r"[!-~]*", key):
        raise ChoiceError(
            f"{KEY} holds characters that no key has (a space, a line break, a curly"
            " quote?): copy the key again."
        )
    return url, key or NO_KEY, found[1]


def model_health(name: str | None = None) -> tuple[bool, str, str]:
    """Return whether the chosen model can be asked, what it is, and what to do."""
    try:
        chosen = model_name(name)
        if chosen == "scripted":
            return True, "scripted, unless a cell says otherwise", ""
        if chosen != "local":
            _, key, host = _endpoint(chosen)
            about = "without a key" if key == NO_KEY else f"{KEY} is set"
            return True, f"{chosen} at {host} ({about})", ""
        shared = local.shared_server()
    except (ChoiceError, local.LocalModelError) as error:
        return False, "none", str(error)
    if shared:
        return True, f"local ({local.NAME} at {shared.url})", ""
    if path := local.weights_path():
        return True, f"local ({local.NAME} in this process; weights: {path})", ""
    where = f"in this process; no weights in {local.weights_file().parent} yet"
    fix = "To fetch 93 MB: `python -m workbook fetch-model`"
    return True, f"local ({local.NAME} {where})", fix
