#include "terms/protected_text.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "document/segments/html_tags.h"
#include "document/segments/string_tokens.h"

namespace tril::terms {
namespace {

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

bool is_ascii_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

// The end of an address that begins before `at`: at white space or a quotation mark, without the punctuation of the sentence.
std::size_t end_of_address(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size() && !is_ascii_space(text[at]) && std::string_view("<>\"`|").find(text[at]) == text.npos &&
         static_cast<unsigned char>(text[at]) < 0x80)
    ++at;
  while (at > begin && std::string_view(".,;:!?)]}'*").find(text[at - 1]) != text.npos) --at;
  return at;
}

// The addresses of a text, by their signs "://", "www." and "@". Each byte is looked at a constant number of times.
std::vector<document::Range> addresses(std::string_view text) {
  std::vector<document::Range> list;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t taken = list.empty() ? 0 : list.back().end;
    std::optional<document::Range> found;
    if (text[at] == ':' && text.substr(at).starts_with("://")) {
      std::size_t begin = at;
      while (begin > taken && (is_alnum(text[begin - 1]) || text[begin - 1] == '+')) --begin;
      if (begin < at) found = document::Range{begin, end_of_address(text, at + 3)};
    } else if ((text[at] == 'w' || text[at] == 'W') && (at == 0 || !is_alnum(text[at - 1])) &&
               (text.substr(at).starts_with("www.") || text.substr(at).starts_with("WWW."))) {
      found = document::Range{at, end_of_address(text, at + 4)};
    } else if (text[at] == '@' && at > taken && at + 1 < text.size() && is_alnum(text[at + 1])) {
      const auto is_local = [](char c) {
        return is_alnum(c) || std::string_view("._%+-").find(c) != std::string_view::npos;
      };
      std::size_t begin = at;
      while (begin > taken && is_local(text[begin - 1])) --begin;
      std::size_t end = at + 1;
      while (end < text.size() && (is_alnum(text[end]) || text[end] == '.' || text[end] == '-')) ++end;
      while (end > at + 1 && !is_alnum(text[end - 1])) --end;
      if (begin < at && text.substr(at, end - at).find('.') != text.npos) found = document::Range{begin, end};
    }
    if (!found) {
      ++at;
      continue;
    }
    list.push_back(*found);
    at = std::max(at + 1, found->end);
  }
  return list;
}

}  // namespace

std::vector<document::Range> protected_ranges(std::string_view text) {
  std::vector<document::Range> list;
  if (text.find_first_of("%{$<@:wW") == text.npos) return list;
  const std::vector<document::Range> sites = addresses(text);
  const document::HtmlTags tags(text);
  const document::Placeholders placeholders(text);
  auto site = sites.begin();
  for (std::size_t at = 0; at < text.size();) {
    while (site != sites.end() && site->end <= at) ++site;
    std::size_t size = 0;
    if (site != sites.end() && site->begin <= at) {
      size = site->end - at;
    } else if (text[at] == '<') {
      const auto tag = tags.at(at);
      if (tag) size = tag->size;
    } else {
      size = placeholders.size_at(at);
    }
    if (size == 0) {
      ++at;
      continue;
    }
    list.push_back({at, at + size});
    at += size;
  }
  return list;
}

}  // namespace tril::terms
