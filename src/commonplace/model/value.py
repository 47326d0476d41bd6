"""Values are named tuples: made in a third of a dataclass's time, and defined in a fraction of it.

Every command starts by defining some seventy of them. `typing.NamedTuple` compiles a constructor for each, which took
6 ms of every start; this one when it first needs it, which few ever do. In everything else it is the same, and to a
type checker it is that one (docs/adr/0005-values-are-named-tuples.md).
"""

from __future__ import annotations

from commonplace.model.lean import TYPE_CHECKING, Any, TypeVar

__all__ = ["NamedTuple", "replace"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import _tuplegetter  # what gives collections.namedtuple its fields

    _MANY = 100  # values of a class, from which on a constructor is worth its compilation
    _made = {}  # how many values of a class there were, as long as it has none

    class _Defining(type):
        """Makes the classes: annotated names become fields, in order, with what is assigned to them as defaults."""

        def __new__(meta, name, bases, body):
            if bases[0] is not tuple and not hasattr(bases[0], "_fields"):  # but not NamedTuple, nor who has fields
                fields = tuple(_annotations(body))
                body["_field_defaults"] = {field: body[field] for field in fields if field in body}
                if tuple(body["_field_defaults"]) != fields[len(fields) - len(body["_field_defaults"]) :]:
                    raise TypeError(f"{name} has a field without a default behind one that has a default")
                body.update((field, _tuplegetter(at, f"Field {at}")) for at, field in enumerate(fields))
                body["_fields"] = body["__match_args__"] = fields
                body["__slots__"] = ()
            return type.__new__(meta, name, bases, body)

    class NamedTuple(tuple, metaclass=_Defining):
        __slots__ = ()

        def __new__(cls, /, *values, **named):
            """A value. When first a field is named or left out, or many were made, the class gets a constructor of its
            own."""
            if not named and len(values) == len(cls._fields):
                number = _made[cls] = _made.get(cls, 0) + 1
                if number < _MANY:
                    return tuple.__new__(cls, values)
            owner = next(each for each in cls.__mro__ if "_fields" in vars(each))
            owner.__new__ = staticmethod(_constructor(owner))
            return owner.__new__(cls, *values, **named)

        @classmethod
        def _make(cls, values):
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"{cls.__name__} has {len(cls._fields)} fields, and {len(made)} values were given")
            return made

        def _replace(self, /, **changes):
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"{type(self).__name__} has no field {', '.join(changes)}")
            return made

        __replace__ = _replace  # what copy.replace asks for, from Python 3.13 on

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            return (
                f"{type(self).__name__}({', '.join(f'{field}={value!r}' for field, value in self._asdict().items())})"
            )

    def _annotations(body):
        if "__annotations__" in body:
            return body["__annotations__"]
        import annotationlib  # noqa: PLC0415 - from Python 3.14 on they are worked out when somebody asks

        annotate = annotationlib.get_annotate_from_class_namespace(body)
        return annotationlib.call_annotate_function(annotate, annotationlib.Format.FORWARDREF) if annotate else {}

    def _constructor(owner):
        """A function of the fields' names, as fast as one that was written out: collections.namedtuple makes it so."""
        names = "".join(f"{field}, " for field in owner._fields)
        made = eval(f"lambda _cls, {names}: _new(_cls, ({names}))", {"_new": tuple.__new__})  # noqa: S307 - our own names
        made.__defaults__ = tuple(owner._field_defaults.values())
        made.__name__, made.__qualname__ = "__new__", f"{owner.__qualname__}.__new__"
        return made


Value = TypeVar("Value", bound=NamedTuple)


def replace(value: Value, /, **changes: Any) -> Value:
    """The same value with some fields changed."""
    return value._replace(**changes)
