// Pictures of chapters 1, 2 and 10: ids, positions, the loss.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "learn/pictures.h"

namespace tril::learn {

std::string picture_of_ids(Language l) {
  Drawing d(640, 190,
            Text{"Text becomes pieces, pieces become ids, ids choose rows of a table",
                 "文本切成片段，片段变成编号，编号取出表中的行"}
                .in(l));
  constexpr std::array<std::string_view, 5> pieces{"the", "cat", "sat", "on", "</s>"};
  const std::vector<double> ids = ids_of(pieces);
  d.text({70, 34}, Text{"text", "文本"}.in(l), {.colour = Drawing::faint});
  d.text({350, 34}, "the cat sat on", {.size = 16});
  d.text({70, 84}, Text{"pieces", "片段"}.in(l), {.colour = Drawing::faint});
  d.text({70, 134}, Text{"ids", "编号"}.in(l), {.colour = Drawing::faint});
  d.text({70, 174}, Text{"the decoder reads", "解码器读入"}.in(l), {.size = 12, .colour = Drawing::faint});
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const double x = 150 + 90 * static_cast<double>(i);
    d.labelled_box({x, 66}, {76, 28}, pieces[i]);
    d.arrow({x + 38, 95}, {x + 38, 114});
    d.labelled_box({x, 116}, {76, 28}, fmt::format("{:g}", ids[i]), "#ffffff");
  }
  d.text({375, 174}, fmt::format("{:g}", fmt::join(ids, " ")), {.size = 15, .bold = true});
  return d.svg();
}

std::string picture_of_positions(Language l) {
  constexpr std::int64_t positions = 24, width = 32;
  Drawing d(640, 330,
            Text{"Sinusoids: a row for each position, a column for each dimension",
                 "正弦位置编码：每个位置一行，每个维度一列"}
                .in(l));
  d.text({330, 22},
         Text{"dimension (sin, cos, sin, cos, ...): fast waves left, slow waves right",
              "维度（sin, cos, sin, cos, ...）：左边波动快，右边波动慢"}
             .in(l),
         {.size = 12});
  d.cells({70, 32}, sinusoids(positions, width), {.width = 16.5, .height = 11, .digits = -1});
  for (std::int64_t p = 0; p < positions; p += 4)
    d.text({62, 41 + 11 * static_cast<double>(p)}, std::to_string(p), {.size = 11, .anchor = Drawing::Anchor::end});
  d.text({62, 312}, Text{"position", "位置"}.in(l), {.size = 12, .anchor = Drawing::Anchor::end});
  d.text({330, 318}, Text{"blue: above 0, red: below 0", "蓝：大于 0，红：小于 0"}.in(l),
         {.size = 12, .colour = Drawing::faint});
  return d.svg();
}

std::string picture_of_the_loss(Language l) {
  Drawing d(640, 250,
            Text{"The decoder reads the shifted target; the loss is -log p of the right token",
                 "解码器读右移一位的目标句；损失是正确词元的 -log p"}
                .in(l));
  constexpr std::array<const char*, 4> reads{"<s>", "a", "b", "c"}, labels{"a", "b", "c", "</s>"};
  d.text({48, 60}, Text{"reads", "读入"}.in(l), {.colour = Drawing::faint});
  d.text({48, 140}, Text{"predicts", "预测"}.in(l), {.colour = Drawing::faint});
  for (std::size_t i = 0; i < reads.size(); ++i) {
    const double x = 95 + 70 * static_cast<double>(i);
    d.labelled_box({x, 42}, {56, 28}, reads[i]);
    d.arrow({x + 28, 71}, {x + 28, 118});
    d.labelled_box({x, 120}, {56, 28}, labels[i], "#e8f5e9");
  }
  d.text({225, 190},
         Text{"all places at once: the mask hides what follows", "所有位置同时计算：掩码遮住后面的词元"}.in(l),
         {.size = 12});
  std::vector<Point> curve;
  for (int i = 2; i <= 100; ++i) curve.push_back({410 + 2.0 * i, 200 - 45 * -std::log(i / 100.0)});
  d.line({410, 200}, {615, 200}), d.line({410, 200}, {410, 20});
  d.curve(curve, Drawing::blue, 2);
  d.text({510, 225}, Text{"p of the right token: 0 to 1", "正确词元的概率 p：0 到 1"}.in(l), {.size = 12});
  d.text({470, 34}, "-log p", {.size = 13, .colour = Drawing::blue, .bold = true});
  constexpr std::array<double, 3> logits{0, 0, 0};
  d.text({530, 60}, fmt::format("logits 0 0 0: log 3 = {:.3f}", cross_entropy_of(logits, 0).loss), {.size = 12});
  return d.svg();
}

}  // namespace tril::learn
