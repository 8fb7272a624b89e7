// Damaged character maps are detected before the SentencePiece library follows them out of bounds.
#include "unicode/character_map.h"

#include <gtest/gtest.h>

#include "base/rng.h"
#include "corpus/vocabulary.h"
#include "support/rounds.h"
#include "support/temporary.h"
#include "tokenizer/files/sentencepiece.h"

namespace tril {
namespace {

std::string sound_model() {
  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) lines.emplace_back("a dog runs in the snow, two men play with a red ball");
  VocabularyOptions options;
  options.size = 40;
  return train_sentencepiece(lines, options);
}

// The start of the map's trie: the map follows the name of its rules, a tag and its length; the trie follows its own size.
std::size_t trie_of(const std::string& model) {
  const std::string name = "\x0a\x08nmt_nfkc\x12";
  std::size_t at = model.find(name);
  if (at == std::string::npos) {
    ADD_FAILURE() << "the model has no map";
    return 4;
  }
  at += name.size();
  while (static_cast<unsigned char>(model[at]) >= 0x80) ++at;
  return at + 1 + 4;
}

std::size_t bytes_of_trie(const std::string& model, std::size_t trie) {
  std::size_t bytes = 0;
  for (std::size_t i = 4; i-- > 0;) bytes = bytes << 8 | static_cast<std::uint8_t>(model[trie - 4 + i]);
  return bytes;
}

TEST(CharacterMap, OfATrainedModelIsSound) {
  EXPECT_EQ(character_map_fault(sound_model()), "");
  EXPECT_EQ(character_map_fault(""), "");
}

TEST(CharacterMap, NamesTheFault) {
  const std::string model = sound_model();
  const std::size_t trie = trie_of(model);

  std::string far_root = model;  // the root's jump leads out of the trie
  far_root.replace(trie, 4, std::string("\x00\x02\xff\xff", 4));
  EXPECT_TRUE(contains(character_map_fault(far_root), "unit 0 of its trie leads to unit"))
      << character_map_fault(far_root);

  std::string odd_size = model;
  odd_size[trie - 4] = static_cast<char>(odd_size[trie - 4] + 1);
  EXPECT_TRUE(contains(character_map_fault(odd_size), "does not fit")) << character_map_fault(odd_size);

  std::string large = model;
  large.replace(trie - 4, 4, "\xfc\xff\xff\xff");
  EXPECT_TRUE(contains(character_map_fault(large), "its trie of 4294967292 bytes")) << character_map_fault(large);

  EXPECT_EQ(character_map_fault(model.substr(0, model.size() / 2)), "it is truncated or damaged");
  EXPECT_TRUE(contains(error_of([&] { parse_sentencepiece(far_root, "x.spm"); }),
                       "x.spm: is not a SentencePiece model: its map of characters is damaged"));
}

// A map that passes the check is safe: the library reads every text within bounds.
TEST(CharacterMap, WhatPassesIsSafeToUse) {
  const std::string model = sound_model();
  const std::size_t trie = trie_of(model);
  int refused = 0, passed = 0;
  test::rounds(300, [&](RandomSequence& random) {
    std::string damaged = model;
    const bool anywhere = random.below(2) == 0;
    const std::size_t first = anywhere ? 0 : trie - 4, size = anywhere ? model.size() : 4 + bytes_of_trie(model, trie);
    for (std::uint64_t n = 1 + random.below(20); n > 0; --n)
      damaged[first + random.below(size)] = static_cast<char>(random.below(256));
    const std::string refusal = error_of([&] {
      const auto parsed = parse_sentencepiece(damaged, "x.spm");
      std::vector<int> ids;
      for (const char* text : {"a dog \xef\xac\x81 \xc2\xbd \xef\xbc\xa1", "\xe3\x8c\x80\xe2\x91\xa0 e\xcc\x81"})
        static_cast<void>(parsed->Encode(text, &ids));
    });
    ++(refusal.empty() ? passed : refused);
  });
  EXPECT_GT(refused, 0);
  EXPECT_GT(passed, 0);
}

}  // namespace
}  // namespace tril
