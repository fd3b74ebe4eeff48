"""Choosing a model by name or by WORKBOOK_MODEL."""

import pytest

from workbook.models import Script, get_model, get_text_model
from workbook.models.choice import (
    MissingKey,
    UnknownModel,
    as_text_model,
    describe_model,
    model_health,
    model_name,
)
from workbook.models.langchain import ScriptedModel


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("WORKBOOK_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "variable", "chosen"),
    [
        (None, None, "scripted"),
        (None, "", "scripted"),
        (None, "local", "local"),
        ("scripted", "local", "scripted"),
        ("Local ", None, "local"),
        ("openai:gpt-4o-mini", None, "gpt-4o-mini"),
        ("OpenAI: gpt-4o-mini", None, "gpt-4o-mini"),
        ("openai:localai", None, "localai"),
        ("llama3.2:3b", None, "llama3.2:3b"),
    ],
)
def test_the_name_decides_then_the_variable(monkeypatch, name, variable, chosen):
    """a name wins over WORKBOOK_MODEL, and that over the scripted model"""
    if variable is not None:
        monkeypatch.setenv("WORKBOOK_MODEL", variable)

    assert model_name(name) == chosen


@pytest.mark.parametrize("name", ["", "  ", "openai:", "gpt 4", "scriptd", "locl"])
def test_a_name_that_is_none_lists_the_choices(name):
    """an empty or misspelt name is answered with what there is"""
    with pytest.raises(UnknownModel) as error:
        get_model(name)

    for choice in ("scripted", "local", "openai:gpt-4o-mini"):
        assert choice in str(error.value)


def test_a_slip_is_guessed():
    """a near miss is named"""
    with pytest.raises(UnknownModel, match=r"did you mean 'scripted'.*openai:scriptd"):
        model_name("scriptd")


def test_a_slip_in_the_variable_names_the_variable(monkeypatch):
    """whoever gave no name is told where the wrong one stands"""
    monkeypatch.setenv("WORKBOOK_MODEL", "scriptd")

    with pytest.raises(UnknownModel, match="WORKBOOK_MODEL='scriptd' names no model"):
        get_model()


def test_the_scripted_model_needs_turns():
    """without turns the message shows how to give them"""
    with pytest.raises(UnknownModel, match="turns="):
        get_model()
    with pytest.raises(UnknownModel, match="turns="):
        get_text_model()


def test_get_model_gives_langchain_models():
    """the scripted model comes as a LangChain chat model, with its options"""
    model = get_model(turns=["a"], repeat_last=True)

    assert isinstance(model, ScriptedModel)
    assert model.script.repeat_last


def test_get_text_model_gives_what_engines_take():
    """the scripted model comes as a plain script"""
    assert isinstance(get_text_model("scripted", turns=["a"]), Script)


def test_the_local_model_is_chosen_by_name(local):
    """`local` is the model in this process, for LangChain and for the engines"""
    chat = get_model("local", turns=["ignored"], max_tokens=2)
    text = get_text_model("local", turns=["ignored"], max_tokens=2)

    assert chat.invoke("hi").usage_metadata["output_tokens"] == 2
    assert text.complete("hi").usage.output == 2


@pytest.mark.parametrize("get", [get_model, get_text_model])
def test_any_other_name_is_hosted(monkeypatch, get):
    """another name needs the key of a hosted model"""
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        get("openai:gpt-4o-mini")

    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    model = get("openai:gpt-4o-mini")
    assert getattr(model, "model_name", model.name) == "gpt-4o-mini"


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        (None, {}, "model: scripted ("),
        ("local", {}, "fetch-model"),
        (
            "gpt-4o-mini",
            {},
            "needs a key, and OPENAI_API_KEY is not set",
        ),
        ("gpt-4o-mini", {"OPENAI_API_KEY": "sk-1234"}, "(OPENAI_API_KEY is set)"),
        ("m", {"OPENAI_BASE_URL": "http://u:pw@h:1/v1"}, "m at h (without a key)"),
        ("m", {"OPENAI_BASE_URL": "http://[1"}, "OPENAI_BASE_URL is no URL"),
        ("m", {"OPENAI_BASE_URL": "localhost:1/v1"}, "OPENAI_BASE_URL is no URL"),
        ("", {}, "model: none. ''"),
    ],
)
def test_one_line_says_which_model(cache, monkeypatch, name, settings, words):
    """the choice, and what it lacks, is told in one line that holds no secret"""
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)

    line = describe_model(name)

    assert words in line
    assert "\n" not in line
    assert "sk-1234" not in line
    assert "pw" not in line


def test_the_line_names_the_weights(real_weights):
    """when the weights are there the line says where"""
    assert str(real_weights) in describe_model("local")


def test_what_fits_is_returned_as_it_is():
    """a model that already fits is not wrapped; one of LangChain's is"""
    script = Script(["a"])

    assert as_text_model(script) is script
    assert as_text_model(ScriptedModel(["b"])).complete("p").text == "b"


@pytest.mark.parametrize("thing", [None, 3, "gpt-4o-mini", Script, len])
def test_what_is_no_model_is_refused(thing):
    """anything else is named, with what would fit"""
    with pytest.raises(TypeError, match="give a TextModel"):
        as_text_model(thing)


@pytest.mark.parametrize(
    ("settings", "well", "todo"),
    [
        ({}, True, ""),
        ({"WORKBOOK_MODEL": " "}, False, "Choose scripted"),
        ({"WORKBOOK_MODEL": "scriptd"}, False, "did you mean 'scripted'"),
        ({"WORKBOOK_MODEL": "LOCAL"}, True, "fetch-model"),
        ({"WORKBOOK_MODEL": "m"}, False, "OPENAI_API_KEY"),
        ({"WORKBOOK_MODEL": "m", "OPENAI_API_KEY": "sk-1234"}, True, ""),
        ({"WORKBOOK_MODEL": "m", "OPENAI_API_KEY": " "}, False, "OPENAI_API_KEY"),
        ({"WORKBOOK_MODEL": "m", "OPENAI_API_KEY": "a b"}, False, "copy the key again"),
        ({"WORKBOOK_MODEL": "m", "OPENAI_BASE_URL": "http://h:1/v1"}, True, ""),
        ({"WORKBOOK_MODEL": "m", "OPENAI_BASE_URL": "h:1"}, False, "http://"),
    ],
)
def test_what_is_said_about_a_model_is_what_happens(
    cache, monkeypatch, settings, well, todo
):
    """a model that is called well can be had, and one that is not is refused"""
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)

    ok, _, fix = model_health()

    assert (ok, bool(fix)) == (well, bool(todo))
    assert todo in fix
    if not ok:
        with pytest.raises((UnknownModel, MissingKey)) as error:
            get_model()
        assert str(error.value) == fix
    elif settings.get("WORKBOOK_MODEL") == "m":
        assert get_text_model().name == "m"
