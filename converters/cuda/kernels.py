"""The kernels of a file: their definitions, their launches, and the instances that launches reach.

Templates exist in clang's tree only as patterns; a reference from code that is instantiated leads to the
instance.  So host code is walked from the file's functions through the functions they call.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tmigrate.converters.cuda.bindings import (
    Cursor,
    CursorKind,
    canonical_key,
    children_of,
    in_system_header,
    is_null,
)
from tmigrate.converters.cuda.lambdas import captures_of
from tmigrate.converters.cuda.options import LaunchSite
from tmigrate.converters.cuda.parsing import ParsedFile
from tmigrate.converters.cuda.refusals import location_of

_CONTAINERS = (
    CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL, CursorKind.STRUCT_DECL,
    CursorKind.CLASS_DECL,
)  # fmt: skip
_FUNCTIONS = (
    CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR, CursorKind.DESTRUCTOR,
    CursorKind.CONVERSION_FUNCTION,
)  # fmt: skip
_LAUNCH_HOOKS = ("cudaConfigureCall", "__cudaPushCallConfiguration")


@dataclass(slots=True)
class Found:
    """What a walk over the file finds."""

    definitions: list[Cursor] = field(default_factory=list)  # kernels, template patterns among them
    instances: dict[int, Cursor] = field(default_factory=dict)  # kernels that host code names
    launches: dict[int, list[LaunchSite]] = field(default_factory=dict)
    captured: dict[int, list[Cursor]] = field(default_factory=dict)


def find_kernels(parsed: ParsedFile) -> Found:
    """Walk the translation unit."""
    found = Found()
    assert parsed.unit is not None
    hosts: list[Cursor] = []
    _declarations(parsed.unit.cursor, found, hosts)
    _Walk(parsed, found).run(hosts)
    return found


def is_kernel(cursor: Cursor) -> bool:
    """Whether a function or function template is `__global__`."""
    return any(k.kind == CursorKind.CUDAGLOBAL_ATTR for k in cursor.get_children())


def _declarations(root: Cursor, found: Found, hosts: list[Cursor]) -> None:
    stack = list(reversed(children_of(root)))
    while stack:
        cursor = stack.pop()
        kind = cursor.kind
        if kind.is_preprocessing() or in_system_header(cursor):
            continue
        if kind in _CONTAINERS:
            stack += reversed(children_of(cursor))
        elif kind in _FUNCTIONS:
            if not cursor.is_definition():
                continue
            if is_kernel(cursor):
                found.definitions.append(cursor)
            hosts.append(cursor)
        elif kind == CursorKind.FUNCTION_TEMPLATE:
            if cursor.is_definition() and is_kernel(cursor):
                found.definitions.append(cursor)
        elif kind == CursorKind.VAR_DECL:
            hosts.append(cursor)


class _Walk:
    """Host code from the file's functions on; each function once."""

    def __init__(self, parsed: ParsedFile, found: Found) -> None:
        self.parsed = parsed
        self.found = found
        self.seen: set[int] = set()
        self.work: list[Cursor] = []

    def run(self, hosts: list[Cursor]) -> None:
        for host in hosts:
            self._enter(host)
        while self.work:
            self._body(self.work.pop(0))

    def _enter(self, cursor: Cursor) -> None:
        key = canonical_key(cursor)
        if key not in self.seen:
            self.seen.add(key)
            self.work.append(cursor)

    def _body(self, function: Cursor) -> None:
        stack = [function]
        while stack:
            cursor = stack.pop()
            kids = children_of(cursor)
            if cursor.kind == CursorKind.CALL_EXPR:
                self._call(cursor, kids)
            elif cursor.kind == CursorKind.LAMBDA_EXPR:
                self._lambda(cursor)
            if cursor.kind in (CursorKind.DECL_REF_EXPR, CursorKind.CALL_EXPR, CursorKind.MEMBER_REF_EXPR):
                self._reference(cursor)
            stack += reversed(kids)

    def _reference(self, cursor: Cursor) -> None:
        target = cursor.referenced
        if is_null(target) or target.kind not in _FUNCTIONS or in_system_header(target):
            return
        definition = target if target.is_definition() else target.get_definition() or target
        if is_kernel(target) or is_kernel(definition):
            self.found.instances.setdefault(canonical_key(target), definition)
        self._enter(definition)

    def _call(self, cursor: Cursor, kids: list[Cursor]) -> None:
        """`kernel<<<...>>>(...)`: the second child configures the launch."""
        if len(kids) < 2 or kids[1].kind != CursorKind.CALL_EXPR or kids[1].spelling not in _LAUNCH_HOOKS:
            return
        target = cursor.referenced
        if is_null(target):
            return
        texts = [self.parsed.slice(k.extent) for k in children_of(kids[1])[1:]]
        texts += [""] * (4 - len(texts))
        site = LaunchSite(location_of(cursor), *texts[:4])
        sites = self.found.launches.setdefault(canonical_key(target), [])
        if site not in sites:
            sites.append(site)

    def _lambda(self, cursor: Cursor) -> None:
        record = cursor.type.get_canonical().get_declaration()
        found = captures_of(cursor)
        if found is not None:
            self.found.captured[canonical_key(record)] = found
