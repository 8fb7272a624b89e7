// tril detect: the languages of texts.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"
#include "corpus/reader.h"
#include "format/json_text.h"
#include "language/detect.h"

namespace tril::cli {
namespace {

struct DetectOptions {
  std::vector<std::string> texts, languages;
  std::string input = "-";
  bool json = false;
};

Fields fields_of(DetectOptions& o) {
  Fields f;
  f.group("Text");
  f.add("text", &o.texts, "texts; unset: the lines of --input").value_name("TEXT").positional();
  f.add("input", &o.input, "texts, one per line; - is standard input").letter('i').value_name("FILE");
  f.excludes("text", "input", "both give the texts");
  f.group("Answer");
  f.add("languages", &o.languages, "codes of the possible languages; unset: all that can be detected")
      .value_name("CODE");
  f.add("json", &o.json, "print a JSON object for each text, with all possible languages and their confidences");
  return f;
}

LanguageDetector detector_of(const std::vector<std::string>& codes) {
  std::vector<Language> languages;
  for (const std::string& code : codes) {
    languages.push_back(language_of(code, "--languages"));
    if (!is_detectable(languages.back()))
      fail_usage("--languages", fmt::format("{} cannot be detected", code), "leave it out");
  }
  return LanguageDetector(std::move(languages));
}

std::string answer(const DetectOptions& o, const LanguageDetector& detector, const std::string& text) {
  const Detection found = detector.detect(text);
  const auto code = [&](const LanguageGuess& guess) { return code_of(detector.languages()[guess.language]); };
  const std::string best = found.sure() ? code(*found.sure()) : unknown_language;
  if (!o.json) return fmt::format("{} {:.0f}\n", best, found.guesses.empty() ? 0 : found.guesses[0].confidence);
  nlohmann::ordered_json guesses = nlohmann::json::array();
  for (const LanguageGuess& guess : found.guesses)
    guesses.push_back(nlohmann::ordered_json{{"language", code(guess)}, {"confidence", std::round(guess.confidence)}});
  return json_text(nlohmann::ordered_json{{"text", text}, {"language", best}, {"candidates", std::move(guesses)}}) +
         "\n";
}

int detect(const DetectOptions& o, const Fields& fields) {
  const LanguageDetector detector = detector_of(o.languages);
  if (fields.given("text")) {
    for (const std::string& text : o.texts) write_stdout(answer(o, detector, text));
    return exit_success;
  }
  LineReader reader(o.input, {.skip_invalid = false, .refuse_empty = false, .may_skip = false});
  std::string text;
  while (reader.next(text) != Line::end) write_stdout(answer(o, detector, text));
  return exit_success;
}

}  // namespace

void add_detect(App& app) {
  auto o = std::make_shared<DetectOptions>();
  app.add(
      {.name = "detect",
       .summary = "detect the languages of texts",
       .description =
           "Prints the code of each text's language and the confidence from 0 to 100, or und if it is below 50. The "
           "fewer languages are possible, the more often the answer is right.",
       .examples = {{"tril detect \"Il fait beau\"", "one text, with the answer fr 100"},
                    {"tril detect --languages de fr en -i mixed.txt", "one of three languages for each line"}},
       .fields = fields_of(*o),
       .models = {},
       .apply_preset = {},
       .run = [o](const Invocation& i) { return detect(*o, i.fields); }});
}

}  // namespace tril::cli
