// Mutates chat templates so that tags stay tags: random bytes hardly ever form one. Inserts whole statements, drops and
// doubles tags, replaces words in them. One mutation in four changes bytes instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace tril::fuzz {

class TemplateMutator {
 public:
  explicit TemplateMutator(unsigned seed) : random_(seed) {}

  std::size_t operator()(std::uint8_t* data, std::size_t size, std::size_t most) {
    if (below(4) == 0) return LLVMFuzzerMutate(data, size, most);
    std::vector<std::string> parts = parts_of({reinterpret_cast<const char*>(data), size});
    for (std::size_t n = 1 + below(3); n > 0; --n) mutate(parts);
    std::string text;
    for (const std::string& part : parts) text += part;
    if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
    std::copy(text.begin(), text.end(), data);
    return text.size();
  }

 private:
  static const std::vector<std::string>& statements() {
    static const std::vector<std::string> list{
        "{% for m in messages %}{{ m['role'] + ': ' + m.content|trim }}{% endfor %}",
        "{%- for a, b in messages[0].items() if a != 'role' -%}{{ loop.index ~ b }}{% else %}c{%- endfor %}",
        "{% for x in [[1], [2]] recursive %}{{ loop(x) }}{% break %}{% continue %}{% endfor %}",
        "{% if messages[0].role == 'system' %}{{ bos_token }}{% elif tools is defined %}d{% else %}e{% endif %}",
        "{% set ns = namespace(last=-1, seen=false) %}{% set ns.last = loop.index0 %}{{ ns.last }}",
        "{% set text %}{{ x|default('y', true)|upper }}{% endset %}",
        "{% macro show(a, b=2) %}{{ a|tojson(indent=2) }}{{ caller }}{% endmacro %}{{ show(messages, b=3) }}",
        "{% filter indent(4) %}f{% endfilter %}{% generation %}g{% endgeneration %}{% raw %}{{ h }}{% endraw %}",
        "{{ messages|map(attribute='content')|join(', ') }}{{ messages|selectattr('role', 'equalto', 'user')|list }}",
        "{{ 'a,b'.split(',')[-1:] }}{{ 'x'.strip().title().replace('X', 'y') }}{{ range(3)|sum }}",
        "{% macro w(a) %}{{ varargs }}{{ kwargs }}{{ caller(a) }}{% endmacro %}{% call(x) w(*messages, **{'k': 1}) "
        "%}{{ x }}{% endcall %}",
        "{% with u = messages|map(attribute='role') %}{{ u|first }}{{ u|list }}{% endwith %}{% set v|trim|e %} <b> {% "
        "endset %}{{ v }}",
        "{{ '%5s|%-3d|%(a).2f' % {'a': 1} }}{{ '{:>9}{!r}{0[0]:,}'.format(1, 'b') }}{{ ('<'|safe) + '&' }}{{ {1: 2, "
        "none: 3} }}",
        "{{ messages|groupby('role')|list }}{{ range(9)|batch(2, 'z')|list }}{{ cycler(1, 2).next() }}{{ 'a "
        "b'|truncate(1, end='') }}",
        "{{ raise_exception('i') }}{{ strftime_now('%Y') }}{# j #}{{ (1, 2) if 1 < 2 else {'k': [none]} }}"};
    return list;
  }
  static const std::vector<std::string>& words() {
    static const std::vector<std::string> list{"for",
                                               "in",
                                               "if",
                                               "elif",
                                               "else",
                                               "endif",
                                               "endfor",
                                               "set",
                                               "endset",
                                               "macro",
                                               "endmacro",
                                               "recursive",
                                               "not",
                                               "and",
                                               "or",
                                               "is",
                                               "defined",
                                               "none",
                                               "true",
                                               "iterable",
                                               "string",
                                               "mapping",
                                               "divisibleby(2)",
                                               "eq 1",
                                               "+",
                                               "-",
                                               "*",
                                               "**",
                                               "/",
                                               "//",
                                               "%",
                                               "~",
                                               "|",
                                               "==",
                                               "!=",
                                               "<=",
                                               "(",
                                               ")",
                                               "[",
                                               "]",
                                               "{",
                                               "}",
                                               ",",
                                               ":",
                                               ".",
                                               "=",
                                               "0",
                                               "-1",
                                               "1e9",
                                               "99999999999",
                                               "0.5",
                                               "''",
                                               "'a'",
                                               "\"\\n\"",
                                               "[1:]",
                                               "[::-1]",
                                               "[-2:9:2]",
                                               ".x",
                                               ".items()",
                                               "messages",
                                               "m",
                                               "ns.last",
                                               "loop.index",
                                               "loop.previtem",
                                               "range(9)",
                                               "range(1000000)",
                                               "namespace(a=1)",
                                               "dict(a=1)",
                                               "joiner()",
                                               "|length",
                                               "|trim",
                                               "|tojson",
                                               "|list",
                                               "|sort",
                                               "|unique",
                                               "|dictsort",
                                               "|reverse",
                                               "|round(1, 'floor')",
                                               "|int(0, 16)",
                                               "|float",
                                               "|replace('a', 'b')",
                                               "|batch(2)",
                                               "|items",
                                               "|last",
                                               "|max",
                                               "|string * 9",
                                               "|join('aaaaaaaa')",
                                               "|indent(99, true)",
                                               ".upper()",
                                               ".splitlines()",
                                               ".startswith('a')",
                                               ".format(1)",
                                               "|safe",
                                               "|e",
                                               "|select",
                                               "|map('upper')",
                                               "|slice(3)",
                                               "|striptags",
                                               "|urlencode",
                                               "|xmlattr",
                                               "%",
                                               "*messages",
                                               "**m",
                                               "varargs",
                                               "caller()",
                                               "loop(m)",
                                               "loop.cycle(1, 2)",
                                               "loop.changed(1)",
                                               ".center(99)",
                                               ".partition('a')",
                                               ".index(1)",
                                               ".get('a', 1)"};
    return list;
  }

  // Tags, and the text between them.
  static std::vector<std::string> parts_of(std::string_view text) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at < text.size();) {
      const bool is_tag = text.substr(at).starts_with("{%") || text.substr(at).starts_with("{{");
      std::size_t end = 0;
      if (is_tag) {
        end = text.find(text[at + 1] == '%' ? "%}" : "}}", at + 2);
        end = end == std::string_view::npos ? text.size() : end + 2;
      } else {
        end = std::min({text.find("{%", at), text.find("{{", at), text.size()});
      }
      parts.emplace_back(text.substr(at, end - at));
      at = end;
    }
    return parts;
  }

  void mutate(std::vector<std::string>& parts) {
    const auto place = [&](std::size_t i) { return parts.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t at = below(parts.size() + 1), kind = below(6);
    if (kind == 0 || at == parts.size()) {
      // Separately, so that the statement can be closed elsewhere.
      const std::vector<std::string> added = parts_of(statements()[below(statements().size())]);
      parts.insert(place(at), added.begin(), added.end());
    } else if (kind == 1) {
      parts.erase(place(at));
    } else if (kind == 2) {
      const std::string copy = parts[at];
      parts.insert(place(below(parts.size() + 1)), copy);
    } else {
      change_words(parts[at]);
    }
  }

  void change_words(std::string& part) {
    std::vector<std::size_t> ends;  // of words: a space, or a sign behind a name
    for (std::size_t i = 1; i < part.size(); ++i)
      if (is_name(part[i]) != is_name(part[i - 1])) ends.push_back(i);
    if (ends.empty()) return;
    const std::size_t from = ends[below(ends.size())], to = below(2) == 0 ? from : ends[below(ends.size())];
    const std::string& word = words()[below(words().size())];
    part.replace(std::min(from, to), from < to ? to - from : from - to, below(4) == 0 ? "" : " " + word + " ");
  }

  static bool is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }

  std::mt19937 random_;
};

}  // namespace tril::fuzz
