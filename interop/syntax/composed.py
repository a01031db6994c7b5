"""The long path of a YAML header: PyYAML composes it, and its marks say where things stand."""

from __future__ import annotations

import re
from typing import Any, TypeAlias, cast

import yaml

from interop.syntax.yaml_header import (
    MAX_CHARS,
    MAX_DEPTH,
    MAX_NODES,
    Entry,
    Listing,
    Node,
    NoHeader,
    Scalar,
    Table,
    written,
)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# libyaml takes tabs and, in flow style, marks that PyYAML refuses, and counts a BOM differently.
_DIFFERENT = re.compile(r"[\t\ufeff{]|\[(?!\])")
_INDICATORS = re.compile(r"[\[{?:\-]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_Merged: TypeAlias = tuple[tuple[str, Node], ...]
Found: TypeAlias = tuple[list[Entry], dict[object, object], bool, int, _Merged]


class _TooMuchError(Exception):
    """The header is beyond the bounds."""


def compose(plain: str) -> Found | NoHeader:
    """Compose a header whose line ends are LF, or say why it is none."""
    if len(plain) > MAX_CHARS:
        return NoHeader(f"a header of more than {MAX_CHARS} characters")
    loader = yaml.SafeLoader if _DIFFERENT.search(plain) else _Loader
    try:
        return _compose(plain, loader)
    except _TooMuchError as error:
        return NoHeader(str(error))
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
        problem = error
    # Where libyaml refuses, PyYAML itself has the last word (a `\ud800` escape, for one).
    if loader is not yaml.SafeLoader and len(plain) < MAX_CHARS // 4:
        try:
            return _compose(plain, yaml.SafeLoader)
        except _TooMuchError as error:
            return NoHeader(str(error))
        except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError) as error:
            problem = error
    return NoHeader(_sentence(problem))


def _sentence(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        line = int(error.problem_mark.line) + 1
        return f"the header is no YAML: {error.problem or error.context} (line {line} of it)"
    return f"the header is no YAML: {' '.join(str(error).split())}"


def _compose(plain: str, loader_type: Any) -> Found | NoHeader:
    if len(_INDICATORS.findall(plain)) > MAX_DEPTH:
        _check_depth(plain, loader_type)
    loader = loader_type(plain)
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.MappingNode):
            return NoHeader("the header is no mapping")
        _check_size(root)
        nodes = _Nodes(plain)
        pairs: Any = root.value
        whole = [(nodes.of(k), nodes.of(v), k, v) for k, v in pairs]
        on_lines, indent = _layout(plain, root)
        # Building the values comes last: it rewrites merged mappings in place.
        own = {id(k) for k, _ in pairs}
        values: Any = loader.construct_document(root)
        flat: Any = root.value
        merged = tuple((written(nodes.of(k)), nodes.of(v)) for k, v in flat if id(k) not in own)
    finally:
        loader.dispose()
    if not isinstance(values, dict):
        return NoHeader("the header is no mapping")
    loaded = cast("dict[object, object]", values)
    entries = [Entry(written(key), value, *_line_span(plain, k, v)) for key, value, k, v in whole]
    return entries, loaded, on_lines, indent, merged


def _check_depth(plain: str, loader_type: Any) -> None:
    depth = 0
    for event in cast("Any", yaml).parse(plain, loader_type):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise _TooMuchError(f"the header is nested more than {MAX_DEPTH} deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def _check_size(root: Any) -> None:
    """Count the nodes with every alias written out, visiting each but once."""
    sizes: dict[int, int] = {}

    def size(node: Any) -> int:
        known = sizes.get(id(node))
        if known is not None:
            if known < 0:
                raise _TooMuchError("an alias in the header stands inside what it names")
            return known
        sizes[id(node)] = -1
        total = 1
        if not isinstance(node, yaml.ScalarNode):
            items: list[Any] = node.value
            pairs = node.id == "mapping"
            for item in items:
                total += size(item[0]) + size(item[1]) if pairs else size(item)
                if total > MAX_NODES:
                    raise _TooMuchError(f"the header expands to more than {MAX_NODES} values")
        sizes[id(node)] = total
        return total

    size(root)


class _Nodes:
    """Turns PyYAML's nodes into ours, each but once."""

    def __init__(self, plain: str) -> None:
        self.plain = plain
        self.known: dict[int, Node] = {}

    def of(self, node: Any) -> Node:
        known = self.known.get(id(node))
        if known is None:
            known = self.known[id(node)] = self._new(node)
        return known

    def _new(self, node: Any) -> Node:
        if isinstance(node, yaml.ScalarNode):
            text = _SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", node.value)
            return Scalar(text, node.tag.removeprefix("tag:yaml.org,2002:"))
        source = self.plain[node.start_mark.index : _last(node)].rstrip()
        source = _SURROGATE.sub("\ufffd", source)
        if isinstance(node, yaml.SequenceNode):
            return Listing(tuple(self.of(item) for item in node.value), source)
        return Table(tuple((self.of(k), self.of(v)) for k, v in node.value), source)


def _line_span(plain: str, key: Any, value: Any) -> tuple[int, int]:
    begin = plain.rfind("\n", 0, key.start_mark.index) + 1
    end = max(_last(value), key.end_mark.index)
    line = plain.rfind("\n", 0, end) + 1
    if line > begin and not plain[line:end].strip(" "):
        return begin, line
    stop = plain.find("\n", end)
    return begin, (len(plain) if stop < 0 else stop + 1)


def _last(node: Any) -> int:
    """Where the text of a node ends; a block's own end mark lies at the next token."""
    if isinstance(node, yaml.ScalarNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    child: Any = last[1] if node.id == "mapping" else last
    # An alias stands elsewhere: then the block's start is all that is known of it.
    end = _last(child)
    return end if node.start_mark.index <= end <= node.end_mark.index else node.end_mark.index


def _layout(plain: str, root: Any) -> tuple[bool, int]:
    """Say whether each key has lines of its own, and how far the keys are indented."""
    if root.flow_style or not root.value:
        return False, 0
    indent, end = 0, 0
    for n, (key, value) in enumerate(root.value):
        begin, stop = _line_span(plain, key, value)
        before = plain[begin : key.start_mark.index]
        if before.strip(" ") or begin < end:
            return False, 0
        indent = indent if n else len(before)
        end = stop
    return True, indent
