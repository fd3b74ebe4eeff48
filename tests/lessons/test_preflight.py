"""Warnings from the question alone: the rules of the exercise, and its cases."""

import time
import tomllib
from pathlib import Path

import pytest

from workbook.lessons.tools_as_contracts import BATCH_WORDS, asked_numbers
from workbook.lessons.tools_as_contracts import preflight as ours
from workbook.runtime.tools import Tool
from workbook.worlds.numbers import factorial, prime_factorization

DATA = Path(__file__).parents[2] / "data" / "lessons" / "04"
CASES = tomllib.loads((DATA / "preflight_cases.toml").read_text("utf-8"))["case"]
HARMLESS = tomllib.loads((DATA / "harmless_questions.toml").read_text("utf-8"))
TOOLS = {tool.name: tool for tool in (factorial(), prime_factorization())}


@pytest.mark.parametrize(("n", "warnings"), [(100, ["over limit: 100 > 20"]), (20, [])])
def test_a_number_beyond_the_limit(preflight, n, warnings):
    """a number above the schema's maximum is over the limit; the maximum is not"""
    assert preflight(f"Compute the factorial of {n}.", factorial()) == warnings


@pytest.mark.parametrize(("n", "warnings"), [(1, ["under limit: 1 < 2"]), (2, [])])
def test_a_number_below_the_limit(preflight, n, warnings):
    """a number below the schema's minimum is under the limit; the minimum is not"""
    assert preflight(f"Factorise {n}.", prime_factorization()) == warnings


def test_a_schema_without_limits(preflight):
    """a schema without maximum and minimum has no limits"""
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    limitless = Tool("Factorial", "Computes n!.", schema, dict)
    assert preflight("What is 100 factorial?", limitless) == []


def test_the_numbers_are_those_that_are_asked(preflight):
    """only the numbers of `asked_numbers` count: 100の階乗, １００, but no year"""
    assert preflight("100の階乗を計算して", factorial()) == ["over limit: 100 > 20"]
    assert preflight("１００的阶乘是多少？", factorial()) == ["over limit: 100 > 20"]
    assert preflight("In 1905, what was the factorial of 5?", factorial()) == []


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What are the prime factors of 15, 12 and 18?", "15, 12, 18"),
        ("Factorise [15, 12, 18].", "15, 12, 18"),
        ("What are the prime factors of 15 and 12?", "15, 12"),
    ],
)
def test_several_values(preflight, question, numbers):
    """two or more numbers are reported together, in the order of the question"""
    assert preflight(question, prime_factorization()) == [f"several values: {numbers}"]


def test_a_batch_word(preflight):
    """a batch word counts in capitals too, and only if `asks_for` is true"""
    assert preflight("Take all these factorials AT ONCE.", factorial()) == [
        "batch word: at once"
    ]
    assert preflight("同時通訳とは何ですか", factorial()) == []
    assert preflight("みんな一度に来た！", factorial()) == []
    assert preflight("Split these numbers into primes at once.", factorial()) == []


def test_the_first_batch_word_of_the_list_counts(preflight):
    """of several batch words, only the first one in `BATCH_WORDS` is reported"""
    first, second = BATCH_WORDS[:2]
    question = f"Take these factorials {second}, {first}."
    assert preflight(question, factorial()) == [f"batch word: {first}"]


def test_all_warnings_in_order(preflight):
    """every warning is reported: batch word, several values, then each limit"""
    found = preflight("一次性计算3、25、30的阶乘", factorial())
    kinds = [warning.partition(":")[0] for warning in found]
    expected = ["batch word", "several values", "over limit", "over limit"]
    assert kinds == expected, f"the warnings are {found}"


def test_a_tool_for_text_gets_no_warning(preflight):
    """a tool for which `single_number` returns None gets no warning"""
    text = Tool("Echo", "Echoes.", {"properties": {"n": {"type": "string"}}}, dict)
    assert preflight("Echo 3 and 30 at once.", text) == []


# what else the package's own does


def boiling(kind="number", **limits):
    schema = {"properties": {"t": {"type": kind, **limits}}, "required": ["t"]}
    asked_by = ("temperature", "温度", "°C")
    return Tool("BoilAt", "Boils.", schema, dict, asked_by=asked_by)


@pytest.mark.parametrize(
    ("question", "numbers", "warnings"),
    [
        ("Set the temperatures 20.5 and 80", [20.5, 80], ["several values: 20.5, 80"]),
        ("boil_at([50, 60])", [50, 60], ["several values: 50, 60"]),
        ("What is 120 °C?", [120], ["over limit: 120 > 100"]),
        ("temperature -300", [-300], ["under limit: -300 < -273.15"]),
    ],
)
def test_a_tool_that_nobody_foresaw(question, numbers, warnings):
    """a learner's own tool gets its warnings from its words, name, types and limits"""
    made = boiling(minimum=-273.15, maximum=100)
    assert asked_numbers(question, made) == numbers
    assert ours(question, made) == warnings


def test_the_recorded_questions_raise_their_warnings():
    """each recorded question has its warnings; of 84 that look alike none has any"""
    found = [ours(case["question"], TOOLS[case["tool"]]) for case in CASES]
    assert found == [case["warnings"] for case in CASES]
    questions = [question for asked in HARMLESS.values() for question in asked]
    assert len(set(questions)) == 84
    assert not [q for q in questions if any(ours(q, tool) for tool in TOOLS.values())]


def test_which_numbers_are_asked_for():
    """only numbers handed to the tool are asked for, each once, in order"""
    assert asked_numbers("What is 5! + 30!?", TOOLS["Factorial"]) == [5, 30]
    assert asked_numbers("FACTORIAL OF 1,000 and 7", TOOLS["Factorial"]) == [1000, 7]
    assert asked_numbers("the factorials of [3,400]", TOOLS["Factorial"]) == [3, 400]
    assert asked_numbers("5の階乗と30の階乗", TOOLS["Factorial"]) == [5, 30]
    assert asked_numbers(
        "the factorial of 3 and again the factorial of 3", TOOLS["Factorial"]
    ) == [3]
    assert asked_numbers("階乗（30）", TOOLS["Factorial"]) == [30]
    assert asked_numbers("30！是多少", TOOLS["Factorial"]) == [30]
    assert asked_numbers("the factorial of 5²", TOOLS["Factorial"]) == [5]
    assert asked_numbers("20の階乗は10の何倍ですか", TOOLS["Factorial"]) == [20]


@pytest.mark.parametrize(
    "question",
    ["Please factor these, all of them: [12, 15, 18]", "请分解质因数：【12，15，18】"],
)
def test_a_list_in_brackets_is_for_the_verb_before_it(question):
    """numbers in brackets after a tool's verb are asked of this tool, and no other"""
    assert asked_numbers(question, TOOLS["PrimeFactors"]) == [12, 15, 18]
    assert asked_numbers(question, TOOLS["Factorial"]) == []


def test_a_hostile_question_takes_no_time():
    """a question made to keep a pattern busy is answered at once"""
    started = time.thread_time()
    for part in ("1 ", "1", "factorial ", "1!", "[1,000"):
        ours(part * 5000, TOOLS["Factorial"])
    assert time.thread_time() - started < 30
