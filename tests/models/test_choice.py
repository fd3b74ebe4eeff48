"""Choosing a model by name or by WORKBOOK_MODEL, its key, and its endpoint."""

import pytest

from workbook.models.choice import (
    MissingKey,
    UnknownModel,
    as_text_model,
    describe_model,
    get_model,
    get_text_model,
    model_health,
    model_name,
)
from workbook.models.langchain import ChatModelAdapter, ScriptedModel
from workbook.models.script import Script

SECRET = "sk-very-secret-0123456789"
NAME, URL, KEY = "WORKBOOK_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in (NAME, KEY, URL):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "variable", "chosen"),
    [
        (None, "", "scripted"),
        (None, "local", "local"),
        ("scripted", "local", "scripted"),
        ("Local ", "", "local"),
        ("OpenAI: gpt-4o-mini", "", "gpt-4o-mini"),
        ("openai:localai", "", "localai"),
    ],
)
def test_the_name_decides_then_the_variable(monkeypatch, name, variable, chosen):
    """a name wins over WORKBOOK_MODEL, and that over the scripted model"""
    monkeypatch.setenv(NAME, variable)
    assert model_name(name) == chosen


def test_the_scripted_model_comes_as_each_wants_it():
    """a LangChain chat model or a plain script, with its options; it needs turns"""
    model = get_model(turns=["a"], repeat_last=True)
    assert isinstance(model, ScriptedModel)
    assert model.script.repeat_last
    assert isinstance(get_text_model("scripted", turns=["a"]), Script)
    for get in (get_model, get_text_model):
        with pytest.raises(UnknownModel, match="turns="):
            get()


def test_the_local_model_is_chosen_by_name(local, real_weights):
    """`local` is the model in this process, for LangChain and for the engines"""
    chat = get_model("local", turns=["ignored"], max_tokens=2)
    text = get_text_model("local", turns=["ignored"], max_tokens=2)
    assert str(real_weights) in describe_model("local")
    assert chat.invoke("hi").usage_metadata["output_tokens"] == 2
    assert text.complete("hi").usage.output == 2


@pytest.mark.parametrize("get", [get_model, get_text_model])
def test_any_other_name_is_hosted(monkeypatch, get):
    """another name is asked with the key, without the space around it, or with none"""

    def key(**options):
        model = get("m", **options)
        hosted = model.model if isinstance(model, ChatModelAdapter) else model
        assert hosted.name == "m"
        return hosted._client.headers["Authorization"]

    assert key(api_key=SECRET) == f"Bearer {SECRET}"
    assert key(base_url="http://127.0.0.1:9/v1") == "Bearer none-needed"
    monkeypatch.setenv(KEY, f" {SECRET}\n")
    assert key() == f"Bearer {SECRET}"


def test_a_model_of_ours_or_langchains_is_taken():
    """a TextModel stays as it is; a LangChain model is wrapped; all else is refused"""
    script = Script(["a"])
    assert as_text_model(script) is script
    assert as_text_model(ScriptedModel(["a"])).complete("p").text == "a"
    for thing in (None, Script):
        with pytest.raises(TypeError, match="give a TextModel"):
            as_text_model(thing)


@pytest.mark.parametrize(
    ("name", "settings", "found", "todo"),
    [
        (None, {}, "scripted (", ""),
        (" ", {}, None, "Choose scripted"),
        ("gpt 4", {}, None, "openai:gpt-4o-mini"),
        ("locl", {}, None, "did you mean 'local'"),
        (None, {NAME: "scriptd"}, None, "WORKBOOK_MODEL='scriptd' names no model; did"),
        ("LOCAL", {}, "local (SmolLM2", "fetch-model"),
        ("m", {}, None, "needs a key, and OPENAI_API_KEY is not set"),
        ("m", {KEY: "sk-1234"}, f"({KEY} is set)", ""),
        ("m", {KEY: " "}, None, KEY),
        ("m", {KEY: "sk-a b"}, None, "copy the key again"),
        ("m", {KEY: "“sk-quoted”"}, None, "copy the key again"),
        ("m", {URL: "http://u:pw@h:1/v1"}, "m at h (without a key)", ""),
        ("m", {URL: "h:1"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://[1"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://"}, None, "OPENAI_BASE_URL is no URL"),
    ],
)
def test_what_is_said_about_a_model_is_what_happens(
    cache, monkeypatch, name, settings, found, todo
):
    """a model that is called well can be had, one that is not is refused in one line"""
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    ok, about, fix = model_health(name)
    line = describe_model(name)
    assert ok is (found is not None)
    assert (found or "none") in about
    assert (todo in fix, bool(todo)) == (True, bool(fix))
    assert about in line
    assert "\n" not in line
    assert not {"sk-1234", "pw", "quoted"} & {*line.replace("@", " ").split()}
    if not ok:
        with pytest.raises((UnknownModel, MissingKey)) as error:
            get_model(name)
        assert str(error.value) == fix
