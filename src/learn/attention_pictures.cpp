// Pictures of chapters 3, 4, 5, 8 and 11: one head, the mask, many heads, cross-attention, gradients.
#include <fmt/format.h>

#include <array>
#include <string>

#include "learn/pictures.h"
#include "model/spec/masks.h"

namespace tril::learn {
namespace {

void words_beside(Drawing& d, Point corner, double step) {
  for (std::size_t i = 0; i < four_words.size(); ++i)
    d.text({corner.x, corner.y + step * static_cast<double>(i)}, four_words[i],
           {.size = 12, .anchor = Drawing::Anchor::end});
}

bool is_later(std::int64_t i, std::int64_t j) {
  return j > i;
}

}  // namespace

std::string picture_of_a_head(Language l) {
  const HeadInput in = four_tokens();
  const HeadOutput out = attend(in, {.causal = true});
  Drawing d(
      760, 330,
      Text{"One head: queries, keys, scores, weights, values, result", "一个注意力头：查询、键、分数、权重、值、结果"}
          .in(l));
  d.text({96, 24}, "Q"), d.text({96, 184}, "K"), d.text({310, 24}, "S = Q Kᵀ / √2"),
      d.text({310, 184}, "P = softmax(S)");
  d.text({520, 184}, "V"), d.text({690, 184}, "Y = P V");
  d.cells({50, 32}, in.q, {.digits = 0, .most = 4}), d.cells({50, 192}, in.k, {.digits = 0, .most = 4});
  words_beside(d, {46, 48}, 24), words_beside(d, {46, 208}, 24);
  d.cells({218, 32}, scaled_scores(in), {.most = 4, .is_hidden = is_later});
  d.cells({218, 192}, out.weights, {.is_hidden = is_later});
  d.cells({474, 192}, in.v, {.digits = 0, .most = 4});
  d.cells({644, 192}, out.result, {.most = 4});
  d.arrow({146, 80}, {212, 80}), d.arrow({146, 236}, {212, 132}), d.arrow({310, 132}, {310, 168});
  d.text({439, 244}, "×", {.size = 20}), d.text({605, 244}, "=", {.size = 20});
  d.text({380, 318},
         Text{"hatched: the mask, -∞ before the softmax, 0 after it. Each row of P sums to 1",
              "斜线：掩码，softmax 之前是 -∞，之后是 0。P 的每一行之和为 1"}
             .in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_the_mask(Language l) {
  Drawing d(
      640, 250,
      Text{"The causal mask: a query sees its own key and the earlier ones", "因果掩码：查询看得到自己和前面的键"}.in(
          l));
  const HeadInput in = four_tokens();
  Arena arena;
  Context c(arena);
  const std::vector<std::uint8_t> mask = host_copy<std::uint8_t>(model::causal_mask(c, 4));
  const Grid allowed = grid(4, 4, {mask.begin(), mask.end()}), zeros = grid(4, 4, std::vector<double>(16, 0));
  d.text({162, 28}, Text{"may see: 1", "可以看到：1"}.in(l)),
      d.text({352, 28}, Text{"added to the scores", "加到分数上"}.in(l));
  d.text({542, 28}, Text{"weights", "权重"}.in(l));
  words_beside(d, {84, 56}, 24);
  d.cells({90, 40}, allowed, {.width = 36, .digits = 0, .most = 2});
  d.cells({280, 40}, zeros, {.width = 36, .digits = 0, .is_hidden = is_later});
  for (int i = 0; i < 4; ++i)
    for (int j = i + 1; j < 4; ++j) d.text({298 + 36.0 * j, 56 + 24.0 * i}, "-∞", {.size = 12, .colour = Drawing::red});
  d.cells({470, 40}, attend(in, {.causal = true}).weights, {.width = 36, .is_hidden = is_later});
  d.text({320, 180},
         Text{"row: the query; column: the key. 4 × 3 / 2 = 6 pairs are forbidden",
              "行：查询；列：键。4 × 3 / 2 = 6 对被禁止"}
             .in(l),
         {.size = 12});
  d.text({320, 205}, Text{"\"the\" sees itself alone, so its weight is 1", "\"the\" 只看得到自己，所以权重是 1"}.in(l),
         {.size = 12});
  d.text({320, 230}, "exp(-∞) = 0", {.size = 12, .colour = Drawing::red});
  return d.svg();
}

std::string picture_of_heads(Language l) {
  Drawing d(680, 260,
            Text{"Columns of Q are cut into heads, and the heads' results are put side by side again",
                 "Q 的列切成多个头，各头的结果再拼接起来"}
                .in(l));
  constexpr std::array<const char*, 4> fills{"#e3e7fb", "#e2f3e4", "#fdeaea", "#fff4dd"};
  d.text({110, 24}, "Q [T, d_model]");
  d.text({345, 24}, Text{"by head [h, T, d_k]", "按头分开 [h, T, d_k]"}.in(l));
  d.text({580, 24}, Text{"side by side, times W_O", "拼接，乘 W_O"}.in(l));
  for (std::size_t h = 0; h < fills.size(); ++h) {
    const double i = static_cast<double>(h);
    const std::string name = fmt::format("{} {}", Text{"head", "头"}.in(l), h);
    d.box({30 + 40 * i, 60}, {40, 120}, fills[h]), d.text({50 + 40 * i, 124}, std::to_string(h));
    d.box({290 + 12 * i, 38 + 50 * i}, {110, 40}, fills[h]), d.text({345 + 12 * i, 62 + 50 * i}, name);
    d.arrow({192, 70 + 32 * i}, {284 + 12 * i, 58 + 50 * i});
    d.arrow({402 + 12 * i, 58 + 50 * i}, {494, 70 + 32 * i});
    d.box({500 + 40 * i, 60}, {40, 120}, fills[h]), d.text({520 + 40 * i, 124}, std::to_string(h));
  }
  d.text({110, 200}, "d_model = h · d_k", {.size = 12}), d.text({580, 200}, "[T, d_model]", {.size = 12});
  d.text({340, 250}, Text{"no number is computed by the cut: only the order changes", "切分不做计算：只改变次序"}.in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_cross_attention(Language l) {
  const HeadInput in = padded_source(grid(2, 2, {2, 0, 0, 2}));
  const HeadOutput out = attend(in, {.hidden_keys = {false, false, true}});
  Drawing d(720, 240,
            Text{"Cross-attention: queries from the target, keys and values from the source",
                 "交叉注意力：查询来自目标句，键和值来自源句"}
                .in(l));
  d.text({100, 26}, Text{"target: Q", "目标句：Q"}.in(l)), d.text({100, 126}, Text{"source: K", "源句：K"}.in(l));
  d.text({500, 48}, Text{"source: V", "源句：V"}.in(l));
  d.cells({54, 36}, in.q, {.digits = 0, .most = 4}), d.cells({54, 136}, in.k, {.digits = 0, .most = 4});
  d.text({348, 66}, Text{"weights [target, source]", "权重 [目标, 源]"}.in(l));
  d.cells({280, 78}, out.weights, {.is_hidden = [](std::int64_t, std::int64_t j) { return j == 2; }});
  d.cells({454, 58}, in.v, {.digits = 0, .most = 6});
  d.text({644, 66}, Text{"result [target, d]", "结果 [目标, d]"}.in(l));
  d.cells({598, 78}, out.result, {.most = 2});
  d.arrow({150, 60}, {272, 95}), d.arrow({150, 170}, {272, 110});
  d.text({436, 108}, "×", {.size = 20}), d.text({572, 108}, "=", {.size = 20});
  d.text({395, 150}, Text{"padding", "填充"}.in(l), {.size = 12, .colour = Drawing::faint});
  d.text({360, 226},
         Text{"no causal mask: the whole source is known. Padding stays hidden",
              "没有因果掩码：源句全部已知。填充仍要遮住"}
             .in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_gradients(Language l) {
  Drawing d(720, 210, Text{"Forward to the right, gradients to the left", "前向向右，梯度向左"}.in(l));
  constexpr std::array<const char*, 4> values{"Q, K", "S", "P", "Y"}, ways{"Q Kᵀ/√d_k", "softmax", "P V", "loss"};
  constexpr std::array<const char*, 4> back{"dQ = dS K/√d_k", "dS = P∘(dP - Σ dP∘P)", "dP = dY Vᵀ", "dY"};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double x = 30 + 165 * static_cast<double>(i);
    d.labelled_box({x, 70}, {66, 34}, values[i]);
    d.arrow({x + 68, 80}, {x + 160, 80}, Drawing::blue);
    d.text({x + 114, 66}, ways[i], {.size = 12, .colour = Drawing::blue});
    d.arrow({x + 160, 96}, {x + 68, 96}, Drawing::red);
    d.text({x + 38, 140 + (i % 2 == 0 ? 0.0 : 26.0)}, back[i], {.size = 12, .colour = Drawing::red});
  }
  d.text({68, 166}, "dK = dSᵀ Q/√d_k", {.size = 12, .colour = Drawing::red});
  d.text({398, 166}, "dV = Pᵀ dY", {.size = 12, .colour = Drawing::red});
  d.text({700, 92}, "L", {.bold = true});
  const std::vector<double> g = gradient_of_scores(std::array{0.2, 0.3, 0.5}, std::array{0.0, 1.0, 0.0});
  d.text({350, 196},
         fmt::format("P = (0.2, 0.3, 0.5), dP = (0, 1, 0): dS = ({:.2f}, {:.2f}, {:.2f})", g[0], g[1], g[2]),
         {.size = 12});
  d.text({350, 30},
         Text{"each step has a derivative; the chain rule multiplies them from the loss back",
              "每一步都有导数；链式法则从损失开始，往回逐个相乘"}
             .in(l),
         {.size = 12});
  return d.svg();
}

}  // namespace tril::learn
