"""What a verb is: its request, who may call it, what the audit records of it, its tool and its examples.

A verb is a function with a request. The request is a named tuple; each field has a type, a default, and an `Arg` that
says how it appears as an option of the command line and as an argument of a tool:

    class UndoRequest(NamedTuple):
        key: Annotated[str, KEY]
        scope: Annotated[str | None, SCOPE] = None

    @verb(Access.WRITE, audit=describe_change, command="undo", examples=("commonplace undo staging-port",))
    def undo(context: BookContext, request: UndoRequest) -> StoreResult:
        ...

The options of the command line (`cli.parser`), the schema of the tool (`verbs.tool`), the checks of what was sent, the
audit and the reference documents come from that. Calling the verb checks the caller and the request, runs the function
and writes the audit line: this is the one place that every surface comes through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Generic, NamedTuple, TypeVar, cast, get_args, get_type_hints

from commonplace.guard.audit import Facts
from commonplace.model.errors import InvalidField, InvalidKey, NotPermitted, StorageError, TooManyFiles
from commonplace.model.scope import Role
from commonplace.vault.disk_port import convert_os_error
from commonplace.verbs.context import BookContext

Q = TypeVar("Q")
R = TypeVar("R")


class Arg(NamedTuple):
    """How a field of a request appears on the surfaces."""

    help: str = ""  # on the command line, which has no such option without it
    metavar: str = ""  # what stands for the value in the help, if not the field's name, N for a number, A,B for a list
    is_positional: bool = False
    nargs: str = ""  # of a positional argument that may be left out or given more than once: ?, * or +
    option: str = ""  # the option's name, where it is not the field's
    other_option: str = ""  # another name of the option, which works and is not shown
    reads_stdin: bool = False  # `-` on the command line reads the value from standard input
    is_required: bool = False  # on the command line, though it is an option
    choices: tuple[str, ...] = ()  # what it may be, on every surface
    tool_choices: tuple[str, ...] = ()  # what a tool may send, where the command line takes more
    tool_help: str = ""
    in_tool: bool = True
    min_length: int = 0  # of a text that a tool sends, or of a list
    max_length: int = 0
    minimum: int | None = None  # of a number that a tool sends
    maximum: int | None = None


class RequestField(NamedTuple):
    """One field of a request."""

    name: str
    kind: type  # str, int, bool, bytes, list (of texts), or object for anything
    default: object
    is_required: bool
    may_be_none: bool
    arg: Arg


class Access(Enum):
    """Which roles may call a verb."""

    READ = frozenset({Role.PERSON, Role.AGENT, Role.COORDINATOR, Role.ORCHESTRATOR})
    WRITE = frozenset({Role.PERSON, Role.AGENT})
    REVIEW = frozenset({Role.PERSON, Role.COORDINATOR, Role.ORCHESTRATOR})
    RECORD = frozenset({Role.PERSON, Role.ORCHESTRATOR})
    WHOLE_BOOK = frozenset({Role.PERSON})

    def check(self, context: BookContext, name: str) -> None:
        """Raise NotPermitted unless the caller may call the verb; Disabled, if it writes and memory is off."""
        caller = context.caller
        if self is Access.READ:
            caller.check_reads()
        elif self is Access.RECORD:
            caller.check_records()
        elif self is Access.WRITE:
            context.check_enabled()
            if caller.role not in self.value:
                raise NotPermitted(f"The role {caller.role} may not write memories.")
        elif self is Access.REVIEW:
            if caller.role not in self.value:
                raise NotPermitted("Only a person or a coordinator may review.")
        elif not context.sees_all:
            raise NotPermitted(f"`{name}` reads the whole book: only a person who is not sealed may use it.")


_READERS = (Access.READ, Access.WHOLE_BOOK)


class verb:  # noqa: N801 - a decorator
    """Make a function a verb. Its docstring is the help text of its command."""

    def __init__(
        self,
        access: Access,
        *,
        audit: Callable[[Any, Any], Facts | None] | None = None,  # from the result and the request
        audit_name: str = "",  # the verb's name in the audit, where it is not the function's
        command: str = "",  # its name on the command line
        examples: tuple[str, ...] = (),
        no_tool: str = "",  # why agents have no tool for it
        agent_role: Role = Role.AGENT,  # what an agent that calls the command is
        repairs: bool = False,  # it works on a book that was opened for repair
    ) -> None:
        self.repairs = repairs
        self.access, self.audit, self.audit_name = access, audit, audit_name
        self.command, self.examples, self.no_tool, self.agent_role = command, examples, no_tool, agent_role

    def __call__(self, run: Callable[[BookContext, Q], R]) -> Verb[Q, R]:
        """Return the verb."""
        return Verb(run, self)


class Verb(Generic[Q, R]):
    """A use case of the book. Calling it is how every surface uses it."""

    def __init__(self, run: Callable[[BookContext, Q], R], about: verb) -> None:
        request_name = [*run.__annotations__.values()][1]
        self.run = run  # without the checks and the audit, for another verb
        self.name = run.__name__.rstrip("_")
        self.request: type[Q] = run.__globals__[request_name]
        self.help = run.__doc__ or ""
        self.access, self.command, self.examples = about.access, about.command, about.examples
        self.no_tool, self.agent_role, self.repairs = about.no_tool, about.agent_role, about.repairs
        self._audit, self._audit_name = about.audit, about.audit_name or self.name

    def __call__(self, context: BookContext, request: Q) -> R:
        """Check the caller and the request, run the verb, and write its audit line."""
        audit = self._audit
        context.embedding.begin_call()
        try:
            if context.is_closed:
                raise StorageError("The book is closed.", hint="Open the book again.")
            if context.faults and not self.repairs:
                raise context.faults[0]
            self.access.check(context, self.name)
            check_request(request)
            result = self._run(context, request)
        except (Exception, KeyboardInterrupt) as error:
            if audit is not None:
                fields: Any = request
                context.record_failure(self._audit_name, fields._asdict(), error)
            raise
        finally:
            context.embedding.end_call()
        if audit is not None:
            context.record_call(self._audit_name, lambda: audit(result, request))
        return result

    def _run(self, context: BookContext, request: Q) -> R:
        """Run the verb. One that only reads is run again if its index was replaced meanwhile: see `Index.epoch`."""
        index = context.memories.index
        epoch = index.epoch
        try:
            result = self.run(context, request)
        except StorageError as error:
            may_retry = index.epoch != epoch or (isinstance(error, TooManyFiles) and context.free_handles(error))
            if self.access not in _READERS or not may_retry:
                raise
            return self.run(context, request)
        except OSError as error:  # nothing of ours lets one through, but a module may have to be loaded
            raise convert_os_error(error, f"running {self.name}") from error
        if self.access in _READERS and index.epoch != epoch:
            return self.run(context, request)
        return result


@cache
def read_fields(request: type) -> tuple[RequestField, ...]:
    """Return the fields of a request type, in order."""
    defaults: Mapping[str, object] = vars(request)["_field_defaults"]
    found = []
    for name, hint in get_type_hints(request, include_extras=True).items():
        annotated, arg = get_args(hint)[:2]
        may_be_none = type(None) in get_args(annotated)
        found.append(
            RequestField(name, _kind_of(annotated), defaults.get(name), name not in defaults, may_be_none, arg)
        )
    return tuple(found)


_PLAIN_KINDS = (str, int, bool, bytes, object)


def _kind_of(annotated: Any) -> type:
    """Return the plain type of a field: what is left of it without `None`, and `list` for any sequence."""
    if annotated in _PLAIN_KINDS:
        return cast("type", annotated)
    parts = get_args(annotated)
    return _kind_of(parts[0]) if parts[-1] is type(None) else list


def check_request(request: Any) -> None:
    """Refuse a field of another type than the request declares: a library's caller may send anything."""
    kind: Any = type(request)
    for field in read_fields(kind):
        value = getattr(request, field.name)
        if (value is field.default and not field.is_required) or (value is None and field.may_be_none):
            continue
        if not _fits(field.kind, value):
            error = InvalidKey if field.name == "key" and field.is_required else InvalidField
            raise error(f"{field.name} must be {TYPE_WORDS[field.kind]}, not {type(value).__name__}.")
        if field.arg.choices and value not in field.arg.choices:
            raise InvalidField(f"{field.name} must be one of: {', '.join(field.arg.choices)}.")
        if field.arg.minimum is not None and cast("int", value) < field.arg.minimum:
            raise InvalidField(f"{field.name} must be {field.arg.minimum} or more.")
        if field.arg.maximum is not None and cast("int", value) > field.arg.maximum:
            raise InvalidField(f"{field.name} must be {field.arg.maximum} or less.")


def _fits(kind: type, value: object) -> bool:
    if kind is list:
        return not isinstance(value, (str, bytes)) and hasattr(value, "__iter__")
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


TYPE_WORDS: Mapping[type, str] = {
    str: "a string", int: "a whole number", bool: "true or false", list: "a list of strings", bytes: "bytes",
    dict: "an object",
}  # fmt: skip

KEY = Arg("the memory's key, such as testing-framework", is_positional=True, tool_help="its key")
SCOPE = Arg(
    "session, agent, project or global; or another one by its id: project:ID",
    tool_choices=("session", "agent", "project", "global"),
    tool_help="the scope",
)
TYPE = Arg(
    "user, feedback, project or reference",
    tool_choices=("user", "feedback", "project", "reference"),
    tool_help="its kind",
)
IF_REVISION = Arg("only if the memory still has this revision (12 digits or more)", "REV", tool_help="compare-and-swap")
EVERYTHING = Arg("every scope in the book, not only yours", option="all", in_tool=False)


class KeyRequest(NamedTuple):
    """The request of a verb about one memory."""

    key: Annotated[str, KEY]
    scope: Annotated[str | None, SCOPE] = None


class NoRequest(NamedTuple):
    """The request of a verb that takes nothing."""
