// Chapters 3, 4, 5 and 8: one head, the mask, many heads, cross-attention.
#include "base/as_size.h"
#include "learn/exercises.h"
#include "learn/worked.h"
#include "model/spec/masks.h"
#include "nn/attention.h"

namespace tril::learn {
namespace {

/// The four tokens, but "sat" asks for something else: the chapter prints the results of its own query.
HeadInput another_query() {
  HeadInput in = four_tokens();
  in.q.values[4] = 1, in.q.values[5] = -1;
  return in;
}

std::vector<double> weights_of_sat(const HeadInput& in, const HeadOptions& o) {
  return attend(in, o).weights.row(2);
}

Exercise weights_of_a_query() {
  HeadInput swapped = another_query();
  std::swap(swapped.q, swapped.k);
  return {
      .task =
          {"Q, K and V are those of this chapter, but the query of \"sat\" is (1, -1). Give its four weights, under "
           "the causal mask.",
           "Q、K、V 用本章的数，但 \"sat\" 的查询改为 (1, -1)。写出它在因果掩码下的四个注意力权重。"},
      .answer = weights_of_sat(another_query(), {.causal = true}),
      .mistakes = {{weights_of_sat(another_query(), {.causal = true, .scale = 1}),
                    {"the scores were not divided by sqrt(d_k) = sqrt(2)", "分数没有除以 sqrt(d_k) = sqrt(2)"}},
                   {weights_of_sat(another_query(), {}),
                    {"\"down\" comes after \"sat\": the mask gives it the weight 0",
                     "\"down\" 在 \"sat\" 之后：掩码使它的权重为 0"}},
                   {weights_of_sat(four_tokens(), {.causal = true}),
                    {"these are the weights of the chapter's own query, (0, 2)", "这是本章原来的查询 (0, 2) 的权重"}},
                   {weights_of_sat(swapped, {.causal = true}),
                    {"query and key are swapped: the query is that of \"sat\", the keys are those of all",
                     "查询与键对调了：查询应是 \"sat\" 的，键应是所有词元的"}}}};
}

Exercise result_of_a_query() {
  const HeadInput in = another_query();
  return {.task = {"Give the result of this query: the sum of the values, each times its weight (two numbers).",
                   "写出这个查询的结果：各个值乘以权重后相加（两个数）。"},
          .answer = attend(in, {.causal = true}).result.row(2),
          .mistakes = {{attend(in, {}).result.row(2),
                        {"without the mask: \"sat\" does not see \"down\"", "没有用掩码：\"sat\" 看不到 \"down\""}},
                       {in.v.row(2), {"this is the value of \"sat\" itself", "这是 \"sat\" 自己的值"}}}};
}

std::vector<double> as_numbers(const Tensor& mask) {
  std::vector<double> numbers;
  for (const std::uint8_t x : host_copy<std::uint8_t>(mask)) numbers.push_back(x);
  return numbers;
}

Exercise mask_of_three() {
  Arena arena;
  Context c(arena);
  const Tensor mask = model::causal_mask(c, 3);
  std::vector<double> strict(9, 0);
  strict[3] = strict[6] = strict[7] = 1;
  return {.task = {"Write the causal mask of three tokens row by row: 1 where the query (row) may see the key "
                   "(column), else 0.",
                   "逐行写出三个词元的因果掩码：查询（行）可以看到键（列）时写 1，否则写 0。"},
          .answer = as_numbers(mask),
          .tolerance = 0,
          .mistakes = {{as_numbers(model::flip_mask(c, mask)),
                        {"this is the other convention: here 1 means that the query may see the key",
                         "这是另一种约定：本教程里 1 表示可以看到"}},
                       {strict, {"a token sees itself too", "词元也看得到它自己"}},
                       {{1, 1, 1, 0, 1, 1, 0, 0, 1},
                        {"rows are queries, columns are keys: this is transposed", "行是查询，列是键：这里转置了"}}}};
}

Exercise padded_mask() {
  Arena arena;
  Context c(arena);
  const std::vector<std::int32_t> ids{0, 0, 7, 8};
  return {.task = {"The row \"<pad> <pad> a b\" is padded on the left. Write its mask row by row (16 numbers): causal, "
                   "and no query "
                   "sees padding.",
                   "一行 \"<pad> <pad> a b\" 左侧有填充。逐行写出它的掩码（16 "
                   "个数）：它是因果掩码，而且任何查询都看不到填充。"},
          .answer = as_numbers(model::causal_padding_mask(c, ids, 1, 0)),
          .tolerance = 0,
          .mistakes = {{as_numbers(model::causal_mask(c, 4)),
                        {"the padding is still visible: columns 1 and 2 are 0 in each row",
                         "填充仍然可见：每一行的第 1、2 列都应是 0"}}}};
}

std::int64_t attention_values(std::int64_t d, std::int64_t heads, std::int64_t kv_heads = 0) {
  nn::Parameters p;
  const nn::Attention attention(p, "a", {.d_model = d, .num_heads = heads, .num_kv_heads = kv_heads});
  return p.count();
}

// What attention over the 8 heads of [rows, 512] computes from zeros.
HeadOutput attend_in_heads(std::int64_t queries, std::int64_t keys) {
  const auto zeros = [](std::int64_t rows) { return grid(rows, 512, std::vector<double>(as_size(rows * 512), 0)); };
  return attend({zeros(queries), zeros(keys), zeros(keys)}, {.heads = 8});
}

Exercise size_of_a_head() {
  const auto all = static_cast<double>(attention_values(512, 8));
  constexpr int d_k = 512 / 8;
  return {.task = {"d_model is 512, with 8 heads. Give d_k, and the number of values in W_Q, W_K, W_V and W_O with "
                   "their four biases.",
                   "d_model = 512，8 个头。写出 d_k，以及 W_Q、W_K、W_V、W_O 连同四个偏置一共有多少个数。"},
          .answer = {d_k, all},
          .tolerance = 0,
          .mistakes = {{{d_k, all - 4 * 512}, {"the biases are missing: 4 x 512", "漏了偏置：4 × 512"}},
                       {{d_k, 8 * all},
                        {"heads cut the matrices, they do not multiply them: 8 heads of 64 columns are 512 columns",
                         "多头是把矩阵切开，不是把矩阵复制多份：8 个头各 64 列，共 512 列"}}}};
}

Exercise head_of_a_column() {
  constexpr int texts = 2, heads = 8, tokens = 10, d_k = 512 / heads, head = 200 / d_k;
  return {.task = {"x is (2, 10, 512): 2 texts of 10 tokens. Give the four sizes of Q by head, (texts, heads, tokens, "
                   "d_k) with 8 "
                   "heads, and then the head (from 0) that holds column 200.",
                   "x 的形状是 (2, 10, 512)：2 段文本，各 10 个词元。写出 8 个头时 Q 的四个维度（文本、头、词元、"
                   "d_k），再写出第 200 列"
                   "属于第几个头（列和头都从 0 数起）。"},
          .answer = {texts, heads, tokens, d_k, head},
          .tolerance = 0,
          .mistakes = {
              {{texts, tokens, heads, d_k, head},
               {"this is the shape before the transposition: heads come before tokens, so that each head is a matrix",
                "这是转置之前的形状：头应在词元之前，这样每个头才是一个矩阵"}},
              {{texts, heads, tokens, d_k, head + 1},
               {"heads count from 0: 200 / 64 is 3", "头从 0 数起：200 / 64 取整是 3"}}}};
}

Exercise size_of_cross_scores() {
  const Grid weights = attend_in_heads(10, 15).weights, itself = attend_in_heads(10, 10).weights;
  const auto rows = static_cast<double>(weights.rows) / 8, columns = static_cast<double>(weights.columns),
             all = static_cast<double>(weights.values.size());
  return {.task = {"The target has 10 tokens, the source 15, and there are 8 heads. Give the rows and columns of one "
                   "head's scores in "
                   "cross-attention, and the number of weights of all heads.",
                   "目标句 10 个词元，源句 15 个，8 "
                   "个头。写出交叉注意力中一个头的分数矩阵的行数、列数，以及所有头的权重总数。"},
          .answer = {rows, columns, all},
          .tolerance = 0,
          .mistakes = {{{columns, rows, all},
                        {"queries come from the target and are rows; keys come from the source and are columns",
                         "查询来自目标句，是行；键来自源句，是列"}},
                       {{rows, rows, static_cast<double>(itself.values.size())},
                        {"this is self-attention: the keys are the source's", "这样算的是自注意力：键应来自源句"}}}};
}

HeadInput one_query() {
  return padded_source(grid(1, 2, {1, 1}));
}

Exercise weights_without_padding() {
  return {.task = {"The query is (1, 1). The source's keys are (1, 0), (0, 2) and, of padding, (3, 3). Give the three "
                   "weights by "
                   "the formula of this chapter.",
                   "查询是 (1, 1)。源句的键是 (1, 0)、(0, 2)，还有一个填充的键 (3, 3)。按本章的公式写出三个权重。"},
          .answer = attend(one_query(), {.hidden_keys = {false, false, true}}).weights.values,
          .mistakes = {{attend(one_query(), {}).weights.values,
                        {"the padding is no text: its weight is 0, and the others sum to 1",
                         "填充不是文本：它的权重是 0，其余之和为 1"}},
                       {attend(one_query(), {.hidden_keys = {false, false, true}, .scale = 1}).weights.values,
                        {"the scores were not divided by sqrt(2)", "分数没有除以 sqrt(2)"}}}};
}

}  // namespace

TwoExercises exercises_on_a_head() {
  return {weights_of_a_query, result_of_a_query};
}
TwoExercises exercises_on_the_mask() {
  return {mask_of_three, padded_mask};
}
TwoExercises exercises_on_heads() {
  return {size_of_a_head, head_of_a_column};
}
TwoExercises exercises_on_cross_attention() {
  return {size_of_cross_scores, weights_without_padding};
}

}  // namespace tril::learn
