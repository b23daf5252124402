# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""Prints declarations for readers: without what only the implementation needs."""

import re

WIDTH = 80


def tidy(text):
    """One line, with the spaces that clang-format would leave."""
    text = " ".join(text.split())
    text = re.sub(r"<\s+", "<", text)
    text = re.sub(r"\s+>", ">", text)
    text = re.sub(r"\s+([&*]+)", r"\1", text)
    text = re.sub(r"typename boost::asio::default_completion_token<([^<>]*)>::type",
                  r"boost::asio::default_completion_token_t<\1>", text)
    return text.strip()


def text_of(element, tag):
    found = element.find(tag)
    return tidy("".join(found.itertext())) if found is not None else ""


def parameters(element):
    for param in element.iterfind("param"):
        kind, name = text_of(param, "type"), text_of(param, "declname")
        value, array = text_of(param, "defval"), text_of(param, "array")
        if "detail::call_place" in kind or kind.startswith("if_"):
            continue
        if kind.startswith("std::enable_if_t") or name == "" and value == "0":
            continue
        if value.startswith("detail::default_token_of_context"):
            value = "default_token"
        text = kind + (" " + name if name else "") + array
        yield text.replace("detail::", "") + (f" = {value}" if value else "")


def listed(opening, items, closing):
    """`opening a, b closing` on one line if that fits, otherwise one item a line."""
    line = opening + ", ".join(items) + closing
    if len(line) <= WIDTH or not items:
        return line
    items = [item.replace(" = ", "\n        = ", 1) if len(item) > WIDTH else item
             for item in items]
    return opening + "\n    " + ",\n    ".join(items) + closing


def template_of(entity):
    head = entity.element.find("templateparamlist")
    if head is None:
        return ""
    lines = listed("template <", list(parameters(head)), ">")
    requires = entity.requires()
    if requires and "detail::" not in requires:
        lines += "\n    requires " + tidy(requires)
    return lines + "\n"


def completion_signature(entity):
    """That of the token, `void(error_code)`, or None."""
    match = re.search(r"completion_token_for<(void\(.*\))>", template_of(entity))
    return match and match.group(1)


def function(entity):
    element = entity.element
    kind = re.sub(r"\b(inline|friend)\s+", "", text_of(element, "type"))
    kind = kind.removesuffix("()")  # The name is in parentheses, because it may be a macro.
    arguments = entity.arguments()
    tail = ""
    if element.get("const") == "yes":
        tail += " const"
    if element.get("noexcept") == "yes" or re.search(r"\bnoexcept\b", arguments):
        tail += " noexcept"
    if re.search(r"=\s*default$", arguments):
        tail += " = default"
    deduced = re.search(r"\)\s*->\s*(.*)$", arguments)
    if deduced and not kind:  # A deduction guide.
        tail += " -> " + tidy(deduced.group(1))
    front = ""
    if element.get("static") == "yes":
        front += "static "
    if element.get("explicit") == "yes":
        front += "explicit "
    opening = front + (kind.replace("detail::", "") + " " if kind else "") + entity.name + "("
    return template_of(entity) + listed(opening, list(parameters(element)), f"){tail};")


def variable(entity):
    element = entity.element
    kind = text_of(element, "type")
    value = text_of(element, "initializer")
    if "detail::" in kind and entity.scope is None:
        return f"inline constexpr /* function object */ {entity.name};"
    kind = kind.replace("detail::", "")
    front = "static " if element.get("static") == "yes" and "static" not in kind else ""
    if len(value) > 60 or "detail::" in value:
        value = ""
    elif value.startswith("="):
        value = " " + value
    return f"{front}{kind} {entity.name}{value};"


def alias_of(entity):
    """What a type is another name for; nothing if that is an implementation detail."""
    kind = text_of(entity.element, "type")
    return "" if "detail::" in kind else kind


def typedef(entity):
    kind = alias_of(entity) or "/* see the text */"
    return f"{template_of(entity)}using {entity.name} = {kind};"


def class_(entity):
    kind = entity.element.get("kind")
    bases = [tidy(b.text) for b in entity.element.iterfind("basecompoundref")
             if b.get("prot") == "public"
             and not re.match(r".*detail::|boost::intrusive::", b.text)]
    inherits = " : public " + ", ".join(bases) if bases else ""
    return f"{template_of(entity)}{kind} {entity.name}{inherits};"


def enum(entity):
    return f"enum class {entity.name};"


def concept(entity):
    return template_of(entity) + f"concept {entity.name} = /* see the text */;"


def define(entity):
    return f"#define {entity.name} {text_of(entity.element, 'initializer')}"


PRINTERS = {"function": function, "variable": variable, "typedef": typedef, "class": class_,
            "enum": enum, "concept": concept, "define": define}


def declaration(entity):
    """The declarations of an entity and of the overloads that share its text."""
    printed = [PRINTERS[e.kind](e) for e in entity.overloads]
    return ("\n\n" if any("\n" in one for one in printed) else "\n").join(printed)
