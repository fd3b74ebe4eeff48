"""What LangChain does: as the events of a trace, and as rows of its debug log.

LangChain calls a callback handler for each chain, model and tool that starts or ends,
with its run id and that of the run around it. Nothing of LangChain is patched.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core import messages as lc
from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
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
        self._end = "DONE", "final_answer"
        self._parents: dict[UUID, dict[str, int]] = {}  # of what happens inside a run
        self._open: dict[UUID, dict[str, Any]] = {}  # calls that have no observation
        self._ids: set[str] = set()  # of all calls
        self._action: AgentAction | None = None  # what the parser read last

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
        self._parents[about["run_id"]] = self._inside(about)
        if about["parent_run_id"] is None:
            self.begin(words_of(inputs, "input", 0))

    def on_chain_end(self, outputs: Any, **about: Any) -> None:
        if about["parent_run_id"] is None:
            self.finish(words_of(outputs, "output", -1))

    def on_chain_error(self, error: BaseException, **about: Any) -> None:
        if about["parent_run_id"] is None:
            self.finish(None, error)

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[lc.BaseMessage]], **about: Any
    ) -> None:
        asked = about["invocation_params"]
        stop, prompt = [*(asked.get("stop") or ())], prompt_of(messages[0], asked)
        inside = self._inside(about)
        self._emit(Kind.MODEL_REQUEST, prompt=prompt, stop=stop, **inside)

    def on_llm_end(self, response: LLMResult, **about: Any) -> None:
        generation: Any = response.generations[0][0]
        message = generation.message
        used = message.usage_metadata or {}
        cached = used.get("input_token_details", {}).get("cache_read", 0)
        usage = Usage(used.get("input_tokens", 0), used.get("output_tokens", 0), cached)
        calls = [ToolRequest(c["name"], c["args"], c["id"]) for c in message.tool_calls]
        fields = Response(generation.text, usage, calls).fields()
        self._emit(Kind.MODEL_TURN, **fields, **self._inside(about))

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
        call = {"call_id": own_id, "tool": tool, **self._inside(about)}
        self._open[about["run_id"]] = call | {"is_missing": is_missing}
        arguments = arguments or {"input": input_str}
        seq = self._emit(Kind.TOOL_CALL, **call, arguments=arguments)
        self._parents[about["run_id"]] = {"parent": seq}

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

    def _inside(self, about: Mapping[str, Any]) -> dict[str, int]:
        """Return `parent`, if a tool is running around this run."""
        return self._parents.get(about["parent_run_id"], {})


def prompt_of(messages: Sequence[lc.BaseMessage], about: Mapping[str, Any]) -> Any:
    """Return messages as OpenAI has them, or the text that a classic agent sends."""
    if len(messages) == 1 and messages[0].type == "human" and not about.get("tools"):
        return text_of(messages[0])
    return lc.convert_to_openai_messages(list(messages))


def text_of(value: Any) -> str:
    """Return the result of a tool, or of a message, as text."""
    return str(value.text) if isinstance(value, lc.BaseMessage) else str(value)


def words_of(value: Any, name: str, place: int) -> str:
    """Return a chain's `input` or `output`, else its message at that place, as text."""
    if isinstance(value, Mapping):
        value = value.get(name) or [*value.values()][place]
    if isinstance(value, list):
        value = lc.convert_to_messages(value)[place]
    return text_of(value)


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
