"""Every task with one agent, here or on many cores, each result kept as it comes.

Stop it, or let it die, and call it again: what has a result is not run again.
Everything of a task stands in `out/<slug>/`: its traces, and `result.json`.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import re
import shutil
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import closing, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from filelock import FileLock, Timeout

from workbook.evaluation.grade import grade
from workbook.evaluation.results import AnyAgent, Job, Result, measured, replace_file
from workbook.evaluation.tasks import Task
from workbook.fsm.machine import RunResult
from workbook.paths import user_data

WINDOW = 500  # tasks that are handed out at once: more of them need no more memory
WAIT_S = 1.0  # for whoever was killed to let go
SHOWN_ERRORS = 2  # who raises every time is told so, and not of every time
OWNER, LOCK = ".agent.json", ".lock"
SLUG = re.compile(r"\w(?:[\w .-]{0,98}\w)?")
ADVICE = (
    "Give a function of a module, and a pool that was made after it; or use threads,"
    " or Dask, which also takes what stands in a notebook."
)


def bar(result: Result, done: int, of: int) -> None:
    """Draw how far an evaluation is, and early errors: in a notebook and a terminal."""
    ipython = sys.modules.get("IPython")
    is_notebook = ipython and hasattr(ipython.get_ipython(), "kernel")
    is_due = done == of or done % max(1, of // 200) == 0
    if is_due and (is_notebook or sys.stdout.isatty()):
        if result.error and done <= SHOWN_ERRORS:
            print(f"\r{result.task}: {result.error:.200}")
        line = f"{'█' * (30 * done // of):░<30} {done:,} of {of:,}"
        print(f"\r{result.agent} {line}", end="\n" * (done == of), flush=True)


def evaluate(
    tasks: Iterable[Task],
    agent: AnyAgent,
    *,
    executor: Executor | None = None,
    out: Path | str | None = None,
    progress: Callable[[Result, int, int], object] | None = bar,
) -> list[Result]:
    """Run each task once and return the results in the order of the tasks.

    Args:
        tasks: each has a slug of its own, which can be the name of a folder.
        agent: called with a task and a fresh folder for its traces; returns a
            RunResult, an answer, or None. What it raises is the result of that task.
        executor: of `concurrent.futures`, a Dask client's `get_executor()`, or None.
        out: for this agent alone; None is a folder among your data. Traces stay on the
            disk of whoever wrote them, results come here.
        progress: told of each new result, with how many there are, of how many.

    Raises:
        TypeError: the agent cannot be called.
        ValueError: no tasks, slugs that will not do, an agent that cannot be sent to a
            process, or `out` holds something else.
        RuntimeError: another evaluation is at work in `out`, or a worker has died: call
            it again. A task with which a worker dies a second time has that as result.
        KeyboardInterrupt: as you wish, or a run is CANCELLED. What is finished is kept.
    """
    tasks = list(tasks)
    slugs = Counter(task.slug.casefold() for task in tasks)  # as many disks have it
    for slug, times in slugs.items():
        if not SLUG.fullmatch(slug) or times > 1:
            raise ValueError(f"the slug {slug!r} is there twice, or no folder's name")
    if not tasks:
        raise ValueError("there are no tasks to evaluate")
    if not callable(agent):
        raise TypeError(f"no function of a task and a folder: {agent!r:.80}")
    name, digest = identity(agent)
    usual = user_data() / "evaluations" / f"{file_name(name)}_{digest}"
    out = Path(out or usual).absolute()
    sent: AnyAgent | bytes = agent
    if isinstance(executor, ProcessPoolExecutor):
        try:
            sent = pickle.dumps((agent, digest))
        except Exception as error:
            words = f"{name} cannot be sent to a process: {error}. {ADVICE}"
            raise ValueError(words) from None
    keys = [_digest(digest + repr(task)) for task in tasks]
    pairs = zip(tasks, keys, strict=True)
    jobs = [Job(task, sent, name, key, out / task.slug) for task, key in pairs]
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / LOCK, timeout=WAIT_S):
            _claim(out, {"agent": name, "digest": digest})
            return _finish(jobs, executor, progress)
    except Timeout:
        words = f"another evaluation is at work in {out}: wait, or give another out"
        raise RuntimeError(words) from None
    except BrokenExecutor as error:
        raise RuntimeError(
            f"a worker process has died ({error}). What is finished is kept in {out}:"
            " call it again with a new pool. What was begun comes last then, alone."
        ) from None


def _finish(jobs: list[Job], executor: Executor | None, progress: Any) -> list[Result]:
    """Run what has no result; what was begun before comes last, and then alone.

    So a task that kills its worker keeps no other from finishing, and is known.
    """
    found = {n: result for n, job in enumerate(jobs) if (result := job.kept())}
    new = [number for number in range(len(jobs)) if number not in found]
    alone = [number for number in new if (jobs[number].folder / LOCK).exists()]
    fresh = sorted({*new} - {*alone})
    for numbers, window in (fresh, WINDOW if executor else 1), (alone, 1):
        with closing(_futures(jobs, iter(numbers), executor, window)) as futures:
            for number, future in futures:
                job = jobs[number]
                try:
                    result = future.result()
                except Exception as error:
                    is_dask = type(error).__name__ == "KilledWorker"  # it has others
                    is_known = is_dask or isinstance(error, BrokenExecutor)
                    if not is_known or (numbers is fresh and not is_dask):
                        raise
                    if numbers is fresh:
                        alone.append(number)
                        continue
                    died = f"its worker died twice; delete {job.folder} to try again"
                    result = measured(job, 0.0, "ERROR", None, False, died)
                found[number] = result
                if job.kept() is None:  # nobody was left to write it, or not here
                    job.keep(result)
                if progress:
                    progress(result, len(found), len(jobs))
    return [found[number] for number in range(len(jobs))]


def _futures(
    jobs: list[Job], numbers: Iterator[int], executor: Executor | None, window: int
) -> Generator[tuple[int, Future[Result]]]:
    """Hand out so many jobs at once, and yield each as it is done."""
    waiting: dict[Future[Result], int] = {}
    done: SimpleQueue[Future[Result]] = SimpleQueue()
    try:
        while True:
            for number in islice(numbers, window - len(waiting)):
                if executor:
                    future = executor.submit(run_job, jobs[number])
                else:
                    future = Future()
                    future.set_result(run_job(jobs[number]))
                waiting[future] = number
                future.add_done_callback(done.put)
            if not waiting:
                return
            future = done.get()
            yield waiting.pop(future), future
    finally:
        for future in waiting:
            future.cancel()


def run_job(job: Job) -> Result:
    """Run one task, wherever this is called, and keep its result in its folder."""
    job.folder.mkdir(parents=True, exist_ok=True)
    # A worker that was taken for dead may still be at it, or have done it.
    with FileLock(job.folder / LOCK):
        if result := job.kept():
            return result
        agent = _loaded(job.agent, job.name) if type(job.agent) is bytes else job.agent
        for path in job.folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()
        began = time.perf_counter()
        end = _end(agent, job.task, job.folder)
        result = measured(job, time.perf_counter() - began, *end)
        job.keep(result)
        with suppress(OSError):  # Windows removes nothing that is open
            (job.folder / LOCK).unlink()
        return result


def _end(agent: Any, task: Task, folder: Path) -> tuple[str, str | None, bool, str]:
    """Return how the agent ended: state, answer, whether it is right, and the error."""
    try:
        end = agent(task, folder)
        if isinstance(end, RunResult):
            state, answer = str(end.state), end.answer
        elif end is None or isinstance(end, str):
            state, answer = "DONE" if end else "NO_ANSWER", end
        else:
            words = "no RunResult, text or None"
            raise TypeError(f"the agent returned {end!r:.80}: {words}")
        if state == "CANCELLED":  # the machine took the Ctrl-C that was for us
            raise KeyboardInterrupt
        error = end.message if state == "ERROR" else ""
        return state, answer, grade(answer, task.gold), error
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        words = "".join(traceback.format_exception_only(raised)).strip()
        last = traceback.extract_tb(raised.__traceback__)[-1]
        told = f"{words[:2000]} (in {last.name}, line {last.lineno})"
        return "ERROR", None, False, told


def identity(agent: AnyAgent) -> tuple[str, str]:
    """Return an agent's name, and a digest of its source, its fields and its parts."""
    code = getattr(agent, "func", agent)  # of a partial
    name = getattr(agent, "name", getattr(code, "__name__", type(agent).__name__))
    shown = re.sub(r" at 0x\w+|__(mp_)?main__", "", repr(agent))
    parts = [code if inspect.isroutine(code) else type(code)]
    for value in getattr(agent, "__dict__", {}).values():
        parts += value.values() if isinstance(value, dict) else [value]
    for part in parts:
        with suppress(OSError, TypeError):  # no code, or where nobody can read it
            shown += inspect.getsource(part)
    return str(name), _digest(shown)


def file_name(name: str) -> str:
    """Return a name as one that a folder can have."""
    return re.sub(r"[^\w.-]+", "_", name).strip("._")[:80] or "agent"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:12]


@lru_cache(maxsize=4)
def _loaded(pickled: bytes, name: str) -> AnyAgent:
    """Return an agent in a process that may have begun before it was written."""
    with suppress(Exception):
        agent, digest = pickle.loads(pickled)
        if identity(agent)[1] == digest:
            return agent  # type: ignore[no-any-return]
    raise ValueError(f"the processes do not know {name} as it is now. {ADVICE}")


def _claim(out: Path, mine: dict[str, str]) -> None:
    """Make a folder this agent's; ValueError where it is somebody else's."""
    path = out / OWNER
    its = json.loads(path.read_bytes()) if path.exists() else mine
    if its != mine:
        whose, who = (f"{each['agent']} ({each['digest']})" for each in (its, mine))
        words = f"{out} has the results of {whose}, this is {who}"
        raise ValueError(f"{words}: give another out, or delete that folder")
    strange = [] if path.exists() else [each.name for each in out.glob("[!.]*")]
    if strange:
        raise ValueError(f"{out} is no evaluation's, it holds {strange[0]!r}")
    replace_file(path, mine)
