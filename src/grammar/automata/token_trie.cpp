#include "grammar/automata/token_trie.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/element.h"
#include "base/error.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

constexpr std::size_t longest_token = 1024;  // bytes; longer tokens are filler of a corpus

// The characters that tokens can spell: all if each byte of UTF-8 is a token, else those that are tokens.
CharSet spelled(const std::vector<std::string>& bytes) {
  std::vector<char> single(256, 0);
  CharSet chars;
  for (const std::string& b : bytes) {
    if (b.size() == 1) single[static_cast<unsigned char>(b[0])] = 1;
    if (b.empty() || b.size() > 4 || !is_utf8(b)) continue;
    const std::u32string points = code_points(b, "token");
    if (points.size() == 1) chars.push_back({points[0], points[0]});
  }
  bool all_bytes = true;
  for (std::size_t b = 0x80; b < 0xf5; ++b) all_bytes &= single[b] != 0 || b == 0xc0 || b == 0xc1;
  if (all_bytes) chars.push_back({0x80, last_char});
  return intersection(normalized(std::move(chars)), all_chars());
}

}  // namespace

TokenTrie::TokenTrie(std::span<const std::string> bytes) : bytes_(bytes.begin(), bytes.end()) {
  alphabet_ = spelled(bytes_);
  const bool halves = !intersection(alphabet_, {{0x10ffff, 0x10ffff}}).empty();
  // If not every byte is a token, part of a character may have no token that completes it.
  for (std::string& b : bytes_)
    if (b.size() > longest_token || (!halves && !is_utf8(b))) b.clear();

  for (std::size_t id = 0; id < bytes_.size(); ++id)
    if (!bytes_[id].empty()) ids_.push_back(static_cast<std::int32_t>(id));
  std::stable_sort(ids_.begin(), ids_.end(), [&](std::int32_t a, std::int32_t b) {
    return this->bytes(a) < this->bytes(b);  // std::string compares bytes as unsigned
  });
  std::vector<std::int32_t> open;  // the nodes along the last token's bytes
  std::string_view last;
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    const std::string_view text = this->bytes(ids_[i]);
    std::size_t common = 0;
    while (common < std::min(last.size(), text.size()) && last[common] == text[common]) ++common;
    for (; open.size() > common; open.pop_back())
      element(nodes_, open.back()).end = static_cast<std::int32_t>(nodes_.size());
    for (std::size_t d = common; d < text.size(); ++d) {
      open.push_back(static_cast<std::int32_t>(nodes_.size()));
      nodes_.push_back(
          {0, static_cast<std::int32_t>(i), 0, static_cast<std::uint16_t>(d), static_cast<std::uint8_t>(text[d])});
    }
    ++element(nodes_, open.back()).tokens;
    longest_ = std::max(longest_, text.size());
    last = text;
  }
  for (const std::int32_t node : open) element(nodes_, node).end = static_cast<std::int32_t>(nodes_.size());
}

// -1 is the root as an argument, and "no such child" as a result.
std::int32_t TokenTrie::child(std::int32_t node, unsigned char byte) const {
  std::int32_t at = node + 1;
  const std::int32_t end = node < 0 ? static_cast<std::int32_t>(nodes_.size()) : element(nodes_, node).end;
  for (; at < end; at = element(nodes_, at).end)
    if (element(nodes_, at).byte == byte) return at;
  return -1;
}

TokenTrie::Cover TokenTrie::cover(std::string_view text) const {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max() / 2;
  std::vector<Cover> best(text.size() + 1, {none, -1});  // of the text from there on
  best[text.size()] = {};
  for (std::size_t from = text.size(); from-- > 0;) {
    std::int32_t node = -1;
    for (std::size_t at = from; at < text.size(); ++at) {
      node = child(node, static_cast<unsigned char>(text[at]));
      if (node < 0) break;
      const Node& n = element(nodes_, node);
      if (n.tokens > 0 && best[at + 1].tokens + 1 < best[from].tokens)
        best[from] = {best[at + 1].tokens + 1, element(ids_, n.first_token)};
    }
  }
  return best[0].tokens >= none ? Cover{} : best[0];
}

}  // namespace tril::search
