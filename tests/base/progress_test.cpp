// The progress line: its numbers, when it appears and when it keeps quiet.
#include "base/progress.h"

#include <gtest/gtest.h>

#include <vector>

namespace tril {
namespace {

TEST(Format, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1,000");
  EXPECT_EQ(format_count(-123456), "-123,456");
  EXPECT_EQ(format_count(1234567890), "1,234,567,890");
}

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(0.4), "0s");
  EXPECT_EQ(format_duration(59), "59s");
  EXPECT_EQ(format_duration(95), "1m35s");
  EXPECT_EQ(format_duration(1260), "21m");
  EXPECT_EQ(format_duration(3900), "1h05m");
  EXPECT_EQ(format_duration(2 * 86400 + 4 * 3600), "2d04h");
  EXPECT_EQ(format_duration(-3), "0s");
  EXPECT_EQ(format_duration(1.0 / 0.0), "long");
}

TEST(Format, Bars) {
  EXPECT_EQ(format_bar(0, 4), "[    ]");
  EXPECT_EQ(format_bar(0.5, 4), "[==> ]");
  EXPECT_EQ(format_bar(1, 4), "[====]");
  EXPECT_EQ(format_bar(7, 4), "[====]");
  EXPECT_EQ(format_bar(0.0 / 0.0, 4), "[    ]");
}

struct Screen {
  double now = 100;
  std::vector<std::string> written;

  ProgressOptions options() {
    ProgressOptions o;
    o.columns = 200;
    o.seconds = [this] { return now; };
    o.write = [this](const std::string& text) { written.push_back(text); };
    return o;
  }
};

TEST(Progress, SaysHowFarHowFastAndHowLong) {
  Screen screen;
  ProgressOptions o = screen.options();
  o.label = "update";
  o.rate_unit = "tokens";
  o.total = 8000;
  o.first = 240;
  Progress progress(o);
  // 1,000 updates in 100 seconds leave 6,760, so 676 seconds.
  EXPECT_EQ(progress.line(1240, {.before = "epoch 3/30", .after = "loss 3.412", .amount = 2641000}, 200),
            "epoch 3/30  update 1,240/8,000  [===>                    ]  loss 3.412  26,410 tokens/s  left 11m");
  EXPECT_EQ(progress.line(1240, {.before = "", .after = "lr 0.1", .amount = 2641000, .last = "val BLEU 24.1"}, 200),
            "update 1,240/8,000  [===>                    ]  lr 0.1  26,410 tokens/s  val BLEU 24.1  left 11m");
  progress.set_total(2240);
  EXPECT_EQ(progress.line(1240, {.before = "", .after = "", .amount = 2641000, .last = ""}, 200),
            "update 1,240/2,240  [=============>          ]  26,410 tokens/s  left 1m40s");
}

TEST(Progress, WithoutTotalHasNeitherBarNorTimeLeft) {
  Screen screen;
  ProgressOptions o = screen.options();
  o.label = "line";
  o.rate_unit = "lines";
  Progress progress(o);
  EXPECT_EQ(progress.line(35, {}, 110), "line 35  3.5 lines/s");
}

TEST(Progress, KeepsQuietForTwoSecondsAndPrintsFiveTimesASecond) {
  Screen screen;
  {
    Progress progress(screen.options());
    for (int i = 0; i < 1990; ++i) screen.now = 100 + 0.001 * i, progress.update(i);
    EXPECT_TRUE(screen.written.empty());
    for (int i = 0; i < 3000; ++i) screen.now = 102 + 0.001 * i, progress.update(i);
    EXPECT_GE(screen.written.size(), 13u);
    EXPECT_LE(screen.written.size(), 16u);
  }
  EXPECT_EQ(screen.written.back(), "\r\033[K") << "the line is wiped at the end";
}

TEST(Progress, WhatIsOverSoonPrintsNothing) {
  Screen screen;
  {
    Progress progress(screen.options());
    progress.update(1);
    screen.now += 1.9;
    progress.update(2);
  }
  EXPECT_TRUE(screen.written.empty());
}

TEST(Progress, NeverWraps) {
  Screen screen;
  ProgressOptions o = screen.options();
  o.columns = 10;
  Progress progress(o);
  screen.now += 5;
  progress.update(1, {.before = "ééééééééééééé", .after = ""});
  ASSERT_EQ(screen.written.size(), 1u);
  EXPECT_EQ(screen.written[0], "\r\033[Kééééééééé");
}

TEST(Progress, DisabledPrintsNothing) {
  Screen screen;
  ProgressOptions o = screen.options();
  o.enabled = false;
  Progress progress(o);
  screen.now += 5;
  progress.update(1);
  EXPECT_TRUE(screen.written.empty());
}

}  // namespace
}  // namespace tril
