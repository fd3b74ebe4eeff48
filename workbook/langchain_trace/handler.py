"""LangChain's callbacks, made into trace events.

A callback handler is called for each chain, model and tool that starts or ends,
with its run id and that of the run around it. `TraceHandler` turns that into the events
that the other engines write. It patches nothing.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from workbook.langchain_trace import messages as read
from workbook.loop.naive import Emit
from workbook.runtime.trace import Kind
from workbook.runtime.turns import parse_turn, to_dict

Fields = Mapping[str, Any]
# AgentExecutor runs these two as tools: for a name that it does not know, and for a
# turn that its parser refused. Tools of yours may have their names.
INVALID_TOOL = {
    "name": "invalid_tool",
    "description": "Called when tool name is invalid. Suggests valid tool names.",
}
EXCEPTION_TOOL = {"name": "_Exception", "description": "Exception tool"}


class TraceHandler(BaseCallbackHandler):
    """Writes one run of a LangChain agent or chain as trace events.

    Give it to any: `agent.invoke(…, config={"callbacks": [handler]})`, where `handler`
    is `TraceHandler(journal.emit)`.
    What happens inside a tool names that tool's `tool_call` event as its parent. A
    second run is refused with a ValueError. An agent's text is held back until
    LangChain's parser has read it. Tools may run in threads of their own.
    """

    raise_error = True  # an event that cannot be written is not passed over in silence
    run_inline = True  # in order, also in asynchronous runs

    def __init__(
        self, emit: Emit, *, engine: str = "langchain", tools: Sequence[str] = ()
    ) -> None:
        self._emit, self._about = emit, {"engine": engine, "tools": list(tools)}
        self._lock = threading.RLock()
        self._begun = self._ended = False
        self._around: dict[UUID, UUID | None] = {}  # a run, and the one around it
        self._calls: dict[UUID, Fields] = {}  # tools that run: what their events share
        self._seqs: dict[UUID, int] = {}  # of their calls
        self._ids: Counter[str] = Counter()  # how often a call with this id was made
        self._requested: dict[str, Fields] = {}  # function calls not seen to run
        self._unread: Fields | None = None  # a turn that waits for its parser
        self._in_messages = False  # whether the agent asks in messages: none is parsed
        self._action: AgentAction | None = None  # what the parser read last
        self._invalid: set[UUID] = set()  # runs in place of a tool that is not there
        self._stopped = False
        self._observed = ""

    # The run: its begin and its end are those of the outermost chain. What is noted of
    # an event is noted before it is written, for whoever listens may stop the run then.

    def begin(self, question: str) -> None:
        """Write `run_started`, once."""
        if not self._begun:
            self._begun = True
            self._emit(Kind.RUN_STARTED, **self._about, question=question)

    def fail(self, error: BaseException) -> None:
        """Write the end of a run that ended with an exception."""
        for run_id in list(self._calls):  # a cancelled run leaves tools that run
            self.on_tool_error(error, run_id=run_id)
        state, reason = "ERROR", type(error).__name__
        if reason == "GraphRecursionError":
            state, reason = "EXHAUSTED", "recursion_limit"
        self._finish(state, reason, None, message=str(error))

    def _finish(self, state: str, reason: str, answer: str | None, **more: Any) -> None:
        with self._lock:
            self._parsed(None)
            if not self._ended:
                self._ended = True
                end = {"state": state, "reason": reason, "answer": answer}
                self._emit(Kind.RUN_FINISHED, **end, **more)

    def on_chain_start(self, serialized: Any, inputs: Any, **about: Any) -> None:
        if about["parent_run_id"] is None:
            if self._around:
                raise ValueError("a TraceHandler writes one run: make another one")
            self.begin(read.question_of(inputs))
        self._enter(about)

    def on_chain_end(self, outputs: Any, **about: Any) -> None:
        if self._around.get(about["run_id"]) is not None:
            return
        self._read_tool_messages(read.messages_of(outputs))
        answer = read.answer_of(outputs)
        if self._stopped:
            self._finish("EXHAUSTED", "max_iterations", answer)
        else:
            # Words that no agent's parser was to read, as a chain's, are the answer.
            self._parsed(read.message_as_turn(answer))
            self._finish("DONE", "final_answer", answer)

    def on_chain_error(self, error: BaseException, **about: Any) -> None:
        if self._around.get(about["run_id"]) is None:
            self.fail(error)

    # Models

    def on_llm_start(self, serialized: Any, prompts: list[str], **about: Any) -> None:
        self._request(prompts[0], about)

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[BaseMessage]], **about: Any
    ) -> None:
        self._read_tool_messages(messages[0])
        has_tools = bool(about["invocation_params"].get("tools"))
        self._request(read.prompt_of(messages[0], has_tools), about)

    def _request(self, prompt: str | list[Any], about: Fields) -> None:
        self._enter(about)
        with self._lock:
            self._parsed(read.TEXT)
            inside = self._inside(about["run_id"])
            if not inside:
                self._in_messages = isinstance(prompt, list)
            stop = list(about["invocation_params"].get("stop") or ())
            self._emit(Kind.MODEL_REQUEST, prompt=prompt, stop=stop, **inside)

    def on_llm_end(self, response: LLMResult, **about: Any) -> None:
        fields, inside = read.turn_of(response), self._inside(about["run_id"])
        with self._lock:
            calls = fields["turn"].get("calls", ())
            self._requested |= {call["call_id"]: call for call in calls}
            if calls or inside:
                self._emit(Kind.MODEL_TURN, **fields, **inside)
                return
            self._unread = fields
            if self._in_messages:
                self._parsed(read.message_as_turn(fields["text"]))

    def on_agent_action(self, action: AgentAction, **about: Any) -> None:
        self._action = action
        if action.tool != EXCEPTION_TOOL["name"]:  # or the tool that starts says whose
            self._parsed(read.step_as_turn(action))

    def on_agent_finish(self, finish: AgentFinish, **about: Any) -> None:
        # Without a log it is AgentExecutor's own: the answer of a tool that gives it
        # itself, or a notice that the iterations have run out.
        turn = read.step_as_turn(finish)
        self._stopped = not finish.log and turn["answer"] != self._observed
        self._parsed(turn)

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

    # Tools

    def on_tool_start(self, serialized: Any, input_str: str, **about: Any) -> None:
        self._enter(about)
        tool, arguments = serialized["name"], about.get("inputs")
        arguments = arguments or {"input": input_str}
        action, self._action = self._action, None
        which = {name: serialized.get(name) for name in INVALID_TOOL}
        if which == EXCEPTION_TOOL:
            self._parsed(None)
            return  # no call: so the model reads why its turn was refused
        if action is not None:
            self._parsed(read.step_as_turn(action))
        if action is not None and which == INVALID_TOOL:
            self._invalid.add(about["run_id"])
            tool, arguments = action.tool, {"input": action.tool_input}
        self._call(about["run_id"], tool, arguments, about.get("tool_call_id") or "")

    def on_tool_end(self, output: Any, **about: Any) -> None:
        # A message has a status; of a text, that of one of our tools says it.
        ok = getattr(output, "ok", getattr(output, "status", "") != "error")
        ok = ok and about["run_id"] not in self._invalid
        self._observed = read.text_of(output)
        self._observe(about["run_id"], ok, self._observed)

    def on_tool_error(self, error: BaseException, **about: Any) -> None:
        name = type(error).__name__
        self._observe(about["run_id"], False, str(error) or name, error=name)

    def _read_tool_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Write the calls that LangGraph answered without a tool, in a message only."""
        answered = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
        for call_id, asked in list(self._requested.items()):
            if message := answered.get(call_id):
                run_id, ok = uuid4(), message.status != "error"
                self._call(run_id, asked["tool"], asked["arguments"], call_id)
                self._observe(run_id, ok, read.text_of(message))

    def _call(self, run_id: UUID, tool: str, args: Fields, call_id: str) -> None:
        with self._lock:
            self._parsed(read.TEXT)
            self._requested.pop(call_id, None)
            self._ids[call_id] += 1  # it may come again: what failed is tried again
            times = self._ids[call_id]
            again = f"{call_id}#{times}" if times > 1 else call_id
            own = again if call_id else f"call_{times}"
            inside = self._inside(self._around.get(run_id))
            self._calls[run_id] = {"call_id": own, "tool": tool, **inside}
            fields = {**self._calls[run_id], "arguments": args}
            self._seqs[run_id] = self._emit(Kind.TOOL_CALL, **fields)

    def _observe(self, run_id: UUID, ok: bool, text: str, **more: Any) -> None:
        """Write what came of a call; any other run is passed over."""
        with self._lock:
            if call := self._calls.pop(run_id, None):
                self._emit(Kind.OBSERVATION, **call, ok=ok, text=text, **more)

    def _enter(self, about: Fields) -> None:
        """Note which run is around this one."""
        self._around[about["run_id"]] = about["parent_run_id"]

    def _inside(self, run_id: UUID | None) -> dict[str, int]:
        """Return `parent`, where a tool is running around this run."""
        while run_id is not None:
            if run_id in self._seqs:
                return {"parent": self._seqs[run_id]}
            run_id = self._around.get(run_id)
        return {}
