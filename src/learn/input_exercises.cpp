// Chapters 1 and 2: ids, embedding, positions.
#include <array>
#include <cmath>

#include "learn/exercises.h"
#include "learn/worked.h"
#include "nn/layers.h"

namespace tril::learn {
namespace {

double table_values(std::int64_t vocabulary, std::int64_t d) {
  nn::Parameters p;
  const nn::Embedding table(p, "table", vocabulary, d, {});
  return static_cast<double>(p.count());
}

Exercise ids_of_a_sentence() {
  constexpr std::array<std::string_view, 7> words{"the", "cat", "sat", "on", "the", "rug", "</s>"};
  return {
      .task =
          {"The vocabulary is </s> 0, <unk> 1, the 2, cat 3, sat 4, on 5, mat 6. Give the ids of \"the cat sat on the "
           "rug\", with </s> at the end.",
           "词表：</s> 0，<unk> 1，the 2，cat 3，sat 4，on 5，mat 6。写出 \"the cat sat on the rug\" 的编号，末尾加 "
           "</s>。"},
      .answer = ids_of(words),
      .mistakes = {
          {{2, 3, 4, 5, 2, 6, 0},
           {"rug is not mat: a word that is not in the vocabulary is <unk>, 1",
            "rug 不是 mat：词表里没有的词记作 <unk>，编号 1"}},
          {{0, 2, 3, 4, 5, 2, 1}, {"</s> stands at the end, not at the beginning", "</s> 应在末尾，不在开头"}}}};
}

Exercise size_of_the_table() {
  return {
      .task = {"A model has 32,000 tokens and vectors of 512 values. How many values does its embedding table have?",
               "词表有 32,000 个词元，向量有 512 维。词嵌入表一共有多少个数？"},
      .answer = {table_values(32'000, 512)},
      .tolerance = 0,
      .mistakes = {{{32'000 + 512}, {"the table has a row for each token: multiply", "每个词元占一行：应当相乘"}}}};
}

Exercise position_one() {
  const auto row = [](const Grid& g, std::int64_t i) { return g.row(i); };
  return {.task = {"Give PE(1) for d = 4, by the equation PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i + 1) = "
                   "cos(the same).",
                   "d = 4，按公式 PE(pos, 2i) = sin(pos / 10000^(2i/d))，PE(pos, 2i + 1) = cos(同一角度)，写出 PE(1) "
                   "的四个数。"},
          .answer = row(sinusoids(2, 4), 1),
          .mistakes = {
              {row(sinusoids(2, 4, false), 1),
               {"these are all sines, then all cosines, as in the authors' code; the equation alternates them",
                "这里先是全部正弦，再是全部余弦（作者代码的排法）；公式里两者交替出现"}},
              {row(sinusoids(2, 4), 0), {"this is position 0: positions count from 0", "这是位置 0：位置从 0 数起"}},
              {{std::sin(std::acos(-1) / 180), std::cos(std::acos(-1) / 180), std::sin(0.01 * std::acos(-1) / 180),
                std::cos(0.01 * std::acos(-1) / 180)},
               {"the angle is in radians, not degrees", "角的单位是弧度，不是度"}}}};
}

Exercise embedding_with_position() {
  constexpr std::array<double, 4> e{0.1, -0.2, 0.3, 0};
  return {.task = {"A token has the embedding (0.1, -0.2, 0.3, 0) and stands at position 1. Give the vector that "
                   "enters the first "
                   "layer: sqrt(d) times the embedding, plus PE(1).",
                   "某词元的嵌入是 (0.1, -0.2, 0.3, 0)，位置是 1。写出进入第一层的向量：嵌入乘 sqrt(d)，再加 PE(1)。"},
          .answer = embedded(e, 1),
          .mistakes = {
              {embedded(e, 1, false), {"the embedding was not multiplied by sqrt(4) = 2", "嵌入没有乘 sqrt(4) = 2"}},
              {embedded(e, 0), {"this is the vector at position 0", "这是位置 0 的向量"}}}};
}

}  // namespace

TwoExercises exercises_on_ids() {
  return {ids_of_a_sentence, size_of_the_table};
}
TwoExercises exercises_on_positions() {
  return {position_one, embedding_with_position};
}

}  // namespace tril::learn
