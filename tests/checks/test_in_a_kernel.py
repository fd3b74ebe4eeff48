"""check in a real kernel, with a process of its own for each answer."""

import psutil

CHECK = "who_writes = check(who_writes)"
CELL = "def who_writes(label):\n    {}\n    return 'model'\n" + CHECK
STUB = CELL.format("raise NotImplementedError")
RIGHT = CELL.format("if label == 'Observation': return 'runtime'")
MINE = "('runtime', 0)"
PASSED = "who_writes · passed · 3 of 3"
KNOWN = "\ndef who_writes(label): return KNOWN.get(label, 'model')"


def test_a_cell_defines_and_checks(kernel):
    """a cell that defines and checks shows the report of what it defines"""
    assert "who_writes · not attempted" in kernel(STUB)
    assert "who_writes · wrong · 2 of 3" in kernel(CELL.format("pass"))
    assert kernel(f"import functools\n{RIGHT}") == PASSED
    assert kernel(f"@check\n@functools.cache\n{RIGHT.removesuffix(CHECK)}") == PASSED
    assert kernel("who_writes('Observation'), who_writes.cache_info().hits") == MINE
    shown = kernel(RIGHT.replace("'model'", "'model"))
    assert "SyntaxError" in shown  # Python's own, and no older function is graded
    assert "passed" not in shown


def test_the_function_that_is_tested_is_the_one_that_is_defined_now(kernel):
    """a definition below a magic is tested, with a table of another cell; and a newer
    one, but none that runs elsewhere"""
    kernel("KNOWN = {'Observation': 'runtime'}")
    kernel("\n\n%%time" + KNOWN)
    assert kernel(CHECK) == PASSED
    kernel("%%writefile /dev/null\ndef who_writes(label): return 'elsewhere'")
    kernel("def who_writes(label): return 'unfinished")
    kernel("def who_writes(label): return KNOWN[label]\nKNOWN = {}")
    assert "KeyError: 'Thought'" in kernel(CHECK)


def test_after_a_failure_ours_answers_and_says_so_in_each_cell(kernel):
    """the package's function answers for one that failed, and is not taken for it"""
    said = "The workbook's who_writes runs here: yours has not passed the check."
    kernel(STUB)
    assert "there is nothing of yours to check" in kernel(CHECK)
    use = "[who_writes('Observation') for _ in range(3)][0]"
    for _ in range(2):
        assert kernel(use).splitlines() == [said, "'runtime'"]
    kernel("from workbook.checks.parts import path_of")
    kernel("path_of('who_writes').unlink(missing_ok=True)  # of another test")
    plugged = "p = __import__('workbook').your_parts('who_writes')"
    told = plugged + "\np['who_writes']('Thought')\nprint(p.line() or 'nothing more')"
    assert kernel(told).splitlines() == [said, "nothing more"]
    kernel(RIGHT)
    assert kernel(use) == "'runtime'"


STATE = """
import os, sys, workbook.runtime.turns
def state():
    return (
        list(seen), dict(os.environ), os.listdir(), os.getcwd(), list(sys.path),
        set(sys.modules), sorted(vars(workbook.runtime.turns)),
        {name for name in globals() if not name.startswith("_")},
    )
seen, before = [], 0
"""
REACHES = """import os, wave, workbook.runtime.turns as t; t.who_writes = t.new = 3
    seen.append(1); os.environ["NEW"] = "1"; globals()["new"] = 1
    open("new", "w"); os.chdir("/"); os.system("echo raw"); print("noise")"""


def test_a_check_changes_nothing(kernel, tmp_path):
    """variables, modules, environment and files are as they were, whatever runs"""
    kernel(STATE)
    kernel(f"os.chdir({str(tmp_path)!r})")
    kernel(CELL.format("pass"))
    kernel("before = state()")
    shown = kernel(CELL.format(REACHES))
    assert "who_writes · wrong" in shown
    assert not {"raw", "noise"} & set(shown.splitlines())
    differs = "[n for n, (a, b) in enumerate(zip(before, state())) if a != b]"
    assert kernel(differs) == "[]"


def test_stop_ends_a_check_at_once(kernel, tmp_path):
    """the stop button ends the process, the check says so, and the next one works"""
    noted = tmp_path / "pid"
    stop = f"""
import os, signal, threading
def stop():
    while not (os.path.exists({str(noted)!r}) and open({str(noted)!r}).read()): pass
    os.killpg(0, signal.SIGINT)
threading.Thread(target=stop).start()
"""
    loop = (
        f"import os; open({str(noted)!r}, 'w').write(str(os.getpid()))\n    while 1: 0"
    )
    shown = kernel(stop + CELL.format(loop))
    assert "Stopped, as you asked." in shown
    assert "KeyboardInterrupt" in shown
    assert not psutil.pid_exists(int(noted.read_text()))
    assert kernel(RIGHT) == PASSED


def test_each_thing_is_shown_in_the_form_that_the_notebook_has_for_it(kernel):
    """a report is HTML, a solution is Markdown, and the page gets its style"""
    shown = kernel(RIGHT, form="text/html")
    assert shown.startswith("<div class='workbook-report")
    assert shown.count("<div") == 1
    source = kernel("solution(who_writes)", form="text/markdown")
    assert "```python\ndef who_writes" in source
    assert "<style>" in kernel("from workbook import about\nabout()", form="text/html")
