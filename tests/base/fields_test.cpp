// Options declared once: what they take, what they refuse and how they say so.
#include "base/fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tril {
namespace {

enum class Precision { fp32, bf16 };

struct Options {
  bool tie = true;
  std::int32_t layers = 6;
  std::int64_t max_tokens = 4096;
  std::uint64_t seed = 1;
  float dropout = 0.1f;
  double learning_rate = 3e-4;
  std::string model;
  std::vector<std::string> train_sets;
  std::optional<std::int64_t> vocab_size;
  std::optional<double> clip;
  std::optional<std::string> vocab;
  std::int64_t minutes = 10;
  std::vector<double> weights;
  std::vector<Precision> precisions;
  Precision precision = Precision::fp32;
};

TextForm<std::int64_t> minutes_form() {
  return {[](const std::string& text, const std::string& where) {
            check(text.ends_with('m'), where, "expected a number with unit m, got \"{}\"", text);
            return std::int64_t{std::stoi(text)};
          },
          [](const std::int64_t& minutes) { return std::to_string(minutes) + "m"; }};
}

Fields fields_of(Options& o) {
  Fields f;
  f.group("Data");
  f.add("model", &o.model, "where the model goes").required();
  f.add("train-sets", &o.train_sets, "source and target").exactly(2);
  f.add("vocab", &o.vocab, "a vocabulary to use");
  f.add("vocab-size", &o.vocab_size, "pieces of a new vocabulary").at_least(10);
  f.group("Training");
  f.add("max-tokens", &o.max_tokens, "target tokens in a batch").at_least(1);
  f.add("layers", &o.layers, "layers of each side").at_least(1).at_most(100);
  f.add("seed", &o.seed, "of all random numbers");
  f.add("dropout", &o.dropout, "probability").at_least(0).at_most(0.9);
  f.add("learning-rate", &o.learning_rate, "at its peak").above(0);
  f.add("clip", &o.clip, "norm of gradients");
  f.add("tie", &o.tie, "tie embeddings");
  f.add("after", &o.minutes, "how long", minutes_form()).free_to_change();
  f.add("weights", &o.weights, "of each set").above(0);
  f.add("precisions", &o.precisions, "all that are tried", {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}});
  f.add("precision", &o.precision, "arithmetic", {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}});
  f.excludes("vocab", "vocab-size", "a vocabulary is either read or trained");
  f.needs("vocab-size", "train-sets", "it is trained from them");
  return f;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Fields, TakeEveryType) {
  Options o;
  Fields f = fields_of(o);
  f.set_from_text("tie", "false", "");
  f.set_from_text("layers", "3", "");
  f.set_from_text("max-tokens", "9223372036854775807", "");
  f.set_from_text("seed", "18446744073709551615", "");
  f.set_from_text("dropout", "0.25", "");
  f.set_from_text("learning-rate", "1e-9", "");
  f.set_from_text("model", "a b", "");
  f.set_from_texts("train-sets", {"x", "y"}, "");
  f.set_from_text("vocab-size", "+12", "");
  f.set_from_text("precision", "bf16", "");
  f.set_from_text("after", "3m", "");
  f.set_from_texts("weights", {"0.5", "2"}, "");
  f.set_from_texts("precisions", {"bf16,fp32", "bf16"}, "");
  EXPECT_FALSE(o.tie);
  EXPECT_EQ(o.layers, 3);
  EXPECT_EQ(o.max_tokens, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(o.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(o.dropout, 0.25f);
  EXPECT_EQ(o.learning_rate, 1e-9);
  EXPECT_EQ(o.model, "a b");
  EXPECT_EQ(o.train_sets, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(o.vocab_size, 12);
  EXPECT_EQ(o.precision, Precision::bf16);
  EXPECT_EQ(o.minutes, 3);
  EXPECT_EQ(o.weights, (std::vector{0.5, 2.0}));
  EXPECT_EQ(o.precisions, (std::vector{Precision::bf16, Precision::fp32, Precision::bf16}));
  f.set_from_texts("vocab-size", std::vector<std::string>{}, "");
  EXPECT_FALSE(o.vocab_size.has_value());
}

TEST(Fields, NameTheMistake) {
  Options o;
  Fields f = fields_of(o);
  const auto error = [&](std::string_view name, const std::string& text) {
    return error_of([&] { f.set_from_text(name, text, "run.yml: line 3"); });
  };
  EXPECT_EQ(error("max-tokns", "1"), "run.yml: line 3: max-tokns is not an option; did you mean max-tokens?");
  EXPECT_EQ(error("max-tokens", "4k"), "run.yml: line 3: max-tokens: expected an integer, at least 1, got \"4k\"");
  EXPECT_EQ(error("max-tokens", "0"), "run.yml: line 3: max-tokens: expected an integer, at least 1, got 0");
  EXPECT_EQ(error("max-tokens", "1.5"), "run.yml: line 3: max-tokens: expected an integer, at least 1, got \"1.5\"");
  EXPECT_EQ(error("layers", "101"), "run.yml: line 3: layers: expected an integer, from 1 to 100, got 101");
  EXPECT_EQ(error("layers", "99999999999"),
            "run.yml: line 3: layers: expected an integer, from 1 to 100, got \"99999999999\"");
  EXPECT_EQ(error("seed", "-1"), "run.yml: line 3: seed: expected a non-negative integer, got \"-1\"");
  EXPECT_EQ(error("learning-rate", "0"), "run.yml: line 3: learning-rate: expected a number, above 0, got 0");
  EXPECT_EQ(error("learning-rate", "nan"), "run.yml: line 3: learning-rate: expected a number, above 0, got \"nan\"");
  EXPECT_EQ(error("clip", "inf"), "run.yml: line 3: clip: expected a number, got \"inf\"");
  EXPECT_EQ(error("tie", "maybe"), "run.yml: line 3: tie: expected true or false, got \"maybe\"");
  EXPECT_EQ(error("precision", "bf61"),
            "run.yml: line 3: precision: expected one of fp32, bf16, got \"bf61\"; did you mean bf16?");
  EXPECT_EQ(error("after", "10"), "run.yml: line 3: after: expected a number with unit m, got \"10\"");
  EXPECT_EQ(error("weights", "0"), "run.yml: line 3: weights: expected a number, above 0, got 0");
  EXPECT_EQ(error("precisions", "fp32,"), "run.yml: line 3: precisions: expected one of fp32, bf16, got \"\"");
  EXPECT_EQ(error("train-sets", "one"), "run.yml: line 3: train-sets: expected 2 values, got 1");
  EXPECT_EQ(error_of([&] {
              f.set_from_texts("seed", {"1", "2"}, "--seed");
            }),
            "--seed: seed: expected one value, got 2 (1, 2)");
  EXPECT_EQ(error_of([&] { f.set_from_texts("seed", std::vector<std::string>{}, "x"); }),
            "x: seed: expected a non-negative integer, got nothing");
  const Options untouched;
  EXPECT_EQ(o.max_tokens, untouched.max_tokens) << "a refused value must not be stored";
  EXPECT_EQ(o.seed, untouched.seed);
}

TEST(Fields, RequireAndContradict) {
  Options o;
  Fields f = fields_of(o);
  EXPECT_EQ(error_of([&] { f.check_complete(); }), "model: this is required: where the model goes");
  f.set_from_text("model", "m", "");
  f.check_complete();
  f.at("vocab-size", "").set({"100"}, "--vocab-size");
  EXPECT_EQ(error_of([&] { f.check_complete(); }), "--vocab-size: needs `train-sets`: it is trained from them");
  f.at("train-sets", "").set({"a", "b"}, "--train-sets");
  f.check_complete();
  f.set_from_text("vocab", "spm.model", "run.yml: line 2");
  EXPECT_EQ(error_of([&] { f.check_complete(); }),
            "run.yml: line 2: vocab: cannot be combined with --vocab-size: a vocabulary is either read or trained");
}

TEST(Fields, SayWhatChanged) {
  Options was, now;
  now.max_tokens = 8192;
  now.minutes = 20;
  now.vocab_size = 500;
  const auto list = differences(fields_of(was), fields_of(now));
  EXPECT_EQ(describe(list), "vocab-size was unset, now 500; max-tokens was 4096, now 8192; after was 10m, now 20m");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_FALSE(list[1].free_to_change);
  EXPECT_TRUE(list[2].free_to_change);
  EXPECT_TRUE(differences(fields_of(was), fields_of(was)).empty());
}

TEST(Fields, WriteJson) {
  Options o;
  o.model = "a \"b\"\\\n\x01";
  o.train_sets = {"x", "y z"};
  Fields f = fields_of(o);
  const std::string json = to_json(f);
  EXPECT_NE(json.find(R"("model": "a \"b\"\\\n\u0001")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("train-sets": ["x", "y z"])"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("vocab-size": null)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("tie": true)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("precision": "fp32")"), std::string::npos) << json;
}

// File names are bytes, which JSON cannot hold: what was written must still be recognised.
TEST(Fields, NamesThatAreNotUtf8AreWrittenAndKnownAgain) {
  struct Names {
    std::string file = "a\xff", text;
    std::vector<std::string> files{"b\xfe", "c"};
  };
  const auto fields = [](Names& n) {
    Fields f;
    f.add("file", &n.file, "a file").value_name("FILE");
    f.add("files", &n.files, "more").value_name("[NAME=]DIR");
    f.add("text", &n.text, "a name").value_name("NAME");
    return f;
  };
  Names was, now;
  Fields f = fields(was);
  EXPECT_NE(to_json(f).find("\"file\": \"a\ufffd\""), std::string::npos) << to_json(f);
  EXPECT_NE(to_json(f).find("[\"b\ufffd\", \"c\"]"), std::string::npos) << to_json(f);
  was.file = "a\ufffd", was.files = {"b\ufffd", "c"};
  EXPECT_TRUE(differences(f, fields(now)).empty());
  was.file = "a";
  EXPECT_EQ(differences(f, fields(now)).size(), 1u);
  f.set_from_text("file", "\xff", "");
  EXPECT_EQ(was.file, "\xff");
  EXPECT_EQ(error_of([&] { f.set_from_text("text", "\xff", "--text"); }),
            "--text: text: expected UTF-8, got \"\\xFF\"");
}

TEST(Fields, ReadBackEveryNumberTheyPrint) {
  Options o, read;
  Fields f = fields_of(o), g = fields_of(read);
  for (const double x : {1e-300, 0.1, 1.0 / 3, 123456789.125, 1e22, 5e-324}) {
    o.learning_rate = x;
    g.set_from_text("learning-rate", f.at("learning-rate").text(), "");
    EXPECT_EQ(read.learning_rate, x);
  }
  o.dropout = std::nextafter(0.3f, 1.0f);
  g.set_from_text("dropout", f.at("dropout").text(), "");
  EXPECT_EQ(read.dropout, o.dropout);
}

TEST(Fields, RefuseTheSameNameTwice) {
  Options o;
  Fields f = fields_of(o);
  EXPECT_THROW(f.add("seed", &o.seed, "again"), Error);
  EXPECT_THROW(f.excludes("seed", "sed", "a name that is not there"), Error);
}

TEST(Fields, SomeOfAnotherComeWithWhatTheyHaveToDoWithEachOther) {
  std::int64_t a = 1, b = 2, c = 3;
  Fields all;
  all.group("Letters");
  all.add("a", &a, "first").at_most(9);
  all.add("b", &b, "second");
  all.add("c", &c, "third");
  all.excludes("a", "c", "not both");
  all.needs("a", "b", "nor alone");
  Fields some;
  some.include(all, {"c", "a"});
  EXPECT_EQ(some.names(), (std::vector<std::string>{"a", "c"}));
  EXPECT_EQ(some.at("a").group(), "Letters");
  EXPECT_THROW(some.set_from_texts("a", {"10"}, ""), Error);
  some.set_from_texts("a", {"5"}, "");
  EXPECT_EQ(a, 5);
  EXPECT_NO_THROW(some.check_complete());
  some.set_from_texts("c", {"6"}, "");
  EXPECT_THROW(some.check_complete(), Error);
  EXPECT_THROW(some.include(all, {"d"}), Error);
}

}  // namespace
}  // namespace tril
