"""Rewrite preprocessed CUDA into C++ that any compiler takes, token by token.

The rules, on the text after ``-E`` with its line marks (our headers let the qualifiers survive as markers):

KERNEL   ``__global__ void k(T a, int n) { BODY }`` keeps its name and signature, so that overloads,
         templates, default arguments and function pointers work by ordinary C++; its body becomes a closure,
         one copy of which each CUDA thread runs:
         ``{ auto tm_body = [=]() mutable { BODY }; kernel_entry(unit, ..., a, n); }``
         (and begins again while that asks for it, with the parameters as they are then; ``const int n`` is
         passed as ``int tm_n``, of which the constant is a copy)
LAUNCH   ``k<T><<<grid, block>>>(a, n)`` becomes ``(push_launch(grid, block), k<T>(a, n))``
SHARED   ``__shared__ T x[4];`` becomes a static variable that announces itself when a block reaches it,
         outside of functions one with a registrar
DYNAMIC  ``extern __shared__ T s[];`` becomes a reference to the arena of dynamic shared memory
VARIABLE ``__device__ T v;`` (and constant, managed) stays, followed by a registrar of its address and name
DROP     other markers go: on functions, in lambdas, ``__noinline__`` outside an attribute

Lines are kept: a replacement has as many line breaks as the text it replaces.  This file shares nothing
with the converter's front end, so that one misreading cannot fool both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tmigrate.diagnostics import Diagnostic, SourceError
from tmigrate.oracle.declarations import (
    MARKERS,
    VARIABLE_MARKERS,
    Declarator,
    Parameter,
    declarators,
    is_function,
    parameter_list,
    parameters,
    scopes,
    statement_end,
    statement_start,
)
from tmigrate.oracle.tokens import (
    TokenText,
    match_angles_backward,
    match_backward,
    match_forward,
)


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def rewrite(text: str, *, keep_bodies: bool = True, name: str = "<text>", unit: int = 0) -> str:
    """The C++ text for preprocessed CUDA ``text``.

    With ``keep_bodies`` false (run mode) kernel bodies are dropped, so that no code of the original's
    kernels is linked.  ``unit`` numbers the program's source files.  Raises SourceError (TM4001) where a
    kernel or a launch has no recognisable form.
    """
    return _Rewriter(TokenText(text, name), keep_bodies, unit).result()


class _Rewriter:
    def __init__(self, source: TokenText, keep_bodies: bool, unit: int) -> None:
        self.source = source
        self.text = source.text
        self.tokens = source.tokens
        self.keep_bodies = keep_bodies
        self.unit = unit
        self.scope = scopes(self.tokens)
        self.edits: list[_Edit] = []
        self.number = 0
        self.declared: set[int] = set()

    def result(self) -> str:
        for index, token in enumerate(self.tokens):
            if token.kind == "mark":
                if token.text == "<<<" and not self._is_operator(index):
                    self._launch(index)
            elif token.kind == "name":
                self._name(index)
        return "".join(self._apply())

    def _is_operator(self, index: int) -> bool:
        """``operator<<<T>(...)`` is no launch."""
        return index > 0 and self.tokens[index - 1].text == "operator"

    def _name(self, index: int) -> None:
        text = self.tokens[index].text
        if text == "__tm_global__":
            self._kernel(index)
        elif text == "__tm_shared__":
            self._shared(index)
        elif text in VARIABLE_MARKERS:
            self._variable_or_function(index)
        elif text == "__noinline__" and self.tokens[index - 1].text != "(":
            self._replace(index, index, "__attribute__((noinline))")

    # KERNEL

    def _kernel(self, index: int) -> None:
        self._replace(index, index, "")
        opening = parameter_list(self.tokens, index)
        closing = match_forward(self.tokens, opening) if opening >= 0 else -1
        if closing < 0:
            raise self._fault(index, "no parameter list follows __global__")
        body = closing + 1
        while body < len(self.tokens) and self.tokens[body].text not in ("{", ";"):
            body += 1
        if body == len(self.tokens) or self.tokens[body].text == ";":
            return
        end = match_forward(self.tokens, body)
        if end < 0:
            raise self._fault(index, "the kernel's body has no closing brace")
        found = parameters(self.tokens, opening, closing, self.text)
        for parameter in found:
            if parameter.invented:
                self._insert(parameter.type_end, f" {parameter.name}")
            if parameter.constant:
                for word in parameter.constant:
                    self._replace(word, word, "")
                self._replace(parameter.name_index, parameter.name_index, parameter.entry_name)
        self._body(body, end, found)
        if self._at_namespace(index) and not self._is_template(index):
            self._entry(self.tokens[end].end, self.tokens[opening - 1].text, found)

    def _body(self, body: int, end: int, found: list[Parameter]) -> None:
        names = "".join(f", {p.entry_name}{'...' if p.pack else ''}" for p in found)
        # Verification enters kernels again with other values, of constants too.
        again = "".join(f" {p.declaration}({p.entry_name});" for p in found if p.constant)
        enter = "tm_enter: ;" if again else "tm_enter:"
        self._insert(self.tokens[body].start, f"{{ {enter}{again} auto tm_body = [=]() mutable ", before=True)
        self._insert(
            self.tokens[end].end,
            f"; if (::tm_oracle::kernel_entry({self.unit}, typeid(tm_body), tm_body{names}))"
            " goto tm_enter; }",
        )
        if not self.keep_bodies:
            inside = self.text[self.tokens[body].end : self.tokens[end].start]
            self.edits.append(_Edit(self.tokens[body].end, self.tokens[end].start, _line_breaks(inside)))

    def _entry(self, offset: int, name: str, found: list[Parameter]) -> None:
        types = ", ".join(p.declaration for p in found)
        kernel = f"static_cast<void (*)({types})>(&{name})"
        self.number += 1
        self._insert(
            offset,
            f" static ::tm_oracle::Entry tm_entry_{self.number}((const void *){kernel}, "
            f"&::tm_oracle::by_address<{kernel}>::call);",
        )

    def _is_template(self, index: int) -> bool:
        start = statement_start(self.tokens, index)
        return any(token.text == "template" for token in self.tokens[start:index])

    def _at_namespace(self, index: int) -> bool:
        return self.scope[index] == "namespace"

    # LAUNCH

    def _launch(self, index: int) -> None:
        first = self._callee(index - 1)
        end = self._configuration_end(index)
        if first < 0 or end < 0:
            raise self._fault(index, "the launch has no recognisable form")
        closing = match_forward(self.tokens, end)
        if closing < 0:
            raise self._fault(index, "the launch's arguments have no closing parenthesis")
        configuration = self.text[self.tokens[index].end : self.tokens[end - 1].end].rstrip()[:-3]
        flat = " ".join(line for line in configuration.splitlines() if not line.startswith("#"))
        self._insert(self.tokens[first].start, f"(::tm_oracle::push_launch({flat}), ", before=True)
        removed = self.text[self.tokens[index].start : self.tokens[end].start]
        self.edits.append(_Edit(self.tokens[index].start, self.tokens[end].start, _line_breaks(removed)))
        self._insert(self.tokens[closing].end, ")")

    def _configuration_end(self, index: int) -> int:
        """The index of the ``(`` that follows the launch's ``>>>``."""
        position = index + 1
        while position < len(self.tokens):
            token = self.tokens[position]
            if token.text in ("(", "[", "{"):
                position = match_forward(self.tokens, position)
                if position < 0:
                    return -1
            elif token.text == ";" and token.kind == "mark":
                return -1
            elif token.text == ">" and self.text.startswith(">>>", token.start) and self._opens(position + 3):
                return position + 3
            position += 1
        return -1

    def _opens(self, index: int) -> bool:
        return index < len(self.tokens) and self.tokens[index].text == "("

    def _callee(self, index: int) -> int:
        """The first token of the expression that ends at ``index``: a name, template-id, qualified or not."""
        while index >= 0:
            token = self.tokens[index]
            if token.text == ">":
                index = match_angles_backward(self.tokens, index) - 1
                continue
            if token.text in (")", "]"):
                opening = match_backward(self.tokens, index)
                before = self.tokens[opening - 1] if opening > 0 else None
                if token.text == "]" or (
                    before is not None and before.kind == "name" and before.text != "return"
                ):
                    index = opening - 1
                    continue
                return opening
            if token.kind != "name":
                return -1
            previous = self.tokens[index - 1].text if index > 0 else ""
            if previous == "template" and index > 1:
                previous, index = self.tokens[index - 2].text, index - 1
            if previous in (".", "->"):
                index -= 2
            elif previous == "::":
                if index < 2 or not (
                    self.tokens[index - 2].kind == "name" or self.tokens[index - 2].text == ">"
                ):
                    return index - 1
                if self.tokens[index - 2].text in ("return", "else", "do"):
                    return index - 1
                index -= 2
            else:
                return index
        return -1

    # SHARED, DYNAMIC

    def _shared(self, index: int) -> None:
        start, end = statement_start(self.tokens, index), statement_end(self.tokens, index)
        if end < 0:
            raise self._fault(index, "the __shared__ declaration has no end")
        words = {token.text for token in self.tokens[start:end]}
        found = list(declarators(self.tokens, start, end))
        if not found:
            raise self._fault(index, "the __shared__ declaration names no variable")
        if "extern" in words:
            self._dynamic(start, end, found)
            return
        self._replace(index, index, "" if "static" in words else "static")
        statements = []
        for declarator in found:
            self.number += 1
            state = f"tm_shared_{self.number}"
            if self._at_namespace(index):
                statements.append(
                    f" static ::tm_oracle::SharedOutside {state}"
                    f"((void *)&{declarator.name}, sizeof({declarator.name}));"
                )
                continue
            statements.append(
                f" static ::tm_oracle::Shared {state};"
                f" ::tm_oracle::shared({state}, (void *)&{declarator.name}, sizeof({declarator.name}));"
            )
        self._insert(self.tokens[end].end, "".join(statements))

    def _dynamic(self, start: int, end: int, found: list[Declarator]) -> None:
        dropped = {"extern", "static", "__tm_shared__", "__tm_device__"}
        first = found[0]
        specifiers = self._without_attributes(start, first.name_index, dropped)
        keyword = "static " if self._at_namespace(start) else ""
        statements = []
        for declarator in found:
            suffix = self._without_attributes(declarator.name_index + 1, declarator.end, dropped)
            statements.append(
                f"{keyword}{specifiers} (&{declarator.name}){suffix} = "
                f"*({specifiers} (*){suffix})tm_dynamic_shared;"
            )
        removed = self.text[self.tokens[start].start : self.tokens[end].end]
        self.edits.append(
            _Edit(
                self.tokens[start].start, self.tokens[end].end, " ".join(statements) + _line_breaks(removed)
            )
        )

    def _without_attributes(self, start: int, end: int, dropped: set[str]) -> str:
        words: list[str] = []
        position = start
        while position < end:
            token = self.tokens[position]
            if token.text in ("__attribute__", "alignas"):
                position = match_forward(self.tokens, position + 1) + 1
                continue
            if token.text not in dropped:
                words.append(token.text)
            position += 1
        return " ".join(words)

    # VARIABLE

    def _variable_or_function(self, index: int) -> None:
        self._replace(index, index, "")
        start = statement_start(self.tokens, index)
        if start in self.declared or is_function(self.tokens, start, index):
            return
        end = statement_end(self.tokens, index)
        words = {token.text for token in self.tokens[start : max(end, start)]}
        if end < 0 or "__tm_shared__" in words or "extern" in words or "template" in words:
            return
        self.declared.add(start)
        if not self._at_namespace(index):
            return
        kind = next(k for marker, k in VARIABLE_MARKERS.items() if marker in words)
        registrars = []
        for declarator in declarators(self.tokens, start, end):
            self.number += 1
            name = declarator.name
            registrars.append(
                f" static ::tm_oracle::Variable tm_variable_{self.number}({self.unit}, "
                f"(const void *)&{name}, sizeof({name}), "
                f'typeid(::tm_oracle::named<&{name}>).name(), "{kind}");'
            )
        self._insert(self.tokens[end].end, "".join(registrars))

    # Edits

    def _replace(self, first: int, last: int, text: str) -> None:
        self.edits.append(_Edit(self.tokens[first].start, self.tokens[last].end, text))

    def _insert(self, offset: int, text: str, *, before: bool = False) -> None:
        edit = _Edit(offset, offset, text)
        same = [i for i, e in enumerate(self.edits[-8:]) if before and e.start == offset and e.end == offset]
        if same:
            self.edits.insert(max(len(self.edits) - 8, 0) + same[0], edit)
        else:
            self.edits.append(edit)

    def _apply(self) -> Iterator[str]:
        position = 0
        skip_to = 0
        for edit in sorted(self.edits, key=lambda e: (e.start, e.end)):
            if edit.start < skip_to:
                continue  # inside a region that an earlier edit replaced whole
            yield self.text[position : edit.start]
            yield edit.text
            position = max(position, edit.end)
            skip_to = max(skip_to, edit.end)
        yield self.text[position:]

    def _fault(self, index: int, message: str) -> SourceError:
        return SourceError(Diagnostic("TM4001", message, self.source.location(self.tokens[index].start)))


def _line_breaks(text: str) -> str:
    """The line breaks and line marks of a removed text."""
    lines = text.split("\n")
    return "\n".join([""] + [line if line.startswith("# ") else "" for line in lines[1:]])


assert set(VARIABLE_MARKERS) <= MARKERS
