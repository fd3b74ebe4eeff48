"""The calculator: exact where it answers, and nothing but arithmetic."""

import re
import time
import tomllib
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry
from workbook.worlds.calculator import CalculatorError, calculator
from workbook.worlds.calculator import safe_eval as package_eval

DATA = Path(__file__).parents[2] / "data"
LIST = (DATA / "lessons/04/calculator_attacks.toml").read_text("utf-8")


def text_of(attack):
    parts = [attack.get(part, "") for part in ("before", "middle", "after")]
    times = attack.get("times", 1)
    return attack.get("text") or parts[0] * times + parts[1] + parts[2] * times


def may_freeze(text):
    """Whether a wrong answer may compute this for ever."""
    return re.search(r"\d{5}|9 \*\* 9 \*\* [6-9]", text) is not None


ALL = [(each["kind"], text_of(each)) for each in tomllib.loads(LIST)["attack"]]
ATTACKS = [(kind, text) for kind, text in ALL if len(text) < 1000]
FREEZING = [text for _, text in ATTACKS if may_freeze(text)]


def attacks(*kinds):
    """Return the attacks of some kinds, without those that freeze a wrong answer."""
    return [text for kind, text in ATTACKS if kind in kinds and not may_freeze(text)]


def assert_refused(safe_eval, text):
    with pytest.raises(CalculatorError):
        safe_eval(text)


quiet = pytest.mark.filterwarnings(
    "ignore::SyntaxWarning", "ignore::DeprecationWarning"
)


def test_calculates(safe_eval):
    """numbers, + - * / // % **, signs and brackets mean what Python means"""
    assert safe_eval("100*0.2") == 20
    assert safe_eval("80 + 8") == 88
    assert safe_eval("(1 + 2) * 3") == 9
    assert safe_eval("7 / 2") == 3.5
    assert safe_eval("-7 // 2") == -4
    assert safe_eval("-7 % 3") == 2
    assert safe_eval("-2 ** 2") == -4
    assert safe_eval("2 ** -1") == 0.5
    assert safe_eval("2 ** 3 ** 2") == 512
    assert safe_eval("+-+3") == -3


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("9999999999999999 + 1", 10000000000000000),
        ("1234567 * 7654321", 9449772114007),
        ("2 ** 100 - 1", 1267650600228229401496703205375),
        ("10 ** 40 / 10 ** 20 + 1", 100000000000000000001),
        ("0.1 + 0.2", 0.3),
        ("1 / 3 * 3", 1),
        ("6 / 2", 3),
    ],
    ids=str,
)
def test_the_value_is_exact(safe_eval, expression, value):
    """it is exact: 0.1 + 0.2 is 0.3; a whole result is an int: 6 / 2 is 3, not 3.0"""
    result = safe_eval(expression)
    assert result == value
    kind = type(value).__name__
    assert type(result) is type(value), f"{result!r} came back, expected is a {kind}"


PYTHON = ("name", "attribute", "call", "comprehension", "text", "statement")


@quiet
@pytest.mark.parametrize("expression", attacks(*PYTHON, "operator", "complex"))
def test_refuses_what_is_not_arithmetic(safe_eval, expression):
    """what is not arithmetic is refused: names, True, calls, text, 1 < 2, 6 ^ 2, 1j"""
    assert_refused(safe_eval, expression)


def test_names_the_part_that_is_not_allowed(safe_eval):
    """a refusal quotes the part that is not allowed, such as price in 1 + price"""
    with pytest.raises(CalculatorError, match="price"):
        safe_eval("1 + price")


HUGE = ["9 ** 9 ** 5", "2 ** 1001", "10 ** 999 * 10", "(10 ** 900) ** 900"]
LONG = ["1" + "+1" * 300, "1 + " + " " * 500 + "1"]


@pytest.mark.parametrize("expression", [*HUGE, *LONG, *attacks("huge", "long")])
def test_refuses_what_is_too_large(safe_eval, expression):
    """over 500 characters, over 1000 digits or an exponent beyond 1000 is refused"""
    assert_refused(safe_eval, expression)


SMALL = ["2 ** -1001", "1e-9999", "1 / 10 ** 500", "2 ** -1000 * 2 ** -1000"]


@pytest.mark.parametrize("expression", SMALL + attacks("small"))
def test_refuses_what_is_too_small(safe_eval, expression):
    """an exponent below -1000, 1e-9999, or what a float shows as 0 is refused"""
    assert_refused(safe_eval, expression)


DEEP = ["(" * 51 + "1" + ")" * 51, "-" * 101 + "1"]


@quiet
@pytest.mark.parametrize(
    "expression", DEEP + attacks("deep"), ids=lambda text: text[:9]
)
def test_refuses_what_is_too_deep(safe_eval, expression):
    """over 50 brackets, or 100 operations or signs, inside each other is refused"""
    assert_refused(safe_eval, expression)


VALUELESS = attacks("zero", "look-alike", "unreadable", "comment")


@quiet
@pytest.mark.parametrize("expression", VALUELESS)
def test_what_has_no_value_is_refused(safe_eval, expression):
    """empty text, 20%, 2 × 3, １＋１, 10², a # and a division by 0 are refused"""
    assert_refused(safe_eval, expression)


@quiet
def test_nothing_large_is_computed(safe_eval):
    """a size is checked before it is computed: a refusal takes at most 50 ms"""
    fair = [text for _, text in ATTACKS if not may_freeze(text)]
    for text in [*HUGE, *SMALL, *DEEP, *fair, *FREEZING]:
        spent = []
        for _ in range(2):  # the second time nothing else can have been in the way
            started = time.thread_time()
            with suppress(Exception):
                safe_eval(text)
            spent.append(time.thread_time() - started)
        took = f"it took {min(spent) * 1000:.0f} ms to refuse {text[:60]!r}"
        assert min(spent) < 0.05, f"{took}: 50 ms are allowed"
    for text in FREEZING:
        assert_refused(safe_eval, text)


# our own


@given(st.text(alphabet="0123456789.+-*/%() e_jxabs×[]{}'\"=", max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_gives_a_finite_number_or_an_error(text):
    """any text: a finite number or a CalculatorError, and nothing is printed"""
    for each in (text, "1if 1else 2", "0x1for x in 2", "1.and 2", "0e9999999"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with suppress(CalculatorError):
                value = package_eval(each)
                assert type(value) in (int, float)
                assert abs(value) < 10**1000


def test_every_attack_is_refused_in_a_few_words():
    """each attack gets a short error, those of a million characters as well"""
    for _, text in ALL:
        with pytest.raises(CalculatorError) as error:
            package_eval(text)
        assert 10 < len(str(error.value)) < 250


def test_the_limits_can_be_reached():
    """a thousand digits and a hundred operations are the most, beside a real root"""
    assert len(str(package_eval("10**999"))) == 1000
    assert package_eval("+".join(str(n) for n in range(1, 101))) == 5050
    assert package_eval("2 ** 0.5") == 2**0.5
    assert package_eval("+".join(["(1)"] * 60)) == 60
    for text in ("10**1000", "-10**999 * 10", "1 / 10**1000", "(-8) ** (1/3)"):
        assert_refused(package_eval, text)


@pytest.mark.parametrize(
    ("evaluate", "expression", "part"),
    [
        (package_eval, "100*0.2", "20"),
        (len, "100*0.2", "7"),
        (package_eval, "1 + price", "(bad_expression): price is not allowed"),
        (package_eval, "1 / 0", "divides by zero. Write one expression"),
    ],
)
def test_as_a_tool_it_answers_or_says_what_is_wrong(evaluate, expression, part):
    """the model reads the number, or a refusal with a kind and a hint"""
    call = ToolCall("Calculator", {"expression": expression}, "call_1")
    assert part in ToolRegistry([calculator(evaluate)]).run(call).text()
