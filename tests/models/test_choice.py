"""Choosing a model by name or by WORKBOOK_MODEL, its key, and its endpoint."""

import pytest

from workbook.models.choice import (
    MissingKey,
    UnknownModel,
    describe_model,
    get_text_model,
    model_health,
    model_name,
)

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


def test_the_local_model_is_chosen_by_name(local, real_weights):
    """`local` is the model in this process, with its options"""
    assert str(real_weights) in describe_model("local")
    assert get_text_model("local", max_tokens=2).complete("hi").usage.output == 2


def test_any_other_name_is_hosted(monkeypatch):
    """another name is asked with the key, without the space around it, or with none"""
    monkeypatch.setenv(KEY, f" {SECRET}\n")
    model = get_text_model("m", max_tokens=9)
    assert (model.name, model.options["max_completion_tokens"]) == ("m", 9)
    assert model._client.headers["Authorization"] == f"Bearer {SECRET}"
    monkeypatch.delenv(KEY)
    monkeypatch.setenv(URL, "http://127.0.0.1:9/v1")
    assert get_text_model("m")._client.headers["Authorization"] == "Bearer none-needed"


def test_the_scripted_model_is_made_of_its_turns():
    """what it says is given to a Script, and the message says so"""
    with pytest.raises(UnknownModel, match=r"Script\(\[…\]\)"):
        get_text_model()


@pytest.mark.parametrize(
    ("name", "settings", "found", "todo"),
    [
        (None, {}, "scripted (", ""),
        (" ", {}, None, "Choose scripted"),
        ("gpt 4", {}, None, "openai:gpt-4o-mini"),
        (None, {NAME: "gpt 4"}, None, "WORKBOOK_MODEL='gpt 4' names no model."),
        ("LOCAL", {}, "local (SmolLM2", "fetch-model"),
        ("m", {}, None, "needs a key, and OPENAI_API_KEY is not set"),
        ("m", {KEY: "sk-1234"}, f"({KEY} is set)", ""),
        ("m", {KEY: " "}, None, KEY),
        ("m", {KEY: "sk-a b"}, None, "copy the key again"),
        ("m", {KEY: "“sk-quoted”"}, None, "copy the key again"),
        ("m", {URL: "http://u:pw@h:1/v1"}, "m at h (without a key)", ""),
        ("m", {URL: "h:1"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://h:port"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://xn--zzzz.com"}, None, "OPENAI_BASE_URL is no URL"),
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
            get_text_model(name)
        assert str(error.value) == fix
