// Chapters 10, 11 and 12: the loss, gradients, how training is made stable.
#include <array>
#include <cmath>

#include "learn/exercises.h"
#include "learn/worked.h"
#include "train/optim/schedule.h"

namespace tril::learn {
namespace {

constexpr std::array<double, 3> three_logits{2, 1, 0};

Exercise loss_of_three() {
  const double loss = cross_entropy_of(three_logits, 0).loss;
  return {
      .task = {"The logits are (2, 1, 0), and the right token is the first. Give the cross-entropy, with the "
               "natural logarithm.",
               "logits 是 (2, 1, 0)，正确的词元是第一个。写出交叉熵（自然对数）。"},
      .answer = {loss},
      .mistakes = {
          {{std::exp(-loss)}, {"this is the probability: the loss is -log of it", "这是概率：损失是它的 -log"}},
          {{-loss}, {"the loss is -log p, which is positive", "损失是 -log p，为正数"}},
          {{loss / std::log(2.0)}, {"this is in bits: use the natural logarithm", "这是以 2 为底：请用自然对数"}},
          {{cross_entropy_of(three_logits, 2).loss}, {"this is the loss of the third token", "这是第三个词元的损失"}}}};
}

Exercise teacher_forcing() {
  constexpr std::array<double, 3> target{5, 7, 9};
  constexpr double start = 0, stop = 2;
  std::vector<double> shifted{start};  // what is read, then what is predicted
  shifted.insert(shifted.end(), target.begin(), target.end());
  shifted.insert(shifted.end(), target.begin(), target.end());
  shifted.push_back(stop);
  return {
      .task = {"The target is 5 7 9, </s> is 2, and the decoder starts with 0. Give what the decoder reads (four "
               "ids) and then what it "
               "should predict (four ids).",
               "目标句是 5 7 9，</s> 是 2，解码器的开始词元是 0。先写解码器读入的四个编号，再写它应当预测的四个编号。"},
      .answer = shifted,
      .tolerance = 0,
      .mistakes = {
          {{0, 5, 7, 9, 0, 5, 7, 9},
           {"it would only copy: the labels are the input shifted by one", "这只是照抄：标签要比输入左移一位"}},
          {{5, 7, 9, 2, 5, 7, 9, 2},
           {"the input is shifted: it begins with the start token, else each place would read its own answer",
            "输入要右移：从开始词元起，否则每个位置读到的就是自己的答案"}},
          {{0, 5, 7, 9, 7, 9, 2, 2}, {"the place that reads 0 predicts 5", "读到 0 的位置预测 5"}}}};
}

Exercise gradient_of_three() {
  const std::vector<double> g = cross_entropy_of(three_logits, 0).gradient;
  return {.task = {"For the same logits and label as in chapter 10, (2, 1, 0) and the first token, give the derivative "
                   "of the loss with respect to each logit.",
                   "沿用第 10 章的 logits (2, 1, 0)，正确的词元仍是第一个。写出损失对每个 logit 的导数。"},
          .answer = g,
          .mistakes = {{{g[0] + 1, g[1], g[2]}, {"subtract 1 at the right token", "正确的词元处要减 1"}},
                       {{-g[0], -g[1], -g[2]},
                        {"the sign is reversed: more of the right logit lowers the loss",
                         "符号反了：正确的 logit 变大，损失变小"}}}};
}

Exercise gradient_of_softmax() {
  constexpr std::array<double, 3> P{0.2, 0.3, 0.5}, dP{1, 0, 0};
  return {
      .task = {"A query has the weights P = (0.2, 0.3, 0.5), and the derivatives of the loss with respect to them are "
               "dP = (1, 0, 0). Give dS = P o (dP - sum(dP o P)), the derivatives with respect to the scores.",
               "某个查询的权重是 P = (0.2, 0.3, 0.5)，损失对权重的导数是 dP = (1, 0, 0)。写出损失对分数的导数 dS = P o "
               "(dP - "
               "sum(dP o P))。"},
      .answer = gradient_of_scores(P, dP),
      .mistakes = {{{0.2, 0, 0},
                    {"the sum is missing: the weights sum to 1, so when one grows the others shrink, and dS sums to 0",
                     "漏了求和项：权重之和为 1，一个变大其他就变小，dS 之和为 0"}}}};
}

Exercise rate_of_the_paper() {
  const auto rate = [](std::int64_t t, double peak) {
    return 1e4 * train::learning_rate({.kind = train::ScheduleKind::inverse_sqrt, .peak = peak, .warmup = 4000}, t);
  };
  const double peak = std::pow(512.0, -0.5) * std::pow(4000.0, -0.5);  // [Vaswani et al. 2017, eq. 3] at its peak
  return {.task = {"Give the learning rate of equation 3 of \"Attention is all you need\", times 10,000, at the "
                   "updates 1000, 4000 and 16000: "
                   "d_model 512, 4000 updates of warm-up.",
                   "按《Attention is all you need》公式 3，d_model = 512，预热 4000 步，写出第 1000、4000、16000 "
                   "步的学习率，各乘以 10,000。"},
          .answer = {rate(1000, peak), rate(4000, peak), rate(16000, peak)},
          .mistakes = {{{1e4 * std::pow(512.0, -0.5) / std::sqrt(1000.0), rate(4000, peak), rate(16000, peak)},
                        {"during warm-up the rate grows in a straight line: at 1000 it is a quarter of that at 4000",
                         "预热期间学习率直线上升：第 1000 步是第 4000 步的四分之一"}},
                       {{rate(1000, peak) / 1e4, rate(4000, peak) / 1e4, rate(16000, peak) / 1e4},
                        {"multiply by 10,000", "请乘 10,000"}}}};
}

Exercise smoothed_loss() {
  constexpr std::array<double, 4> four{2, 1, 0, 0};
  return {
      .task =
          {"The logits are (2, 1, 0, 0), the right token is the first, and label smoothing is 0.1: the target "
           "is 0.9 for it plus 0.1 / 4 "
           "for each of the four. Give the loss.",
           "logits 是 (2, 1, 0, 0)，正确的词元是第一个，标签平滑 0.1：目标分布给正确的词元 0.9，再给四个词元各加 0.1 "
           "/ 4。写出损失。"},
      .answer = {cross_entropy_of(four, 0, 0.1f).loss},
      .tolerance = 0.003,
      .mistakes = {{{cross_entropy_of(four, 0).loss}, {"this is the loss without smoothing", "这是没有平滑的损失"}},
                   {{0.9 * cross_entropy_of(four, 0).loss}, {"the other 0.1 is missing", "漏了另外的 0.1"}}}};
}

}  // namespace

TwoExercises exercises_on_the_loss() {
  return {loss_of_three, teacher_forcing};
}
TwoExercises exercises_on_gradients() {
  return {gradient_of_three, gradient_of_softmax};
}
TwoExercises exercises_on_training() {
  return {rate_of_the_paper, smoothed_loss};
}

}  // namespace tril::learn
