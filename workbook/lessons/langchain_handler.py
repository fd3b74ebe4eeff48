"""What LangChain does: as the events of a trace, and as rows of its debug log.

LangChain calls a callback handler for each chain, model and tool that starts or ends,
with its run id and that of the run around it. Nothing of LangChain is patched.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import (
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.outputs import LLMResult
from langchain_core.tracers import Run
from langchain_core.tracers.stdout import FunctionCallbackHandler

from workbook.runtime.journal import Emit
from workbook.runtime.model import Response, ToolRequest, Usage
from workbook.runtime.trace import Kind

FIRST = {"llm/start": "first prompt", "llm/end": "turn", "tool/start": "tool"}


class TraceHandler(BaseCallbackHandler):
    """Writes one run of any agent on a chat model: `TraceHandler(journal.emit)`.

    What happens inside a tool has that tool's `tool_call` as its `parent`.
    """

    raise_error = True  # an event that cannot be written ends the run

    def __init__(self, emit: Emit, tools: Sequence[str] = ()) -> None:
        self._emit, self._about = emit, {"engine": "langchain", "tools": [*tools]}
        self._begun = self._ended = False
        self._around: dict[UUID, UUID | None] = {}  # a run, and the one around it
        self._seqs: dict[UUID, int] = {}  # of the events of tools that were called
        self._open: dict[UUID, dict[str, Any]] = {}  # calls that have no observation
        self._ids: set[str] = set()  # of all calls
        self._action: AgentAction | None = None  # what the parser read last
        self._end = "DONE", "final_answer"

    # Each event is noted before it is written: a listener may stop the run right then.

    def begin(self, question: str) -> None:
        """Write `run_started`, once."""
        if not self._begun:
            self._begun = True
            self._emit(Kind.RUN_STARTED, **self._about, question=question)

    def finish(self, answer: str | None, error: BaseException | None = None) -> None:
        """Write `run_finished`, once; an error also ends the tools that run."""
        more = {"message": str(error)} if error else {}
        if error:
            for run_id in list(self._open):
                self.on_tool_error(error, run_id=run_id)
            self._end = "ERROR", type(error).__name__
        if not self._ended:
            self._ended = True
            end = {"state": self._end[0], "reason": self._end[1], "answer": answer}
            self._emit(Kind.RUN_FINISHED, **end, **more)

    def on_chain_start(self, serialized: Any, inputs: Any, **about: Any) -> None:
        self._enter(about)
        if about["parent_run_id"] is None:
            self.begin(words_of(inputs, "input", 0))

    def on_chain_end(self, outputs: Any, **about: Any) -> None:
        if self._around.get(about["run_id"]) is None:
            self.finish(words_of(outputs, "output", -1))

    def on_chain_error(self, error: BaseException, **about: Any) -> None:
        if self._around.get(about["run_id"]) is None:
            self.finish(None, error)

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[BaseMessage]], **about: Any
    ) -> None:
        self._enter(about)
        asked = about["invocation_params"]
        stop, inside = list(asked.get("stop") or ()), self._inside(about["run_id"])
        prompt = prompt_of(messages[0], asked)
        self._emit(Kind.MODEL_REQUEST, prompt=prompt, stop=stop, **inside)

    def on_llm_end(self, response: LLMResult, **about: Any) -> None:
        fields = response_of(response).fields()
        self._emit(Kind.MODEL_TURN, **fields, **self._inside(about["run_id"]))

    def on_agent_action(self, action: AgentAction, **about: Any) -> None:
        self._action = action

    def on_agent_finish(self, finish: AgentFinish, **about: Any) -> None:
        if not finish.log:  # AgentExecutor's own notice, not an answer of the model
            self._end = "EXHAUSTED", "max_iterations"

    def on_tool_start(self, serialized: Any, input_str: str, **about: Any) -> None:
        tool, arguments = serialized["name"], about.get("inputs")
        action, self._action = self._action, None
        if tool == "_Exception":
            return  # no call: AgentExecutor so returns a turn that it could not read
        if is_missing := action is not None and action.tool != tool:
            # It runs its own `invalid_tool` in place of a tool that is not there.
            tool, arguments = action.tool, {"input": action.tool_input}
        asked, number = about.get("tool_call_id"), len(self._ids) + 1
        own_id = asked if asked and asked not in self._ids else f"call_{number}"
        self._ids.add(own_id)
        call = {"call_id": own_id, "tool": tool, **self._inside(about["parent_run_id"])}
        self._open[about["run_id"]] = call | {"is_missing": is_missing}
        arguments = arguments or {"input": input_str}
        seq = self._emit(Kind.TOOL_CALL, **call, arguments=arguments)
        self._seqs[about["run_id"]] = seq

    def on_tool_end(self, output: Any, **about: Any) -> None:
        ok = getattr(output, "ok", getattr(output, "status", "") != "error")
        self._observe(about["run_id"], ok, text_of(output))

    def on_tool_error(self, error: BaseException, **about: Any) -> None:
        name = type(error).__name__
        self._observe(about["run_id"], False, str(error) or name, error=name)

    def _observe(self, run_id: UUID, ok: bool, text: str, **more: Any) -> None:
        if call := self._open.pop(run_id, None):
            ok = not call.pop("is_missing") and ok
            self._emit(Kind.OBSERVATION, **call, ok=ok, text=text, **more)

    def _enter(self, about: Mapping[str, Any]) -> None:
        self._around[about["run_id"]] = about["parent_run_id"]

    def _inside(self, run_id: UUID | None) -> dict[str, int]:
        """Return `parent`, if a tool is running around this run."""
        while run_id is not None:
            if run_id in self._seqs:
                return {"parent": self._seqs[run_id]}
            run_id = self._around.get(run_id)
        return {}


# What LangChain's objects hold


def prompt_of(messages: Sequence[BaseMessage], about: Mapping[str, Any]) -> Any:
    """Return messages as OpenAI has them, or the text that a classic agent sends."""
    if len(messages) == 1 and messages[0].type == "human" and not about.get("tools"):
        return text_of(messages[0])
    return convert_to_openai_messages(list(messages))


def text_of(value: Any) -> str:
    """Return the result of a tool, or of a message, as text."""
    return str(value.text) if isinstance(value, BaseMessage) else str(value)


def words_of(value: Any, name: str, place: int) -> str:
    """Return a chain's `input` or `output`, else its message at that place, as text."""
    if isinstance(value, Mapping):
        value = value.get(name) or [*value.values()][place]
    if isinstance(value, list):
        value = convert_to_messages(value)[place]
    return text_of(value)


def response_of(result: LLMResult) -> Response:
    """Return what a chat model of LangChain's responded, as a `Response`."""
    generation: Any = result.generations[0][0]
    message = generation.message
    spent = message.usage_metadata or {}
    cached = spent.get("input_token_details", {}).get("cache_read", 0)
    usage = Usage(spent.get("input_tokens", 0), spent.get("output_tokens", 0), cached)
    calls = [ToolRequest(c["name"], c["args"], c["id"]) for c in message.tool_calls]
    return Response(generation.text, usage, calls)


class DebugLog(FunctionCallbackHandler):
    """What `set_debug(True)` prints with; here it keeps a row for each event."""

    def __init__(self) -> None:
        self.rows: list[dict[str, str]] = []
        self.printed: list[str] = []  # what `set_debug(True)` would print
        super().__init__(function=self.printed.append)

    def _on_run_create(self, run: Run) -> None:
        self._add(run, "start", run.inputs)

    def _on_run_update(self, run: Run) -> None:
        self._add(run, "error" if run.error else "end", run.error or run.outputs)

    def _add(self, run: Run, what: str, held: Any) -> None:
        event = f"{run.run_type}/{what}"
        place, text = FIRST.get(event, ""), str(held)
        match held:
            case {"agent_scratchpad": str(scratchpad)} if scratchpad:
                place, text = "scratchpad", scratchpad
            case {"prompts": [prompt, *_]}:
                text = str(prompt)
            case {"generations": [[{"text": reply}, *_], *_]}:
                text = str(reply)
            case dict():
                text = "\n".join(f"{name}: {value}" for name, value in held.items())
        if any(row["place"] == place for row in self.rows):
            place = ""
        event = "·" * len(self.get_parents(run)) + event
        row = {"place": place, "event": event, "what runs": run.name, "text": text}
        self.rows.append(row)
