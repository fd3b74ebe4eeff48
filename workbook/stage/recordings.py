"""Answers of a model, recorded for machines that do not have it.

Where the weights are, `real_model(lesson)` is the local model. Otherwise it plays what
the model answered when the lesson was written, prints that, and refuses other prompts.
With WORKBOOK_RECORD=1 the answers are recorded anew, with 0 they are always played.
"""

import datetime
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from workbook.checks.display import once_a_cell
from workbook.choice import get_text_model, model_health, model_name
from workbook.paths import DATA
from workbook.runtime.hosted import HostedModelError
from workbook.runtime.machine import BYTES_PER_TOKEN
from workbook.runtime.model import Model, Prefilled, Request, Response, Usage
from workbook.wait import waiting

FOLDER, RECORD = DATA / "recorded", "WORKBOOK_RECORD"
HOW_TO_NAME_ONE = (
    "On a model of your own: set WORKBOOK_MODEL to its name, and OPENAI_API_KEY or"
    " OPENAI_BASE_URL, before JupyterLab is started."
)


class NotRecorded(LookupError):  # noqa: N818 - what is the case, not an error's name
    """A recording was asked something that nobody has asked the model."""

    def _render_traceback_(self) -> list[str]:
        """Show a sentence in a notebook: the code that asked is not at fault."""
        return [f"{type(self).__name__}: {self}"]


def real_model(
    lesson: str, *, prefill: str = "", live: bool = True, **settings: Any
) -> Model:
    """Return the local model, or a recording of it where the weights are missing.

    `prefill` is what each turn begins with (see `Prefilled`), `settings` are those of
    `LocalTextModel`, the file is `data/recorded/<lesson>.json`. Without `live` the
    recording is played in any case: the model would take minutes.
    """
    model: Model
    is_played, why = _played(live)
    if is_played:
        model = Recorded(lesson, settings)
        shown = f"{model.name}, {model.date}. live=True asks it here, in minutes."
        if why:
            shown = f"{why}\nYou see its recorded answers of {model.date} instead."
        for line in once_a_cell(shown):
            print(line)
    else:
        from workbook.runtime.local import LocalTextModel

        model = LocalTextModel(**settings)
        if os.environ.get(RECORD) == "1":
            model = Recorded(lesson, settings, model)
    model = Waited(model)
    return Prefilled(model, prefill) if prefill else model


def on_own_model(
    experiment: Callable[[Model], Any], prefill: str = "", **settings: Any
) -> dict[str, Any]:
    """Return what an experiment finds on the model that WORKBOOK_MODEL names, by name.

    Where none is named, or it cannot be asked, there is nothing, and a line says so.
    """
    healthy, about, fix = model_health()
    if not healthy or model_name() in ("scripted", "local"):
        for line in once_a_cell(f"{HOW_TO_NAME_ONE} {'' if healthy else fix}".strip()):
            print(line)
        return {}
    print(f"your own model: {about}")
    own: Model = Waited(get_text_model(None, **settings))
    try:
        found = experiment(Prefilled(own, prefill) if prefill else own)
        return {f"yours, {model_name()}": found}
    except HostedModelError as why:
        print(f"{model_name()}: left out. {why}")
        return {}


def real_result(
    lesson: str, name: str, measure: Callable[[], Any], *, live: bool = False
) -> Any:
    """Return what `measure` found when the lesson was written, or, `live`, finds now.

    It returns JSON; the local model is asked, in minutes.
    """
    is_played, why = _played(live)
    if is_played:
        data = _recorded(lesson)
        more = why if live else "live=True runs it here, in minutes."
        model = data.get("model", "the small model")
        print(f"{model} on {data['date']}. {more}")
        return data["results"][name]
    found = measure()
    if os.environ.get(RECORD) == "1":
        _write(lesson, "results", name, found)
    return found


def _played(live: bool) -> tuple[bool, str]:
    """Return whether a recording is played, and why the model cannot be asked."""
    from workbook.runtime.local import local_server

    record, why = os.environ.get(RECORD), ""
    if record == "0":
        return True, "WORKBOOK_RECORD is 0."
    try:
        local_server()
    except RuntimeError as error:
        why = str(error) or type(error).__name__
    return bool(why) or not (live or record == "1"), why


class Waited(Model):
    """A model whose long calls show a count, unless the caller reads along."""

    def __init__(self, model: Model) -> None:
        self.name, self._model, self.streams = model.name, model, model.streams
        if count := getattr(model, "count", None):
            self.count = count

    def respond(self, request: Request) -> Response:
        """Ask the model, and show the count of the tokens that it writes."""
        if request.on_text:
            return self._model.respond(request)
        with waiting("asking the model") as tick:
            if self.streams:
                on_text: Any = tick.wrote  # it stops nothing
                request = request._replace(on_text=on_text)
            return self._model.respond(request)


class Recorded(Model):
    """A recording: it answers as the model did or, with the model, is made anew."""

    streams = True  # it takes what the real one takes

    def __init__(
        self, lesson: str, settings: dict[str, Any], model: Any = None
    ) -> None:
        self._lesson, self.settings, self._model = lesson, settings, model
        self._data = {} if model else _recorded(lesson)
        self._asked = Counter[str]()
        self.name = model.name if model else f"{self._data['model']} (recorded)"
        self.date = self._data.get("date")

    def respond(self, request: Request) -> Response:
        """Return the answer to this prompt, stop sequence and settings."""
        key = _key(request.text, request.stop, self.settings)
        self._asked[key] += 1
        this_time = f"{key} {self._asked[key]}" if self._asked[key] > 1 else key
        if self._model:
            reply: Response = self._model.respond(request)
            timings = {name: round(time, 3) for name, time in reply.timings.items()}
            kept: dict[str, Any] = {"text": reply.text, "usage": reply.usage.to_dict()}
            kept |= {"finish_reason": reply.finish, "timings": timings}
            is_sample = self.settings.get("temperature")  # each is an answer
            _write(self._lesson, "answers", this_time if is_sample else key, kept, self)
            return reply
        answers = self._data["answers"]
        if not (answer := answers.get(this_time) or answers.get(key)):
            raise NotRecorded(
                "this prompt was not recorded, and the real model is not here: run"
                " `python -m workbook fetch-model` and try again"
            )
        usage, finish = Usage(**answer["usage"]), answer["finish_reason"]
        return Response(answer["text"], usage, (), finish, {}, answer["timings"])

    def count(self, prompt: str) -> int:
        """Return how many tokens the real model reads of it; else an estimate."""
        key = _key(prompt, (), {})
        if not self._model:
            estimate = -(-len(prompt.encode()) // BYTES_PER_TOKEN)
            return int(self._data.get("counts", {}).get(key, estimate))
        tokens: int = self._model.count(prompt)
        _write(self._lesson, "counts", key, tokens, self)
        return tokens


def _recorded(lesson: str) -> dict[str, Any]:
    path = FOLDER / f"{lesson}.json"
    if not path.exists():
        raise NotRecorded(f"nothing was recorded for lesson {lesson!r}")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def _write(
    lesson: str, kind: str, key: str, value: Any, by: Recorded | None = None
) -> None:
    data: dict[str, Any] = {"answers": {}, "settings": []}
    with suppress(NotRecorded):
        data = _recorded(lesson)
    data["date"] = datetime.date.today().isoformat()
    if by:
        data["model"] = by.name
        if by.settings not in data["settings"]:
            data["settings"].append(by.settings)
    data.setdefault(kind, {})[key] = value
    in_order = {  # of a result only the name: a table's first row is its baseline
        part: dict(sorted(kept.items())) if isinstance(kept, dict) else kept
        for part, kept in sorted(data.items())
    }
    text = json.dumps(in_order, ensure_ascii=False, indent=1)
    (FOLDER / f"{lesson}.json").write_text(text + "\n", encoding="utf-8")


def _key(prompt: str, stop: Sequence[str], settings: dict[str, Any]) -> str:
    asked = json.dumps([prompt, list(stop), settings], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]
