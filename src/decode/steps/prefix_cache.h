// The prefix cache: keys and values of earlier texts, reused by texts with the same beginning, such as a system prompt, the
// conversation so far, or one document with many questions [Kwon et al. 2023, section 4.4; Zheng et al. 2024]. Nothing is
// copied: a row that begins with a cached prefix refers to its slots (nn/kv_cache.h).
//
// Texts are cached in blocks of `block` tokens, as a tree: a block's children are the blocks that have followed it. The least
// recently used block is dropped first, but never before its children.
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

  /// @param cache        holds the slots; must outlive this object and have no window
  /// @param most_tokens  the maximum number of cached tokens
  PrefixCache(nn::KvCache& cache, std::int64_t most_tokens);
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  /// The slots of the longest cached prefix of a text, in whole blocks. The prefix is shorter than the text, because the last
  /// token must be read to get its logits. The slots are valid until the next keep() or clear().
  /// @param adapter  the text's adapter; prefixes are shared only among texts with the same adapter
  std::vector<std::int32_t> find(std::span<const std::int32_t> text, std::int32_t adapter = -1);
  /// Caches the beginning of row r, whose first tokens are `text`.
  void keep(std::int64_t r, std::span<const std::int32_t> text, std::int32_t adapter = -1);
  void clear();

  /// The number of cached tokens.
  std::int64_t tokens() const { return std::ssize(recent_) * block; }

 private:
  using Tokens = std::array<std::int32_t, block>;
  struct Block {
    Block* before = nullptr;
    Tokens tokens{};
    std::vector<std::int32_t> slots;
    std::map<Tokens, std::unique_ptr<Block>> next;
    std::list<Block*>::iterator place;  ///< in recent_
  };
  static Tokens tokens_at(std::span<const std::int32_t> text, std::int32_t begin);
  void used(Block* last);
  void drop(Block* gone);

  nn::KvCache* cache_;
  std::int64_t most_tokens_;
  std::map<std::int32_t, Block> roots_;  ///< by adapter; a root has no tokens
  std::list<Block*> recent_;  ///< all blocks but the roots, most recently used first, parents before children
};

}  // namespace tril::search
