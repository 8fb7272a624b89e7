// Translation with language models: prompts and greedy tokens as in `transformers`, for each known family's chat template; and
// what may not affect a translation.
#include "decode/texts/prompted_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "decode/batches/score.h"
#include "decode/prompts/choose_prompt.h"
#include "decode/texts/search_setup.h"
#include "decode/texts/translator.h"
#include "model_io/source/model_source.h"
#include "model_io/source/registry.h"
#include "support/contains.h"
#include "support/error_of.h"
#include "support/golden_tokenizers.h"
#include "support/paths.h"
#include "support/temporary.h"

namespace tril::search::prompted_text_test {
namespace {

using Ids = std::vector<std::int32_t>;

struct Translating {
  explicit Translating(const std::string& directory, const std::string& asked = "")
      : source(model::ModelSource::open(directory)),
        model(model::load(source, nn::Precision::fp32)),
        tokenizer(source.tokenizer()),
        prompt(std::make_shared<const TranslationPrompt>(choose_prompt(source, asked).prompt, *tokenizer, directory)) {}

  TranslatorOptions options(const SearchOptions& asked, const std::string& from, const std::string& into) const {
    TranslatorOptions o = translator_options(asked, source.generation(), *model, *tokenizer);
    o.source_language = from, o.target_language = into;
    o.max_length_factor = 0;
    return o;
  }
  std::unique_ptr<const TranslationText> text() const { return make_translation_text(*model, tokenizer, prompt); }
  std::vector<Translation> translate(const TranslatorOptions& o, const std::string& line) const {
    return Translator(text(), o).translate({&line, 1})[0];
  }

  model::ModelSource source;
  std::unique_ptr<model::Model> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const TranslationPrompt> prompt;
};

std::string golden(const std::string& name = "") {
  return test::test_dir() + "/golden/lm_translation" + (name.empty() ? "" : "/" + name);
}

// What a golden case has besides its text.
void add_further(const nlohmann::json& given, TranslatorOptions& o, std::vector<std::string>& context) {
  if (given.contains("terms")) {
    std::vector<Term> terms;
    for (const auto& pair : given["terms"]) terms.push_back({pair[0], pair[1]});
    o.terminology = std::make_shared<const Terminology>(std::move(terms));
  }
  if (given.contains("context")) context = given["context"].get<std::vector<std::string>>();
  o.context = static_cast<std::int32_t>(context.size());
  if (given.contains("style")) o.style = given["style"];
}

TEST(PromptedText, GreedyTokensAreThoseOfTransformers) {
  std::size_t directories = 0;
  for (const auto& entry : std::filesystem::directory_iterator(golden())) {
    if (!entry.is_directory()) continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++directories;
    const Translating t(entry.path().string());
    const nlohmann::json all = test::parsed(entry.path().string() + "/cases.json");
    for (const nlohmann::json& given : all["cases"]) {
      SCOPED_TRACE(given["text"].get<std::string>());
      SearchOptions greedy;
      greedy.max_length = std::ssize(given["greedy"]);
      TranslatorOptions o = t.options(greedy, given["source"], given["target"]);
      o.decoding.search.scores = true;
      std::vector<std::string> context;
      add_further(given, o, context);
      const std::string text = given["text"];

      const auto prompted = t.text();
      const TextToTranslate prepared = prompted->prepare({.text = text, .context = context}, 0, o, o.decoding.search);
      Ids ids{prepared.request.start_id};
      ids.insert(ids.end(), prepared.request.prefix.begin(), prepared.request.prefix.end());
      ASSERT_EQ(ids, given["prompt_ids"].get<Ids>());

      Translator translator(t.text(), o);
      std::vector<std::string> lines = context;
      lines.push_back(text);
      const Translation found = translator.translate(lines).back()[0];
      EXPECT_EQ(found.tokens, given["greedy"].get<Ids>());
      EXPECT_NEAR(found.log_prob, given["log_prob"].get<double>(), 2e-3);  // rounded, and sums of 14 logs in fp32

      WorkerPool workers(1);
      const Score score = score_all(workers, *t.model, {{{ids}}, {{found.tokens}}}, 4)[0];
      EXPECT_NEAR(score.log_prob, found.log_prob, 1e-3);

      SearchOptions beam;
      beam.beam_size = 3;
      beam.max_length = 10;
      TranslatorOptions wide = o;
      wide.decoding.search = t.options(beam, given["source"], given["target"]).decoding.search;
      wide.max_length = 10;
      const Translation best = Translator(t.text(), wide).translate(lines).back()[0];
      Ids expected = given["beam"].get<Ids>();
      while (expected.size() > best.tokens.size() && expected.back() == 0) expected.pop_back();
      EXPECT_EQ(best.tokens, expected);
    }
  }
  EXPECT_EQ(directories, 13U);
}

// The general prompt in chat templates of many forms.
TEST(PromptedText, ChatTemplatesGiveTheTokensOfTransformers) {
  const std::string model = test::test_dir() + "/golden/lm_templates";
  const nlohmann::json all = test::parsed(model + "/templates.json");
  const TemporaryDirectory folder;
  std::filesystem::copy(model, folder.path("model"));
  std::set<std::string> templates;
  for (const nlohmann::json& given : all["cases"]) {
    const std::string name = given["template"], text = given["text"];
    SCOPED_TRACE(name + ": " + text);
    templates.insert(name);
    folder.write("model/chat_template.jinja", all["templates"][name].get<std::string>());
    const Translating t(folder.path("model"));
    SearchOptions greedy;
    greedy.max_length = std::ssize(given["greedy"]);
    TranslatorOptions o = t.options(greedy, given["source"], given["target"]);
    std::vector<std::string> lines;
    add_further(given, o, lines);
    const TextToTranslate prepared = t.text()->prepare({.text = text, .context = lines}, 0, o, o.decoding.search);
    Ids ids{prepared.request.start_id};
    ids.insert(ids.end(), prepared.request.prefix.begin(), prepared.request.prefix.end());
    ASSERT_EQ(ids, given["prompt_ids"].get<Ids>());
    lines.push_back(text);
    EXPECT_EQ(Translator(t.text(), o).translate(lines).back()[0].tokens, given["greedy"].get<Ids>());
  }
  EXPECT_EQ(templates.size(), 16U);
}

// A prompt without its text would be translated into anything.
TEST(PromptedText, AChatTemplateThatLeavesOutTheMessageIsRefused) {
  const std::string model = test::test_dir() + "/golden/lm_templates";
  const TemporaryDirectory folder;
  std::filesystem::copy(model, folder.path("model"));
  const auto refusal = [&](const std::string& chat_template) {
    folder.write("model/chat_template.jinja", chat_template);
    return error_of([&] { Translating(folder.path("model")); });
  };
  EXPECT_TRUE(contains(refusal("{% for m in messages %}{{ m.role }}: {{ m.body }}{% endfor %}"), "chat template",
                       "does not write the user's message", "prompt_template"));
  EXPECT_TRUE(contains(refusal("{{ raise_exception('only with tools') }}"), "only with tools"));
  EXPECT_EQ(refusal("{% for m in messages %}{{ m.content }}{% endfor %}"), "");
}

class SmallPrompted : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { chat = new Translating(golden("some-chat-model")); }
  static void TearDownTestSuite() { delete chat; }
  static TranslatorOptions options(std::int64_t length = 8) {
    SearchOptions asked;
    asked.max_length = length;
    return chat->options(asked, "en", "de");
  }
  static std::string refusal(const TranslatorOptions& o, const Translating& t = *chat) {
    return error_of([&] { Translator(t.text(), o); });
  }
  static inline Translating* chat = nullptr;
};

TEST_F(SmallPrompted, BatchesPrefixCacheAndWindowsDoNotChangeTranslations) {
  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) lines.push_back(i % 7 == 3 ? " " : "The dog sleeps " + std::string(1 + i % 5, 'a'));
  TranslatorOptions o = options();
  o.context = 2;
  o.decoding.batch_size = 1;
  Translator alone(chat->text(), o);
  const auto expected = alone.translate(lines);
  EXPECT_EQ(expected[3][0].text, "");
  EXPECT_TRUE(expected[3][0].tokens.empty());
  o.decoding.batch_size = 8;
  o.decoding.threads = 2;
  o.decoding.session.prefix_tokens = 2000;
  Translator together(chat->text(), o);
  for (const std::size_t window : {std::size_t{40}, std::size_t{9}}) {
    together.go_to(1000);  // other lines: no context
    together.go_to(0);
    for (std::size_t at = 0; at < lines.size(); at += window) {
      const auto part = std::span(lines).subspan(at, std::min(window, lines.size() - at));
      together.go_to(at);
      const auto found = together.translate(part);
      for (std::size_t i = 0; i < part.size(); ++i) EXPECT_EQ(found[i][0].tokens, expected[at + i][0].tokens) << at + i;
    }
  }
}

TEST_F(SmallPrompted, ContextIsTheTextsBeforeWithoutBlankOnes) {
  const Translating t(golden("some-chat-model"), "{{ context | join('|') }}#{{ text }}");
  SearchOptions asked;
  asked.max_length = 3;
  TranslatorOptions o = t.options(asked, "en", "de");
  o.context = 2;
  // The prompt of each text, by its ids: the same translation as with this context alone.
  const std::vector<std::string> lines{"a", "", "b", "c", "d"};
  Translator translator(t.text(), o);
  const auto all = translator.translate(lines);
  const auto text = t.text();
  const auto alone = [&](const std::vector<std::string>& context, const std::string& line) {
    const TextToTranslate p = text->prepare({.text = line, .context = context}, 0, o, o.decoding.search);
    return ParallelDecoder(*t.model, o.decoding).decode({}, {{p.request}})[0][0].tokens;
  };
  EXPECT_EQ(all[0][0].tokens, alone({}, "a"));
  EXPECT_EQ(all[2][0].tokens, alone({"a"}, "b"));
  EXPECT_EQ(all[4][0].tokens, alone({"b", "c"}, "d"));
  // Another translator that goes on has the same context; one that only jumps has none.
  const std::vector<std::string> first(lines.begin(), lines.begin() + 4), last{lines[4]};
  Translator later(t.text(), o);
  later.continue_after(first);
  EXPECT_EQ(later.translate(last)[0][0].tokens, all[4][0].tokens);
  later.go_to(4);
  EXPECT_EQ(later.translate(last)[0][0].tokens, alone({}, "d"));
}

TEST_F(SmallPrompted, RefusesWhatThePromptCannotSay) {
  TranslatorOptions o = options();
  o.target_language = "";
  EXPECT_TRUE(contains(refusal(o), "target_language"));
  o.target_language = "xx-unknown";
  EXPECT_TRUE(contains(refusal(o), "target_language", "xx-unknown"));

  const Translating tower(golden("TowerInstruct-7B-v0.2"));
  TranslatorOptions t = tower.options({}, "", "de");
  EXPECT_TRUE(contains(refusal(t, tower), "source_language", "TowerInstruct"));
  t.source_language = "en";
  EXPECT_EQ(refusal(t, tower), "");
  t.context = 1;
  EXPECT_TRUE(contains(refusal(t, tower), "context", "TowerInstruct", "prompt_template"));
  t.context = 0;
  t.style = "formal";
  EXPECT_TRUE(contains(refusal(t, tower), "style"));
  t.style = "";
  t.terminology = std::make_shared<const Terminology>(std::vector<Term>{{"dog", "Hund"}});
  EXPECT_TRUE(contains(refusal(t, tower), "terminology", "beam"));
  t.decoding.search.beam_size = 4;
  EXPECT_EQ(refusal(t, tower), "");
  const Translation found = tower.translate(t, "The dog sleeps.")[0];
  EXPECT_TRUE(found.unsatisfied.empty()) << found.text;
}

TEST_F(SmallPrompted, LengthsAreBoundedBySourceAndPositions) {
  SearchOptions none;
  TranslatorOptions o = chat->options(none, "en", "de");
  o.max_length_factor = 2;
  const auto text = chat->text();
  const std::string line = "The dog sleeps.";
  const auto tokens = std::ssize(chat->tokenizer->encode(line, Side::target));
  const TextToTranslate t = text->prepare({.text = line}, 0, o, o.decoding.search);
  EXPECT_EQ(t.request.max_length, 2 * tokens + 20);
  EXPECT_TRUE(t.by_factor);
  // As many positions stay free as the text has tokens.
  const TextToTranslate cut = text->prepare({.text = std::string(3000, 'x')}, 0, o, o.decoding.search);
  EXPECT_TRUE(cut.truncated);
  const auto given = 1 + std::ssize(cut.request.prefix);
  EXPECT_LE(given + std::ssize(cut.source), chat->model->max_positions());
  EXPECT_GT(std::ssize(cut.source), 100);
  EXPECT_EQ(cut.request.max_length, chat->model->max_positions() - given + 1);
}

TEST_F(SmallPrompted, APrefixBeginsTheTranslation) {
  const TranslatorOptions o = options(4);
  Translator translator(chat->text(), o);
  const std::string line = "The dog sleeps.";
  const std::vector<std::string> prefixes{"Der Hund "};
  const Translation found = translator.translate({&line, 1}, prefixes)[0][0];
  EXPECT_TRUE(found.text.starts_with("Der Hund")) << found.text;
  EXPECT_LE(found.tokens.size(), 4U);
}

// The score of a given translation: its tokens, and the token that ends the assistant's message.
TEST_F(SmallPrompted, ScoresGivenTranslations) {
  const TranslatorOptions o = options();
  const PromptedText text(*chat->model, chat->tokenizer, chat->prompt);
  const PromptedText::Given given = text.given_translation("The dog sleeps.", "Der Hund", o, o.decoding.search.eos_ids);
  const Ids target = chat->tokenizer->encode("Der Hund", Side::target);
  ASSERT_EQ(given.ids.size(), given.prompt + target.size() + 1);
  EXPECT_EQ(Ids(given.ids.begin() + static_cast<std::ptrdiff_t>(given.prompt), given.ids.end() - 1), target);
  EXPECT_EQ(chat->tokenizer->piece(given.ids.back(), Side::target), "<|im_end|>");
  EXPECT_EQ(Ids(given.ids.begin(), given.ids.begin() + static_cast<std::ptrdiff_t>(given.prompt)),
            text.prompt_ids({.text = "The dog sleeps."}, o));
}

TEST(ReasoningMarks, SkipsReasoningAtTheBeginningAlone) {
  const Translating t(golden("some-chat-model"));
  const ReasoningMarks marks(*t.tokenizer);
  const auto ids = [&](const std::string& text) { return t.tokenizer->encode(text, Side::target); };
  const auto rest = [&](const std::string& prompt, const std::string& answer) {
    const Ids all = ids(answer);
    const Reasoning r = marks.before_answer(ids(prompt), all);
    return r.unfinished ? "unfinished" : t.tokenizer->decode(std::span(all).subspan(r.tokens), Side::target);
  };
  EXPECT_EQ(rest("a", "<think>b</think>c"), "c");
  EXPECT_EQ(rest("a", "\n<think>b</think>c"), "c");
  EXPECT_EQ(rest("a<think>\n", "b</think>c"), "c");
  EXPECT_EQ(rest("a<think>\n\n</think>\n\n", "b</think>c"), "b</think>c");
  EXPECT_EQ(rest("a", "b<think>c</think>d"), "b<think>c</think>d");
  EXPECT_EQ(rest("a", "<think>b"), "unfinished");
  EXPECT_EQ(rest("a", ""), "");
  EXPECT_FALSE(marks.has_channels());
}

}  // namespace
}  // namespace tril::search::prompted_text_test
