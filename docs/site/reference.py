# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""Writes a Markdown page for each public header, and the table of contents of the reference."""

import itertools
import pathlib
import re

import doxygen
import signature
import text

HEADERS = pathlib.Path("include/asio_wheel")
UMBRELLA = pathlib.Path("include/asio_wheel.hpp")


# The headers, in the order of need. docs/site/pages.py fails if a public header is in no group.
GROUPS = {
    "Timers and sleeps": ["steady_timer", "system_timer", "boottime_timer",
                          "high_resolution_timer", "basic_waitable_timer", "boottime_clock",
                          "sleep"],
    "Deadlines": ["timeout", "cancel_after", "deadline", "timeout_stream", "beast"],
    "Silence": ["idle_timer", "heartbeat"],
    "Later, and again and again": ["interval", "scheduler", "civil_time", "missed", "delay_queue",
                                   "delayed_operations"],
    "Retries and limits": ["retry", "backoff", "rate_limiter"],
    "The end of handlers": ["handler_group"],
    "Tests": ["virtual_time"],
    "The wheel of a context": ["wheel_service", "wheel_options", "error", "replace_asio_timers"],
    "To look inside": ["inspector", "stats", "lateness", "pending", "tag", "wait_kind",
                       "openmetrics"],
    "A wheel without Asio": ["wheel", "tick"],
    "The version": ["version"],
}


def public_headers():
    """Bottom-up: what the umbrella header lists, and those that it leaves out."""
    listed = re.findall(r"(?m)^#include <asio_wheel/(\w+)\.hpp>", UMBRELLA.read_text())
    return listed + sorted({path.stem for path in HEADERS.glob("*.hpp")} - set(listed))


def home_of_files(headers):
    """{file: public header that it is a part of}: the lowest one that includes it."""
    homes = {str(HEADERS / f"{header}.hpp"): header for header in headers}
    pattern = re.compile(r"#include <(asio_wheel/detail/[\w/]+\.hpp)>")
    for header in headers:
        todo = [HEADERS / f"{header}.hpp"]
        while todo:
            for include in pattern.findall(todo.pop().read_text()):
                path = f"include/{include}"
                folder = path.split("/")[3]
                # A part of a utility belongs to it, whoever else includes it.
                owner = folder if (HEADERS / f"{folder}.hpp").exists() else header
                if path not in homes:
                    homes[path] = owner
                    todo.append(pathlib.Path(path))
    return homes


def introduction(header):
    """The comment at the top of a header, as Markdown."""
    lines = (HEADERS / f"{header}.hpp").read_text().split("#ifndef")[0].splitlines()[3:]
    lines = [re.sub(r"^// ?", "", line) for line in lines]
    result = []
    for is_code, group in itertools.groupby(
            "\n".join(lines).strip().split("\n"), lambda line: line.startswith("    ")):
        block = "\n".join(group)
        result.append(text.fence(block) if is_code else
                      "\n".join(text.mark_code(line) for line in block.split("\n")))
    return "\n".join(result)


def slug(name):
    name = name.replace("operator", "operator ") if "operator" in name else name
    words = {"~": "destructor", "==": "eq", "-=": "minus-assign", "=": "assign", "-": "minus",
             "[]": "subscript", "()": "call", "+=": "plus-assign"}
    for mark, word in words.items():
        if name.endswith(" " + mark):
            name = name.removesuffix(" " + mark) + "-" + word
    return re.sub(r"[^\w-]+", "-", name.replace("~", "destructor-")).strip("-").lower()


class Reference:
    def __init__(self, xml):
        self.model = doxygen.Model(xml)
        self.headers = public_headers()
        homes = home_of_files(self.headers)
        self.pages = {header: [] for header in self.headers}
        self.addresses = {}  # Of each id: page and anchor.
        self.anchors = {}  # Of each entity.
        for entity in self.model.entities:
            page = homes[entity.file]
            self.pages[page].append(entity)
            self.place(entity, page, {})
        self.page = None
        self.by_name = self.names()

    def place(self, entity, page, taken):
        anchor = slug("-".join(filter(None, [entity.scope and self.anchors[id(entity.scope)],
                                             entity.name])))
        if entity.kind != "section":
            taken[anchor] = taken.get(anchor, 0) + 1
            if taken[anchor] > 1:
                anchor += f"-{taken[anchor]}"
        self.anchors[id(entity)] = anchor
        for key in entity.ids:
            self.addresses[key] = (page, anchor)
        inner = taken if entity.kind == "section" else {}
        for member in entity.members:
            self.place(member, page, inner)

    def link(self, refid):
        page, anchor = self.addresses.get(refid, (None, None))
        if page is None:
            return None
        return f"#{anchor}" if page == self.page else f"{page}.md#{anchor}"

    def address_of(self, name):
        return self.by_name.get(name, "").removeprefix(f"{self.page}.md") or None

    def names(self):
        """{name as users write it: address}"""
        result = {}

        def add(entity):
            page, anchor = next((self.addresses[key] for key in entity.ids))
            result.setdefault(entity.qualified(), f"{page}.md#{anchor}")
            for member in entity.members:
                if member.kind != "section":
                    add(member)
                else:
                    for inner in member.members:
                        add(inner)
        for entity in self.model.entities:
            add(entity)
        return result

    def undocumented(self):
        return [f"{e.file}:{e.line}: {e.kind} {e.qualified()} has no text"
                for e in doxygen.without_text(self.model.entities)]

    # --- A page ---------------------------------------------------------------------------------

    def write_page(self, header, before):
        """`before` is the Markdown that links to the guide, to examples and to the source."""
        self.page = header
        self.writer = text.Writer(self.link, self.address_of)
        parts = [f"# {header}.hpp", before, introduction(header),
                 f"```cpp\n#include <asio_wheel/{header}.hpp>\n```"]
        parts += self.entities(self.pages[header], 2)
        return "\n\n".join(part for part in parts if part) + "\n"

    def entities(self, entities, level):
        """Small things are listed together; what needs a heading comes in the order of the file."""
        parts, shown = [], []
        for small, group in itertools.groupby(entities, self.is_small):
            if small == "type":
                parts.append(self.types(group))
            elif small:
                parts += [self.small(entity) for entity in group]
            else:
                for entity in group:
                    if entity not in shown:
                        overloads = [e for e in entities
                                     if (e.kind, e.name) == (entity.kind, entity.name)]
                        parts += self.large(overloads, level)
                        shown += overloads
        return parts

    @staticmethod
    def is_small(entity):
        if entity.scope is None:
            return None
        if entity.kind == "typedef" or entity.name == "rebind_executor":
            return "type"
        return "value" if entity.kind in ("variable", "enumvalue") else None

    def text_of(self, entity):
        written = self.writer.text(entity) or doxygen.given_text(entity) or ""
        completes = entity.kind == "function" and signature.completion_signature(entity)
        if not completes or "\nCompletion signature\n" in written:
            return written
        first, _, rest = written.partition("\n\n")  # Texts such as "As wait(), but" leave it out.
        return f"{first}\n\nCompletion signature\n:   `{completes}`\n\n{rest}".rstrip()

    def small(self, entity):
        """A definition: the declaration, and the text."""
        code = (entity.name if entity.kind == "enumvalue"
                else signature.declaration(entity).rstrip(";").replace("\n", " "))
        anchor = self.anchors[id(entity)]
        return (f'<a id="{anchor}"></a>`{code}`\n:   '
                + text.indent(self.text_of(entity), 4).lstrip())

    def types(self, entities):
        rows = ["| type | definition | what it is |", "|---|---|---|"]
        for entity in entities:
            name, kind = entity.name, signature.alias_of(entity)
            if entity.name == "rebind_executor":
                name, kind = "rebind_executor<E>::other", ""
            words = " ".join(self.text_of(entity).split())
            rows.append(f'| <a id="{self.anchors[id(entity)]}"></a>`{name}` '
                        f"| {kind and f'`{kind}`'} | {words} |")
        return "\n".join(rows)

    def large(self, overloads, level):
        entity = overloads[0]
        if entity.kind == "section":
            title = entity.name.replace("_", " ").capitalize()
            return ([f"{'#' * (level - 1)} {title} {{ #{self.anchors[id(entity)]} }}",
                     self.text_of(entity)] + self.entities(entity.members, level))
        parts = [f"{'#' * level} {self.title(entity)} {{ #{self.anchors[id(entity)]} }}"]
        for number, overload in enumerate(overloads):
            if number > 0:
                parts.append(f'<a id="{self.anchors[id(overload)]}"></a>')
            parts += [f"```cpp\n{signature.declaration(overload)}\n```", self.text_of(overload)]
            parts += self.entities(overload.members, level + 1)
        return parts

    @staticmethod
    def title(entity):
        if entity.scope is not None and entity.kind == "function":
            if entity.name == entity.scope.name:
                return "Constructors"
            if entity.name.startswith("~"):
                return "Destructor"
        if entity.kind in ("class", "enum", "typedef") and entity.scope is None:
            kind = entity.element.get("kind") if entity.kind == "class" else entity.kind
            return f"{kind.replace('typedef', 'alias').capitalize()} `{entity.name}`"
        if entity.arguments().startswith("(") and ") ->" in entity.arguments():
            if not entity.element.findtext("type"):
                return f"Deduction guide of `{entity.name}`"
        return f"`{entity.name}`"

    # --- The table of contents ------------------------------------------------------------------

    def write_contents(self):
        parts = ["# Reference",
                 "All public headers, in the order of need. `#include <asio_wheel.hpp>` includes "
                 "all but `beast.hpp`, `inspector.hpp` and `replace_asio_timers.hpp`. What is not "
                 "here is not public: see [versions](../docs/versioning.md)."]
        for title, headers in GROUPS.items():
            parts.append(f"## {title}")
            rows = ["| header | what it declares |", "|---|---|"]
            for header in headers:
                self.page = None
                names = dict.fromkeys(
                    f"[`{e.name}`]({header}.md#{self.anchors[id(e)]})"
                    for e in self.pages[header])
                rows.append(f"| [`{header}.hpp`]({header}.md) | {', '.join(names)} |")
            parts.append("\n".join(rows))
        return "\n\n".join(parts) + "\n"
