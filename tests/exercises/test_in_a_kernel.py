"""check in a real kernel."""

import pytest

RIGHT = """
def who_writes(label):
    return "runtime" if label == "Observation" else "model"

"""
STUB = "def who_writes(label):\n    raise NotImplementedError\n\n"
CHECK = "who_writes = check(who_writes)"


def test_a_stub_and_its_check_in_one_cell(kernel):
    """a cell that defines and checks shows the report of what it defines"""
    assert "who_writes · not attempted" in kernel(STUB + CHECK)
    wrong = RIGHT.replace("runtime", "x")
    assert "who_writes · wrong · 2 of 3" in kernel(wrong + CHECK)
    assert kernel(RIGHT + CHECK) == "who_writes · passed · 3 of 3"


def test_a_check_above_the_function(kernel):
    """`@check` above the def is the same in one word"""
    assert kernel(f"@check{RIGHT}") == "who_writes · passed · 3 of 3"


def test_a_syntax_error_is_pythons_own_and_checks_nothing(kernel):
    """a cell with a syntax error is told by Python, and no older function is graded"""
    shown = kernel(RIGHT.replace('"model"', '"model') + CHECK)
    assert "SyntaxError" in shown
    assert "passed" not in shown


def test_a_check_alone_has_nothing_to_grade_after_a_failure(kernel):
    """after a failed check the name holds the package's function, and that is said"""
    kernel(STUB + CHECK)
    assert "there is nothing of yours to check" in kernel(CHECK)


@pytest.mark.parametrize("magic", ["%%time", "%%capture kept"])
def test_a_function_below_a_magic_is_graded(kernel, magic):
    """a function defined below %%time is graded"""
    kernel(f"{magic}{RIGHT}")
    assert kernel(CHECK) == "who_writes · passed · 3 of 3"


def test_exit_does_not_end_the_kernel(kernel):
    """exit() in a function ends neither the check nor the kernel"""
    kernel("marker = 1\ndef who_writes(label):\n    exit()\n")
    assert "exit() would end the whole program" in kernel(CHECK)
    assert kernel("marker") == "1"


def test_input_does_not_wait(kernel):
    """input() in a function raises, since nobody answers"""
    kernel("def who_writes(label):\n    return input()\n")
    assert "what you need is in the arguments" in kernel(CHECK)


def test_an_endless_loop_is_ended_and_the_kernel_goes_on(kernel):
    """a loop that catches everything is ended after the time limit"""
    kernel(
        "import workbook.exercises.grade; workbook.exercises.grade.TIME_LIMIT_S = 0.3"
    )
    loop = "    while True:\n        try: sum(range(9))\n        except: pass\n"
    shown = kernel(f"def who_writes(label):\n{loop}{CHECK}")
    kernel("workbook.exercises.grade.TIME_LIMIT_S = 2.0")
    assert "  stopped   not finished after 0.3 seconds" in shown
    assert kernel("import signal, sys; sys.gettrace() is None") == "True"


def test_nothing_is_printed_besides_the_report(kernel):
    """a check shows its report as HTML, and prints nothing else"""
    kernel(RIGHT.replace("return", "print('noise'); return"))
    shown = kernel(CHECK, form="text/html")
    assert shown.startswith("<div class='workbook-report")
    assert shown.count("<div") == 1
    assert "noise" not in shown


def test_the_solution_is_shown_in_the_themes_colours(kernel):
    """a solution is Markdown with a fence: JupyterLab colours it in its own theme"""
    assert "```python\ndef who_writes" in kernel(
        "solution(who_writes)", form="text/markdown"
    )
