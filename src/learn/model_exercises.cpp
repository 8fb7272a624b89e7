// Chapters 6, 7, 9 and 14: norms, feed-forward, the whole decoder, what changed since 2017.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/progress.h"
#include "format/json_file.h"
#include "learn/exercises.h"
#include "learn/worked.h"
#include "model_io/source/registry.h"
#include "nn/attention.h"
#include "nn/layers.h"

namespace tril::learn {
namespace {

constexpr std::array<double, 4> x_to_norm{1, 2, 3, 6};

Exercise layer_norm_of_four() {
  std::vector<double> sample = layer_normed(x_to_norm), centred, rms = rms_normed(x_to_norm), squared;
  for (double& v : sample) v *= std::sqrt(3.0 / 4.0);
  for (const double v : x_to_norm) centred.push_back(v - 3), squared.push_back((v - 3) / 3.5);
  return {.task = {"Give the layer norm of (1, 2, 3, 6), with g = 1 and b = 0.",
                   "写出 (1, 2, 3, 6) 做层归一化的结果（g = 1，b = 0）。"},
          .answer = layer_normed(x_to_norm),
          .mistakes = {{sample, {"the variance is divided by 4, not by 3", "算方差时应除以 4，不是 3"}},
                       {rms,
                        {"this is the RMS norm: the layer norm subtracts the mean first",
                         "这是 RMS 归一化：层归一化要先减均值"}},
                       {squared, {"divide by the root of the variance", "应除以方差的平方根"}},
                       {centred, {"divide by the root of the variance", "还要除以方差的平方根"}}}};
}

Exercise rms_norm_of_four() {
  return {.task = {"Give the RMS norm of (1, 2, 3, 6): each value divided by the root of the mean of the squares.",
                   "写出 (1, 2, 3, 6) 做 RMS 归一化的结果：每个数除以均方根，即各数平方的均值的平方根。"},
          .answer = rms_normed(x_to_norm),
          .mistakes = {{layer_normed(x_to_norm), {"no mean is subtracted here", "这里不减均值"}}}};
}

SmallFeedForward small_feed_forward() {
  return {grid(2, 3, {1, -1, 2, 0, 1, -2}), grid(3, 2, {1, 0, 2, 1, -1, 1}), {0, 0.5, 0}, {0.1, 0}};
}

Exercise feed_forward_by_hand() {
  constexpr std::array<double, 2> x{1, 2};
  SmallFeedForward linear = small_feed_forward(), unbiased = small_feed_forward();
  linear.has_relu = false;
  unbiased.b_1 = {0, 0, 0}, unbiased.b_2 = {0, 0};
  return {.task = {"x = (1, 2), W_1 = [[1, -1, 2], [0, 1, -2]], b_1 = (0, 0.5, 0), W_2 = [[1, 0], [2, 1], [-1, 1]], "
                   "b_2 = (0.1, 0). "
                   "Give max(0, x W_1 + b_1) W_2 + b_2.",
                   "x = (1, 2)，W_1 = [[1, -1, 2], [0, 1, -2]]，b_1 = (0, 0.5, 0)，W_2 = [[1, 0], [2, 1], [-1, "
                   "1]]，b_2 = (0.1, 0)。"
                   "写出 max(0, x W_1 + b_1) W_2 + b_2。"},
          .answer = fed_forward(x, small_feed_forward()),
          .mistakes = {{fed_forward(x, linear),
                        {"the third hidden value is negative: max(0, ...) makes it 0",
                         "第三个隐藏单元的值是负数：max(0, ...) 把它变成 0"}},
                       {fed_forward(x, unbiased), {"the biases are missing", "漏了偏置"}}}};
}

double share_of_feed_forward() {
  nn::Parameters both, alone;
  const nn::Attention attention(both, "attention", {.d_model = 512, .num_heads = 8});
  for (nn::Parameters* p : {&both, &alone}) {
    const nn::Linear first(*p, "first", 512, 2048), second(*p, "second", 2048, 512);
  }
  return 100.0 * static_cast<double>(alone.count()) / static_cast<double>(both.count());
}

Exercise feed_forward_share() {
  return {
      .task =
          {"A layer has one attention and one feed-forward: d = 512, d_ff = 2048, all with biases, no norms. What "
           "percentage of its values is in the feed-forward?",
           "一层有一个注意力和一个前馈网络：d = 512，d_ff = 2048，都带偏置，不算归一化。前馈网络的参数占百分之几？"},
      .answer = {share_of_feed_forward()},
      .mistakes = {{{share_of_feed_forward() / 100}, {"give the percentage, not the share", "请写百分数，不要写小数"}},
                   {{100 - share_of_feed_forward()}, {"this is the attention's share", "这是注意力所占的百分比"}}}};
}

double parameters_of(std::int64_t d, std::int64_t d_ff) {
  return static_cast<double>(whole_decoder(d, d_ff)->parameters().count());
}

Exercise half_as_wide() {
  return {.task = {"The decoder of this chapter has 35,474,192 parameters. How many has one with d_model 256 and d_ff "
                   "1024, all else equal?",
                   "本章的解码器有 35,474,192 个参数。d_model 改为 256、d_ff 改为 1024，其他不变，有多少个参数？"},
          .answer = {parameters_of(256, 1024)},
          .tolerance = 0,
          .mistakes = {{{parameters_of(512, 2048) / 2},
                        {"matrices of the layers shrink to a quarter; only the embedding and the output shrink to half",
                         "各层的矩阵缩小到四分之一；只有嵌入和输出缩小到一半"}},
                       {{parameters_of(512, 2048) / 4},
                        {"the embedding and the output shrink to half, and biases and norms too",
                         "嵌入、输出、偏置和归一化只缩小到一半"}},
                       {{parameters_of(256, 2048)}, {"d_ff is 1024 too", "d_ff 也要改为 1024"}}}};
}

constexpr double most_values = 1'000'000;

std::string problem_of_config(const std::string& path, Language l) {
  const nlohmann::json config = read_json(path);
  const JsonObject object(config, path);
  const std::unique_ptr<model::Model> m = model::make(object);
  const bool in_english = l == Language::english;
  if (m->vocab_size() != 1000)
    return fmt::format(
        fmt::runtime(in_english ? "the vocabulary has {} tokens, not 1,000" : "词表有 {} 个词元，不是 1,000 个"),
        format_count(m->vocab_size()));
  if (m->has_encoder())
    return std::string(in_english ? "this model has an encoder: a decoder alone is asked for"
                                  : "这个模型有编码器：这里要的是仅解码器模型");
  if (const auto n = static_cast<double>(m->parameters().count()); n > most_values || n < most_values / 2)
    return fmt::format(fmt::runtime(in_english ? "it has {} parameters: {}" : "它有 {} 个参数：{}"),
                       format_count(m->parameters().count()),
                       n > most_values
                           ? (in_english ? "make d_model or the number of layers smaller" : "请减小 d_model 或层数")
                           : (in_english ? "there is room for more" : "还可以再大一些"));
  return "";
}

Exercise config_of_a_million() {
  return {
      .task =
          {"Write the config.json of a decoder without an encoder that has 1,000 tokens and between 500,000 "
           "and 1,000,000 parameters, in any family of `tril families` (begin with `little/config.json` of chapter 1), "
           "and give the file.",
           "写一个仅解码器模型的 config.json：词表有 1,000 个词元，参数有 500,000 到 1,000,000 个，`tril families` "
           "里的任何一个模型族都可以（可以从第 1 章的 `little/config.json` 改起）。给出文件名。"},
      .answer = {},
      .mistakes = {},
      .problem_of_file = problem_of_config};
}

Exercise rotated_pair() {
  const std::vector<double> r = rotated({1, 0}, 2);
  return {.task = {"A head has one pair of values, whose angle is 1 radian for each position. Give the query (1, 0) "
                   "after rotation to position 2.",
                   "某个头只有一对数，位置每加 1 就多转 1 弧度。写出查询 (1, 0) 在位置 2 旋转之后的值。"},
          .answer = r,
          .mistakes = {{{r[0], -r[1]}, {"this is rotated the other way round", "转的方向反了"}},
                       {rotated({1, 0}, 1), {"this is position 1", "这是位置 1"}},
                       {{std::cos(2 * std::acos(-1) / 180), std::sin(2 * std::acos(-1) / 180)},
                        {"the angle is in radians", "角的单位是弧度"}}}};
}

Exercise score_of_a_distance() {
  const std::vector<double> q = rotated({1, 0}, 5), k = rotated({1, 0}, 3);
  return {.task = {"The same head has the query (1, 0) at position 5 and the key (1, 0) at position 3, both rotated. "
                   "Give their product, "
                   "without a scale.",
                   "同一个头，位置 5 的查询 (1, 0) 与位置 3 的键 (1, 0) 都旋转之后，点积是多少？不乘缩放系数。"},
          .answer = {q[0] * k[0] + q[1] * k[1]},
          .mistakes = {{{1},
                        {"without rotation it would be 1: the angle between them is that of the distance 2",
                         "不旋转才是 1：旋转后两者的夹角由距离 2 决定"}},
                       {{std::cos(8.0)}, {"the angles are subtracted, not added", "角度应相减，不是相加"}}}};
}

}  // namespace

TwoExercises exercises_on_norms() {
  return {layer_norm_of_four, rms_norm_of_four};
}
TwoExercises exercises_on_feed_forward() {
  return {feed_forward_by_hand, feed_forward_share};
}
TwoExercises exercises_on_the_decoder() {
  return {half_as_wide, config_of_a_million};
}
TwoExercises exercises_on_changes() {
  return {rotated_pair, score_of_a_distance};
}

}  // namespace tril::learn
