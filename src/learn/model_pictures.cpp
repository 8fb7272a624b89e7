// Pictures of chapters 6, 7, 9, 12, 13 and 14.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "base/progress.h"
#include "learn/distribution.h"
#include "learn/pictures.h"
#include "model_io/source/registry.h"

namespace tril::learn {
namespace {

// x -> boxes -> y from the bottom up, with a way around them to the sum.
void draw_block(Drawing& d, double x, std::string_view title, const std::vector<std::string_view>& from_below,
                bool sum_before_last) {
  d.text({x + 60, 24}, title, {.bold = true});
  double y = 220;
  d.text({x + 60, 246}, "x");
  const std::size_t n = from_below.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (sum_before_last && i + 1 == n) {
      d.text({x + 60, y - 8}, "+", {.size = 20}),
          d.curve({{x + 60, 230}, {x + 150, 230}, {x + 150, y - 14}, {x + 70, y - 14}}, Drawing::green);
      y -= 28;
    }
    d.arrow({x + 60, y + 12}, {x + 60, y - 2});
    d.labelled_box({x, y - 36}, {120, 32}, from_below[i]);
    y -= 52;
  }
  if (!sum_before_last)
    d.text({x + 60, y + 14}, "+", {.size = 20}),
        d.curve({{x + 60, 230}, {x + 150, 230}, {x + 150, y + 8}, {x + 70, y + 8}}, Drawing::green);
  d.arrow({x + 60, sum_before_last ? y + 14 : y - 2}, {x + 60, 34});
}

std::int64_t part(const model::Model& m, std::string_view inside) {
  std::int64_t count = 0;
  for (const nn::Parameter& p : m.parameters().all())
    if (p.name.find(inside) != std::string::npos) count += p.shape.count();
  return count;
}

}  // namespace

std::string picture_of_residuals(Language l) {
  Drawing d(680, 260,
            Text{"Post-norm and pre-norm: where the norm stands", "post-norm 与 pre-norm：归一化的位置"}.in(l));
  draw_block(d, 60, Text{"post-norm (2017)", "post-norm（2017）"}.in(l),
             {Text{"sublayer f", "子层 f"}.in(l), Text{"norm", "归一化"}.in(l)}, true);
  draw_block(d, 300, Text{"pre-norm", "pre-norm"}.in(l),
             {Text{"norm", "归一化"}.in(l), Text{"sublayer f", "子层 f"}.in(l)}, false);
  d.text({580, 90}, "norm(x + f(x))", {.size = 13}), d.text({580, 120}, "x + f(norm(x))", {.size = 13});
  d.text({580, 160}, Text{"green: the way", "绿色：梯度不经"}.in(l), {.size = 12, .colour = Drawing::green});
  d.text({580, 178}, Text{"around the sublayer", "子层直接通过"}.in(l), {.size = 12, .colour = Drawing::green});
  return d.svg();
}

std::string picture_of_feed_forward(Language l) {
  Drawing d(640, 230,
            Text{"Feed-forward: wider, max(0, ...), narrow again, for each token alone",
                 "前馈网络：变宽，max(0, ...)，再变窄，每个词元各自进行"}
                .in(l));
  d.labelled_box({30, 80}, {30, 60}, "x"), d.labelled_box({170, 20}, {36, 180}, "4d"),
      d.labelled_box({300, 20}, {36, 180}, "4d"), d.labelled_box({440, 80}, {30, 60}, "y");
  d.arrow({64, 110}, {164, 110}), d.arrow({210, 110}, {294, 110}), d.arrow({340, 110}, {434, 110});
  d.text({114, 100}, "W₁, b₁"), d.text({252, 100}, "max(0, ·)", {.size = 12}), d.text({387, 100}, "W₂, b₂");
  d.text({45, 160}, "d"), d.text({455, 160}, "d");
  d.line({510, 150}, {620, 150}), d.line({565, 150}, {565, 60});
  d.curve({{510, 150}, {565, 150}, {615, 80}}, Drawing::blue, 2.4);
  d.text({565, 176}, "ReLU", {.colour = Drawing::blue});
  d.text({320, 222}, Text{"no token looks at another here", "在这里，词元互相看不到"}.in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_the_decoder(Language l) {
  const std::unique_ptr<model::Model> m = whole_decoder(512, 2048);
  const std::int64_t all = m->parameters().count(), embedding = part(*m, "embedding."), output = part(*m, "output_");
  const std::int64_t self = part(*m, "layers.0.self_attn") + part(*m, "layers.0.norm1");
  const std::int64_t cross = part(*m, "layers.0.cross_attn") + part(*m, "layers.0.norm2");
  const std::int64_t feed_forward = part(*m, "layers.0.ffn") + part(*m, "layers.0.norm3");
  Drawing d(
      640, 400,
      Text{"The decoder from the bottom up, with its parameters", "自下而上的解码器，以及各部分的参数个数"}.in(l));
  const auto row = [&](double y, Text name, std::int64_t count, const char* fill) {
    d.labelled_box({60, y}, {260, 34}, name.in(l), fill);
    if (count > 0) d.text({500, y + 22}, format_count(count), {.anchor = Drawing::Anchor::end});
  };
  row(20, {"output W, b", "输出 W、b"}, output, "#fff4dd");
  d.box({40, 76}, {300, 206}, "#fafafe"), d.text({352, 96}, "× 6", {.anchor = Drawing::Anchor::start, .bold = true});
  row(86, {"norm(x + feed-forward)", "norm(x + 前馈网络)"}, feed_forward, Drawing::pale);
  row(154, {"norm(x + cross-attention)", "norm(x + 交叉注意力)"}, cross, Drawing::pale);
  row(222, {"norm(x + masked self-attention)", "norm(x + 带掩码的自注意力)"}, self, Drawing::pale);
  d.text({560, 180}, fmt::format("× 6 = {}", format_count(all - embedding - output)), {.size = 12});
  row(300, {"embedding · √512 + positions", "词嵌入 · √512 + 位置编码"}, embedding, "#e2f3e4");
  for (const double y : {298.0, 220.0, 152.0, 84.0}) d.arrow({190, y + 2}, {190, y - 28});
  d.text({190, 356}, Text{"ids", "编号"}.in(l));
  d.text({500, 388}, format_count(all), {.size = 16, .anchor = Drawing::Anchor::end, .bold = true});
  d.line({380, 370}, {505, 370});
  return d.svg();
}

namespace {

/// The name of a curve in the language of the picture; a name that the file alone knows stays as it is.
std::string shown_name(const std::string& name, Language l) {
  static const std::map<std::string, std::string_view, std::less<>> chinese{
      {"warm-up", "预热"},
      {"no warm-up", "不预热"},
      {"rate x 5, no clipping", "学习率 × 5，不裁剪"},
      {"rate x 5, clipping", "学习率 × 5，裁剪"},
      {"smoothing 0.1", "标签平滑 0.1"},
      {"bfloat16, master copy", "bfloat16，有主权重"},
      {"bfloat16 alone", "只有 bfloat16"}};
  const auto found = chinese.find(name);
  return l == Language::english || found == chinese.end() ? name : std::string(found->second);
}

}  // namespace

// The loss has a logarithmic axis from 0.01 to 3, so that small losses can be told apart.
std::string picture_of_training(Language l, const std::vector<Curve>& curves) {
  constexpr std::array<const char*, 7> colours{Drawing::blue, Drawing::red, Drawing::green, "#ef6c00",
                                               "#6a1b9a",     "#00838f",    "#795548"};
  constexpr double left = 60, right = 440, top = 20, bottom = 300, least = 0.01, most = 3;
  const auto height = [&](double loss) {
    return bottom - (bottom - top) * std::log(std::clamp(loss, least, most) / least) / std::log(most / least);
  };
  double last = 1;
  for (const Curve& c : curves)
    for (const Point& p : c.points) last = std::max(last, p.x);
  Drawing d(720, 340, Text{"Loss by update, with and without each trick", "用与不用各种技巧时的损失曲线"}.in(l));
  d.line({left, bottom}, {right, bottom}), d.line({left, bottom}, {left, top});
  for (const double loss : {0.01, 0.03, 0.1, 0.3, 1.0, 3.0}) {
    d.line({left, height(loss)}, {right, height(loss)}, "#e6e6ee", 1);
    d.text({left - 8, height(loss) + 4}, fmt::format("{:g}", loss), {.size = 11, .anchor = Drawing::Anchor::end});
  }
  for (int i = 0; i <= 2; ++i)
    d.text({left + (right - left) * i / 2, bottom + 18}, fmt::format("{:.0f}", last * i / 2), {.size = 11});
  d.text({(left + right) / 2, bottom + 36}, Text{"updates", "更新步数"}.in(l), {.size = 12});
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const char* colour = colours[i % colours.size()];
    const double y = 40 + 24 * static_cast<double>(i);
    std::vector<Point> points;
    for (const Point& p : curves[i].points) points.push_back({left + (right - left) * p.x / last, height(p.y)});
    d.curve(points, colour);
    d.line({460, y}, {484, y}, colour, 3);
    d.text({492, y + 4}, shown_name(curves[i].name, l), {.size = 12, .anchor = Drawing::Anchor::start});
  }
  return d.svg();
}

std::string picture_of_decoding(Language l) {
  const std::vector<double> logits{2, 1.5, 0.5, 0, -1};
  struct Stage {
    Text title;
    std::vector<double> p;
  };
  const std::vector<double> after = penalised(logits, 0, 1.5);
  const std::array<Stage, 4> stages{
      {{{"softmax", "softmax"}, distribution(logits, {})},
       {{"penalty 1.5", "重复惩罚 1.5"}, distribution(after, {})},
       {{"temperature 0.7", "温度 0.7"}, distribution(after, {.temperature = 0.7})},
       {{"top-p 0.9", "top-p 0.9"}, distribution(after, {.temperature = 0.7, .top_p = 0.9})}}};
  Drawing d(700, 230, Text{"From logits to the distribution that is drawn from", "从 logits 到采样所用的分布"}.in(l));
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double x = 30 + 170 * static_cast<double>(s);
    d.text({x + 65, 24}, stages[s].title.in(l));
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double height = 130 * stages[s].p[i], at = x + 27 * static_cast<double>(i);
      d.box({at, 180 - height}, {22, height}, stages[s].p[i] > 0 ? "#c5cae9" : "#ffffff");
      d.text({at + 11, 174 - height}, fmt::format("{:.2f}", stages[s].p[i]), {.size = 10});
      d.text({at + 11, 196}, std::string(1, static_cast<char>('a' + i)), {.size = 12});
    }
    if (s + 1 < stages.size()) d.arrow({x + 140, 110}, {x + 162, 110});
  }
  d.text({350, 222},
         Text{"token a was written before, so the penalty lowers it", "词元 a 已经写过，所以受到惩罚"}.in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_changes(Language l) {
  struct Row {
    Text part, then, now;
  };
  const std::array<Row, 6> rows{
      {{{"norm", "归一化"},
        {"layer norm, after the sum", "层归一化，在残差相加之后"},
        {"RMS norm, before the sublayer", "RMS 归一化，在子层之前"}},
       {{"positions", "位置"}, {"sinusoids, added", "正弦位置编码，相加"}, {"rotation of q and k", "旋转 q 和 k"}},
       {{"heads", "头"},
        {"keys for each head", "每个头有自己的键"},
        {"heads share keys and values (from Llama 2 70B on)", "几个头共用键和值（自 Llama 2 70B 起）"}},
       {{"feed-forward", "前馈网络"},
        {"ReLU, two matrices", "ReLU，两个矩阵"},
        {"SwiGLU, three matrices", "SwiGLU，三个矩阵"}},
       {{"biases", "偏置"}, {"in the feed-forward", "在前馈网络里"}, {"mostly none", "大多没有"}},
       {{"encoder", "编码器"}, {"yes", "有"}, {"no: decoder alone", "没有：只有解码器"}}}};
  Drawing d(740, 270, Text{"2017 beside Llama", "2017 年与 Llama 对照"}.in(l));
  d.text({250, 28}, Text{"Vaswani et al. 2017", "Vaswani 等 2017"}.in(l), {.bold = true}),
      d.text({545, 28}, "Llama", {.bold = true});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = 42 + 36 * static_cast<double>(i);
    d.text({130, y + 20}, rows[i].part.in(l), {.anchor = Drawing::Anchor::end, .colour = Drawing::blue});
    d.labelled_box({150, y}, {200, 30}, rows[i].then.in(l), "#ffffff"),
        d.labelled_box({360, y}, {370, 30}, rows[i].now.in(l));
  }
  return d.svg();
}

}  // namespace tril::learn
