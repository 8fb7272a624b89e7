#include "decode/texts/logit_bias.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace tril::search {
namespace {

template <class T>
std::optional<T> number_of(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The tokens that are exactly this text: one or two.
std::vector<std::int32_t> single_tokens(const std::string& text, const Tokenizer& tokenizer, const std::string& where) {
  std::vector<std::int32_t> found;
  std::size_t fewest = 0;
  for (const std::string& form : {text, " " + text}) {
    const std::vector<std::int32_t> ids = tokenizer.encode(form, Side::target);
    if (fewest == 0 || ids.size() < fewest) fewest = ids.size();
    if (ids.size() == 1 && std::find(found.begin(), found.end(), ids[0]) == found.end()) found.push_back(ids[0]);
  }
  if (found.empty())
    fail_usage(where, fmt::format("\"{}\" is not a single token: it has {}", printable(text), fewest),
               "give a token's id; `bad_words` forbids texts of several tokens");
  return found;
}

struct TokensAndBias {
  std::vector<std::int32_t> tokens;
  double bias;
};

TokensAndBias tokens_and_bias(const std::string& pair, const Tokenizer& tokenizer, const std::string& where) {
  const std::size_t equals = pair.rfind('=');
  const auto bias =
      equals == std::string::npos ? std::nullopt : number_of<double>(std::string_view(pair).substr(equals + 1));
  if (equals == 0 || !bias || !(*bias >= -most_bias && *bias <= most_bias))
    fail_usage(where, fmt::format("expected TOKEN=BIAS with a bias from -100 to 100, got \"{}\"", printable(pair)),
               "for example 5=-100, which forbids token 5, or the=2");
  const std::string token = pair.substr(0, equals);
  const auto id = number_of<std::int32_t>(token);
  if (!id) return {single_tokens(token, tokenizer, where), *bias};
  check(*id >= 0 && *id < tokenizer.size(Side::target), where, "there is no token {}: the vocabulary has {}", *id,
        tokenizer.size(Side::target));
  return {{*id}, *bias};
}

}  // namespace

void add_bias(std::int32_t id, double bias, SearchPlan& options) {
  if (bias <= -most_bias) return options.suppress_ids.push_back(id);
  const auto known =
      std::find_if(options.logit_bias.begin(), options.logit_bias.end(), [&](const auto& b) { return b.first == id; });
  if (known != options.logit_bias.end())
    known->second += static_cast<float>(bias);
  else if (bias != 0)
    options.logit_bias.emplace_back(id, static_cast<float>(bias));
}

void add_biases(std::span<const std::string> pairs, const Tokenizer& tokenizer, const std::string& where,
                SearchPlan& options) {
  std::map<std::int32_t, std::string> known;  // by token: the pair that set its bias
  for (const std::string& pair : pairs) {
    const auto [tokens, bias] = tokens_and_bias(pair, tokenizer, where);
    for (const std::int32_t id : tokens) {
      const auto [first, is_new] = known.emplace(id, pair);
      if (!is_new)
        fail_usage(
            where,
            fmt::format("\"{}\" and \"{}\" are both for token {}", printable(first->second), printable(pair), id),
            "give each token one bias");
      add_bias(id, bias, options);
    }
  }
}

}  // namespace tril::search
