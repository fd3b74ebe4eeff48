"""Which model answers: of the command line, config.toml or the environment."""

import os
from importlib.util import find_spec
from typing import Any

from config import Config, UsageError

from workbook.runtime.hosted import NO_KEY, HostedModel
from workbook.runtime.model import Prefilled

NO_MODEL = """\
No model is set. Name one with --model, in config.toml ([model] name), or in the
variable WORKBOOK_MODEL: "openai:gpt-4o-mini" or another name that OpenAI has (it needs
OPENAI_API_KEY), any name at an endpoint of your own (OPENAI_BASE_URL; Ollama's is
http://localhost:11434/v1), or "local", a small model on this machine (it needs
pip install -e ".[local]" and fetches 93 MB once)."""
LOCAL_TOKENS = 80  # a turn; it rambles on where it may
LOCAL_CONTEXT = 8_000  # tokens
LOCAL_EXAMPLE = """\
Answer the question step by step with a calculator.

Question: A book costs $40. 10% is taken off. What is the price?
Thought: I take 10% off 40.
Action: calculator
Action Input: 40 * 0.9
Observation: 36
Thought: I now know the final answer.
Final Answer: 36

"""


def name_of(said: str) -> str:
    """Return a model's name as its endpoint knows it."""
    return said.strip().removeprefix("openai:").strip()


def get_model(name: str, config: Config) -> Any:
    """Return the model of that name.

    UsageError: none is set, or it cannot be had; the message says what to do.
    """
    if not name:
        raise UsageError(NO_MODEL)
    return _local() if name == "local" else _hosted(name, config)


def no_model(name: str) -> Any:
    """Return a model that nobody asks, for a replay."""
    nobody = HostedModel("nobody", base_url="http://localhost")
    return Prefilled(nobody, "Thought:") if name == "local" else nobody


def _local() -> Prefilled:
    from workbook.runtime.local import SHARED, LocalTextModel

    if not os.environ.get(SHARED):
        if find_spec("xllamacpp") is None:
            raise UsageError('The local model needs: pip install -e ".[local]"')
        from weights import fetch_weights

        fetch_weights()
    return Prefilled(LocalTextModel(max_tokens=LOCAL_TOKENS), "Thought:")


def _hosted(name: str, config: Config) -> HostedModel:
    said = config["model"]
    url = said["url"] or os.environ.get("OPENAI_BASE_URL", "").strip() or None
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if url and not url.startswith(("http://", "https://")):
        raise UsageError(
            f"The endpoint {url!r} is no URL: a whole one begins with http:// or"
            " https://, as http://localhost:11434/v1 does."
        )
    if not key and url is None:
        raise UsageError(
            f"The model {name!r} needs a key: set OPENAI_API_KEY, or set"
            " OPENAI_BASE_URL to an endpoint that needs none (Ollama:"
            " http://localhost:11434/v1)."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "OPENAI_API_KEY holds characters that no key has (a space, a line break, a"
            " curly quote?): copy the key again."
        )
    most, options = said["turn_tokens"], said["options"]
    known = {"base_url": url, "api_key": key or NO_KEY, "max_tokens": most}
    known["timeout_s"] = said["seconds"]
    return HostedModel(name, **known, **options)
