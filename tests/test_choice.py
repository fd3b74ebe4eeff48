"""Choosing a model by name or by WORKBOOK_MODEL, its key, and its endpoint."""

import re

import pytest

from tests.runtime.test_hosted import endpoint, message
from workbook.choice import ChoiceError, get_text_model, model_health, model_name

SECRET = "sk-very-secret-0123456789"
NAME, URL, KEY = "WORKBOOK_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"


@pytest.fixture(autouse=True)
def no_settings(monkeypatch, tmp_path):
    for name in (NAME, KEY, URL):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WORKBOOK_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("name", "variable", "chosen"),
    [
        (None, "", "scripted"),
        (None, "local", "local"),
        ("Local ", "", "local"),
        ("OpenAI: gpt-4o-mini", "", "gpt-4o-mini"),
    ],
)
def test_the_name_decides_then_the_variable(monkeypatch, name, variable, chosen):
    """a name wins over WORKBOOK_MODEL, and that over the scripted model"""
    monkeypatch.setenv(NAME, variable)
    assert model_name(name) == chosen


def test_any_other_name_is_hosted(monkeypatch):
    """another name is asked with the key, without the space around it, or with none"""
    with endpoint(message(content="Hi")) as server:
        monkeypatch.setenv(URL, server.url)
        get_text_model("m", max_tokens=9).complete("?")
        monkeypatch.setenv(KEY, f" {SECRET}\n")
        get_text_model("openai:m").complete("?")
    assert [body["model"] for body in server.asked] == ["m", "m"]
    assert server.asked[0]["max_tokens"] == 9
    assert server.keys == ["Bearer none-needed", f"Bearer {SECRET}"]


@pytest.mark.parametrize(
    ("name", "settings", "found", "todo"),
    [
        (" ", {}, None, "WORKBOOK_MODEL to scripted"),
        ("gpt 4", {}, None, "openai:gpt-4o-mini"),
        ("LOCAL", {}, "local (SmolLM2", "fetch-model"),
        ("m", {}, None, "needs a key, and OPENAI_API_KEY is not set"),
        ("m", {KEY: "sk-1234"}, f"({KEY} is set)", ""),
        ("m", {KEY: "sk-a b"}, None, "copy the key again"),
        ("m", {URL: "http://u:pw@h:1/v1"}, "m at h (without a key)", ""),
        ("m", {URL: "h:1"}, None, "OPENAI_BASE_URL is no URL"),
        ("m", {URL: "http://h:port"}, None, "OPENAI_BASE_URL is no URL"),
    ],
)
def test_the_line_about_a_model_is_true(monkeypatch, name, settings, found, todo):
    """a model that is called well can be had; another is refused in the same line"""
    for variable, value in settings.items():
        monkeypatch.setenv(variable, value)
    with pytest.raises(ChoiceError, match=r"Script\(\[…\]\)"):
        get_text_model("scripted")
    ok, about, fix = model_health(name)
    assert ok is (found is not None)
    assert (found or "none") in about
    assert (todo in fix, bool(todo)) == (True, bool(fix))
    assert not re.search("sk-1234|pw|\n", about + fix)
    if not ok:
        with pytest.raises(ChoiceError) as error:
            get_text_model(name)
        assert str(error.value) == fix
