#!/usr/bin/env python3
"""Writes chat_cases/expressions.json: filters, methods, operators, tests and formats, each of many values, and what Jinja, as
transformers sets it up, prints for them.

usage: make_expression_cases.py [OUT]     needs transformers and jinja2; the test that reads the file needs neither.

The file is a list of [source, text], with null for a text where Jinja has an error. make_template_cases.py has what needs
more than an expression. Left out is what prints an address, or a range, which tril refuses to print."""
import json
import os
import sys
import warnings

from transformers.utils import chat_template_utils as reference

VALUES = ["missing", "none", "''", "0", "[]", "{}", "()", "true", "1", "-3", "2.5", "'ab c'", "'<a> & \"b\"'",
          "('<i>'|safe)", "[1, 2, 3]", "['b', 'A', 'a']", "{'a': 1, 'b': {'c': 2}}", "(1, 'x')",
          "[{'n': 'x', 'k': 1}, {'n': 'Y', 'k': 0}]", "range(3)", "({'a': 1}).items()", "({'a': 1}).keys()",
          "([1, 0, 2]|select)", "'5'", "'x\\ny\\n'", "[none, 1]", "[[1, 'a'], [2, 'b']]", "{1: 'i', none: 'n'}",
          "([3, 1]|reverse)", "namespace(a=1)"]
FILTERS = """abs|attr('a')|attr('upper')|batch(2)|batch(2, '-')|capitalize|center(9)|count|d('D')|d('D', true)|dictsort
dictsort(by='value')|e|filesizeformat|filesizeformat(true)|first|float|float(7)|forceescape|format(1)|groupby('n')
groupby(0)|indent|indent(2, true)|int|int(9, 16)|items|join('<')|join(',', attribute='n')|last|length|list|lower
map('upper')|map(attribute='n')|map(attribute='zz', default=5)|map|max|max(attribute='k')|min|reject|reject('none')
rejectattr('k')|replace('a', 'b')|replace('', '-')|reverse|round(1)|round(1, 'floor')|safe|select|select('odd')|selectattr('k')
selectattr('k', 'gt', 0)|selectattr|slice(2)|slice(2, 'f')|sort|sort(attribute='k,n')|string|striptags|sum|sum(start=2)|title
tojson|tojson(indent=2)|trim('a')|truncate(3)|truncate(4, end='<', leeway=0)|unique|unique(attribute='n')|upper
urlencode|wordcount|xmlattr""".replace("\n", "|").split("|")

TEXTS = ["''", "'abc'", "' aXb  c '", "'a-b_c'", "'-5'", "'é ß İ'", "'x\\ty\\n\\tz'", "('<b>&'|safe)", "'Ab Cd'", "'٣½'"]
TEXT_METHODS = """strip()|strip('a')|rstrip(none)|split()|split(none, 1)|split('')|rsplit(none, 1)|splitlines(true)|partition('-')
rpartition('a')|startswith(('x', 'a'), 1)|endswith('c', 0, 2)|title()|casefold()|swapcase()|istitle()|isascii()|isalpha()|isalnum()
isdigit()|isdecimal()|isnumeric()|isspace()|replace('a', '<')|replace('', '-')|replace('b', '-', 1)|find('a', 1)|find('', 2)
find('c', -2)|rfind('a')|index('a')|rindex('b')|count('')|count('a', 1)|join(['p', '<'])|join([1])|center(8, '*')|center(9, '<')
ljust(7, 'é')|rjust(6, '--')|zfill(6)|expandtabs(3)|removeprefix('a')|format(1)|strip(chars='a')|nosuch|title(1)|__class__""".replace(
    "\n", "|").split("|")

LISTS = ["[]", "[1, 2, 1]", "(1, 2, 'a')", "{'a': 1, 'b': 2}", "{1: 2}", "range(4)", "({'a': 1}).keys()", "missing", "none",
         "5", "'abc'", "('<b>'|safe)", "namespace(a=1)", "([1, 2]|select)"]
LIST_PARTS = """.count(1)|.index(2)|.index(1, 1)|.copy()|.append(3)|.get('a')|.get([])|.get('z', 7)|.keys()|.items()|.update({})|.a
.length|.setdefault('a', 1)|[0]|[-1]|[9]|['a']|['keys']|[1.0]|[true]|[[1]]|['1']""".replace("\n", "|").split("|")

OPERANDS = ["missing", "none", "''", "0", "1", "2.5", "true", "'a'", "[]", "[1]", "(1,)", "{'a': 1}", "range(2)",
            "({'a': 1}).keys()", "({'a': 1}).items()", "([1]|select)", "('<b>'|safe)", "'%s'", "namespace()"]
OPERATORS = ["+", "*", "/", "%", "~", "==", "<", ">=", "in", "or"]
TESTS = """defined|none|string|number|integer|boolean|mapping|sequence|iterable|callable|escaped|filter|lower|odd|divisibleby(2)
sameas(none)|in([1, 'a'])|in('abc')|eq(1)|lt(2)|string(1)|eq""".replace("\n", "|").split("|")

PERCENT = ["%s", "%r", "%5d", "%-5d|", "%05d", "%+d", "%#x", "%.2f", "%-8.1f|", "%.3E", "%g", "%c", "%-5s|", "%.2s", "%%", "%a",
           "%(a)s", "%*d", "%z", "%s %s", "%.3d", "%5%"]
BRACES = ["{}", "{:d}", "{:<5}|", "{:*^9}|", "{:05}", "{:+}", "{:,}", "{:_}", "{:10.3f}", "{:g}", "{:.3}", "{:.1%}", "{:#x}",
          "{:#010b}", "{:s}", "{!r}", "{!s:>6}", "{0}{0}", "{1}", "{a}", "{{}}", "{", "{:{w}}", "{0[0]}", "{0.a}", "{:=+6}",
          "{:é>4}", "{!x}", "{0[a]}", "{:<05}"]
ARGUMENTS = ["1", "-7", "2.5", "'é<x'", "none", "true", "(1, 2)", "{'a': 5}", "[1]", "missing", "12345678.9", "0.00001",
             "('<'|safe)", "()"]


def sources():
    for value in VALUES:
        for name in FILTERS:
            yield "{{ %s|%s }}" % (value, name)
    for value in ("missing", "none", "0", "('<i>'|safe)", "[1, 2]", "'<'"):
        for name in FILTERS:
            yield "{{ 'T' if %s|%s }}{{ (%s|%s) is escaped }}" % (value, name, value, name)
    for value in TEXTS:
        for method in TEXT_METHODS:
            yield "{{ %s.%s }}" % (value, method)
    for value in LISTS:
        for part in LIST_PARTS:
            yield "{{ (%s)%s }}" % (value, part)
    for a in OPERANDS:
        for b in OPERANDS:
            for operator in OPERATORS:
                yield "{{ %s %s %s }}" % (a, operator, b)
        for test in TESTS:
            yield "{{ %s is %s }}" % (a, test)
    for given in ARGUMENTS:
        for form in PERCENT:
            yield "{{ '%s' %% %s }}" % (form, given)
            yield "{{ ('<%s'|safe) %% %s }}" % (form, given)
        for form in BRACES:
            yield "{{ '%s'.format(%s) }}" % (form, given)
            yield "{{ ('<%s'|safe).format(%s) }}" % (form, given)


def is_left_out(source, text):
    if ("range(" in source or "|select)" in source or "|reverse)" in source) and source.startswith("{{ "):
        if source[3:-3].rsplit(")|", 1)[-1].split("(")[0] in PRINTING:
            return True
    return " at 0x" in text or "range(" in text.lower() or "bound method" in text or source in LEFT_OUT


# Filters that print what they are given.
PRINTING = {"replace", "wordcount", "striptags", "title", "upper", "lower", "trim", "string", "safe", "e", "forceescape",
            "capitalize", "center", "format", "truncate"}
# What tril refuses although Jinja finds a meaning for it.
LEFT_OUT = {"{{ '%s' is odd }}", "{{ namespace(a=1)|urlencode }}", "{{ range(2) is lower }}", "{{ ([1]|select) is lower }}",
            "{{ '%s' is divisibleby(2) }}"}
# Views of a mapping's keys and pairs are compared as sets there.
LEFT_OUT |= {"{{ ({'a': 1}).%s() %s ({'a': 1}).%s() }}" % (a, operator, b)
             for a in ("keys", "items") for operator in ("<", ">=") for b in ("keys", "items")}


def main():
    warnings.simplefilter("ignore")
    cases = []
    for source in sources():
        try:
            text = reference._compile_jinja_template(source).render()
        except Exception:
            cases.append([source, None])
            continue
        if not is_left_out(source, text):
            cases.append([source, text])
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "chat_cases")
    with open(os.path.join(out, "expressions.json"), "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")
    print(len(cases), "cases,", sum(text is None for _, text in cases), "errors")


main()
