"""LangChain's callbacks, made into trace events.

LangChain tells a callback handler of each chain, model and tool that starts or ends,
with its run id and that of the run around it. `TraceHandler` turns that into the events
that the other engines write. It patches nothing.
"""

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from workbook.langchain_trace import messages as read
from workbook.loop.turns import parse_turn, to_dict
from workbook.models.base import Emit
from workbook.traces.events import Kind

Fields = Mapping[str, Any]
TEXT: Fields = {"kind": "text"}  # the turn that no parser was to read
# AgentExecutor runs these two for a name that it does not know, and for a turn that
# its parser refused. A tool of yours may have the same name.
INVALID_TOOL = "invalid_tool"
EXCEPTION_TOOL = "_Exception"


class Call(NamedTuple):
    """A tool call without an observation; `exists` is false for a made-up tool."""

    seq: int
    call_id: str
    tool: str
    exists: bool


class TraceHandler(BaseCallbackHandler):
    """Writes one run of a LangChain agent or chain as trace events.

    Give it to any: `agent.invoke(…, config={"callbacks": [TraceHandler(emit)]})`.
    What happens inside a tool names that tool's `tool_call` event as its parent. A
    model or a tool outside a run is refused with a ValueError, and so is a second run.
    An agent's text is held back until LangChain's parser has read it. Tools may run in
    threads of their own.
    """

    raise_error = True  # an event that cannot be written is not passed over in silence
    run_inline = True  # in order, also in asynchronous runs

    def __init__(
        self, emit: Emit, *, engine: str = "langchain", tools: Sequence[str] = ()
    ) -> None:
        self._emit, self._about = emit, {"engine": engine, "tools": list(tools)}
        self._lock = threading.RLock()
        self._written: set[Kind] = set()  # the two ends of the run
        self._around: dict[UUID, UUID | None] = {}  # a run, and the one around it
        self._calls: dict[UUID, Call] = {}  # tools that run
        self._ids: set[str] = set()
        self._requested: list[Fields] = []  # function calls not seen to run
        self._in_messages: set[UUID] = set()  # model runs that no parser reads
        self._unread: Fields | None = None  # a turn that waits for its parser
        self._action: AgentAction | None = None  # what the parser read last
        self._refused = self._stopped = False
        self._observed = ""

    # The run: its begin and its end are those of the outermost chain.

    def begin(self, question: str) -> None:
        """Write `run_started`, once."""
        self._once(Kind.RUN_STARTED, **self._about, question=question)

    def fail(self, error: BaseException) -> None:
        """Write the end of a run that ended with an exception."""
        for run_id in list(self._calls):  # a cancelled run leaves tools behind
            self.on_tool_error(error, run_id=run_id)
        state, reason = "ERROR", type(error).__name__
        if reason == "GraphRecursionError":
            state, reason = "EXHAUSTED", "recursion_limit"
        self._finish(state, reason, None, message=str(error))

    def on_chain_start(self, serialized: Any, inputs: Any, **told: Any) -> None:
        if told["parent_run_id"] is None:
            if self._around:
                raise ValueError("a TraceHandler writes one run: make another one")
            self._around[told["run_id"]] = None
            self.begin(read.question_of(inputs))
        self._enter(told)

    def on_chain_end(self, outputs: Any, **told: Any) -> None:
        if self._around.get(told["run_id"]) is not None:
            return
        self._read_tool_messages(read.messages_of(outputs))
        answer = read.answer_of(outputs)
        if self._stopped:
            self._finish("EXHAUSTED", "max_iterations", answer)
        else:
            # Words that no agent's parser was to read, as a chain's, are the answer.
            self._parsed(read.message_as_turn(answer))
            self._finish("DONE", "final_answer", answer)

    def on_chain_error(self, error: BaseException, **told: Any) -> None:
        if self._around.get(told["run_id"]) is None:
            self.fail(error)

    # Models

    def on_llm_start(self, serialized: Any, prompts: list[str], **told: Any) -> None:
        self._request(self._enter(told), prompts[0], told)

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[BaseMessage]], **told: Any
    ) -> None:
        run_id = self._enter(told)
        self._read_tool_messages(messages[0])
        options = told["invocation_params"]
        prompt = read.prompt_of(messages[0], bool(options.get("tools")))
        if isinstance(prompt, list):
            self._in_messages.add(run_id)
        self._request(run_id, prompt, told)

    def on_llm_end(self, response: LLMResult, **told: Any) -> None:
        fields, run_id = read.turn_of(response), told["run_id"]
        with self._lock:
            inside = self._inside(run_id)
            self._requested += fields["turn"].get("calls", ())
            if fields["turn"] != TEXT or inside:
                self._emit(Kind.MODEL_TURN, **fields, **inside)
                return
            self._unread = fields
            if run_id in self._in_messages:
                self._parsed(read.message_as_turn(fields["text"]))

    def on_agent_action(self, action: AgentAction, **told: Any) -> None:
        self._action, turn = action, read.step_as_turn(action)
        asked = getattr(parse_turn(action.log), "tool", None)
        self._refused = action.tool == EXCEPTION_TOOL != asked
        self._parsed(None if self._refused else turn)

    def on_agent_finish(self, finish: AgentFinish, **told: Any) -> None:
        # Without a log it is AgentExecutor's own: the answer of a tool that gives it
        # itself, or a notice that the iterations have run out.
        turn = read.step_as_turn(finish)
        self._stopped = not finish.log and turn["answer"] != self._observed
        self._parsed(turn)

    # Tools

    def on_tool_start(self, serialized: Any, input_str: str, **told: Any) -> None:
        run_id = self._enter(told)
        tool = str((serialized or {}).get("name") or "?")
        arguments: Fields = told.get("inputs") or {"input": input_str}
        if tool == EXCEPTION_TOOL and self._refused:
            return  # no call: so the model is told why its turn was refused
        exists = tool != INVALID_TOOL or "requested_tool_name" not in arguments
        if not exists and self._action is not None:
            tool, arguments = self._action.tool, {"input": self._action.tool_input}
        self._call(run_id, tool, arguments, told.get("tool_call_id"), exists)

    def on_tool_end(self, output: Any, **told: Any) -> None:
        # A message has a status; of a text, that of one of our tools says it.
        ok = getattr(output, "ok", getattr(output, "status", "") != "error")
        self._observed = read.text_of(output)
        self._observe(told["run_id"], ok, self._observed)

    def on_tool_error(self, error: BaseException, **told: Any) -> None:
        name = type(error).__name__
        self._observe(told["run_id"], False, str(error) or name, error=name)

    def _read_tool_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Write the calls that LangGraph answered without a tool, in a message only."""
        asked = [n for n, m in enumerate(messages) if getattr(m, "tool_calls", None)]
        for message in messages[asked[-1] if asked else 0 :]:
            if not isinstance(message, ToolMessage):
                continue
            call_id, ok = message.tool_call_id, message.status != "error"
            for one in [r for r in self._requested if r["call_id"] == call_id][:1]:
                run_id = uuid4()
                self._call(run_id, one["tool"], one["arguments"], call_id, True)
                self._observe(run_id, ok, read.text_of(message))

    # The events. What is noted of one is noted before it is written, for whoever
    # listens may stop the run with a KeyboardInterrupt. Any other exception says that
    # it was not written.

    def _write(self, kind: Kind, undo: Callable[[], object], **fields: Any) -> int:
        try:
            seq: int = self._emit(kind, **fields)
        except Exception:
            undo()
            raise
        return seq

    def _once(self, kind: Kind, **fields: Any) -> None:
        if kind not in self._written:
            self._written.add(kind)
            self._write(kind, lambda: self._written.remove(kind), **fields)

    def _finish(self, state: str, reason: str, answer: str | None, **more: Any) -> None:
        with self._lock:
            self._parsed(None)
            end = {"state": state, "reason": reason, "answer": answer}
            self._once(Kind.RUN_FINISHED, **end, **more)

    def _request(self, run_id: UUID, prompt: str | list[Any], told: Fields) -> None:
        with self._lock:
            self._parsed(TEXT)
            stop = list(told["invocation_params"].get("stop") or ())
            about = {"prompt": prompt, "stop": stop}
            self._emit(Kind.MODEL_REQUEST, **about, **self._inside(run_id))

    def _parsed(self, turn: Fields | None) -> None:
        """Write the turn that waits; None says that the framework could not read it."""
        with self._lock:
            if self._unread is not None:
                fields, self._unread = self._unread, None
                if turn is None:
                    text = fields["text"]
                    reason = to_dict(parse_turn(text)).get("reason", "refused")
                    turn = {"kind": "malformed", "reason": reason, "text": text}
                self._emit(Kind.MODEL_TURN, **{**fields, "turn": turn})

    def _call(
        self, run_id: UUID, tool: str, args: Fields, call_id: str | None, exists: bool
    ) -> None:
        with self._lock:
            self._parsed(TEXT)
            for one in self._requested:
                if (one["call_id"], one["tool"]) == (call_id, tool):
                    self._requested.remove(one)
                    break
            call = Call(-1, self._own_id(call_id), tool, exists)
            self._calls[run_id] = call
            about: Any = {"call_id": call.call_id, "tool": tool, "arguments": args}
            about |= self._inside(self._around.get(run_id))
            seq = self._write(Kind.TOOL_CALL, lambda: self._calls.pop(run_id), **about)
            self._calls[run_id] = call._replace(seq=seq)

    def _observe(self, run_id: UUID, ok: bool, text: str, **more: Any) -> None:
        """Write what came of a call; any other run is passed over."""
        with self._lock:
            if call := self._calls.pop(run_id, None):
                about: Any = {"call_id": call.call_id, "tool": call.tool, "text": text}
                about |= self._inside(self._around.get(run_id))
                back = lambda: self._calls.update({run_id: call})  # noqa: E731
                ok = ok and call.exists
                self._write(Kind.OBSERVATION, back, **about, ok=ok, **more)

    def _own_id(self, call_id: str | None) -> str:
        """Return the id, numbered where another call, or a first try, has it."""
        stem, first = (f"{call_id}#", [call_id]) if call_id else ("call_", [])
        numbered = (f"{stem}{number}" for number in itertools.count(len(first) + 1))
        own = next(i for i in itertools.chain(first, numbered) if i not in self._ids)
        self._ids.add(own)
        return own

    def _enter(self, told: Fields) -> UUID:
        """Note which run is around this one, and return its id."""
        run_id: UUID = told["run_id"]
        if not self._around:
            raise ValueError(
                "this is no run of an agent or a chain: hand the TraceHandler over in"
                " config['callbacks'] of the agent's invoke"
            )
        self._around[run_id] = told["parent_run_id"]
        return run_id

    def _inside(self, run_id: UUID | None) -> dict[str, int]:
        """Return `parent`, where a tool is running around this run."""
        while run_id is not None:
            if run_id in self._calls:
                return {"parent": self._calls[run_id].seq}
            run_id = self._around.get(run_id)
        return {}
