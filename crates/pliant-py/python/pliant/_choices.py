"""Functions of the choices in a registry, and their type stubs.

``python -m pliant._choices`` writes the stubs of the modules and classes with such functions.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._pliant import _choices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# A parameter of a Python function: name, type and default. Without a default it is positional.
_Parameter = "tuple[str, str, object]"
_NONE = inspect.Parameter.empty


@dataclass(frozen=True)
class Owner:
    """A module or class with one function per entry of a registry."""

    name: str
    kind: str
    result: str
    # Parameters of all functions before and after the options of the entry.
    before: Sequence[tuple[str, str, object]] = ()
    after: Sequence[tuple[str, str, object]] = ()
    # True if all options may be given by their position, not only those that are required.
    positional: bool = False
    # Class whose static methods the functions are, or an empty string for those of a module.
    methods_of: str = ""

    def functions(self, make: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
        """Returns the functions by name. ``make`` is called with the name of the entry and the arguments."""
        return {_identifier(entry["name"]): self._function(entry, make) for entry in _entries(self.kind)}

    def attach(self, owner: type, make: Callable[..., Any]) -> None:
        """Makes the functions static methods of a class."""
        for name, function in self.functions(make).items():
            function.__qualname__ = f"{self.methods_of}.{name}"
            function.__module__ = owner.__module__
            setattr(owner, name, staticmethod(function))

    @property
    def stub_file(self) -> Path:
        """File with the type stub."""
        return Path(__file__).parent / ("_pliant.pyi" if self.methods_of else f"{self.name}.pyi")

    def with_stub(self, text: str) -> str:
        """Returns the content of the stub file ``text`` with the current stub: all of a module, a part of a class."""
        if not self.methods_of:
            return self.stub()
        head, marker, rest = text.partition(f"    # Written by `python -m pliant._choices`: {self.kind}.\n")
        if not marker:
            raise ValueError(f"there is no place for the functions of {self.methods_of} in the stub")
        _, separator, tail = rest.partition("\n@final\n")
        methods = "".join(
            f"    @staticmethod\n{textwrap.indent(self._declaration(entry), '    ')}" for entry in _entries(self.kind)
        )
        return head + marker + methods + separator + tail

    def stub(self) -> str:
        """Returns the type stub of the module."""
        imports = "from collections.abc import Mapping, Sequence\nfrom typing import Any, Literal\n\n"
        text = f"{imports}from ._pliant import {', '.join(sorted({'Solver', self.result}))}\nfrom ._types import Quantity, Vector\n"
        names = sorted(_identifier(entry["name"]) for entry in _entries(self.kind))
        text += "\n__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"
        for entry in _entries(self.kind):
            text += f"\n{self._declaration(entry)}"
        return _tidied(text)

    def _declaration(self, entry: dict[str, Any]) -> str:
        text = f"def {_identifier(entry['name'])}(\n"
        before: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
        for parameter in self._signature(entry).parameters.values():
            if parameter.kind != before:
                text += "    *,\n"
            before = parameter.kind
            default = "" if parameter.default is _NONE else f" = {_literal(parameter.default)}"
            text += f"    {parameter.name}: {parameter.annotation}{default},\n"
        return f"{text}) -> {self.result}: ...\n"

    def _signature(self, entry: dict[str, Any]) -> inspect.Signature:
        def parameter(name: str, annotation: str, default: object, is_option: bool) -> inspect.Parameter:
            by_position = default is _NONE or (is_option and self.positional)
            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_position else inspect.Parameter.KEYWORD_ONLY
            return inspect.Parameter(name, kind, default=default, annotation=annotation)

        parameters = [
            *(parameter(*one, is_option=False) for one in self.before),
            *(parameter(*one, is_option=True) for one in self._options(entry)),
            *(parameter(*one, is_option=False) for one in self.after),
        ]
        return inspect.Signature(parameters, return_annotation=self.result)

    def _options(self, entry: dict[str, Any]) -> list[tuple[str, str, object]]:
        return [
            (
                option["name"],
                option["type"] if option["required"] or option["default"] is not None else f"{option['type']} | None",
                _NONE if option["required"] else option["default"],
            )
            for option in sorted(entry["options"], key=lambda option: not option["required"])
        ]

    def _function(self, entry: dict[str, Any], make: Callable[..., Any]) -> Callable[..., Any]:
        signature = self._signature(entry)
        name = entry["name"]

        def function(*arguments: Any, **keywords: Any) -> Any:
            try:
                given = signature.bind(*arguments, **keywords).arguments
            except TypeError as error:
                # Unknown options are reported with the known ones, and old names with the new ones.
                if set(keywords) <= set(signature.parameters):
                    raise TypeError(f"{function.__name__}() {error}") from None
                given = dict(zip(signature.parameters, arguments)) | keywords
            return make(name, **given)

        function.__name__ = function.__qualname__ = _identifier(name)
        function.__module__ = f"pliant.{self.name}"
        function.__signature__ = signature  # type: ignore[attr-defined]
        described = [f"    {option['name']}: {option['about']}" for option in entry["options"] if option["about"]]
        function.__doc__ = "\n".join([entry["about"], *(["", "Args:", *described] if described else [])])
        return function


INTEGRATORS = Owner(
    name="integrators",
    kind="integrator",
    result="Integrator",
    before=[("dt", "Quantity", _NONE)],
    after=[("halvings", "int", 6), ("solver", "Solver | str", "auto")],
)
SOLVERS = Owner(name="solvers", kind="solver", result="Solver")
OBSTACLES = Owner(
    name="_pliant",
    kind="obstacle shape",
    result="Obstacle",
    after=[
        ("stiffness", "Quantity | None", None),
        ("damping", "Quantity | None", None),
        ("friction", "float | None", None),
        ("friction_speed", "Quantity | None", None),
        ("motion", "Sequence[tuple[Quantity, Vector]] | None", None),
        ("name", "str | None", None),
    ],
    positional=True,
    methods_of="Obstacle",
)
GENERATORS = Owner(name="_pliant", kind="generator", result="Mesh", methods_of="Mesh")
OWNERS = [INTEGRATORS, SOLVERS, OBSTACLES, GENERATORS]


def _entries(kind: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(_choices(kind))
    return entries


def _identifier(name: str) -> str:
    return name.replace("-", "_")


def _literal(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _tidied(stub: str) -> str:
    """Returns a stub without imports that it does not use."""
    head, separator, body = stub.partition("\ndef ")
    lines = []
    for line in head.splitlines():
        if line.startswith("from ") and " import " in line:
            module, _, names = line.partition(" import ")
            used = [name for name in names.split(", ") if name in body]
            line = f"{module} import {', '.join(used)}" if used else ""
        lines.append(line)
    text = "\n".join(lines).strip("\n")
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return f"{text}\n{separator}{body}"


def main() -> None:
    """Writes the stubs."""
    for owner in OWNERS:
        text = owner.stub_file.read_text(encoding="utf-8") if owner.stub_file.exists() else ""
        owner.stub_file.write_text(owner.with_stub(text), encoding="utf-8")


if __name__ == "__main__":
    main()
