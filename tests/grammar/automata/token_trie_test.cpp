#include "grammar/automata/token_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "support/constraints.h"
#include "support/rounds.h"
#include "unicode/trim.h"

namespace tril::search {
namespace {

// The node that the bytes lead to; null if there is none.
const TokenTrie::Node* at(const TokenTrie& trie, const std::string& bytes) {
  const TokenTrie::Node* node = &trie.node(0);
  for (const char byte : bytes)
    if (node) node = trie.child(*node, static_cast<unsigned char>(byte));
  return node;
}

TEST(TokenTrie, HoldsEachTokenWhereItsBytesLead) {
  std::vector<std::string> list = vocabulary(800, 3);
  list.push_back(list[300]);  // the same bytes again
  const TokenTrie trie(list);
  std::size_t longest = 0;
  for (std::size_t id = 0; id < list.size(); ++id) {
    if (list[id].empty()) continue;
    longest = std::max(longest, list[id].size());
    const TokenTrie::Node* node = at(trie, list[id]);
    ASSERT_NE(node, nullptr) << list[id];
    const auto ids = trie.ids(*node);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), static_cast<std::int32_t>(id)), 1) << list[id];
    for (const std::int32_t other : ids) EXPECT_EQ(trie.bytes(other), list[id]);
  }
  EXPECT_EQ(trie.longest(), longest);
  EXPECT_EQ(at(trie, "no token"), nullptr);
  EXPECT_EQ(trie.node(0).tokens, 0);
}

// By the definition, on the code points.
std::int64_t plain_chars(const std::string& bytes) {
  if (bytes.empty() || bytes.size() > 32 || !is_utf8(bytes)) return 0;
  const std::u32string points = code_points(bytes, "token");
  const bool plain = std::all_of(points.begin(), points.end(), [&](char32_t c) {
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f && c != 0x2028 && c != 0x2029;
  });
  return plain ? std::ssize(points) : 0;
}

// How many characters come before the first one of ASCII that is not plain.
std::int64_t plain_beginning(const std::string& bytes) {
  if (bytes.size() > 32) return 0;
  std::int64_t chars = 0;
  for (const char byte : bytes) {
    if ((byte >= 0 && byte < 0x20) || byte == '"' || byte == '\\' || byte == 0x7f) break;
    if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) ++chars;
  }
  return chars;
}

bool has(std::span<const std::uint64_t> mask, std::size_t id) {
  return (mask[id / 64] >> (id % 64) & 1) != 0;
}

std::vector<std::string> mixed_vocabulary() {
  std::vector<std::string> list = vocabulary(800, 4);
  for (const char* more :
       {"\u00e9t\u00e9", "\u4e2d\u6587", "a\u2028", "\U0001f600b", "\xc3", "word", "words", "word\""})
    list.emplace_back(more);
  for (const std::size_t length : {32, 33, 40}) list.emplace_back(length, 'x'), list.emplace_back(length, ' ');
  list.push_back(std::string(34, 'x') + "\"y"), list.push_back(std::string(34, 'x') + "yz");
  return list;
}

TEST(PlainTokens, AreCountedByTheirCharacters) {
  const std::vector<std::string> list = mixed_vocabulary();
  const TokenTrie trie(list);
  const PlainTokens& plain = trie.plain();
  EXPECT_EQ(plain.most_chars(), 32);
  for (std::size_t id = 0; id < list.size(); ++id) {
    const std::int64_t chars = plain_chars(list[id]);
    EXPECT_EQ(plain.chars(static_cast<std::int32_t>(id)), chars) << list[id];
    for (std::int64_t most = 0; most <= plain.most_chars(); ++most)
      EXPECT_EQ(has(plain.up_to(most), id), chars > 0 && chars <= most) << list[id];
  }
}

TEST(PlainTokens, AreThoseOfTheCharactersThatMayComeFirstAndLater) {
  const std::vector<std::string> list = mixed_vocabulary();
  const TokenTrie trie(list);
  test::rounds(20, [&](RandomSequence& random) {
    PlainTokens::Chars first, later;
    for (std::size_t c = 0; c < first.size(); ++c) first[c] = random.below(3) > 0, later[c] = random.below(6) > 0;
    const std::vector<std::uint64_t> mask = trie.plain().of(first, later);
    std::int64_t found = 0;
    for (std::size_t id = 0; id < list.size(); ++id) {
      bool expected = plain_chars(list[id]) > 0;
      if (expected) {
        const std::u32string points = code_points(list[id], "token");
        for (std::size_t i = 0; i < points.size(); ++i)
          expected &= (i == 0 ? first : later)[std::min<std::size_t>(points[i], PlainTokens::beyond_ascii)];
      }
      EXPECT_EQ(has(mask, id), expected) << list[id];
      if (expected) ++found;
    }
    EXPECT_GT(found, 0);
  });
}

TEST(TokenTrie, ListsLongTokensWithWhatTheyHaveInCommon) {
  const std::vector<std::string> list = mixed_vocabulary();
  const TokenTrie trie(list);
  std::vector<std::string> expected;
  for (const std::string& token : list)
    if (token.size() > 32) expected.push_back(token);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(trie.long_tokens().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [id, common] = trie.long_tokens()[i];
    EXPECT_EQ(trie.bytes(id), expected[i]);
    const std::string before = i == 0 ? "" : expected[i - 1];
    EXPECT_EQ(expected[i].substr(0, common), before.substr(0, common));
    EXPECT_TRUE(common == before.size() || before[common] != expected[i][common]) << expected[i];
  }
}

// A node's counts and bytes against those of all tokens that begin with its bytes.
TEST(TokenTrie, KnowsWhatIsBelowEachNode) {
  const std::vector<std::string> list = mixed_vocabulary();
  const TokenTrie trie(list);
  const std::function<void(const TokenTrie::Node&, const std::string&)> expect_below = [&](const auto& node,
                                                                                           const std::string& bytes) {
    std::int64_t most = 0;
    TokenTrie::ByteSet below = 0;
    for (const std::string& token : list) {
      if (token.empty() || !token.starts_with(bytes)) continue;
      most = std::max(most, plain_beginning(token));
      const bool tells = std::any_of(token.begin(), token.end(),
                                     [](char c) { return (c >= 0 && c < 0x20) || c == '"' || c == '\\' || c == 0x7f; });
      if (plain_chars(token) == 0 && !tells && token.size() <= 32) below |= TokenTrie::odd;
      for (const char c : token.substr(bytes.size())) below |= TokenTrie::byte_set(static_cast<unsigned char>(c));
    }
    EXPECT_EQ(node.most_plain_chars, most) << bytes;
    EXPECT_EQ(node.below, below) << bytes;
    for (const TokenTrie::Node& child : trie.children(node)) expect_below(child, bytes + static_cast<char>(child.byte));
  };
  expect_below(trie.node(0), "");
}

}  // namespace
}  // namespace tril::search
