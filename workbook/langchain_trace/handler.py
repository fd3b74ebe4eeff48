"""LangChain's callbacks, made into trace events.

LangChain tells a callback handler of every chain, model and tool that starts or ends,
each with its run id and that of the run around it. `TraceHandler` turns that into the
events that the other engines write. It patches nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from workbook.langchain_trace import messages as read
from workbook.langchain_trace.run_events import RunEvents
from workbook.loop.turns import parse_turn
from workbook.models.base import Emit

# AgentExecutor runs these two for a name that it does not know, and for a turn that
# its parser refused. A tool of yours may have the same name.
INVALID_TOOL = "invalid_tool"
EXCEPTION_TOOL = "_Exception"


class TraceHandler(BaseCallbackHandler):
    """Writes one run of a LangChain agent or chain as trace events.

    Give it to any: `agent.invoke(…, config={"callbacks": [TraceHandler(emit)]})`.
    A model call made inside a tool names that tool's `tool_call` event as its parent. A
    model or a tool outside a run is refused with a ValueError, and so is a second run.
    """

    raise_error = True  # an event that cannot be written is not passed over in silence
    run_inline = True  # in order, also in asynchronous runs

    def __init__(
        self, emit: Emit, *, engine: str = "langchain", tools: Sequence[str] = ()
    ) -> None:
        self.events = RunEvents(emit, engine, tools)
        self._root: UUID | None = None
        self._in_messages: set[UUID] = set()  # model runs that no parser reads
        self._action: AgentAction | None = None  # what the parser read last
        self._refused = self._stopped = False
        self._observed = ""

    # Chains: the outermost one is the run.

    def on_chain_start(self, serialized: Any, inputs: Any, **told: Any) -> None:
        if told["parent_run_id"] is None:
            if self._root is not None:
                raise ValueError("a TraceHandler writes one run: make another one")
            self._root = told["run_id"]
            self.events.begin(read.question_of(inputs))
        self._enter(told)

    def on_chain_end(self, outputs: Any, **told: Any) -> None:
        if told["run_id"] != self._root:
            return
        self._read_tool_messages(read.messages_of(outputs))
        answer = read.answer_of(outputs)
        if self._stopped:
            self.events.finish("EXHAUSTED", "max_iterations", answer)
        else:
            # Words that no agent's parser was to read, as a chain's, are the answer.
            self.events.parsed(read.message_as_turn(answer))
            self.events.finish("DONE", "final_answer", answer)

    def on_chain_error(self, error: BaseException, **told: Any) -> None:
        if told["run_id"] == self._root:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Write the end of a run that ended with an exception."""
        self.events.give_up(error)  # a cancelled run leaves tools behind
        state, reason = "ERROR", type(error).__name__
        if reason == "GraphRecursionError":
            state, reason = "EXHAUSTED", "recursion_limit"
        self.events.finish(state, reason, message=str(error))

    # Models

    def on_llm_start(self, serialized: Any, prompts: list[str], **told: Any) -> None:
        run_id = self._enter(told)
        self.events.request(run_id, prompts[0], read.stop_of(told))

    def on_chat_model_start(
        self, serialized: Any, messages: list[list[BaseMessage]], **told: Any
    ) -> None:
        run_id = self._enter(told)
        self._read_tool_messages(messages[0])
        prompt = read.prompt_of(messages[0], told)
        if isinstance(prompt, list):
            self._in_messages.add(run_id)
        self.events.request(run_id, prompt, read.stop_of(told))

    def on_llm_end(self, response: LLMResult, **told: Any) -> None:
        fields = read.turn_of(response)
        self.events.turn(told["run_id"], fields)
        if told["run_id"] in self._in_messages:
            self.events.parsed(read.message_as_turn(fields["text"]))

    def on_agent_action(self, action: AgentAction, **kwargs: Any) -> None:
        self._action = action
        ours = getattr(parse_turn(action.log), "tool", None)
        self._refused = action.tool == EXCEPTION_TOOL != ours
        self.events.parsed(None if self._refused else read.step_as_turn(action))

    def on_agent_finish(self, finish: AgentFinish, **kwargs: Any) -> None:
        # Without a log it is AgentExecutor's own: the answer of a tool that gives it
        # itself, or a notice that the iterations have run out.
        turn = read.step_as_turn(finish)
        self._stopped = not finish.log and turn["answer"] != self._observed
        self.events.parsed(turn)

    # Tools

    def on_tool_start(self, serialized: Any, input_str: str, **told: Any) -> None:
        run_id = self._enter(told)
        tool = str((serialized or {}).get("name") or "?")
        arguments: Mapping[str, Any] = told.get("inputs") or {"input": input_str}
        if tool == EXCEPTION_TOOL and self._refused:
            return  # no call: so the model is told why its turn was refused
        exists = tool != INVALID_TOOL or "requested_tool_name" not in arguments
        if not exists and self._action is not None:
            tool, arguments = self._action.tool, {"input": self._action.tool_input}
        call_id = told.get("tool_call_id")
        self.events.call(run_id, tool, arguments, call_id, exists=exists)

    def on_tool_end(self, output: Any, **told: Any) -> None:
        # A message has a status; of a text, that of one of our tools says it.
        ok = getattr(output, "ok", getattr(output, "status", "") != "error")
        self._observed = read.text_of(output)
        self.events.observe(told["run_id"], ok, self._observed)

    def on_tool_error(self, error: BaseException, **told: Any) -> None:
        self.events.failed(told["run_id"], error)

    def _enter(self, told: Mapping[str, Any]) -> UUID:
        """Note which run is around this one, and return its id."""
        run_id: UUID = told["run_id"]
        if self._root is None:
            raise ValueError(
                "this is no run of an agent or a chain: hand the TraceHandler over in"
                " config['callbacks'] of the agent's invoke"
            )
        self.events.enter(run_id, told["parent_run_id"])
        return run_id

    def _read_tool_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Write the calls that LangGraph answered without a tool, in a message only."""
        asked = [n for n, m in enumerate(messages) if getattr(m, "tool_calls", None)]
        for message in messages[asked[-1] if asked else 0 :]:
            if isinstance(message, ToolMessage):
                ok = message.status != "error"
                self.events.answered(message.tool_call_id, ok, read.text_of(message))
