"""LangChain's callbacks, made into trace events.

LangChain tells a callback handler of every chain, model and tool that starts or ends,
each with a run id and the id of the run around it. `TraceHandler` turns that into the
events that the other engines write. It patches nothing: it is handed over as a
callback, and LangChain does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.outputs import LLMResult

from workbook.langchain_trace import messages as read
from workbook.langchain_trace.run_events import RunEvents
from workbook.loop.naive import Emit

# AgentExecutor runs these two for a name that it does not know, and for a turn that
# its parser refused. A tool of yours may have the same name.
INVALID_TOOL = "invalid_tool"
EXCEPTION_TOOL = "_Exception"


class TraceHandler(BaseCallbackHandler):
    """Writes one run of a LangChain agent or chain as trace events.

    Give it to any: `agent.invoke(…, config={"callbacks": [TraceHandler(emit)]})`.
    A model call made inside a tool names that tool's `tool_call` event as its parent. A
    model or a tool that is no part of such a run is refused with a ValueError, and so
    is a second run. `engine` and the names of `tools` stand in `run_started`.
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

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, **kwargs: Any
    ) -> None:
        around = kwargs["parent_run_id"]
        self.events.enter(run_id, around)
        if around is not None:
            return
        if self._root is not None:
            raise ValueError(
                "a TraceHandler writes one run: make another one for the next run"
            )
        self._root = run_id
        self.events.begin(read.question_of(inputs))

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        if run_id != self._root:
            return
        self._read_tool_messages(read.messages_of(outputs))
        answer = read.answer_of(outputs)
        if self._stopped:
            self.events.finish("EXHAUSTED", "max_iterations", answer)
        else:
            # Words that no agent's parser was to read, as a chain's, are the answer.
            self.events.parsed(read.message_as_turn(answer))
            self.events.finish("DONE", "final_answer", answer)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, **kwargs: Any
    ) -> None:
        if run_id == self._root:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """Write the end of a run that ended with an exception."""
        self.events.give_up(error)  # a cancelled run leaves tools behind
        name = type(error).__name__
        if name == "GraphRecursionError":
            self.events.finish("EXHAUSTED", "recursion_limit", message=str(error))
        else:
            self.events.finish("ERROR", name, message=str(error))

    # Models

    def on_llm_start(
        self, serialized: Any, prompts: list[str], *, run_id: UUID, **kwargs: Any
    ) -> None:
        self._enter(run_id, kwargs)
        self.events.request(run_id, prompts[0], read.stop_of(kwargs))

    def on_chat_model_start(
        self,
        serialized: Any,
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        self._enter(run_id, kwargs)
        self._read_tool_messages(messages[0])
        prompt = read.prompt_of(messages[0], kwargs)
        if isinstance(prompt, list):
            self._in_messages.add(run_id)
        self.events.request(run_id, prompt, read.stop_of(kwargs))

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:
        fields = read.turn_of(response)
        self.events.turn(run_id, fields)
        if run_id in self._in_messages:
            self.events.parsed(read.message_as_turn(fields["text"]))

    def on_agent_action(self, action: AgentAction, **kwargs: Any) -> None:
        self._action = action
        turn = read.action_as_turn(action)
        self._refused = action.tool == EXCEPTION_TOOL != read.tool_of(action.log)
        self.events.parsed(None if self._refused else turn)

    def on_agent_finish(self, finish: AgentFinish, **kwargs: Any) -> None:
        """Note the answer that the parser read, or that the run was stopped."""
        # Without a log it is AgentExecutor's own: the answer of a tool that gives it
        # itself, or a notice that the iterations have run out.
        turn = read.finish_as_turn(finish)
        self._stopped = not finish.log and turn["answer"] != self._observed
        self.events.parsed(turn)

    # Tools

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, **kwargs: Any
    ) -> None:
        """Write the call, under the model's call id where it gave one."""
        self._enter(run_id, kwargs)
        tool = str((serialized or {}).get("name") or "?")
        arguments: Mapping[str, Any] = kwargs.get("inputs") or {"input": input_str}
        if tool == EXCEPTION_TOOL and self._refused:
            return  # no call: so the model is told why its turn was refused
        exists = tool != INVALID_TOOL or "requested_tool_name" not in arguments
        if not exists and self._action is not None:
            tool, arguments = self._action.tool, {"input": self._action.tool_input}
        call_id = kwargs.get("tool_call_id")
        self.events.call(run_id, tool, arguments, call_id, exists=exists)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        # A message has a status; of a text, that of one of our tools says it.
        failed = getattr(output, "status", "") == "error"
        self._observed = read.text_of(output)
        self.events.observe(run_id, getattr(output, "ok", not failed), self._observed)

    def on_tool_error(
        self, error: BaseException, *, run_id: UUID, **kwargs: Any
    ) -> None:
        name = type(error).__name__
        self.events.observe(run_id, False, str(error) or name, error=name)

    def _enter(self, run_id: UUID, told: Mapping[str, Any]) -> None:
        if self._root is None:
            raise ValueError(
                "a TraceHandler writes the run of an agent or a chain, and this is"
                " neither: hand it over in config['callbacks'] of the agent's invoke"
            )
        self.events.enter(run_id, told["parent_run_id"])

    def _read_tool_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Write the calls that were answered without a callback.

        For a tool that does not exist LangGraph runs none; only the message says so.
        """
        asked = [n for n, m in enumerate(messages) if getattr(m, "tool_calls", None)]
        for message in messages[asked[-1] if asked else 0 :]:
            if isinstance(message, ToolMessage):
                ok = message.status != "error"
                self.events.answered(message.tool_call_id, ok, read.text_of(message))
