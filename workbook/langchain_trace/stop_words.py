"""One small sum on the classic agent, with LangChain's stop words and without them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbook.langchain_trace.agents import llm_math_tool, run_classic
from workbook.langchain_trace.anatomy import SideBySide
from workbook.paths import DATA
from workbook.runtime.journal import Journal
from workbook.runtime.model import Model, Request, Response
from workbook.runtime.trace import Kind, Trace

if TYPE_CHECKING:
    import pandas as pd

SUM = "What is 37 * 89?"  # 3293


class WithoutStop(Model):
    """A model that gets no stop sequences: what it writes without them."""

    def __init__(self, model: Model) -> None:
        self.name, self.model = model.name, model

    def respond(self, request: Request) -> Response:
        """Ask the model and leave out `stop`."""
        return self.model.respond(request._replace(stop=()))


def experiment(model: Model) -> dict[str, Trace]:
    """Return two runs of a model; its calculator is llm-math and asks it as well.

    A small model needs examples: the prompt has two of them after the format.
    """
    from langchain_classic.agents.mrkl.prompt import FORMAT_INSTRUCTIONS

    examples = (DATA / "few_shot.txt").read_text(encoding="utf-8").rstrip()
    prompt = {"format_instructions": f"{FORMAT_INSTRUCTIONS}\n\n{examples}"}
    runs = {}
    for title, asked in {"with": model, "without": WithoutStop(model)}.items():
        journal, tools = Journal(), [llm_math_tool(asked)]
        run_classic(asked, tools, SUM, emit=journal.emit, agent_kwargs=prompt)
        runs[f"{title} stop words"] = journal.trace()
    return runs


def first_turns(runs: Mapping[str, Trace]) -> SideBySide:
    """Return what the model wrote first in each run, its Observations marked."""
    texts = {title: _first_turn(run) for title, run in runs.items()}
    return SideBySide(texts, mark="Observation:")


def table(runs: Mapping[str, Trace]) -> pd.DataFrame:
    """Return a column for each run: what was made up, what was called, how it ended."""
    import pandas as pd

    columns = {}
    for title, run in runs.items():
        end = run.end or {}
        raised = str(end.get("message", "an answer")).split("error: ")[-1]
        columns[title] = {
            "made-up Observations in turn 1": _first_turn(run).count("Observation:"),
            "calls of the calculator": len(run.of(Kind.TOOL_CALL)),
            "how it ended": raised[:71],
            "answer": end.get("answer"),
        }
    return pd.DataFrame(columns)


def _first_turn(run: Trace) -> str:
    return str(run.of(Kind.MODEL_TURN)[0]["text"])
