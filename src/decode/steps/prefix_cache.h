// The beginnings of texts that were read before, with the slots of their keys and values, for texts that begin alike: a
// system prompt, the talk so far, one document and many questions [idea: Kwon et al. 2023, section 4.4; Zheng et al.
// 2024]. Nothing is copied: a row of the cache that begins with a kept text names its slots (nn/kv_cache.h).
//
// Texts are kept in blocks of some tokens, in a tree: a block's children are what has followed it. What was used least
// recently goes first, and no block before those that follow it.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "nn/kv_cache.h"

namespace tril::search {

class PrefixCache {
 public:
  static constexpr std::int32_t block = 16;

  /// @param cache  whose slots they are; must outlive it, and have no window
  /// @param most_tokens  that are kept; 0: none
  PrefixCache(nn::KvCache& cache, std::int64_t most_tokens);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  /// Slots of the longest beginning of a text that is kept, in whole blocks and not the whole text: its last token has to
  /// be read, since what follows it is asked for. They hold until the next keep() or clear().
  /// @param adapter  that the text is read with: another one makes other keys and values of the same tokens
  std::vector<std::int32_t> find(std::span<const std::int32_t> text, std::int32_t adapter = -1);
  /// Keeps what row r of the cache has read: its first tokens are these.
  void keep(std::int64_t r, std::span<const std::int32_t> text, std::int32_t adapter = -1);
  void clear();

  /// That are kept.
  std::int64_t tokens() const { return std::ssize(recent_) * block; }

 private:
  using Tokens = std::array<std::int32_t, block>;
  struct Block {
    Block* before = nullptr;
    Tokens tokens{};
    std::vector<std::int32_t> slots;
    std::map<Tokens, std::unique_ptr<Block>> next;
    std::list<Block*>::iterator place;  ///< among recent_
  };
  static Tokens tokens_at(std::span<const std::int32_t> text, std::int32_t begin);
  void used(Block* last);
  void drop(Block* gone);

  nn::KvCache* cache_;
  std::int64_t most_tokens_;
  std::map<std::int32_t, Block> roots_;  ///< by adapter: of no tokens
  std::list<Block*> recent_;             ///< all but the root, the last used first, each before those that follow it
};

}  // namespace tril::search
