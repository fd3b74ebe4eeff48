"""check, hint and solution, as a learner meets them."""

import functools
import io
import linecache
import os
import sys

import pytest

from workbook import check, hint, progress, solution
from workbook.exercises.catalogue import find
from workbook.exercises.progress import Progress
from workbook.loop.turns import who_writes as ours

pytestmark = pytest.mark.usefixtures("own_data", "short_limit")


@pytest.fixture
def short_limit(monkeypatch):
    """Do not wait two seconds for a loop that never ends."""
    monkeypatch.setattr("workbook.exercises.grade.TIME_LIMIT_S", 0.3)


def learner(body, name="who_writes", parameters="label"):
    """Return a function as a learner's cell would make it."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    text, namespace = f"def {name}({parameters}):\n{lines}", {}
    cell = f"<cell {len(linecache.cache)}>"
    linecache.cache[cell] = (len(text), None, text.splitlines(True), cell)
    exec(compile(text, cell, "exec"), namespace)
    return namespace[name]


RIGHT = 'return "runtime" if label == "Observation" else "model"'
WRONG = 'return "model"'
STUB = 'raise NotImplementedError("your code here")'


def test_a_right_answer_passes_and_is_returned(capsys):
    """a right answer passes, and the notebook goes on with the learner's function"""
    function = learner(RIGHT)
    assert check(function) is function
    assert capsys.readouterr().out == "who_writes · passed · 3 of 3\n"


def test_a_wrong_answer_says_call_result_and_expectation(capsys):
    """a wrong answer shows what was called, what came back and what was expected"""
    assert check(learner(WRONG)) is ours
    assert capsys.readouterr().out.splitlines()[:5] == [
        "who_writes · wrong · 2 of 3",
        "✗ what a tool gave is written by whoever ran the tool",
        "  called    who_writes('Observation')",
        "  returned  'model'",
        "  expected  'runtime'",
    ]


def test_a_stub_is_not_attempted(capsys):
    """a stub is not a wrong answer"""
    assert check(learner(STUB)) is ours
    out = capsys.readouterr().out
    assert out.startswith("who_writes · not attempted\n")
    assert find("who_writes").goal.replace("`", "") in out
    assert "✗" not in out


@pytest.mark.parametrize("body", ["pass", "...", '"""Say who."""', "return None"])
def test_an_empty_function_is_not_attempted(capsys, body):
    """a function without a line of code is not a wrong answer"""
    assert check(learner(body)) is ours
    assert capsys.readouterr().out.startswith("who_writes · not attempted\n")


@pytest.mark.parametrize("body", ["return 0", 'return ""', "return label", "yield"])
def test_a_short_function_is_attempted(capsys, body):
    """one that returns something, however little, is graded"""
    check(learner(body))
    assert capsys.readouterr().out.startswith("who_writes · wrong · 0 of 3\n")


ODD = """
class Odd(Exception):
    def {method}(self, *_):
        {body}
"""


@pytest.mark.parametrize(
    ("method", "body", "end", "words"),
    [
        ("__repr__", "raise SystemExit", "return Odd()", "whose repr raised SystemEx"),
        ("__repr__", "while True: pass", "return Odd()", "whose repr did not end"),
        ("__str__", "raise ValueError", "raise Odd", "whose str raised ValueError"),
        ("__eq__", "raise ValueError('no')", "return Odd()", "raises ValueError: no"),
    ],
)
def test_a_class_of_the_learners_does_not_break_the_report(
    capsys, monkeypatch, method, body, end, words
):
    """a result or an error that cannot be shown or compared is told in words"""
    monkeypatch.setattr("workbook.exercises.report.WRITING_LIMIT_S", 0.1)
    assert check(learner(ODD.format(method=method, body=body) + end)) is ours
    assert words in capsys.readouterr().out


def test_a_guess_never_breaks_the_report(capsys):
    """a number too large to be compared with a float gets a report without a guess"""
    check(learner("return 10 ** 400", "safe_eval", "expression"))
    assert "  called    safe_eval(" in capsys.readouterr().out


def test_a_decorated_function_is_graded(capsys):
    """a function behind functools.cache, or a wrapper, is the learner's own"""
    function = functools.cache(learner(RIGHT))
    assert check(function) is function
    assert "passed · 3 of 3" in capsys.readouterr().out


def test_check_stands_above_the_function_too(capsys):
    """`@check` above the def checks it, and a function below it may call itself"""
    cell = """
@check
def who_writes(label):
    return "model" if label != "Observation" else who_writes("x").replace("model", "r")
"""
    namespace = {"check": check}
    exec(cell, namespace)
    assert namespace["who_writes"] is ours
    assert "  returned  'r'" in capsys.readouterr().out
    exec(cell.replace('"r"', '"runtime"'), namespace)
    assert namespace["who_writes"] is not ours
    assert "passed · 3 of 3" in capsys.readouterr().out


def test_a_console_without_the_signs_gets_others(capsys, monkeypatch):
    """where the console's code page lacks a sign, the report comes without it"""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    check(learner(WRONG))
    stream.flush()
    assert b"expected  'runtime'" in stream.buffer.getvalue()


def test_a_half_written_function_is_attempted(capsys):
    """a stub's last line behind a first branch counts as code that raised"""
    check(learner(f'if label != "Observation":\n    return "model"\n{STUB}'))
    out = capsys.readouterr().out
    assert out.startswith("who_writes · your code raised · 2 of 3")
    assert "still ends at the stub's last line" in out


def test_an_exception_names_the_kind_and_no_traceback(capsys):
    """code that raises shows the exception in one line, and no wall of traceback"""
    assert check(learner("return label[99]")) is ours
    out = capsys.readouterr().out
    assert out.startswith("who_writes · your code raised · 0 of 3")
    assert "  raised    IndexError: string index out of range" in out
    assert "Traceback" not in out


def test_the_traceback_is_there_when_asked_for(capsys):
    """check(f, traceback=True) shows the traceback, without the machinery's frames"""
    check(learner("return label[99]"), traceback=True)
    out = capsys.readouterr().out
    assert "Traceback (most recent call last)" in out
    assert "pluggy" not in out


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('label == "Observation"', "did you forget a return?"),
        ('print("model")', "it prints its result; return it instead"),
        ("return label", "it returns its argument as it came"),
        ("return 1", "it returns a number where text is expected"),
        ('return "Model"', "only capitals differ"),
        ('return ["model"]', "it returns a list where text is expected"),
        ("return False", "it returns a bool where text is expected"),
        ("return ValueError(label)", "it returns a ValueError where text is expected"),
        ("return OSError(label)", "it returns an OSError where text is expected"),
        ("return who_writes(label)", "has no case in which it stops"),
        ("import sys; sys.exit(1)", "exit() would end the whole program"),
        ('return input("label? ")', "what you need is in the arguments"),
        ("return lable", "a misspelt name"),
        ("while True: pass", "a loop whose condition never changes"),
    ],
)
def test_a_failure_guesses_the_cause(capsys, body, words):
    """a failure ends in a likely cause"""
    assert check(learner(body)) is ours
    assert words in capsys.readouterr().out


def test_a_guess_names_no_class_of_pytest(capsys):
    """what is compared with an approx is guessed at in no words of pytest"""

    def wilson_interval(successes, n, z=1.96):
        return 0.0, 64.9

    check(wilson_interval)
    out = capsys.readouterr().out
    assert "0.2993" in out
    assert "Approx" not in out


def test_a_test_may_bring_its_own_guess(capsys):
    """a second paragraph of a test's docstring is its guess"""
    check(learner(WRONG))
    assert "perhaps   the model can ask for a tool" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "guess"),
    [
        ("return {rule.source: rule.target for rule in table.rules}[state]", True),
        ("from workbook.fsm.table import CORE; return CORE.advance(state, event)", 0),
    ],
)
def test_a_guess_is_told_only_of_what_it_explains(capsys, body, guess):
    """who asks another table is not told that the event is forgotten"""
    check(learner(body, "advance", "table, state, event"))
    assert ("you look at the state alone" in capsys.readouterr().out) is bool(guess)


LOOP = "model, tools, question, *, preamble=''"


@pytest.mark.parametrize(
    ("slug", "parameters", "body", "words"),
    [
        ("audit", "table", "return ()", "a tuple where a list is expected"),
        ("audit", "table", "return [('a', 'b')]", "expected  []"),
        ("approve", "call, answer, problems", "return call", "and not the digest"),
        (
            "naive_loop",
            LOOP,
            "return '2'",
            "where     sent_by is the test's own: the p",
        ),
    ],
)
def test_another_type_is_told_plainly(capsys, slug, parameters, body, words):
    """a result of the wrong form is told as such, and a helper with what it does"""
    check(learner(body, slug, parameters))
    out = capsys.readouterr().out
    assert words in out


def test_what_the_function_prints_is_kept_out_of_the_way(capsys):
    """prints of a function are shown shortened, in a failure only"""
    check(learner(f'print("x" * 100_000)\n{RIGHT}'))
    assert capsys.readouterr().out == "who_writes · passed · 3 of 3\n"
    check(learner(f'print("hello " * 100_000)\n{WRONG}'))
    out = capsys.readouterr().out
    assert "  printed   'hello hello" in out
    assert len(out) < 2000


def test_other_parameters_than_the_stub(capsys):
    """a function with other parameters is told to keep the stub's"""
    check(learner('return "model"', parameters=""))
    out = capsys.readouterr().out
    assert "raised    TypeError: who_writes() takes 0 positional arguments" in out
    assert "keep the parameters of the stub" in out


def test_changing_an_argument_is_a_failure(capsys):
    """a function that changes its arguments is told which one, and how"""
    body = 'steps.append(("", ""))\nreturn f"{preamble}Question: {question}\\n"'
    function = learner(body, "build_history", "question, steps, preamble=''")
    assert check(function) is not function
    out = capsys.readouterr().out
    assert "  changed   steps, which is now [('', '')]" in out
    assert "work on a copy, and return that" in out


def test_a_misspelt_function_names_the_near_miss(capsys):
    """a renamed function is told the name that was probably meant"""
    assert check(learner(RIGHT, "who_write")) is ours
    out = capsys.readouterr().out
    assert "There is no exercise 'who_write'. Did you mean who_writes?" in out


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (None, "It got None."),
        ("model", "It got 'model'."),
        (3, "It got 3."),
        (dict, "It got <class 'dict'>."),
        (lambda label: label, "There is no exercise '<lambda>'."),
    ],
)
def test_something_else_than_a_function(capsys, argument, words):
    """check of something else says what it takes, and gives it back"""
    assert check(argument) is argument
    assert words in capsys.readouterr().out


def test_the_packages_own_function_is_not_the_learners_success(capsys):
    """after a failed check the name holds the package's function: no credit for it"""
    assert check(ours) is ours
    assert "who_writes is the package's own function" in capsys.readouterr().out
    assert Progress().get("who_writes").passed_at == ""


def test_check_leaves_no_trace(capsys, tmp_path, monkeypatch):
    """check writes no file where it runs, and leaves modules and environment alone"""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    check(learner(RIGHT))
    modules, paths = set(sys.modules), list(sys.path)
    hooks, environ = list(sys.meta_path), dict(os.environ)
    check(learner(RIGHT))
    assert (set(sys.modules), sys.path, sys.meta_path) == (modules, paths, hooks)
    assert dict(os.environ) == environ
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_checks_do_not_depend_on_each_other(capsys):
    """the same function gives the same report, whatever was checked before"""
    check(learner(WRONG))
    first = capsys.readouterr().out
    check(learner("while True: pass"))
    check(learner(STUB))
    capsys.readouterr()
    check(learner(WRONG))
    assert capsys.readouterr().out == first


def test_each_call_of_hint_shows_one_more(capsys):
    """hint shows the next hint each time, and says when there are no more"""
    hints = find("who_writes").hints
    for number in (1, 2, 3):
        hint("who_writes")
        out = capsys.readouterr().out
        assert [text in out for text in hints] == [n < number for n in range(3)]
    hint(ours)
    assert "solution(who_writes) shows ours" in capsys.readouterr().out


def test_solution_shows_the_source(capsys):
    """solution shows the package's function"""
    solution(learner(STUB))
    out = capsys.readouterr().out
    assert "def who_writes(label: str) -> Writer:" in out
    assert "return WRITERS[label]" in out


@pytest.mark.parametrize("ask", [hint, solution])
def test_help_for_no_exercise(capsys, ask):
    """hint and solution of a misspelt name say which one was probably meant"""
    ask("who_write")
    assert "Did you mean who_writes?" in capsys.readouterr().out
    ask("zebra")
    assert "`python -m workbook progress` lists them" in capsys.readouterr().out
    ask(None)
    assert "It got None." in capsys.readouterr().out


def test_progress_counts_what_was_passed(capsys):
    """progress shows what was passed, also when a later try is wrong"""
    check(learner(RIGHT))
    check(learner(WRONG))
    row = next(row for row in progress().rows if row[1] == "who_writes")
    assert row == ("00", "who_writes", "passed", "2", "", "yours")


def test_a_folder_that_cannot_be_written_does_not_stop_a_check(
    capsys, monkeypatch, tmp_path
):
    """when progress cannot be kept, check says so and works all the same"""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WORKBOOK_DATA", str(tmp_path / "file" / "folder"))
    function = learner(RIGHT)
    assert check(function) is function
    assert "Set WORKBOOK_DATA to a folder" in capsys.readouterr().out
