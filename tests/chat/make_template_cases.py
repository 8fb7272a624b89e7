#!/usr/bin/env python3
"""Writes chat_cases/snippets.json: pieces of templates and what Jinja, as transformers sets it up, makes of them.

usage: make_template_cases.py [OUT]     needs transformers and jinja2; the test that reads the file needs neither.

A snippet is one filter, method, function or operator at its edges; make_chat_cases.py has whole templates. One behind
REFUSED Jinja renders and tril does not: it has to say so rather than to write something else."""
import json
import os
import sys

from transformers.utils import chat_template_utils as reference

GIVEN = {"people": [{"name": "bo", "age": 3, "at": {"town": "Köln"}}, {"name": "Al", "age": 12, "at": {"town": "Ulm"}},
                    {"name": "cy", "age": 7, "at": {"town": "Äsch"}}],
         "words": ["b", "A", "c", "B", "a"], "text": "Straße in İzmir, ΌΣΟΣ ΚΑΙ ὈΔΥΣΣΕΎΣ. ǆ ﬁn ŉ ß",
         "mixed": {"b": 2, "A": 1, "c": 0}, "tools": None,
         "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": None}]}

CASES = """
{{ 'straße' | upper }}{{ 'ÄÖÜ ÉÑ' | lower }}{{ 'éa' | capitalize }}{{ 'ǆabc' | capitalize }}{{ 'ﬁn' | capitalize }}
{{ text | upper }}
{{ text | lower }}
{{ text | title }}
{{ text | capitalize }}
{{ text.upper() }}
{{ text.lower() }}
{{ text.title() }}
{{ text.capitalize() }}
{{ 'ΑΣ ΑΣΑ Σ Α.Σ Α.ΣΑ ΑΣ. ΣΑΣ' | lower }}{{ 'ΑΣ' | capitalize }}{{ 'ΑΣ'.title() }}{{ 'ΑΣ' | title }}
{{ "it's a dog's life" | title }} {{ "it's a dog's life".title() }}
{{ 'foo-bar (baz) [qux] {quux} <corge> x/y a_b 1st' | title }} {{ 'foo-bar (baz) x/y a_b 1st'.title() }}
{{ 'ÉCOLE-ÉTÉ' | title }} {{ 'ÉCOLE-ÉTÉ'.title() }} {{ 'ijssel ĳssel' | title }} {{ 'ß-ß' | title }} {{ 'ß-ß'.title() }}
{{ '' | title }}|{{ '' | capitalize }}|{{ '' | upper }}|{{ '1a' | capitalize }}|{{ '1a'.title() }}|{{ none | upper }}|{{ 1.5 | title }}
{{ 'привет МИР' | title }} {{ 'привет МИР' | upper }} {{ 'привет МИР'.capitalize() }} {{ '𐐨𐐀' | upper }}{{ '𐐨𐐀' | lower }} {{ 'ა ᲐᲑ' | upper }} {{ 'ა' | capitalize }} {{ '你好a' | title }}
{{ 'abc' is lower }} {{ 'Abc' is lower }} {{ 'éß' is lower }} {{ '1' is lower }} {{ 'ÉA1' is upper }} {{ 'ǅ' is upper }} {{ 'ǅ' is lower }} {{ '' is upper }} {{ 'ª' is lower }}
{{ 'abc'.islower() }}{{ 'ÄB'.isupper() }}{{ '12'.isdigit() }}{{ '٣²'.isdigit() }}{{ '½'.isdigit() }}{{ ''.isdigit() }}{{ 'a1'.isdigit() }}
{{ '42' | int }} {{ ' 42 ' | int }} {{ '+42' | int }} {{ '-42' | int }} {{ '4_2' | int }} {{ '4__2' | int }} {{ '_42' | int }} {{ '42.9' | int }} {{ '-42.9' | int }} {{ '4e2' | int }} {{ 'x' | int }} {{ '' | int }} {{ '٤٢' | int }}
{{ 'ff' | int(base=16) }} {{ '0xff' | int(0, 16) }} {{ '0xff' | int }} {{ '0XFF' | int(base=0) }} {{ '0b101' | int(base=2) }} {{ '0b101' | int(base=0) }} {{ '0o17' | int(0, 8) }} {{ '017' | int(base=8) }} {{ '017' | int(base=0) }} {{ '00' | int(base=0) }} {{ 'zz' | int(base=36) }} {{ '12' | int(base=2) }} {{ '1.5' | int(base=16) }} {{ '-ff' | int(base=16) }} {{ '0x_f' | int(base=16) }} {{ '0x' | int(base=16) }} {{ '0x-1' | int(5, 16) }}
{{ '12' | int(base=1) }} {{ '12' | int(base=37) }} {{ '12' | int(base='x') }} {{ '12' | int(7, 99) }} {{ 'q' | int(7, 99) }}
{{ 'x' | int(7) }} {{ 'x' | int(default=7) }} {{ 'x' | int('none') }} {{ 'x' | int(none) }} {{ none | int }} {{ none | int(3) }} {{ [] | int }} {{ [1] | int(2) }} {{ {} | int(2) }} {{ true | int }} {{ 3.99 | int }} {{ -3.99 | int }} {{ 'inf' | int }} {{ 'nan' | int(5) }} {{ '1e400' | int(9) }}
{{ missing | int }}
{{ 1e400 | int }}
{{ 'x' | int(1, 2, 3) }}
{{ 'x' | int(start=3) }}
{{ '1.5' | float }} {{ ' 1e3 ' | float }} {{ '1_000.5' | float }} {{ '+.5' | float }} {{ '5.' | float }} {{ 'inf' | float }} {{ '-Infinity' | float }} {{ 'nan' | float }} {{ '1e400' | float }} {{ '1e-400' | float }} {{ 'x' | float }} {{ 'x' | float(2) }} {{ 'x' | float('y') }} {{ none | float }} {{ true | float }} {{ 3 | float }} {{ '0x10' | float }} {{ '1__0' | float }} {{ '+-1' | float }} {{ '٣.٥' | float }}
{{ missing | float }}
{{ 2.5 | round }} {{ 3.5 | round }} {{ -2.5 | round }} {{ 0.5 | round }} {{ -0.5 | round }} {{ 42.55 | round }} {{ 42.55 | round(1) }} {{ 2.675 | round(2) }} {{ 1.005 | round(2) }} {{ 0.15 | round(1) }} {{ 3.14159 | round(3) }} {{ 1e22 | round(2) }} {{ 123456.789 | round(10) }}
{{ 42 | round }} {{ 42 | round(2) }} {{ 42 | round(-1) }} {{ 45 | round(-1) }} {{ 55 | round(-1) }} {{ 65 | round(-1) }} {{ -45 | round(-1) }} {{ -55 | round(-1) }} {{ 1250 | round(-2) }} {{ 1350 | round(-2) }} {{ 44 | round(-2) }} {{ 51 | round(-2) }} {{ 50 | round(-2) }} {{ 5 | round(-3) }} {{ true | round }}
{{ 1250.0 | round(-2) }} {{ 1350.0 | round(-2) }} {{ 50.0 | round(-2) }} {{ 50.1 | round(-2) }} {{ 49.9 | round(-2) }} {{ 4.0 | round(-3) }} {{ -60.0 | round(-2) }} {{ 2.5 | round(400) }} {{ 2.5 | round(-400) }} {{ 1e300 | round(-299) }} {{ 5e-324 | round(323) }}
{{ 42.51 | round(0, 'floor') }} {{ 42.51 | round(method='ceil') }} {{ 42.551 | round(1, 'floor') }} {{ 42.551 | round(2, 'ceil') }} {{ -42.51 | round(0, 'floor') }} {{ -42.51 | round(0, 'ceil') }} {{ 42 | round(0, 'ceil') }} {{ 42 | round(2, 'floor') }} {{ 1234.5 | round(-2, 'ceil') }} {{ 1234 | round(-2, 'floor') }} {{ 0.1 | round(1, 'ceil') }} {{ 0.3 | round(20, 'floor') }} {{ 7 | round(precision=1, method='common') }}
{{ 1.5 | round(0, 'up') }}
{{ 'x' | round }}
{{ none | round }}
{{ 1.5 | round('1') }}
{{ 1.5 | round(1.0) }}
{{ 1.5 | round(0, 'ceil', 1) }}
{{ 1e308 | round(5, 'ceil') }}
{{ range(5) | list }} {{ range(2, 5) | list }} {{ range(5, 2) | list }} {{ range(5, 2, -1) | list }} {{ range(0, 10, 3) | list }} {{ range(10, 0, -3) | list }} {{ range(-3) | list }} {{ range(-3, 3, 2) | list }} {{ range(0) | list }} {{ range(5, -6, -5) | list }} {{ range(true, 3) | list }}
{{ range(0, 5, 0) | list }}
{{ range() | list }}
{{ range(1, 2, 3, 4) | list }}
{{ range('3') | list }}
{{ range(3.0) | list }}
{{ range(stop=3) | list }}
{{ range(1000000) | list }}
{% for i in range(3, 0, -1) %}{{ i }}{{ loop.revindex }}{% endfor %}{{ range(4) | length }}{{ range(1, 9, 2) | last }}{{ range(3) | sum }}{{ 2 in range(3) }}{{ range(3) | join('-') }}{{ range(2, 8)[1] }}
{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, b=2) }}
{% macro m(a) %}{{ a }}{{ caller() }}{% endmacro %}{{ m(1) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, 2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, b=2) }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a, b) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }}{{ m(b=1) }}{{ m(b=1, a=2) }}
{% macro m(a, b=2, c=b) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(1, c=5) }}
{% macro m(kwargs) %}{{ kwargs }}{% endmacro %}{{ m('x') }}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m.name }}
{% macro a(x) %}[{{ x }}]{% endmacro %}{% macro b(x) %}{{ a(x) }}{{ a(x ~ 1) }}{% endmacro %}{{ b('q') }}{{ b('q') | length }}
{{ '  x ' | trim }}|{{ 'xxaxx' | trim('x') }}|{{ 'äxä' | trim('ä') }}|{{ '\\u00a0\\u2003x\\x1c' | trim }}|{{ 12 | trim('1') }}|{{ 'x' | trim(none) }}|{{ ' x' | trim(chars=' ') }}
{{ 'x' | trim(1) }}
{{ 'x' | trim(' ', 1) }}
{{ 'x' | trim(letters=' ') }}
{{ 'äbä'.strip('ä') }}{{ 'abc'.strip('') }}{{ ' x '.lstrip() }}|{{ ' x '.rstrip() }}|{{ 'xyx'.lstrip('x') }}{{ 'xyx'.rstrip('yx') }}
{{ '  a b  c '.split() }} {{ '  a b  c '.split(none, 1) }} {{ 'a,b,,c'.split(',') }} {{ 'a,b,c'.split(',', 1) }} {{ 'a,b,c'.split(',', maxsplit=1) }} {{ 'abc'.split('x') }} {{ ''.split(',') }} {{ ''.split() }} {{ 'a--b--c'.split('--') }} {{ 'a b c'.split(' ', 0) }} {{ ' a b '.split(none, 0) }} {{ 'a,b'.split(sep=',') }}
{{ 'a,b,c'.rsplit(',', 1) }} {{ 'a b c'.rsplit() }} {{ 'aXXbXXc'.rsplit('XX', 1) }} {{ 'aaa'.rsplit('aa') }} {{ 'aaa'.split('aa') }}
{{ 'a b c'.rsplit(none, 1) }}
{{ 'abc'.split('') }}
{{ 'abc'.split(1) }}
{{ 'a\\nb\\r\\nc\\rd\\x0be\\x0cf\\x85g\\u2028h\\x1ci'.splitlines() }} {{ 'a\\n\\nb\\n'.splitlines() }} {{ '\\n'.splitlines() }} {{ ''.splitlines() }} {{ 'a\\r\\nb\\n'.splitlines(true) }} {{ 'a\\nb'.splitlines(keepends=true) }}
{{ 'abc'.startswith('ab') }}{{ 'abc'.startswith(('x', 'a')) }}{{ 'abc'.endswith('') }}{{ 'abc'.endswith(('b', 'bc')) }}
{{ 'abc'.startswith(['a']) }}
{{ 'abc'.startswith(1) }}
{{ 'abc'.startswith('b', 1) }}
{{ 'äbcb'.find('b') }}{{ 'abc'.find('x') }}{{ 'abc'.find('') }}{{ 'aaaa'.count('aa') }}{{ 'äöä'.count('ä') }}{{ 'äb'.count('') }}
{{ 'abc'.find('c', 1) }}
{{ 'aXbX'.replace('X', '-') }}{{ 'aXbX'.replace('X', '-', 1) }}{{ 'aXbX'.replace('X', '', -1) }}{{ 'aXbX' | replace('X', '--') }}{{ 'aXbX' | replace('X', '-', count=1) }}{{ 'a1b' | replace(1, 2) }}{{ 121 | replace(1, 'x') }}{{ 'aaa' | replace('aa', 'b') }}
{{ 'abc'.replace('', '-') }}
{{ 'abc' | replace('b') }}
{{ 'abc'.replace(1, 2) }}
{{ '-'.join(['a', 'b']) }}{{ ''.join('äb') }}{{ [1, none, 'x', 2.0] | join }}{{ [1, 2] | join(0) }}{{ people | join(', ', attribute='name') }}{{ people | join('/', 'at.town') }}{{ {'a': 1, 'b': 2} | join }}{{ 'äb' | join('.') }}
{{ '-'.join([1, 2]) }}
{{ 'prefix-x'.removeprefix('prefix-') }}{{ 'x'.removeprefix('y') }}{{ 'x-suffix'.removesuffix('-suffix') }}{{ 'abc'.removesuffix('') }}
{{ 'a\\nb\\n\\nc' | indent }}|{{ 'a\\nb\\n' | indent(2) }}|{{ 'a\\n\\nb' | indent(2, true) }}|{{ 'a\\n\\nb\\n' | indent(2, blank=true) }}|{{ 'a\\nb' | indent('> ') }}|{{ 'a\\r\\nb' | indent(1) }}|{{ '' | indent(2, true) }}|{{ '\\na' | indent(2, first=true) }}|{{ 'a\\nb' | indent(width=0) }}|{{ 'a\\nb' | indent(-3) }}
{{ 'abc' | length }}{{ 'äöü' | count }}{{ [] | length }}{{ {'a': 1} | length }}{{ missing | length }}
{{ 5 | length }}
{{ none | length }}
{{ words | sort }} {{ words | sort(true) }} {{ words | sort(case_sensitive=true) }} {{ ['é', 'z', 'É', 'a'] | sort }} {{ [3, 1.5, 2, true] | sort }} {{ {'b': 1, 'a': 2} | sort }} {{ 'hello' | sort | join }} {{ [[2, 1], [1, 2]] | sort }}
{{ people | sort(attribute='age') | map(attribute='name') | list }} {{ people | sort(attribute='name') | map(attribute='name') | list }} {{ people | sort(false, true, 'name') | map(attribute='name') | list }} {{ people | sort(true, attribute='at.town') | map(attribute='at.town') | list }} {{ [[2, 'b'], [1, 'a']] | sort(attribute=1) }} {{ [[2, 'b'], [1, 'c']] | sort(attribute='0') }}
{{ [1, 'a'] | sort }}
{{ people | sort(attribute='age,name') }}
{{ words | sort(descending=true) }}
{{ words | unique | list }} {{ words | unique(true) | list }} {{ words | unique(case_sensitive=true) | list }} {{ [1, 1.0, '1', true, none, 2] | unique | list }} {{ ['Straße', 'STRASSE', 'straße'] | unique | list }} {{ people | unique(attribute='age') | list | length }}
{{ words | min }}{{ words | max }}{{ words | min(true) }}{{ words | max(case_sensitive=true) }}{{ [3, 1, 2] | min }}{{ (people | max(attribute='age')).name }}{{ [] | min }}|{{ [1, 1.0] | max }}{{ [1.0, 1] | min }}
{{ [1, 2, 3] | sum }} {{ [0.1, 0.2, 0.3] | sum }} {{ [1, 2.5] | sum }} {{ people | sum(attribute='age') }} {{ [1] | sum(start=10) }} {{ [] | sum }} {{ [[1], [2]] | sum(start=[]) }} {{ [9007199254740993, 2] | sum }} {{ [true, true] | sum }}
{{ ['a', 'b'] | sum }}
{{ ['a', 'b'] | sum(start='') }}
{{ [none] | sum }}
{{ mixed | dictsort }} {{ mixed | dictsort(true) }} {{ mixed | dictsort(by='value') }} {{ mixed | dictsort(false, 'value', true) }} {{ mixed | dictsort(reverse=true) }}
{{ mixed | dictsort(by='x') }}
{{ [1] | dictsort }}
{{ people | map(attribute='name') | map('upper') | list }} {{ people | map(attribute='nick', default='-') | list }} {{ people | map(attribute='at.town') | list }} {{ ['1', 'x'] | map('int') | list }} {{ ['1', 'x'] | map('int', 9) | list }} {{ ['1', 'x'] | map('int', default=8) | list }} {{ [1.55, 2.45] | map('round', precision=1) | list }} {{ [[1, 2], [3]] | map('join', '+') | list }} {{ [[1, 2], [3]] | map(attribute=0) | list }} {{ ['ab', 'c'] | map('length') | sum }}
{{ [1] | map | list }}
{{ [1] | map('nofilter') | list }}
{{ [1] | map(attribute='a', other=1) | list }}
{{ [1, 2, 3, 4] | select('even') | list }} {{ [1, 2, 3, 4] | select('gt', 2) | list }} {{ [1, 2, 3, 4] | reject('in', [1, 3]) | list }} {{ [0, 1, '', 'a', none] | select | list }} {{ people | selectattr('age', 'lt', 10) | map(attribute='name') | list }} {{ people | rejectattr('at.town', 'equalto', 'Ulm') | list | length }} {{ people | selectattr('nick', 'defined') | list }} {{ people | selectattr('age') | list | length }} {{ [3, 6, 7] | select('divisibleby', 3) | list }}
{{ [1] | select('notest') | list }}
{{ missing | default('x') }}{{ none | default('x') }}{{ '' | d('x', true) }}{{ 0 | default(1, boolean=true) }}{{ missing | default }}|{{ people[9] | default('none') }}{{ missing | default(default_value=3) }}
{{ 'abc' | first }}{{ 'abc' | last }}{{ [] | first }}|{{ mixed | first }}{{ mixed | last }}{{ [1, 2] | last }}{{ missing | first }}|{{ 'äb' | reverse }}{{ [1, 2] | reverse | list }}{{ mixed | reverse | list }}
{{ mixed | items | list }} {{ missing | items | list }} {{ mixed.items() | list }} {{ mixed | list }} {{ 'äb' | list }} {{ mixed.keys() | list }} {{ mixed.values() | list }} {{ mixed.get('b') }} {{ mixed.get('x') }} {{ mixed.get('x', 'y') }} {{ mixed.get(1, 2) }}
{{ [1] | items | list }}
{{ mixed.get() }}
{{ mixed.pop('b') }}
{{ -3 | abs }}{{ (-3.5) | abs }}{{ true | abs }}{{ -0.0 | abs }}
{{ 'x' | abs }}
{{ {'b': 1, 'a': [1, {'c': none}]} | tojson }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ [1, 2] | tojson(separators=(',', ':')) }} {{ [1, [2, {}], []] | tojson(indent=2) }} {{ [1] | tojson(indent=0) }} {{ [1, 2] | tojson(indent=1, separators=(', ', ': ')) }} {{ 'é\\x7f\\u2028😀"\\\\/<' | tojson }} {{ 'é\\x7f😀' | tojson(ensure_ascii=true) }} {{ 1.0 | tojson }} {{ 1e100 | tojson }} {{ true | tojson }} {{ none | tojson }} {{ (1, 2) | tojson }} {{ 'é' | tojson(false, 2) }}
{{ missing | tojson }}
{{ [missing] | tojson }}
{{ 1 | tojson(default=1) }}
{{ 1.0 }} {{ 1e15 }} {{ 1e16 }} {{ 9999999999999998.0 }} {{ 123456789012345680.0 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1e-7 }} {{ 1e22 }} {{ 0.1 + 0.2 }} {{ 1 / 3 }} {{ -0.0 }} {{ 100.0 }} {{ 5e-324 }} {{ 1.7976931348623157e308 }}
{{ ['\\u00a0', '\\u200b', '\\u00ad', 'é', '\\x80', '\\U000e0001', '\\ufffd', '\\u3000', '😀', 'a\\x00b', '\\x7f', "it's", 'q"\\'', '\\\\\\\\'] }} {{ {'k\\n': 'v'} }} {{ (1,) }} {{ () }} {{ [[], {}, (1, 'a')] }}
{{ 7 // 2 }} {{ -7 // 2 }} {{ 7 // -2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 // 2 }} {{ -7.5 % 2 }} {{ 2 ** 10 }} {{ 2 ** -1 }} {{ 2 ** 0.5 }} {{ 10 / 4 }} {{ 4 / 2 }} {{ 'ab' * 2 }} {{ 'ab' * 0 }} {{ 'ab' * -1 }} {{ true + 1 }} {{ 1 - 2.5 }} {{ -2 ** 2 }} {{ 2 * 3 % 4 }}
REFUSED {{ 1e400 }}
{{ [1] * 2 }}
{{ 1 + 'a' }}
{{ 'a' + 1 }}
{{ 1 / 0 }}
{{ 1 % 0 }}
{{ 1.0 // 0 }}
{{ 1.0 // 0.1 }} {{ 1.0 % 0.1 }} {{ 7.5 // -2 }} {{ 7.5 % -2 }} {{ -7.5 % 2 }} {{ 6.0 % -2 }} {{ 1e20 % 3.0 }}
{{ 0.0 ** -1 }}
{{ [1] + (2,) }}
{{ 1 == 1.0 }}{{ '1' == 1 }}{{ [1, 2] == [1, 2] }}{{ [1] == (1,) }}{{ {'a': 1, 'b': 2} == {'b': 2, 'a': 1} }}{{ none == false }}{{ 0 == false }}{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ 'a' < 'b' }}{{ 'Z' < 'a' }}{{ [1, 2] < [1, 3] }}{{ 'é' > 'z' }}{{ missing == missing }}{{ missing == none }}{{ 1 != 2 }}{{ not 1 == 2 }}
{{ 1 < 'a' }}
{{ none < 1 }}
{{ 1 is sameas 1 }}{{ 1 is sameas true }}{{ 1 is sameas 1.0 }}{{ true is sameas true }}{{ none is sameas none }}{{ people is sameas people }}{{ [] is sameas [] }}{{ people[0] is sameas people[0] }}
{{ 4 is divisibleby 2 }}{{ 4 is divisibleby(3) }}{{ 3 is odd }}{{ 2 is even }}{{ 1 is number }}{{ true is number }}{{ true is integer }}{{ 1 is float }}{{ 'a' is string }}{{ [] is sequence }}{{ {} is sequence }}{{ 1 is sequence }}{{ 'a' is iterable }}{{ {} is mapping }}{{ none is none }}{{ missing is defined }}{{ 1 is eq 1 }}{{ 2 is gt 1 }}{{ 2 is le 1 }}{{ 'a' is in 'abc' }}{{ 1 is not in [2] }}{{ 1 is ne 2 }}{{ 2 is ge 2 }}{{ false is false }}{{ 0 is false }}{{ 1 is true }}{{ range is callable }}
{{ 4 is divisibleby 0 }}
{{ 'a' is odd }}
{{ 1 is prime }}
{{ 'abcdef'[1:4] }}{{ 'abcdef'[::-1] }}{{ 'abcdef'[-2:] }}{{ 'abcdef'[:-9] }}|{{ 'abcdef'[4:1:-1] }}{{ 'äöü'[1] }}{{ [1, 2, 3][-1] }}{{ [1, 2, 3][5] }}|{{ [1, 2, 3][1:][0] }}{{ 'abc'[::2] }}{{ (1, 2, 3)[:2] }}{{ [0, 1, 2, 3, 4][3:0:-2] }}
{{ 'abc'['x'] }}|{{ mixed['b'] }}{{ mixed.b }}{{ mixed['zz'] }}|{{ people[0].at.town }}{{ people[0]['at']['town'] }}{{ people.0.name }}
{{ [1, 2][::0] }}
{{ missing.x }}
{{ missing[0] }}
{{ missing() }}
{{ none.x }}|
{{ dict(a=1, b='x') }}{{ dict({'a': 1}, b=2) }}{{ dict() }}{{ dict(mixed, c=9).c }}
{{ dict(1) }}
{{ dict({'a': 1}, {'b': 2}) }}
{% set ns = namespace({'a': 1}, b=2) %}{{ ns.a }}{{ ns.b }}{% set ns.a = 5 %}{{ ns.a }}{{ ns['b'] }}{{ ns.zz }}|{{ ns.zz is defined }}
{% set x = {} %}{% set x.a = 1 %}{{ x }}
{% for a, b in people %}{{ a }}{% endfor %}
{% for p in people if p.age > 5 %}{{ loop.index }}{{ p.name }}{% if not loop.last %},{% endif %}{% else %}none{% endfor %}{% for c in 'äb' %}{{ c }}{{ loop.first }}{% endfor %}{% for k in mixed %}{{ k }}{% endfor %}{% for x in missing %}x{% else %}empty{% endfor %}
{% for x in 5 %}{{ x }}{% endfor %}
{% for x in [1, 1, 2] %}{{ loop.changed(x) }}{{ loop.cycle('a', 'b') }}{{ loop.depth }}{% for y in [1] %}{{ loop.depth }}{% endfor %}{{ loop.previtem }}{{ loop.nextitem }};{% endfor %}
{{ 'yes' if missing else 'no' }}{{ 'x' if false }}|{{ 1 if 1 else 2 if 0 else 3 }}{{ [] or 'empty' }}{{ '' and 1 }}{{ 0 or none }}{{ not missing }}
{{ '%s' % 1 }}
{{ 'a' ~ 1 ~ none ~ true ~ 2.0 ~ [1] ~ missing }}{{ "a" "b" 'c' }}{{ 1 ~ 2 }}
{{ 'abc' | upper | lower | capitalize | replace('a', 'b') | trim('A') | length }}{{ ('a' ~ 'b') | upper }}{{ -1 | abs }}{{ 'a' | upper ~ 'b' }}{{ 2 + '3' | int }}
{{ 'x' | wordcount }}{{ 'a b' | truncate(3) }}
{{ 'x'.center(5) }}
{{ 'x'.format(1) }}
{{ [1, 2].index(1) }}
{{ [1, 2].append(3) }}
{{ 'x' | e }}
{{ strftime_now('%Y') is string }}{{ strftime_now is defined }}{{ raise_exception is callable }}
REFUSED {{ range(3) }}
{{ mixed.items() }}
{% macro m(a) %}{{ a }}{{ varargs }}{% endmacro %}{{ m(1, 2, 3) }}{{ m() }}
{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, b=2, c=3) }}{{ m(a=1) }}
{% macro m(a) %}{{ a }}{{ kwargs }}{% endmacro %}{{ m(1, a=2) }}
{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 3, 4, x=5) }}{{ m(b=7, a=8) }}{{ m(*[1, 2, 3]) }}{{ m(**{'a': 1, 'z': 2}) }}{{ m(*[1], **{'b': 9}) }}
{% macro m(a) %}<{{ a }}>{{ caller() }}</{{ a }}>{% endmacro %}{% call m('b') %}text {{ 1 + 1 }}{% endcall %}
{% macro m(l) %}{% for x in l %}{{ caller(x, loop.index) }}{% endfor %}{% endmacro %}{% call(x, i=0) m([5, 6]) %}({{ x }}:{{ i }}){% endcall %}
{% macro m() %}{{ caller is defined }}{{ caller is callable }}{% endmacro %}{{ m() }}{% call m() %}{% endcall %}
{% macro m() %}x{% endmacro %}{% call m() %}{% endcall %}
{% macro m(a) %}{{ a }}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m.caller }}{{ m }}
{% macro outer() %}{% macro inner(x) %}[{{ x }}]{% endmacro %}{{ inner(varargs) }}{% endmacro %}{{ outer(1, 2) }}
{% macro m(varargs) %}{{ varargs }}{% endmacro %}{{ m(1) }}
{% macro f(n) %}{{ n }}{% if n > 0 %}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(5) }}
{% macro f(x) %}{% set y = x %}{{ y }}{% endmacro %}{{ f(1) }}{{ y is defined }}
{% macro f() %}{{ g }}{% endmacro %}{% set g = 4 %}{{ f() }}
{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{{ loop.depth0 }}{% endif %}{% endfor %}
{% for x in [{'n': 'a', 'c': [{'n': 'b', 'c': []}]}] recursive %}{{ loop.index }}{{ x.n }}{{ loop(x.c) }}{% else %}none{% endfor %}
{% for x in [1] %}{{ loop(x) }}{% endfor %}
{% for x in [1, 2, 3] %}{{ loop }}{{ loop.index }}{{ loop.length }}{{ loop.revindex }}{{ loop.nope is defined }}{% endfor %}
{% for x in [1, 1, 2, 2, 1] %}{{ loop.changed(x) }}{{ loop.cycle('a', 'b', 'c') }}{% endfor %}
{% for x in [1, 2, 3] %}{{ loop.previtem }},{{ x }},{{ loop.nextitem }};{% endfor %}
{% for x in ([1, 2, 3] | select('odd')) %}{{ x }}{{ loop.last }}{{ loop.length }}{{ loop.revindex0 }}{{ loop.nextitem }}{% endfor %}
{% for x in [1, 2, 3, 4] if x is even %}{{ loop.index }}{{ x }}{{ loop.length }}{{ loop.last }}{% else %}no{% endfor %}
{% set ns = namespace(n=1) %}{% for x in [1, 2, 3, 4] if x > ns.n %}{{ x }}{% set ns.n = ns.n + 2 %}{% endfor %}
{% set ns = namespace(n=1) %}{% for x in [1, 2, 3, 4] if x > ns.n %}{{ x }}{{ loop.last }}{% set ns.n = ns.n + 2 %}{% endfor %}
{% set ns = namespace(n=1) %}{% for x in [1, 2, 3, 4] if x > ns.n %}{{ x }}{{ loop.length }}{% set ns.n = ns.n + 2 %}{% endfor %}
{% set g = [1, 2, 3] | map('string') %}{{ g | first }}{{ g | list }}{{ g | list }}{{ 'T' if g }}
{% set g = [1, 2, 3, 4] | select %}{% for x in g %}{{ x }}{% if x == 2 %}{% break %}{% endif %}{% endfor %}{{ g | list }}
{% set g = [1, 2, 3, 4] | select %}{% for x in g %}{{ x }}{{ loop.last }}{% if x == 2 %}{% break %}{% endif %}{% endfor %}{{ g | list }}
{% set g = [1, 2] | map('nofilter') %}x
{% set g = [1, 2] | map('nofilter') %}{{ g | list }}
{% if false %}{{ 1 | nofilter }}{% endif %}ok
{% if false %}{{ 1 is notest }}{% endif %}ok
{{ 1 | nofilter if false else 'ok' }}
{{ (1 is notest) if false else 'ok' }}
{% if false %}{% for x in [1] %}{{ x | nofilter }}{% endfor %}{% endif %}ok
{{ 'ok' if true else 1 | nofilter }}
{% set x | upper | trim %} abc {% endset %}[{{ x }}]
{% set x %} a{% set y = 1 %}{{ y }}{% endset %}[{{ x }}]{{ y is defined }}
{% set ns = namespace() %}{% set ns.x %}abc{% endset %}{{ ns.x }}{{ ns }}
{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}{% set (d, e) = [4, 5] %}{{ d }}{{ e }}
{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for (a, b) in [(1, 2)] %}{{ a }}{{ b }}{% endfor %}
{% set ns = namespace(a=1) %}{% set ns.a, ns.b = 5, 6 %}{{ ns.a }}{{ ns.b }}
{% set x, = [1] %}{{ x }}
{% with a=1, b=2 %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}
{% set a = 3 %}{% with a=1, b=a %}{{ a }}{{ b }}{% endwith %}{{ a }}
{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}
{% generation %}{% set q = 1 %}a{{ q }}{% endgeneration %}{{ q is defined }}
{% for x in [1, 2] %}{% generation %}{{ x }}{{ loop.index }}{% endgeneration %}{% endfor %}
{% for x in [1, 2] %}{% filter upper %}a{% if x == 1 %}{% continue %}{% endif %}b{% endfilter %}{% endfor %}
{% for x in [] %}{% else %}{% set z = 1 %}{{ z }}{% endfor %}{{ z is defined }}
{% if true %}{% set z = 1 %}{% endif %}{{ z }}
{% raw %}{{ x }}{% endraw %}{{ '{{' }}{% raw -%}  a {%- endraw %}
{{ {1: 'a', 2: 'b'}[1] }}{{ {1: 'a'}.get(1) }}{{ {1: 'a'} }}{{ {1: 'a', true: 'b', 1.0: 'c'} }}{{ {none: 1, (1, 2): 3} }}{{ {'a': 1, 1: 2} | tojson }}{{ {2: 1, 1: 2} | tojson(sort_keys=true) }}{{ {1: 1, 'a': 2} | length }}{{ 1 in {1: 2} }}{{ '1' in {1: 2} }}
{{ {[1]: 2} }}
{{ {{}: 2} }}
{{ {(1, 2): 3} | tojson }}
{{ {1: 2, 'a': 3} | tojson(sort_keys=true) }}
{{ {1: 2, 'a': 3} | dictsort }}
{% for k, v in {1: 'x', 2: 'y'}.items() %}{{ k }}{{ v }}{% endfor %}{% for k in {3: 1} %}{{ k + 1 }}{% endfor %}
{{ cycler('a', 'b').next() }}{% set c = cycler(1, 2, 3) %}{{ c.next() }}{{ c.next() }}{{ c.current }}{% set _ = c.reset() %}{{ c.next() }}
{% set j = joiner('|') %}{{ j() }}a{{ j() }}b{{ j() }}c{% set k = joiner() %}{{ k() }}{{ k() }}
{{ dict([('a', 1), ['b', 2]]) }}{{ dict({'a': 1}, b=2) }}{{ dict({1: 2}) }}{{ dict(**{'x': 1}) }}
{{ dict([1]) }}
{% set ns = namespace(_x=1) %}
{% set ns = namespace() %}{% set ns._x = 1 %}
{% set ns = namespace([('a', 1)]) %}{{ ns.a }}
{% set ns = namespace(items=1) %}{{ ns.items }}{{ ns['items'] }}{{ ns.keys is defined }}
{{ 0x1F }}{{ 0b101 }}{{ 0o17 }}{{ 1_000 }}{{ 0xFF_FF }}{{ 1.5e3 }}{{ 1_0.2_5 }}
{{ 'a' 'b' }}{{ "x\\ty\\x41\\u00e9\\101" }}
{{ [1, 2, 3][-1] }}{{ 'abc'[-2:] }}{{ (1, 2)[0] }}{{ 'a,b'.split(',')[0] }}{{ ('x' | upper)[0] }}
{{ messages[0].content }}{{ messages[-1]['role'] }}{{ messages | length }}{{ messages[0].get('x', 'd') }}{{ messages[5] }}{{ messages[5].x is defined }}
{{ (messages | selectattr('role', 'equalto', 'user') | list)[0].content }}{{ messages | map(attribute='role') | join(',') }}{{ messages | map(attribute='nope') | list }}{{ messages | map(attribute='nope.x') | list }}
{{ tools | selectattr('type') | list }}{{ tools | map('upper') | list }}{{ tools | select | list | length }}{{ none | reject | list }}{{ 0 | rejectattr | list }}{{ missing | map | list }}
{{ 5 | select | list }}
{{ 5 | map('upper') | list }}
{{ "To: "|safe + '<a> & "b"\\'' }}{{ '<' + ('>'|safe) }}{{ ('<'|safe) ~ '<' }}{{ ('<b>'|e) }}{{ ('<b>'|e|e) }}{{ ('<b>'|e|forceescape) }}{{ ('<b>'|safe|e) }}{{ ('<a>' | safe | upper) + '<' }}{{ ('<a>'|safe|replace('a', '<')) + '<' }}{{ ['<'|safe, '<'] | join('<') + '<' }}{{ ('<'|safe)|string + '<' }}{{ ('a'|safe)|tojson + '<' }}{{ ('%s'|safe) % '<' }}{{ ('%s'|safe)|format('<') }}{{ ('a b'|safe)|title + '<' }}{{ ('<'|safe) * 2 + '<' }}{{ (('a<'|safe)[0]) + '<' }}{{ [('<'|safe)] }}{{ {'a': '<'|safe} | tojson }}{{ ('<'|safe)|list }}{{ ('<'|safe)|trim + '<' }}{{ ('<'|safe).join(['<', 'a'|safe]) }}{{ ('<'|safe).split('x') }}
{% set x %}<b>{% endset %}{{ x + '<' }}{% macro m() %}<{% endmacro %}{{ m() + '<' }}{{ x is escaped }}
{{ 'x'|safe == 'x' }}{{ 'x'|safe in ['x'] }}{{ {'x': 1}['x'|safe] }}{{ ('x'|safe)|length }}{{ ('1'|safe)|int + 1 }}
{{ '{:>5}|{:05.1f}|{!r}'.format('a', 2.55, 'q') }}{{ '{a} {b[0]} {c.x}'.format(a=1, b=[2], c={'x': 3}) }}{{ '{} {}'.format(*[1, 2]) }}{{ '{0.__class__}'.format(1) }}
{{ 'abc'.__class__ }}{{ ''.__class__.__mro__ }}
{{ messages.__class__ }}|{{ messages[0].__class__ }}
{{ messages.append(1) }}
{{ messages[0].update({'a': 1}) }}
{{ messages[0].pop('role') }}
{{ x.y }}
{{ x['y'] }}
{{ x[0] }}
{{ x() }}
{{ x + 1 }}
{{ x | length }}{{ x | list }}{{ x | join }}{{ x | upper }}{{ x ~ 'a' }}{{ x == y }}{{ x in [1] }}{{ 1 in x }}{{ x | first }}{{ x | last }}{{ x | reverse | list }}{{ x | sum }}{{ x | min }}{{ x | sort }}{{ x | unique | list }}{{ x | trim }}{{ x | title }}{{ x | e }}{{ x | safe }}{{ x | string }}{{ x | batch(2) | list }}{{ x | items | list }}{{ x | count }}{{ x | wordcount }}{{ x | default }}
{{ x | int }}
{{ x | float }}
{{ x | abs }}
{{ x | round }}
{{ x | tojson }}
{{ x | dictsort }}
{{ x | replace('a', 'b') }}{{ x | indent }}
{{ none | list }}
{{ none | first }}
{{ none | last }}
{{ none | join }}
{{ none | sort }}
{{ none | upper }}{{ none | trim }}{{ none | string }}{{ none | default('x') }}{{ none | default('x', true) }}{{ none ~ 'x' }}
{{ none | items | list }}
{{ 1 if true }}{{ 1 if false }}{{ (1 if false) is defined }}
{{ raise_exception('boo') }}
{{ raise_exception() }}
REFUSED {% block a %}x{% endblock %}
{% include 'x' %}
{% extends 'x' %}
{% import 'x' as y %}
{% from 'x' import y %}
REFUSED {% autoescape true %}x{% endautoescape %}
{% do x %}
{% trans %}x{% endtrans %}
{% break %}
{% if %}{% endif %}
{{ }}
{{ 1 + }}
{{ [1, }}
{% for %}{% endfor %}
{% set %}
REFUSED {% set loop = 1 %}{{ loop }}
{% set true = 1 %}
{{ 'abc' is string and 'abc' is not none }}{{ 1 is not string }}{{ not 1 is string }}{{ 3 is divisibleby 3 }}{{ 'a' is in 'abc' }}{{ 2 is in [1, 2] }}{{ 1 is eq 1 }}{{ [] is sameas [] }}
{{ 'a' is string is defined }}
{{ 1 is defined and 2 is defined if true else 3 }}
{{ x is defined if true else 1 }}
{{ (x is defined) if true else 1 }}
{{ 1 < 2 < 3 }}{{ 1 < 3 > 2 }}{{ 1 == 1 in [1] }}{{ 'a' in 'abc' not in 'x' }}
{{ -2 ** 2 }}{{ 2 ** 3 ** 2 }}{{ 2 * 3 ~ 4 }}{{ 1 + 2 ~ 3 + 4 }}{{ 7 // 2 * 2 }}{{ -7 % 3 }}{{ not true or true }}{{ 1 or 2 and 0 }}{{ +5 }}{{ --5 }}
{{ [1, 2] + [3] }}{{ (1,) + (2,) }}{{ [0] * 3 }}{{ 2 * (1,) }}{{ [1] == (1,) }}
{{ [] < [1] }}
{{ [1] < (1,) }}
{{ {} < {} }}
{{ 'a' * 3 }}{{ 3 * 'a' }}{{ 'a' * true }}
{{ 'é'.upper() }}{{ 'ß' | upper }}{{ 'ǆ' | title }}{{ 'İ' | lower }}{{ 'ΑΣ' | lower }}
{{ [3, 1, 2] | sort | reverse | list }}{{ [3, 1] | sort | last }}{{ 'cab' | sort }}{{ {'b': 1, 'a': 2} | sort }}
{{ [{'a': 1, 'b': 2}, {'a': 1, 'b': 1}] | sort(attribute='a,b') }}
{% for g in [{'k': 'x', 'v': 1}, {'k': 'y', 'v': 2}, {'k': 'X', 'v': 3}] | groupby('k') %}{{ g.grouper }}{{ g.list | length }}{{ g[0] }}{% endfor %}{% for k, l in [{'k': 2}, {'k': 1}] | groupby('k') %}{{ k }}{{ l }}{% endfor %}{{ [{'a': 1}] | groupby('a') }}
{{ [{'k': 1}, {}] | groupby('k', default=0) }}{{ [{'k': 'a'}, {'k': 'A'}] | groupby('k', case_sensitive=true) }}
{{ 'http://a b/ü?x=1&y' | urlencode }}{{ {'a b': 'c/d', 'e': 1} | urlencode }}{{ [('a', 1)] | urlencode }}{{ 5 | urlencode }}
{{ '<p>a &amp; b</p>  c <!-- x -->d &lt;' | striptags }}
{{ {'a': '<"', 'b': none, 'c': 1} | xmlattr }}{{ {} | xmlattr }}{{ {'a': 1} | xmlattr(false) }}
{{ {'a b': 1} | xmlattr }}
{{ 'foo bar baz qux' | truncate(9) }}{{ 'foo bar baz qux' | truncate(9, true) }}{{ 'foo bar baz qux' | truncate(11) }}{{ 'foo bar baz qux' | truncate(11, false, '..', 0) }}{{ 'foo bar' | truncate(2) }}
{{ 1000000 | filesizeformat }}{{ 1 | filesizeformat }}{{ 123 | filesizeformat }}{{ 1536 | filesizeformat(true) }}{{ 1e30 | filesizeformat }}{{ '2048' | filesizeformat(true) }}
{{ 'a b_c, d' | wordcount }}{{ 'x' | center(5) }}|{{ [1, 2, 3] | batch(2, 0) | list }}{{ range(7) | slice(3) | list }}{{ range(7) | slice(3, 'x') | list }}
REFUSED {{ lipsum() }}
REFUSED {{ 'x' | random }}
REFUSED {{ 'x' | pprint }}
REFUSED {{ 'x' | urlize }}
REFUSED {{ 'x' | wordwrap(3) }}
REFUSED {{ 'x'.encode() }}
REFUSED {{ 'x'.translate({}) }}
REFUSED {{ (1).bit_length() }}
{{ ['a', 'b'] | map('upper') | join }}{{ [1, 2] | map('string') | map('int') | sum }}{{ ['a'] | map('replace', 'a', 'b') | list }}{{ [{'a': {'b': 1}}] | map(attribute='a.b') | list }}{{ [[1, 2]] | map('first') | list }}{{ [[1, 2]] | map(attribute=0) | list }}{{ [{'a': 1}, {}] | map(attribute='a', default='z') | list }}
{{ [1] | map(attribute='a', nope=1) | list }}
{{ [{'a': none}] | selectattr('a') | list }}{{ [{'a': none}] | selectattr('a', 'none') | list }}{{ [{'a': 1}] | selectattr('b', 'defined') | list }}{{ [{'a': 1}] | rejectattr('b', 'defined') | list }}{{ [{'a': 'x'}] | selectattr('a', 'in', ['x', 'y']) | list }}{{ [{'a': 'x'}] | selectattr('a', '==', 'x') | list }}
{{ [1, 2, 3] | reject('equalto', 2) | list }}{{ [1, 'a', none] | select('string') | list }}
{{ ({'a': 1}).items() }}{{ ({'a': 1}).keys() }}{{ ({'a': 1}).values() }}{{ ({'a': 1}).items() | list }}{{ ({'a': 1}).keys()[0] }}{{ ({'a': 1}).items() | first }}{{ ({'a': 1}).items() | length }}{{ ({'a': 1}).keys() is sequence }}{{ ({'a': 1}).keys() | tojson }}
{{ ({'a': 1}).items() | tojson }}
{{ (range(3) | tojson) }}
{{ range(3) is sequence }}{{ range(3) is iterable }}{{ 2 in range(3) }}{{ range(5)[1] }}{{ range(5)[1:3] | list }}{{ range(3) == range(3) }}{{ range(3) == [0, 1, 2] }}{{ range(3) | sum }}{{ range(3).index(2) }}
{{ range(3) + [1] }}
{{ [1, 2, 3] | tojson(indent='--') }}{{ [1] | tojson(indent=true) }}{{ {'é': '<&>\\'"'} | tojson }}{{ 'é' | tojson(ensure_ascii=true) }}{{ [1.0, 1e20, none, true] | tojson }}{{ {} | tojson(indent=2) }}{{ [[], [1]] | tojson(indent=1) }}
{{ namespace(a=1) | tojson }}
{{ ns.x.y }}
{{ not x }}{{ x or 'd' }}{{ x and 'd' }}{{ (x or {}).get('a') }}
"""


def main():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "chat_cases")
    cases = []
    for line in CASES.strip("\n").split("\n"):
        refused = line.startswith("REFUSED ")
        # Backslashes are doubled above, so that this file has no characters that cannot be seen.
        case = {"source": line.removeprefix("REFUSED ").replace("\\\\", "\\")}
        try:
            case["text"] = reference._compile_jinja_template(case["source"]).render(**GIVEN)
        except Exception as error:
            case["error"] = type(error).__name__
        if refused:
            assert "text" in case, line
            case = {"source": case["source"], "refused": True}
        cases.append(case)
    out = os.path.join(sys.argv[1] if len(sys.argv) > 1 else folder, "snippets.json")
    with open(out, "w", encoding="ascii") as f:
        json.dump({"given": GIVEN, "cases": cases}, f, indent=1)
        f.write("\n")
    print(len(cases), "cases,", sum("error" in c for c in cases), "errors,", sum("refused" in c for c in cases), "refused")


main()
