#include "tokenizer/files/rank_vocabulary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "format/base64.h"
#include "tokenizer/files/gpt2_tokenizer.h"
#include "tokenizer/files/text_lines.h"

namespace tril {
namespace {

constexpr std::size_t most_tokens = 2'000'000;
constexpr std::size_t longest_token = 256;  // bytes: each way to cut a token is looked up
constexpr std::size_t most_merges = 8'000'000;

}  // namespace

BpeParts parts_of_ranks(const std::vector<RankedToken>& tokens, std::int32_t first_id, const std::string& where) {
  std::unordered_map<std::string_view, std::int32_t> rank_of;
  std::array<bool, 256> bytes{};
  for (const RankedToken& t : tokens) {
    const bool sound = !t.bytes.empty() && t.bytes.size() <= longest_token;
    if (!sound)
      fail(where,
           fmt::format("the token of rank {} has {} bytes, expected 1 to {}", t.rank, t.bytes.size(), longest_token));
    if (!rank_of.emplace(t.bytes, t.rank).second)
      fail(where, fmt::format("the token \"{}\" occurs twice", printable(t.bytes)));
    if (t.bytes.size() == 1) bytes[static_cast<unsigned char>(t.bytes[0])] = true;
  }
  const auto missing = std::find(bytes.begin(), bytes.end(), false);
  if (missing != bytes.end())
    fail(where, fmt::format("has no token for the byte {}", missing - bytes.begin()), "download it again");

  std::vector<const RankedToken*> in_order;
  for (const RankedToken& t : tokens) in_order.push_back(&t);
  std::sort(in_order.begin(), in_order.end(), [](const auto* a, const auto* b) { return a->rank < b->rank; });
  BpeParts parts;
  parts.ignore_merges = true;
  struct Cut {
    std::int32_t left, right;
    std::size_t at;
  };
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const auto& [text, rank] = *in_order[i];
    if (i > 0 && in_order[i - 1]->rank == rank) fail(where, fmt::format("two tokens have rank {}", rank));
    parts.vocab.emplace_back(gpt2_letters(text), first_id + rank);
    cuts.clear();
    for (std::size_t at = 1; at < text.size(); ++at) {
      const auto left = rank_of.find(std::string_view(text).substr(0, at)),
                 right = rank_of.find(std::string_view(text).substr(at));
      if (left != rank_of.end() && right != rank_of.end()) cuts.push_back({left->second, right->second, at});
    }
    std::sort(cuts.begin(), cuts.end(),
              [](const Cut& a, const Cut& b) { return std::pair(a.left, a.right) < std::pair(b.left, b.right); });
    if (parts.merges.size() + cuts.size() > most_merges)
      fail(where, fmt::format("its tokens can be merged from others in more than {} ways", most_merges));
    for (const Cut& c : cuts)
      parts.merges.emplace_back(gpt2_letters(std::string_view(text).substr(0, c.at)),
                                gpt2_letters(std::string_view(text).substr(c.at)));
  }
  return parts;
}

std::vector<RankedToken> parse_rank_lines(std::string_view text, const std::string& where) {
  std::vector<RankedToken> tokens;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::string_view row = take_line(text);
    if (row.empty()) continue;
    const std::size_t space = row.find(' ');
    const auto bytes = space == row.npos ? std::nullopt : from_base64(row.substr(0, space));
    std::int32_t rank = -1;
    const std::string_view number = space == row.npos ? "" : row.substr(space + 1);
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (!bytes || error != std::errc() || rest != number.data() + number.size() || rank < 0 ||
        std::cmp_greater_equal(rank, most_tokens))
      fail(fmt::format("{}: line {}", where, line),
           fmt::format("expected a token in base64, a space and its rank, got \"{}\"", printable(row, 60)));
    tokens.push_back({*bytes, rank});
    if (tokens.size() > most_tokens) fail(where, fmt::format("has more than {} tokens", most_tokens));
  }
  return tokens;
}

}  // namespace tril
