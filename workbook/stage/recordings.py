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
    why = _why_recorded()
    if why or (not live and os.environ.get(RECORD) != "1"):
        model = RecordedModel(lesson, settings)
        shown = f"{model.name}, {model.date}. live=True asks it here, in minutes."
        if why:
            shown = f"{why}\nYou see its recorded answers of {model.date} instead."
        for line in once_a_cell(shown):
            print(line)
    else:
        from workbook.runtime.local import LocalTextModel

        model = LocalTextModel(**settings)
        if os.environ.get(RECORD) == "1":
            model = Recorder(model, lesson, settings)
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
        lines = [HOW_TO_NAME_ONE if healthy else f"{HOW_TO_NAME_ONE} {fix}"]
        print(*once_a_cell(*lines), end="\n" if lines else "")
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
    path = FOLDER / f"{lesson}.json"
    why = _why_recorded()
    if why or not (live or os.environ.get(RECORD) == "1"):
        data = json.loads(path.read_text(encoding="utf-8"))
        more = why if live else "live=True runs it here, in minutes."
        model = data.get("model", "the small model")
        print(f"{model} on {data['date']}. {more}")
        return data["results"][name]
    found = measure()
    if os.environ.get(RECORD) == "1":
        _write(lesson, "results", name, found)
    return found


def _why_recorded() -> str:
    """Return why a recording is played; "" where the real model can be asked."""
    from workbook.runtime.local import local_server

    if os.environ.get(RECORD) == "0":
        return "WORKBOOK_RECORD is 0."
    try:
        local_server()
    except RuntimeError as why:
        return str(why) or type(why).__name__
    return ""


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


class RecordedModel(Model):
    """A model that answers as the real one did to the same prompt and settings."""

    streams = True  # it takes what the real one takes

    def __init__(self, lesson: str, settings: dict[str, Any]) -> None:
        path = FOLDER / f"{lesson}.json"
        if not path.exists():
            raise NotRecorded(f"nothing was recorded for lesson {lesson!r}")
        data = json.loads(path.read_text(encoding="utf-8"))
        self.name, self.date = f"{data['model']} (recorded)", data["date"]
        self._answers, self._settings = data["answers"], settings
        self._asked: Counter[str] = Counter()
        self._counts: dict[str, int] = data.get("counts", {})

    def respond(self, request: Request) -> Response:
        """Return what was recorded for this prompt, stop sequence and settings."""
        key = _key(request.text, request.stop, self._settings)
        answer = self._answers.get(_times(self._asked, key)) or self._answers.get(key)
        if answer is None:
            raise NotRecorded(
                "this prompt was not recorded, and the real model is not here: run"
                " `python -m workbook fetch-model` and try again"
            )
        usage, finish = Usage(**answer["usage"]), answer["finish_reason"]
        return Response(answer["text"], usage, (), finish, {}, answer["timings"])

    def count(self, prompt: str) -> int:
        """Return how many tokens the real model reads of it; else an estimate."""
        estimate = -(-len(prompt.encode()) // BYTES_PER_TOKEN)
        return self._counts.get(_key(prompt, (), {}), estimate)


class Recorder(Model):
    """The real model, with each answer written to the lesson's recording."""

    streams = True

    def __init__(self, model: Model, lesson: str, settings: dict[str, Any]) -> None:
        self.name, self._model, self._settings = model.name, model, settings
        self._lesson = lesson
        self._asked: Counter[str] = Counter()

    def respond(self, request: Request) -> Response:
        """Ask the model, and record its answer."""
        reply = self._model.respond(request)
        timings = {k: round(v, 3) for k, v in reply.timings.items()}
        answer: dict[str, Any] = {"text": reply.text, "usage": reply.usage.to_dict()}
        answer |= {"finish_reason": reply.finish, "timings": timings}
        key = _key(request.text, request.stop, self._settings)
        if self._settings.get("temperature"):  # each sample is an answer of its own
            key = _times(self._asked, key)
        self._note("answers", key, answer)
        return reply

    def count(self, prompt: str) -> int:
        """Ask the model how many tokens a prompt has, and record the number."""
        tokens: int = self._model.count(prompt)  # type: ignore[attr-defined]
        self._note("counts", _key(prompt, (), {}), tokens)
        return tokens

    def _note(self, kind: str, key: str, value: Any) -> None:
        _write(self._lesson, kind, key, value, self.name, self._settings)


def _write(
    lesson: str, kind: str, key: str, value: Any, model: str = "", settings: Any = None
) -> None:
    path = FOLDER / f"{lesson}.json"
    data: dict[str, Any] = {"answers": {}, "settings": []}
    if path.exists():
        data = json.loads(path.read_text(encoding="utf-8"))
    data |= {"date": datetime.date.today().isoformat()}
    data |= {"model": model} if model else {}
    if settings is not None and settings not in data["settings"]:
        data["settings"].append(settings)
    data.setdefault(kind, {})[key] = value
    in_order = {  # of a result only the name: a table's first row is its baseline
        part: dict(sorted(kept.items())) if isinstance(kept, dict) else kept
        for part, kept in sorted(data.items())
    }
    text = json.dumps(in_order, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def _times(asked: Counter[str], key: str) -> str:
    """Return the key for the first time, then `key 2`, `key 3` …"""
    asked[key] += 1
    return key if asked[key] == 1 else f"{key} {asked[key]}"


def _key(prompt: str, stop: Sequence[str], settings: dict[str, Any]) -> str:
    asked = json.dumps([prompt, list(stop), settings], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]
