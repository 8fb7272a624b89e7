#include "grammar/automata/token_trie.h"

#include <algorithm>
#include <numeric>
#include <string_view>

#include "base/element.h"
#include "base/error.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

// What JSON's strings and the dot of regular expressions have in common: no control characters, quotation mark,
// backslash or separators of lines.
const CharSet text_chars{{0x20, 0x21}, {0x23, 0x5b}, {0x5d, 0x7e}, {0x80, 0x2027}, {0x202a, last_char}};

constexpr std::size_t longest_token = 1024;  // bytes; longer tokens are filler of a corpus

// The characters that tokens can spell: all if each byte of UTF-8 is a token, else those that are tokens.
CharSet spelled(std::span<const std::string> bytes) {
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

// The bytes of the tokens that may be used.
std::vector<std::string> usable(std::span<const std::string> bytes, const CharSet& alphabet) {
  std::vector<std::string> used(bytes.begin(), bytes.end());
  const bool halves = !intersection(alphabet, {{0x10ffff, 0x10ffff}}).empty();
  // If not every byte is a token, part of a character may have no token that completes it.
  for (std::string& b : used)
    if (b.size() > longest_token || (!halves && !is_utf8(b))) b.clear();
  return used;
}

}  // namespace

TokenTrie::TokenTrie(std::span<const std::string> bytes)
    : alphabet_(spelled(bytes)), bytes_(usable(bytes, alphabet_)), plain_(bytes_, intersection(text_chars, alphabet_)) {
  for (std::size_t id = 0; id < bytes_.size(); ++id)
    if (!bytes_[id].empty()) ids_.push_back(static_cast<std::int32_t>(id));
  std::stable_sort(ids_.begin(), ids_.end(), [&](std::int32_t a, std::int32_t b) {
    return this->bytes(a) < this->bytes(b);  // std::string compares bytes as unsigned
  });
  std::string_view last;
  for (const std::int32_t id : ids_) {
    const std::string_view token = this->bytes(id);
    if (std::ssize(token) <= PlainTokens::longest) continue;
    const auto differs = std::mismatch(last.begin(), last.end(), token.begin(), token.end()).first;
    long_tokens_.push_back({id, static_cast<std::size_t>(differs - last.begin())});
    last = token;
  }
  build();
}

// Level by level, so that the children of a node are made one after another.
void TokenTrie::build() {
  struct Range {
    std::int64_t begin, end;  // in ids_: the tokens at the node and below it, which share their first bytes
  };
  std::vector<Range> ranges{{0, std::ssize(ids_)}};
  nodes_.emplace_back();
  std::size_t depth = 0;
  for (std::int64_t n = 0, level_end = 1; n < std::ssize(nodes_); ++n) {
    if (n == level_end) ++depth, level_end = std::ssize(nodes_);
    const Range range = element(ranges, n);
    std::int64_t at = range.begin;
    while (at < range.end && bytes(element(ids_, at)).size() == depth) ++at;
    const std::int64_t first_child = std::ssize(nodes_);
    while (at < range.end) {
      const std::int64_t begin = at;
      const auto byte = static_cast<std::uint8_t>(bytes(element(ids_, at))[depth]);
      while (at < range.end && static_cast<std::uint8_t>(bytes(element(ids_, at))[depth]) == byte) ++at;
      ranges.push_back({begin, at});
      nodes_.push_back({.byte = byte});
    }
    Node& node = element(nodes_, n);
    node.first_child = static_cast<std::int32_t>(first_child);
    node.children = static_cast<std::uint16_t>(std::ssize(nodes_) - first_child);
    node.first_token = static_cast<std::int32_t>(range.begin);
    const std::int64_t end = node.children > 0 ? element(ranges, first_child).begin : range.end;
    node.tokens = static_cast<std::int32_t>(end - range.begin);
  }
  // From the last node to the first, since a node's descendants follow it.
  for (std::int64_t n = std::ssize(nodes_) - 1; n >= 0; --n) {
    Node& node = element(nodes_, n);
    longest_ = std::max(longest_, node.tokens > 0 ? bytes(ids(node)[0]).size() : 0);
    if (node.tokens > 0) {
      node.most_plain_chars = static_cast<std::uint8_t>(plain_beginning(ids(node)[0]));
      if (is_odd(ids(node)[0])) node.below |= odd;
    }
    for (const Node& child : children(node)) {
      node.most_plain_chars = std::max(node.most_plain_chars, child.most_plain_chars);
      node.below |= child.below | byte_set(child.byte);
    }
  }
}

TokenTrie::ByteSet TokenTrie::byte_set(unsigned char byte) {
  const auto bit = [](int n) { return ByteSet{1} << n; };
  if (byte >= 0x80) return bit(0);
  if (byte < 0x20) return bit(1);
  if (byte <= '/') return bit(2 + byte - ' ');
  if (byte <= '9') return bit(18);
  if (byte <= '@') return bit(19 + byte - ':');
  if (byte <= 'Z') return bit(26 + (byte - 'A') / 2);
  if (byte <= '`') return bit(39 + byte - '[');
  if (byte <= 'z') return bit(45 + (byte - 'a') / 2);
  return bit(58 + byte - '{');  // up to 0x7f
}

bool TokenTrie::is_odd(std::int32_t id) const {
  const std::string& token = bytes(id);
  return plain_.chars(id) == 0 && std::ssize(token) <= PlainTokens::longest &&
         std::all_of(token.begin(), token.end(), [&](char byte) {
           const auto value = static_cast<unsigned char>(byte);
           return value >= 0x80 || plain_.chars()[value];
         });
}

// The characters before the first one of ASCII that is not plain. All others beyond ASCII count: see `odd`.
std::int64_t TokenTrie::plain_beginning(std::int32_t id) const {
  if (std::ssize(bytes(id)) > PlainTokens::longest) return 0;
  std::int64_t chars = 0;
  for (const char byte : bytes(id)) {
    const auto value = static_cast<unsigned char>(byte);
    if (value < 0x80 && !plain_.chars()[value]) break;
    if ((value & 0xc0) != 0x80) ++chars;
  }
  return chars;
}

const TokenTrie::Node* TokenTrie::child(const Node& node, unsigned char byte) const {
  const std::span<const Node> list = children(node);
  const auto found = std::lower_bound(list.begin(), list.end(), byte,
                                      [](const Node& n, unsigned char value) { return n.byte < value; });
  return found == list.end() || found->byte != byte ? nullptr : &*found;
}

}  // namespace tril::search
