// Chinese -> digits: numbers, dates and times of day as they are written in Chinese, and their normal forms:
//   三万零五十 -> 30050,  二〇二六年十一月二十八日 -> 2026-11-28,  下午三点半 -> 15:30
#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "demo/demo_draw.h"
#include "demo/demo_tasks.h"

namespace tril::train {
namespace {

constexpr std::array chinese_digits{"零", "一", "二", "三", "四", "五", "六", "七", "八", "九"};

// 1 to 9999: a gap of zeros between digits is one 零. At the beginning of a number, 10 to 19 have no 一.
std::string chinese_section(int n, bool begins) {
  constexpr std::array<std::pair<int, const char*>, 4> places{{{1000, "千"}, {100, "百"}, {10, "十"}, {1, ""}}};
  std::string text;
  bool gap = false;
  for (const auto& [value, name] : places) {
    const int digit = n / value % 10;
    if (digit == 0) {
      gap = gap || !text.empty();
      continue;
    }
    if (gap) text += "零";
    gap = false;
    if (!(begins && text.empty() && value == 10 && digit == 1)) text += chinese_digits[static_cast<std::size_t>(digit)];
    text += name;
  }
  return text;
}

std::string digit_by_digit(int n) {
  std::string text;
  for (const char c : std::to_string(n)) text += c == '0' ? "〇" : chinese_digits[static_cast<std::size_t>(c - '0')];
  return text;
}

DemoPair chinese_date(RandomSequence& random) {
  const int year = draw_between(random, 1900, 2099), month = draw_between(random, 1, 12),
            day = draw_between(random, 1, 28);
  return {fmt::format("{}年{}月{}{}", digit_by_digit(year), chinese_number(month), chinese_number(day),
                      draw_one_in(random, 2) ? "日" : "号"),
          fmt::format("{:04}-{:02}-{:02}", year, month, day)};
}

DemoPair chinese_time(RandomSequence& random) {
  const int hour = draw_between(random, 0, 23), minute = draw_between(random, 0, 59);
  const char* const part = hour < 6 ? "凌晨" : hour < 12 ? "上午" : hour == 12 ? "中午" : hour < 18 ? "下午" : "晚上";
  const int shown = hour > 12 ? hour - 12 : hour;
  const std::string number = shown == 2 ? "两" : chinese_number(shown);
  std::string minutes = minute == 0    ? ""
                        : minute == 15 ? "一刻"
                        : minute == 30 ? "半"
                        : minute == 45 ? "三刻"
                                       : (minute < 10 ? "零" : "") + chinese_number(minute) + "分";
  return {fmt::format("{}{}点{}", part, number, minutes), fmt::format("{:02}:{:02}", hour, minute)};
}

}  // namespace

std::string chinese_number(int n) {
  if (n == 0) return chinese_digits[0];
  if (n < 10'000) return chinese_section(n, true);
  const int low = n % 10'000;
  return chinese_section(n / 10'000, true) + "万" + (low > 0 && low < 1000 ? "零" : "") +
         (low > 0 ? chinese_section(low, false) : "");
}

DemoPair chinese_pair(RandomSequence& random) {
  switch (random.below(3)) {
    case 0:
      return chinese_date(random);
    case 1:
      return chinese_time(random);
    default: {
      constexpr std::array most{99, 999, 9'999, 99'999, 9'999'999};
      const int n = draw_between(random, 0, draw_of(random, most));
      return {chinese_number(n), std::to_string(n)};
    }
  }
}

}  // namespace tril::train
