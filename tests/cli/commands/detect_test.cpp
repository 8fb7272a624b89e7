// tril detect, as a user runs it.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/contains.h"
#include "support/run_program.h"

namespace tril {
namespace {

TEST(Detect, TellsTheLanguageOfEachText) {
  const Ran lines = run_tril({"detect"}, "Das Wetter ist heute sehr schön.\n\nIl fait très beau aujourd'hui.\n12:30\n");
  EXPECT_EQ(lines.code, 0) << lines.err;
  EXPECT_EQ(lines.out, "de 100\nund 0\nfr 100\nund 0\n");
  EXPECT_EQ(run_tril({"detect", "--languages", "deu", "fra_Latn", "--", "Bonjour"}).out.substr(0, 3), "fr ");
  EXPECT_EQ(run_tril({"detect", "--languages", "de", "en", "--", "Il fait très beau aujourd'hui."}).out, "und 0\n")
      << "none of the possible languages";
  const Ran json =
      run_tril({"detect", "--json", "--languages", "no", "sv", "--", "Været var fint, og vi gikk en tur."});
  ASSERT_EQ(json.code, 0) << json.err;
  const auto told = nlohmann::json::parse(json.out);
  EXPECT_EQ(told["language"], "no");
  EXPECT_EQ(told["candidates"][0]["language"], "no");
  EXPECT_GT(told["candidates"][0]["confidence"], 90);
}

TEST(Detect, RefusesWhatIsNoLanguage) {
  const Ran unknown = run_tril({"detect", "--languages", "german", "--", "Hallo"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "--languages: expected a language code, got \"german\"; for German it is de"))
      << unknown.err;
  const Ran rare = run_tril({"detect", "--languages", "taq", "--", "Hallo"});
  EXPECT_EQ(rare.code, 2);
  EXPECT_TRUE(contains(rare.err, "--languages: taq cannot be detected")) << rare.err;
}

}  // namespace
}  // namespace tril
