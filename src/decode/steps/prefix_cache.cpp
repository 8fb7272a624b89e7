#include "decode/steps/prefix_cache.h"

#include <algorithm>

#include "base/error.h"

namespace tril::search {

PrefixCache::PrefixCache(nn::KvCache& cache, std::int64_t most_tokens) : cache_(&cache), most_tokens_(most_tokens) {
  check(most_tokens >= 0, "prefix cache", "expected at least 0 tokens, got {}", most_tokens);
  check(cache.options().window == 0, "prefix cache",
        "is not supported with a window of {} tokens, which drops the beginnings", cache.options().window);
}

PrefixCache::~PrefixCache() {
  clear();
}

PrefixCache::Tokens PrefixCache::tokens_at(std::span<const std::int32_t> text, std::int32_t begin) {
  Tokens tokens;
  std::copy_n(text.begin() + begin, block, tokens.begin());
  return tokens;
}

// Marks a block and its ancestors as used, from the last to the first, so that parents come before children.
void PrefixCache::used(Block* last) {
  for (; last->before; last = last->before) recent_.splice(recent_.begin(), recent_, last->place);
}

std::vector<std::int32_t> PrefixCache::find(std::span<const std::int32_t> text, std::int32_t adapter) {
  std::vector<std::int32_t> slots;
  Block* at = &roots_[adapter];
  for (std::int32_t begin = 0; begin + block < std::ssize(text); begin += block) {
    const auto next = at->next.find(tokens_at(text, begin));
    if (next == at->next.end()) break;
    at = next->second.get();
    slots.insert(slots.end(), at->slots.begin(), at->slots.end());
  }
  used(at);
  return slots;
}

void PrefixCache::keep(std::int64_t r, std::span<const std::int32_t> text, std::int32_t adapter) {
  const std::int64_t most = std::min<std::int64_t>(std::ssize(text), most_tokens_);
  Block* at = &roots_[adapter];
  for (std::int32_t begin = 0; begin + block <= most; begin += block) {
    const Tokens tokens = tokens_at(text, begin);
    auto next = at->next.find(tokens);
    if (next == at->next.end()) {
      auto fresh = std::make_unique<Block>();
      fresh->before = at;
      fresh->tokens = tokens;
      fresh->slots = cache_->hold(r, begin, begin + block);
      fresh->place = recent_.insert(recent_.begin(), fresh.get());
      next = at->next.emplace(tokens, std::move(fresh)).first;
    }
    at = next->second.get();
  }
  used(at);
  while (this->tokens() > most_tokens_) drop(recent_.back());
}

void PrefixCache::drop(Block* gone) {
  check(gone->next.empty(), "prefix cache", "a block would be dropped before its children");
  cache_->let_go(gone->slots);
  recent_.erase(gone->place);
  const Tokens tokens = gone->tokens;
  gone->before->next.erase(tokens);
}

void PrefixCache::clear() {
  while (!recent_.empty()) drop(recent_.back());
}

}  // namespace tril::search
