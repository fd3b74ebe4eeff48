"""What a model said, kept for machines that do not have it.

Where the weights are there, `real_model(lesson)` is the local model. Otherwise it plays
what the model said when the lesson was written, says so, and refuses any other prompt.
With WORKBOOK_RECORD=1 the real model's answers are recorded anew, with 0 they are
played although the weights are there. `other_models` are larger ones beside it: your
own, and those of which somebody has made a recording (`python -m workbook record`).
"""

import datetime
import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workbook.choice import get_text_model, model_health, model_name
from workbook.exercises.display import once_a_cell
from workbook.paths import DATA
from workbook.runtime.hosted import HostedModelError
from workbook.runtime.machine import BYTES_PER_TOKEN
from workbook.runtime.model import Model, Prefilled, Request, Response, Usage
from workbook.wait import waiting

FOLDER, OTHERS = DATA / "recorded", "others"
RECORD, RECORD_AS = "WORKBOOK_RECORD", "WORKBOOK_RECORD_AS"
"""RECORD_AS names the file to which your own model's answers are added."""
OF_OURS = (
    "this prompt was not recorded, and the real model is not here: "
    "run `python -m workbook fetch-model` and try again"
)
HOW_TO_NAME_ONE = (
    "This cell repeats the experiment on a model of your own. Set WORKBOOK_MODEL to"
    " its name, and OPENAI_API_KEY or OPENAI_BASE_URL, before JupyterLab is started."
)
OF_OTHERS = (
    "It was not asked this: the lesson was not recorded on it, or your functions make"
    " another prompt than ours."
)


class NotRecorded(LookupError):  # noqa: N818 - what is the case, not an error's name
    """A recording was asked something that nobody has asked the model."""

    def _render_traceback_(self) -> list[str]:
        """Show a sentence in a notebook: the code that asked is not at fault."""
        return [f"{type(self).__name__}: {self}"]


def real_model(lesson: str, *, prefill: str = "", **settings: Any) -> Model:
    """Return the local model, or a recording of it where the weights are missing.

    `prefill` is what each turn begins with (see `Prefilled`), `settings` are those of
    `LocalTextModel`, the file is `data/recorded/<lesson>.json`.
    """
    model: Model
    if why := _why_recorded():
        model = RecordedModel(lesson, settings)
        words = f"{why}\nYou see what the model said on {model.date} instead."
        for said in once_a_cell(words):
            print(said)
    else:
        from workbook.runtime.local import LocalTextModel

        model = LocalTextModel(**settings)
        if os.environ.get(RECORD) == "1":
            model = Recorder(model, lesson, settings)
    model = Waited(model)
    return Prefilled(model, prefill) if prefill else model


def other_models(prefill: str = "", **settings: Any) -> dict[str, Model]:
    """Return the models to set beside the small one, by what a table calls them.

    They are your own, where `WORKBOOK_MODEL` names a hosted one, and each model that
    was recorded, with the day. `settings` are `HostedModel`'s, such as `max_tokens`.
    """
    found: dict[str, Model] = {}
    healthy, about, fix = model_health()
    if healthy and model_name() not in ("scripted", "local"):
        print(f"your own model: {about}")
        own: Model = get_text_model(None, **settings)
        if part := os.environ.get(RECORD_AS):
            own = Recorder(own, Path(part), settings)
        found[f"yours, {model_name()}"] = own
    recorded = () if RECORD_AS in os.environ else (FOLDER / OTHERS).glob("*.json")
    for path in sorted(recorded):
        model = RecordedModel(f"{OTHERS}/{path.stem}", settings)
        found[f"{path.stem}, {model.date}"] = model
    if not found:
        print(HOW_TO_NAME_ONE if healthy else f"{HOW_TO_NAME_ONE} {fix}")
    waited = {name: Waited(model) for name, model in found.items()}
    return {n: Prefilled(m, prefill) if prefill else m for n, m in waited.items()}


def on_other_models(
    experiment: Callable[[Model], Any], prefill: str = "", **settings: Any
) -> dict[str, Any]:
    """Return what an experiment finds on each of the `other_models`, by their names.

    A model that cannot be asked, or a recording that lacks a prompt, is left out, with
    a line that says so.
    """
    found = {}
    for name, model in other_models(prefill, **settings).items():
        try:
            found[name] = experiment(model)
        except (NotRecorded, HostedModelError) as why:
            print(f"{name}: left out. {why}")
    return found


def real_result(
    lesson: str, name: str, measure: Callable[[], Any], *, takes_minutes: bool = False
) -> Any:
    """Return what `measure` finds with the local model, or what it found then.

    For what is no text, such as vectors. It returns JSON, and is kept by its `name`.
    What `takes_minutes` is measured with WORKBOOK_RECORD=1 only.
    """
    path = FOLDER / f"{lesson}.json"
    if why := _why_recorded(takes_minutes):
        data = json.loads(path.read_text(encoding="utf-8"))
        print(f"{why}\nYou see what was found on {data['date']} instead.")
        return data["results"][name]
    found = measure()
    if os.environ.get(RECORD) == "1":
        _write(path, "results", name, found)
    return found


def _why_recorded(takes_minutes: bool = False) -> str:
    """Return why a recording is played; "" where the real model is asked."""
    from workbook.runtime.local import local_server
    from workbook.weights import WeightsError

    wish = os.environ.get(RECORD)
    if wish == "0":
        return "WORKBOOK_RECORD is 0."
    if takes_minutes and wish != "1":
        return "This takes minutes (WORKBOOK_RECORD=1 does it anew)."
    try:
        local_server()
    except (WeightsError, RuntimeError) as why:
        return str(why) or type(why).__name__
    return ""


class Waited(Model):
    """A model whose long calls say what is waited for, unless the caller hears it."""

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
    """A model that says what the real one said to the same prompt and settings."""

    streams = True  # it takes what the real one takes

    def __init__(self, lesson: str, settings: dict[str, Any]) -> None:
        path = FOLDER / f"{lesson}.json"
        if not path.exists():
            raise NotRecorded(f"nothing was recorded for lesson {lesson!r}")
        data = json.loads(path.read_text(encoding="utf-8"))
        self.name, self.date = f"{data['model']} (recorded)", data["date"]
        self._answers, self._settings = data["answers"], settings
        self._asked: Counter[str] = Counter()
        self._missing = OF_OTHERS if lesson.startswith(OTHERS) else OF_OURS
        self._counts: dict[str, int] = data.get("counts", {})

    def respond(self, request: Request) -> Response:
        """Return what was recorded for this prompt, stop sequence and settings."""
        key = _key(request.text, request.stop, self._settings)
        again = _times(self._asked, key)
        answer = self._answers.get(again) or self._answers.get(key)
        if answer is None:
            raise NotRecorded(self._missing)
        usage, finish = Usage(**answer["usage"]), answer["finish_reason"]
        return Response(answer["text"], usage, (), finish, {}, answer["timings"])

    def count(self, prompt: str) -> int:
        """Return how many tokens the real model reads of it; else an estimate."""
        key = _key(prompt, (), {})
        estimate = -(-len(prompt.encode()) // BYTES_PER_TOKEN)
        return self._counts.get(key, estimate)


class Recorder(Model):
    """The real model, with each answer written to the lesson's recording."""

    streams = True

    def __init__(
        self, model: Model, place: str | Path, settings: dict[str, Any]
    ) -> None:
        self.name, self._model, self._settings = model.name, model, settings
        path = place if isinstance(place, Path) else FOLDER / f"{place}.json"
        self._note = partial(_write, path, model=self.name, settings=settings)
        self._asked: Counter[str] = Counter()

    def respond(self, request: Request) -> Response:
        """Ask the model and write down what it says."""
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
        """Ask the model how many tokens it reads, and write that down."""
        tokens: int = self._model.count(prompt)  # type: ignore[attr-defined]
        self._note("counts", _key(prompt, (), {}), tokens)
        return tokens


def _write(path: Path, kind: str, key: str, said: Any, **about: Any) -> None:
    data: dict[str, Any] = {"answers": {}, "settings": []}
    path.parent.mkdir(exist_ok=True)
    if path.exists():
        data = json.loads(path.read_text(encoding="utf-8"))
    settings = about.pop("settings", None)
    data |= {**about, "date": datetime.date.today().isoformat()}
    if settings is not None and settings not in data["settings"]:
        data["settings"].append(settings)
    data.setdefault(kind, {})[key] = said
    text = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8")


def _times(asked: Counter[str], key: str) -> str:
    """Return the key for the first time, then `key 2`, `key 3` …"""
    asked[key] += 1
    return key if asked[key] == 1 else f"{key} {asked[key]}"


def _key(prompt: str, stop: Sequence[str], settings: dict[str, Any]) -> str:
    asked = json.dumps([prompt, list(stop), settings], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]
