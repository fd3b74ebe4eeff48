"""Prompt caching: what is sent, and how the server's figures become a table."""

import math

import pytest

from workbook.langchain_trace.agents import run_classic
from workbook.langchain_trace.growth import caching_experiment, caching_prompts
from workbook.runtime.journal import shared_items
from workbook.runtime.model import Model, Response, Usage
from workbook.runtime.script import Script
from workbook.stage.scenarios import load


class Server(Model):
    """A server that remembers one prompt, and reads a character in a millisecond."""

    name = "server"

    def __init__(self):
        self.before = ""
        self.asked = []

    def respond(self, request):
        prompt = request.text
        cached = shared_items(self.before, prompt)
        self.before = prompt
        self.asked.append(prompt)
        timings = {"prompt_ms": float(len(prompt) - cached)}
        return Response("x", Usage(len(prompt), 1, cached), timings=timings)


@pytest.fixture
def trace(journal, llm_math):
    scenario = load("price_question")
    run_classic(scenario.script(), [llm_math], scenario.question, emit=journal.emit)
    return journal.trace()


def test_the_appended_prompt_only_grows(trace):
    """appended begins with all of cold; edited differs within the first words"""
    prompts = caching_prompts(trace)
    assert list(prompts) == ["cold", "appended", "edited"]
    assert prompts["appended"].startswith(prompts["cold"])
    assert shared_items(prompts["appended"], prompts["edited"]) < 10
    assert prompts["edited"][20:] in prompts["appended"]


def test_the_cold_prompt_is_cold(trace):
    """an unrelated prompt goes first, so nothing of an earlier run is left"""
    server = Server()
    server.before = caching_prompts(trace)["cold"]
    frame = caching_experiment(server, trace).set_index("case")
    assert frame.loc["cold", "cached_tokens"] < 5
    assert len(server.asked) == 4


def test_appending_is_cheap_and_editing_is_not(trace):
    """on a server that remembers a prompt: at most a fifth, at least three times"""
    ms = caching_experiment(Server(), trace).set_index("case")["prompt_ms"]
    assert ms["appended"] <= ms["cold"] / 5
    assert ms["edited"] >= 3 * ms["appended"]


def test_a_server_without_a_clock_has_no_time(trace):
    """where the server gives no time, the table has none"""
    frame = caching_experiment(Script(["x"], repeat_last=True), trace)
    assert all(math.isnan(value) for value in frame["prompt_ms"])
