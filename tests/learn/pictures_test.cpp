// What the pictures of the course refuse, and the numbers that they show.
#include "learn/pictures.h"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/chapters.h"
#include "learn/distribution.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/run_program.h"

namespace tril::learn {
namespace {

TEST(Pictures, AreOfAllChapters) {
  const std::vector<Curve> curves{{"a", {{10, 1}, {20, 0.5}}}};
  std::vector<std::string> drawn;
  for (const Chapter& c : chapters()) {
    const bool has_curves = c.number == chapter_of_curves;
    drawn.push_back(picture(c.number, Language::english, has_curves ? curves : std::vector<Curve>{}));
    EXPECT_TRUE(drawn.back().starts_with("<svg")) << c.number;
    for (std::size_t i = 0; i + 1 < drawn.size(); ++i) EXPECT_NE(drawn[i], drawn.back()) << i + 1 << " " << c.number;
  }
  EXPECT_TRUE(contains(error_of([] { picture(15, Language::english); }), "no chapter 15"));
}

TEST(Pictures, ShowCurvesInOneChapterOnly) {
  EXPECT_TRUE(contains(error_of([] { picture(12, Language::english); }), "curves that were measured"));
  EXPECT_TRUE(contains(error_of([] { picture(3, Language::english, {{"a", {{10, 1}}}}); }), "for chapter 12, not 3"));
}

TEST(Pictures, ReadCurves) {
  const ScratchFolder folder;
  const auto read = [&](const std::string& text) { return read_curves(folder.write("curves.tsv", text)); };
  const std::vector<Curve> curves = read("a b\t10\t0.5\na b\t20\t0.25\nc\t10\t1e-3\n");
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "a b");
  ASSERT_EQ(curves[0].points.size(), 2u);
  EXPECT_EQ(curves[0].points[1].x, 20);
  EXPECT_EQ(curves[0].points[1].y, 0.25);
  EXPECT_EQ(curves[1].points[0].y, 1e-3);
  for (const char* line : {"a 10 0.5", "a\t10", "a\tx\t0.5", "\t10\t0.5", "a\t10\t0.5 more", ""})
    EXPECT_TRUE(contains(error_of([&] { read(std::string("a\t10\t1\n") + line + "\n"); }), "curves.tsv", "line 2",
                         "example_training_tricks"))
        << line;
  EXPECT_TRUE(contains(error_of([&] { read(""); }), "is empty", "example_training_tricks"));
  EXPECT_TRUE(contains(error_of([&] { read_curves(folder.at("none")); }), "none", "cannot be opened"));
}

TEST(Pictures, PenaltyDividesWhatIsPositive) {
  const std::vector<double> logits{3, 2, -1};
  EXPECT_EQ(penalised(logits, 0, 1.5), (std::vector<double>{2, 2, -1}));
  EXPECT_EQ(penalised(logits, 2, 1.5), (std::vector<double>{3, 2, -1.5}));
}

}  // namespace
}  // namespace tril::learn
