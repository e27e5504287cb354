"""Functions of the choices in a registry, and their type stubs.

``python -m pliant._choices`` writes the stubs of the modules with such functions next to them.
"""

from __future__ import annotations

import inspect
import json
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
class Module:
    """A module with one function per entry of a registry."""

    name: str
    kind: str
    result: str
    # Parameters of all functions before and after the options of the entry.
    before: Sequence[tuple[str, str, object]] = ()
    after: Sequence[tuple[str, str, object]] = ()
    notes: str = ""

    def functions(self, make: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
        """Returns the functions by name. ``make`` is called with the name of the entry and the arguments."""
        return {_identifier(entry["name"]): self._function(entry, make) for entry in _entries(self.kind)}

    def stub(self) -> str:
        """Returns the type stub of the module."""
        imports = "from collections.abc import Mapping, Sequence\nfrom typing import Any, Literal\n\n"
        text = f"{imports}from ._pliant import {', '.join(sorted({'Solver', self.result}))}\nfrom ._types import Quantity, Vector\n"
        for entry in _entries(self.kind):
            text += f"\ndef {_identifier(entry['name'])}(\n"
            parameters = self._parameters(entry)
            for n, (name, annotation, default) in enumerate(parameters):
                if default is not _NONE and (n == 0 or parameters[n - 1][2] is _NONE):
                    text += "    *,\n"
                text += f"    {name}: {annotation}{'' if default is _NONE else f' = {_literal(default)}'},\n"
            text += f") -> {self.result}: ...\n"
        return _tidied(text)

    def _parameters(self, entry: dict[str, Any]) -> list[tuple[str, str, object]]:
        options = [
            (
                option["name"],
                option["type"] if option["required"] or option["default"] is not None else f"{option['type']} | None",
                _NONE if option["required"] else option["default"],
            )
            for option in sorted(entry["options"], key=lambda option: not option["required"])
        ]
        return [*self.before, *options, *self.after]

    def _function(self, entry: dict[str, Any], make: Callable[..., Any]) -> Callable[..., Any]:
        kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        signature = inspect.Signature(
            [
                inspect.Parameter(name, kinds[default is not _NONE], default=default, annotation=annotation)
                for name, annotation, default in self._parameters(entry)
            ],
            return_annotation=self.result,
        )
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


INTEGRATORS = Module(
    name="integrators",
    kind="integrator",
    result="Integrator",
    before=[("dt", "Quantity", _NONE)],
    after=[("halvings", "int", 6), ("solver", "Solver | str", "auto")],
)
SOLVERS = Module(name="solvers", kind="solver", result="Solver")
MODULES = [INTEGRATORS, SOLVERS]


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
    for module in MODULES:
        (Path(__file__).parent / f"{module.name}.pyi").write_text(module.stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
