#include "document/office/paragraph_content.h"

#include <algorithm>
#include <set>

namespace tril::document {

std::size_t RunProperties::number(Range raw, std::string key) {
  const auto [known, is_new] = numbers_.emplace(std::move(key), numbers_.size());
  if (is_new) paragraph_.properties.push_back(raw);
  return known->second;
}

std::vector<Inline> divided_text(std::string_view words, std::size_t properties,
                                 std::size_t (*size_of_mark)(std::string_view)) {
  std::vector<Inline> parts;
  const auto add = [&](Inline::Kind kind, std::string_view part) {
    if (!part.empty()) parts.push_back({.kind = kind, .properties = properties, .words = std::string(part)});
  };
  std::size_t done = 0;
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t size = size_of_mark(words.substr(at));
    if (size > 0) {
      add(Inline::text, words.substr(done, at - done));
      add(Inline::boundary, words.substr(at, size));
      done = at + size;
    }
    at += std::max<std::size_t>(size, 1);
  }
  add(Inline::text, words.substr(done));
  return parts;
}

std::vector<Inline> tabbed_text(std::string_view words, std::size_t properties) {
  const bool in_lines = words.find_first_of("\r\n") != std::string_view::npos;
  const auto tab = [](std::string_view text) -> std::size_t { return text.starts_with('\t') ? 1 : 0; };
  const auto none = [](std::string_view) -> std::size_t { return 0; };
  return in_lines ? divided_text(words, properties, none) : divided_text(words, properties, tab);
}

namespace {

// Makes pairs of ends that are properly nested; the others become points.
void match_nested_ranges(std::vector<Inline>& inlines, const std::vector<std::string>& names) {
  std::vector<std::size_t> open;               // tags of pairs, and first ends that have not met their second
  std::set<std::string, std::less<>> waiting;  // names of first ends
  const auto give_up = [&] {
    inlines[open.back()].kind = Inline::point;
    waiting.erase(names[open.back()]);
    open.pop_back();
  };
  for (std::size_t i = 0; i < inlines.size(); ++i) {
    const bool is_range = !names[i].empty();
    if (inlines[i].kind == Inline::open) {
      if (is_range && !waiting.insert(names[i]).second)
        inlines[i].kind = Inline::point;  // a second one of the same name
      else
        open.push_back(i);
    } else if (inlines[i].kind == Inline::close && !is_range) {
      while (!names[open.back()].empty()) give_up();
      open.pop_back();
    } else if (is_range && waiting.erase(names[i]) == 0) {
      inlines[i].kind = Inline::point;
    } else if (is_range) {
      while (!open.empty() && !names[open.back()].empty() && names[open.back()] != names[i]) give_up();
      if (!open.empty() && names[open.back()] == names[i])
        open.pop_back();
      else
        inlines[i].kind = Inline::point;  // its first end is outside of a pair that it is in
    }
  }
  while (!open.empty())
    if (names[open.back()].empty())
      open.pop_back();
    else
      give_up();
}

}  // namespace

void match_ranges(std::vector<Inline>& inlines, const std::vector<std::string>& names) {
  std::vector<Inline::Kind> before;
  for (const Inline& x : inlines) before.push_back(x.kind);
  match_nested_ranges(inlines, names);
  std::map<std::string_view, std::size_t> begins;
  for (std::size_t i = 0; i < inlines.size(); ++i) {
    if (names[i].empty() || inlines[i].kind != Inline::point) continue;
    if (before[i] == Inline::open)
      begins[names[i]] = i + 1;
    else if (const auto begin = begins.find(names[i]); begin != begins.end())
      inlines[i].begin = begin->second, begins.erase(begin);
  }
}

ParagraphContent plain_element(const XmlNodes& nodes, std::size_t element) {
  ParagraphContent content{.paragraph = {.at = nodes[element].inside}};
  for (std::size_t n = element + 1; n < nodes[element].next; n = nodes[n].next) {
    if (nodes[n].kind == XmlNode::text || nodes[n].kind == XmlNode::cdata)
      content.inlines.push_back({.kind = Inline::text, .words = nodes.text(n)});
    else
      content.inlines.push_back({.kind = Inline::point, .raw = nodes[n].at});
  }
  return content;
}

}  // namespace tril::document
