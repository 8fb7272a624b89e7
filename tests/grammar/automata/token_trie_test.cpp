#include "grammar/automata/token_trie.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <functional>

#include "support/constraints.h"
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

// Plain: by the definition, on the code points.
std::int64_t plain_chars(const std::string& bytes, std::size_t kind) {
  if (bytes.empty() || !is_utf8(bytes)) return 0;
  const std::u32string points = code_points(bytes, "token");
  const bool plain = std::all_of(points.begin(), points.end(), [&](char32_t c) {
    if (kind == 1) return c < 0x80 && std::isalnum(static_cast<int>(c)) != 0;
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f && c != 0x2028 && c != 0x2029;
  });
  return plain && std::ssize(points) <= PlainTokens::longest ? std::ssize(points) : 0;
}

TEST(TokenTrie, KnowsPlainTextAtEachNode) {
  std::vector<std::string> list = vocabulary(800, 4);
  for (const char* more : {"\u00e9t\u00e9", "\u4e2d\u6587", "a\u2028", "\U0001f600b", "\xc3", "word", "words"})
    list.emplace_back(more);
  list.emplace_back(32, 'x'), list.emplace_back(33, 'y'), list.emplace_back(40, ' ');
  const TokenTrie trie(list);
  for (std::size_t kind = 0; kind < TokenTrie::kinds; ++kind) {
    std::vector<std::int64_t> counts(PlainTokens::longest + 1);
    for (std::size_t id = 0; id < list.size(); ++id) {
      const std::int64_t chars = plain_chars(list[id], kind);
      EXPECT_EQ(trie.plain(kind).chars(static_cast<std::int32_t>(id)), chars) << list[id];
      if (chars > 0) ++element(counts, chars);
    }
    EXPECT_EQ(trie.plain(kind).most_chars(), 32);
    std::int64_t sum = 0;
    for (std::int64_t chars = 1; chars <= trie.plain(kind).most_chars(); ++chars) {
      sum += element(counts, chars);
      EXPECT_EQ(std::ssize(trie.plain(kind).ids(chars)), element(counts, chars));
      EXPECT_EQ(trie.plain(kind).count_up_to(chars), sum);
      const auto mask = trie.plain(kind).mask_up_to(chars);
      for (std::size_t id = 0; id < list.size(); ++id) {
        const std::int64_t own = plain_chars(list[id], kind);
        EXPECT_EQ((mask[id / 64] >> (id % 64) & 1) != 0, own > 0 && own <= chars) << list[id];
      }
    }
    // A node's count against those of all tokens that begin with its bytes.
    const std::function<void(const TokenTrie::Node&, const std::string&)> expect_most = [&](const auto& node,
                                                                                            const std::string& bytes) {
      std::int64_t most = 0;
      for (const std::string& token : list) {
        if (token.empty() || !token.starts_with(bytes)) continue;
        const std::int64_t chars = plain_chars(token, kind);
        most = std::max<std::int64_t>(most, chars == 0 ? TokenTrie::mixed : chars);
      }
      EXPECT_EQ(node.most_plain_chars[kind], most) << bytes;
      for (const TokenTrie::Node& child : trie.children(node))
        expect_most(child, bytes + static_cast<char>(child.byte));
    };
    expect_most(trie.node(0), "");
  }
}

// By following each token's bytes: those that are not plain are all there, and nothing that leads to plain ones alone.
TEST(TokenTrie, HasAPartThatLeadsToMixedTokens) {
  std::vector<std::string> list = vocabulary(800, 5);
  for (const char* more : {"word", "word\"", "words,\\n", "\xc3"}) list.emplace_back(more);
  const TokenTrie trie(list);
  for (std::size_t kind = 0; kind < TokenTrie::kinds; ++kind) {
    const auto nodes = trie.nodes_to_mixed(kind);
    std::vector<std::string> found;
    const std::function<bool(const TokenTrie::Node&, const std::string&)> walk = [&](const auto& node,
                                                                                     const std::string& bytes) {
      bool leads = false;
      for (const std::int32_t id : trie.ids(node)) {
        EXPECT_EQ(trie.bytes(id), bytes);
        if (trie.plain(kind).chars(id) == 0) found.push_back(bytes), leads = true;
      }
      for (const TokenTrie::Node& child : node.children_in(nodes))
        leads |= walk(child, bytes + static_cast<char>(child.byte));
      EXPECT_TRUE(leads) << bytes;
      return leads;
    };
    walk(nodes[0], "");
    std::vector<std::string> expected;
    for (std::size_t id = 0; id < list.size(); ++id)
      if (!list[id].empty() && trie.plain(kind).chars(static_cast<std::int32_t>(id)) == 0) expected.push_back(list[id]);
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, expected);
    EXPECT_LT(nodes.size(), trie.nodes().size());
  }
}

}  // namespace
}  // namespace tril::search
