#!/usr/bin/env python3
"""Writes chat_cases/cases.json: chat templates, conversations, and what transformers' apply_chat_template makes of them.

usage: make_chat_cases.py [OUT]     needs transformers and jinja2; the tests that read the file need neither.

The templates are our own. Those named after a family use the constructs that the family's published templates use."""
import datetime
import json
import os
import sys

from transformers.utils import chat_template_utils as reference

NOW = datetime.datetime(2024, 7, 5, 9, 3, 1)


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return NOW


reference.datetime = FixedTime
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}

TEMPLATES = {
    "chatml": """{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}""",
    "llama2": """{% if messages[0]['role'] == 'system' %}
{% set rest = messages[1:] %}{% set preface = messages[0]['content'] %}
{% else %}{% set rest = messages %}{% set preface = false %}{% endif %}
{% for turn in rest %}
{% if (turn['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('user and assistant must take turns') }}{% endif %}
{% if loop.index0 == 0 and preface != false %}
{% set body = '<<SYS>>\\n' + preface + '\\n<</SYS>>\\n\\n' + turn['content'] %}
{% else %}{% set body = turn['content'] %}{% endif %}
{% if turn['role'] == 'user' %}{{ bos_token + '[INST] ' + body.strip() + ' [/INST]' }}
{% elif turn['role'] == 'assistant' %}{{ ' ' + body.strip() + ' ' + eos_token }}{% endif %}
{% endfor %}""",
    "llama3": """{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}{%- set date_string = strftime_now("%d %b %Y") %}{%- endif %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_text = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_text = "" %}
{%- endif %}
{{- "<|start|>system<|end|>\\n\\n" }}
{{- "Today: " + date_string + "\\n\\n" }}
{%- if tools is not none %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_text }}{{- "<|eot|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start|>' + message['role'] + '<|end|>\\n\\n' + message['content'] | trim + '<|eot|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("one call at a time") }}{%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start|>assistant<|end|>\\n\\n' -}}
        {{- '{"name": "' + call.name + '", ' }}
        {{- '"parameters": ' }}
        {{- call.arguments | tojson }}
        {{- "}" }}{{- "<|eot|>" }}
    {%- elif message.role == "tool" %}
        {{- "<|start|>ipython<|end|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable and message.content is not string %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant<|end|>\\n\\n' }}{%- endif %}
""",
    "mistral": """{%- set loop_messages = messages if messages[0]["role"] != "system" else messages[1:] %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("roles must alternate") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}
                    {%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}
                {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {{- "[INST] " + message["content"] + "[/INST]" }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}
            {{- out[:-1] }}
            {{- ', "id": "' + tool_call.id + '"}' }}
            {%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"]|trim + eos_token}}
    {%- elif message["role"] == "tool" %}
        {{- "[TOOL_RESULTS] " + message.content|string + "[/TOOL_RESULTS]" }}
    {%- else %}{{- raise_exception("unknown role " ~ message.role) }}{%- endif %}
{%- endfor %}""",
    "gemma": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}
{% for message in messages %}
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{ '<start_of_turn>' + role + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}
{% endfor %}
{% if add_generation_prompt %}{{'<start_of_turn>model\\n'}}{% endif %}
""",
    "phi3": """{% for message in messages %}{% if message['role'] in ['system', 'user'] %}{{'<|' ~ message['role'] ~ '|>\\n' + message['content'] + '<|end|>\\n'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>\\n' + message['content'] + '<|end|>\\n'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\\n' }}{% else %}{{ eos_token }}{% endif %}""",
    "qwen3": """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- if messages[0].role == 'system' %}{{- messages[0].content + '\\n\\n' }}{%- endif %}
    {{- "# Tools\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- else %}
    {%- if messages[0].role == 'system' %}{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}{%- endif %}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}{%- set content = message.content %}{%- else %}{%- set content = '' %}{%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or reasoning_content) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
                {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
                {{- '<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}{{- content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}""",
    "olmo2": """{{ bos_token }}{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|system|>\\n' + message['content'] + '\\n' }}{% elif message['role'] == 'user' %}{{ '<|user|>\\n' + message['content'] + '\\n' }}{% elif message['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>\\n'  + message['content'] + eos_token + '\\n' }}{% else %}{{ '<|assistant|>\\n'  + message['content'] + eos_token }}{% endif %}{% endif %}{% if loop.last and add_generation_prompt %}{{ '<|assistant|>\\n' }}{% endif %}{% endfor %}""",
    "granite": """{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Today is " ~ strftime_now('%B %d, %Y') ~ "." %}
    {%- if tools and documents %}{%- set system_message = system_message + " Tools and documents." %}
    {%- elif tools %}{%- set system_message = system_message + " Tools." %}
    {%- elif documents %}{%- set system_message = system_message + " Documents." %}
    {%- else %}{%- set system_message = system_message + " Neither." %}{%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|role|>system<|/role|>' + system_message + '<|eot|>\\n' }}
{%- if documents %}
    {{- '<|role|>documents<|/role|>' }}
    {%- for document in documents %}
        {{- 'Document ' + loop.index0 | string + '\\n' }}{{- document['text'] }}
        {%- if not loop.last %}{{- '\\n\\n'}}{%- endif%}
    {%- endfor %}
    {{- '<|eot|>\\n' }}
{%- endif %}
{%- for message in loop_messages %}
    {{- '<|role|>' + message['role'] + '<|/role|>' + (message['content'] or '') + '<|eot|>\\n' }}
    {%- if loop.last and add_generation_prompt %}{{- '<|role|>assistant<|/role|>' }}{%- endif %}
{%- endfor %}""",
    "generation": """{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{{ eos_token }}{% endgeneration %}
{% else %}[{{ m.role }}] {{ m.content }}
{% endif %}{% endfor %}""",
    "white_space": """  {% if true %}
    a {#- gone -#} b
  {%+ if true %}  kept
  {% endif +%}
  c
   {%- if true -%}   d   {%- endif %}

{# one #}
  {# two #}  e
{{ 'x' -}}
   y
{% raw %} {{ not run }} {% if %}{% endraw %}
{{- 'z' }}
{% endif %}
 end
""",
    "filters": """{{ '  a b ' | trim }}|{{ ' abc' | trim(' ac') }}|{{ [1, 2.5, 'x', none, true, {'k': [1]}] }}|{{ 'Ab' | upper }}{{ 'Ab' | lower }}
{{ ['b', 'A', 'c'] | sort | join(',') }} {{ [3, 1, 2] | sort(reverse=true) }} {{ ['a', 'b', 'a'] | unique | list }}
{{ missing | default('none here') }} {{ '' | default('x', true) }} {{ 0 | default(5) }} {{ none | default('y') }}
{{ messages | map(attribute='role') | join(' ') }} {{ messages | selectattr('role', 'ne', 'user') | map(attribute='content') | list | length }}
{{ messages | rejectattr('role', 'equalto', 'user') | list | length }} {{ [1, 2, 3, 4] | select('odd') | list }} {{ [0, 1, ''] | reject | list }}
{{ {'b': 1, 'a': [1, {'c': none}]} | tojson }} {{ {'b': 1, 'a': 2} | tojson(sort_keys=true) }} {{ {'b': 1} | tojson(separators=(',', ':')) }}
{{ {'b': [1, 2], 'e': [], 'f': {}} | tojson(indent=2) }} {{ 'é"\\n' | tojson }} {{ 'é' | tojson(ensure_ascii=true) }}
{{ 'abc' | first }}{{ [1, 2] | last }}{{ 'abc' | reverse }}{{ [1, 2] | reverse | list }} {{ 'a-b-c' | replace('-', '+', 1) }} {{ '12' | int + 1 }} {{ 'x' | int }}
{{ 2.5 | round }} {{ 3.14159 | round(2) }} {{ -3 | abs }} {{ [1, 2, 3] | sum }} {{ [3, 1] | min }}{{ [3, 1] | max }} {{ '1.5' | float }}
{{ {'b': 1, 'a': 2} | dictsort }} {{ {'b': 1, 'a': 2} | items | list }} {{ 'hello world' | title }} {{ 'hELLO' | capitalize }} {{ 'a\\nb\\n\\nc' | indent(2) }}|{{ 'abc' | length }}{{ 'äöü' | count }}""",
    "expressions": """{{ 1 + 2 * 3 - 4 / 2 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }} {{ 10 / 4 }} {{ 1e3 }} {{ 1.0 }} {{ 1e20 }} {{ 0.1 + 0.2 }} {{ 1_000 }}
{{ 'a' ~ 1 ~ none ~ 2.5 }} {{ 'ab' * 3 }} {{ 'a' 'b' }} {{ [1] + [2] }} {{ 1 < 2 < 3 }} {{ 1 < 2 > 5 }} {{ 'a' in 'abc' }} {{ 'x' not in ['x'] }} {{ 'k' in {'k': 1} }}
{{ not true or true and false }} {{ 0 or 'x' }} {{ 1 and 'y' }} {{ 'yes' if 1 else 'no' }} {{ 'yes' if 0 }}| {{ (1, 2) | list }} {{ {'a': 1}.a }} {{ {'a': 1}['a'] }} {{ 'abc'[1] }} {{ 'abc'[-1] }} {{ 'äbc'[1:] }} {{ [1, 2, 3, 4][::2] }} {{ [1, 2, 3][::-1] }} {{ 'abcd'[1:3] }} {{ 'abc'[5:] }}| {{ [1, 2, 3][-2:] }} {{ [1,2,3][:-1] }}
{{ missing }}| {{ missing is defined }} {{ messages.missing is undefined }} {{ none is none }} {{ 3 is odd }} {{ 4 is divisibleby 2 }} {{ 'a' is string }} {{ [] is iterable }} {{ {} is mapping }} {{ 1 is number }} {{ true is boolean }} {{ 1.5 is float }} {{ 2 is integer }} {{ 'a' is in ['a'] }} {{ 1 is sameas 1 }} {{ true is true }} {{ not 1 is none }}
{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.rsplit(',', 1) }} {{ 'Abc'.lower() }}{{ 'abc'.upper() }} {{ 'abc'.title() }} {{ 'xxaxx'.strip('x') }} {{ 'abc'.find('c') }} {{ 'abab'.count('ab') }} {{ '-'.join(['a', 'b']) }} {{ 'abc'.startswith(('x', 'a')) }} {{ 'a\\nb'.splitlines() }} {{ '12'.isdigit() }} {{ 'prefix-x'.removeprefix('prefix-') }}
{{ "it's" }} {{ ["it's", 'q"q', '\\t\\\\'] }} {{ '\\u00e9\\x41\\101' }} {{ range(3) | list }} {{ range(1, 10, 3) | list }} {{ dict(a=1, b='x') }} {{ dict({'a': 1}, b=2).items() | list }} {{ {'a': 1}.get('b', 'other') }} {{ {'a': 1}.get('b') }} {{ {'a': 1, 'b': 2}.keys() | list }} {{ {'a': 1}.values() | list }} {{ 1 == 1.0 }} {{ '1' == 1 }} {{ [1, [2]] == [1, [2]] }}""",
    "control": """{% macro show(x, y='d', z=none) %}<{{ x }},{{ y }},{{ z }}>{% endmacro %}{{ show(1) }}{{ show(1, 2) }}{{ show(z=3, x=0) }}
{% macro down(n) %}{{ n }}{% if n > 0 %}{{ down(n - 1) }}{% endif %}{% endmacro %}{{ down(3) }}
{% for a, b in [[1, 2], [3, 4]] %}{{ a + b }}{% if not loop.last %},{% endif %}{% endfor %}
{% for k, v in {'x': 1, 'y': 2}.items() %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ k }}{{ v }}{{ loop.cycle('odd', 'even') }};{% endfor %}
{% for x in [] %}no{% else %}empty{% endfor %}{% for x in [1, 2, 3, 4, 5] if x is odd %}{{ x }}{{ loop.length }}{% else %}none{% endfor %}
{% for x in range(10) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}
{% set x = 1 %}{% for i in [1, 2] %}{{ x }}{% set x = x + i %}{{ x }};{% endfor %}{{ x }}
{% set ns = namespace(n=0, s='') %}{% for i in [1, 2, 3] %}{% set ns.n = ns.n + i %}{% set ns.s = ns.s ~ i %}{% endfor %}{{ ns.n }}{{ ns.s }}
{% set block %}in {{ x }} block{% endset %}{{ block | upper }}{% set a, b = 1, 2 %}{{ a }}{{ b }}
{% for m in messages %}{{ loop.previtem.role if loop.previtem is defined else 'start' }}>{{ loop.nextitem.role if loop.nextitem is defined else 'end' }} {{ loop.changed(m.role) }} {% endfor %}
{% filter upper %}shout {{ x }}{% endfilter %}{% if false %}a{% elif x == 1 %}b{% else %}c{% endif %}{% for c in 'äb' %}[{{ c }}]{% endfor %}{% for k in {'p': 1} %}{{ k }}{% endfor %}""",
}

TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Tells the weather",
          "parameters": {"type": "object", "properties": {"place": {"type": "string", "description": "a town é"}},
                         "required": ["place"]}}},
         {"type": "function", "function": {"name": "time", "description": "Tells the time", "parameters": {}}}]
CALL = [{"id": "abc123def", "type": "function", "function": {"name": "weather", "arguments": {"place": "Köln", "days": 2}}}]
CHATS = {
    "question": [{"role": "user", "content": "  Who wrote \"Faust\"?\n"}],
    "turns": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " Hi there! "},
              {"role": "user", "content": "Count: 1\n2\n3 é 世界 \U0001f600"}],
    "system": [{"role": "system", "content": "Be brief. "}, {"role": "user", "content": "Why?"},
               {"role": "assistant", "content": "<think>\nhm\n</think>\n\nBecause."}, {"role": "user", "content": "Oh?"}],
    "tool": [{"role": "user", "content": "Weather in Köln?"}, {"role": "assistant", "content": "", "tool_calls": CALL},
             {"role": "tool", "name": "weather", "content": "rain"}, {"role": "assistant", "content": "It rains."}],
    "wrong_order": [{"role": "assistant", "content": "First"}, {"role": "user", "content": "Second"}],
}


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "chat_cases")
    cases = []
    for name, template in TEMPLATES.items():
        for chat, messages in CHATS.items():
            for variant in ({}, {"add_generation_prompt": True, "tools": TOOLS},
                            {"add_generation_prompt": True, "documents": [{"title": "A", "text": "One."}, {"title": "B", "text": "Two."}],
                             "enable_thinking": False}):
                given = dict(tools=None, documents=None, add_generation_prompt=False)
                given.update(variant)
                case = {"template": name, "chat": chat, "variant": variant}
                try:
                    rendered, _ = reference.render_jinja_template([messages], chat_template=template, **given, **SPECIAL)
                    case["text"] = rendered[0]
                except Exception as error:  # what the template refuses, or Jinja does
                    case["error"] = type(error).__name__
                cases.append(case)
    with open(os.path.join(out, "cases.json"), "w", encoding="ascii") as f:
        json.dump({"special_tokens": SPECIAL, "now": NOW.strftime("%Y-%m-%d %H:%M:%S"), "templates": TEMPLATES,
                   "chats": CHATS, "cases": cases}, f, indent=1)
        f.write("\n")
    print(len(cases), "cases,", sum("error" in c for c in cases), "refused")


main()
