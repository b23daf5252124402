# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""What is public, read from Doxygen's XML: classes, functions, types, variables, macros, and their
texts.

An entity is public if it is in namespace asio_wheel, but not in asio_wheel::detail. What a class
inherits from a base class in detail is as public as its own members: a section of them. A macro is
public if a public header defines it. These are left out:

  - what is private, or deleted (the deleted overloads only explain mistakes to users);
  - overloads for arguments that fit no other one, for the same reason: their requires-clause is a
    negated concept of the library, or one named detail::invalid_...;
  - nested classes that are private, or defined in another file than their class;
  - include guards.

An overload without a text that follows one with a text shares it. A text is also given by the
language: `operator==` that is defaulted compares all members.
"""

import pathlib
import re
import xml.etree.ElementTree as ElementTree

PUBLIC = "include/asio_wheel/"
NAMESPACE = "asio_wheel::"


class Entity:
    """A class, function, type, variable, enumeration, enumerator, concept or macro."""

    def __init__(self, kind, name, element, scope=None):
        self.kind = kind
        self.name = name
        self.element = element
        self.scope = scope  # The class that it is a member of.
        self.ids = {element.get("id")}
        location = element.find("location")
        self.file = location.get("file") if location is not None else scope.file
        self.line = int(location.get("line")) if location is not None else scope.line
        self.text = element.find("detaileddescription")
        self.brief = element.find("briefdescription")
        self.members = []
        self.overloads = [self]  # Those that share the text, this one included.

    def documented(self):
        return any("".join(part.itertext()).strip()
                   for part in (self.brief, self.text) if part is not None)

    def qualified(self):
        """The name as users write it, without the namespace."""
        return f"{self.scope.qualified()}::{self.name}" if self.scope else self.name

    def requires(self):
        return " ".join((self.element.findtext("requiresclause") or "").split())

    def arguments(self):
        return self.element.findtext("argsstring") or ""


def hidden(member):
    arguments = member.findtext("argsstring") or ""
    requires = (member.findtext("requiresclause") or "").strip()
    return (member.get("prot") != "public"
            or re.search(r"\)\s*(const)?\s*(noexcept)?\s*=\s*delete$", arguments)
            or re.match(r"\(?!(detail::)?\w+<[^&|]*$|detail::invalid_", requires)
            or member.get("kind") == "friend" and not arguments)


def kind_of(member):
    """Doxygen takes a variable whose initialiser is in parentheses for a function."""
    kind = member.get("kind")
    if kind == "friend":
        return "function"
    if kind == "function" and (member.findtext("argsstring") or "").startswith('("'):
        return "variable"
    return kind


class Model:
    def __init__(self, folder):
        self.compounds = {}
        for path in sorted(pathlib.Path(folder).glob("*.xml")):
            if re.match(r"class|struct|namespace|concept|.*_8hpp\.xml$", path.name):
                compound = ElementTree.parse(path).getroot().find("compounddef")
                self.compounds[compound.get("id")] = compound
        self.by_name = {c.findtext("compoundname"): c for c in self.compounds.values()}
        self.entities = []
        for compound in self.compounds.values():
            self.add_compound(compound)
        # What is in detail/ is most often a helper of what is not.
        self.entities.sort(key=lambda e: ("/detail/" in e.file, e.file, e.line))
        self.share_texts(self.entities)

    def add_compound(self, compound):
        name = compound.findtext("compoundname")
        if name == "asio_wheel":
            self.entities += self.members_of(compound, None)
        elif compound.get("kind") == "file":
            if PUBLIC + name == compound.find("location").get("file"):
                self.entities += self.macros_of(compound)
        elif (name.startswith(NAMESPACE) and compound.get("kind") != "namespace"
              and "detail::" not in name and "<" not in name
              and compound.get("prot", "public") == "public"):
            short = name.removeprefix(NAMESPACE)
            if "::" not in short:  # Nested classes come with their class.
                kind = "concept" if compound.get("kind") == "concept" else "class"
                self.entities.append(self.class_of(compound, kind, short, None))

    @staticmethod
    def macros_of(compound):
        macros = (Entity("define", member.findtext("name"), member)
                  for member in compound.iterfind("sectiondef/memberdef[@kind='define']"))
        return [macro for macro in macros if not macro.name.endswith("_HPP")]

    def class_of(self, compound, kind, name, scope):
        entity = Entity(kind, name, compound, scope)
        entity.members = self.members_of(compound, entity)
        entity.members.sort(key=lambda e: (e.kind == "section", e.file, e.line))
        self.share_texts(entity.members)
        return entity

    def members_of(self, compound, scope):
        members = []
        for member in compound.iterfind("sectiondef/memberdef"):
            if hidden(member):
                continue
            entity = Entity(kind_of(member), member.findtext("name"), member, scope)
            for value in member.iterfind("enumvalue"):
                entity.members.append(Entity("enumvalue", value.findtext("name"), value, entity))
            members.append(entity)
        for inner in compound.iterfind("innerclass"):
            nested = self.compounds.get(inner.get("refid"))
            if (scope and nested is not None and inner.get("prot") == "public"
                    and nested.find("location").get("file") == scope.file):
                name = nested.findtext("compoundname").rpartition("::")[2]
                members.append(self.class_of(nested, "class", name, scope))
        for base in compound.iterfind("basecompoundref"):
            name = base.text.split("<")[0].strip()
            nested = self.by_name.get(name) or self.by_name.get(NAMESPACE + name)
            if nested is not None and "detail::" in nested.findtext("compoundname"):
                section = Entity("section", name.rpartition("::")[2], nested, scope)
                section.members = self.members_of(nested, scope)
                self.share_texts(section.members)
                members.append(section)
        return members

    @staticmethod
    def share_texts(entities):
        """Joins overloads to the text before them."""
        first = None
        for entity in list(entities):
            if (first is not None and entity.kind == "function" == first.kind
                    and entity.name == first.name and not entity.documented()
                    and first.documented()):
                first.overloads.append(entity)
                first.ids |= entity.ids
                entities.remove(entity)
            else:
                first = entity


def without_text(entities):
    """Yields what has no text and needs one."""
    for entity in entities:
        if entity.kind == "class" and entity.name == "rebind_executor":
            if not entity.documented():
                yield entity
            continue
        if entity.kind != "section" and not entity.documented() and not given_text(entity):
            yield entity
        yield from without_text(entity.members)


def given_text(entity):
    if entity.name == "operator==" and entity.arguments().endswith("=default"):
        return "Compares all members."
    return None
