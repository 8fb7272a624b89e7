// Constraints: what a regular expression and a schema allow, against slow and independent judges; searches under them,
// whose every text must be valid and whole, however short the length is and whatever the logits say.
#include "search/constraint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <set>

#include "search/decode.h"
#include "search/grammar_text.h"
#include "search/json_schema.h"
#include "search/schema_validator.h"
#include "search/speculative.h"

namespace tril::search {
namespace {

using nlohmann::json;

// All bytes, and pieces of several of the kind that byte pairs give: they begin and end anywhere, in characters too.
std::vector<std::string> vocabulary(std::int64_t pieces, std::uint64_t seed) {
  std::vector<std::string> list;
  for (int b = 0; b < 256; ++b) list.emplace_back(1, static_cast<char>(b));
  for (const char* piece : {"{\"",      "\":",   "\": ", "\", \"", "\",\"", "},",   "}]",   "true",  "false",
                            "null",     "[[",    "[{",   " \"",    "\\u00", "name", "kind", "value", "\xc3\xa9",
                            "\x9f\x98", "\xa9t", "00",   "123",    "-",     "e-",   "0.5",  "foo",   "next\": "})
    list.emplace_back(piece);
  RandomSequence random(seed, 2);
  const std::string letters = "abcxyz019 \"\\:,{}[]\n";
  while (static_cast<std::int64_t>(list.size()) < pieces) {
    std::string text;
    for (std::uint64_t n = 2 + random.below(6); n > 0; --n) text += letters[random.below(letters.size())];
    list.push_back(text);
  }
  list.emplace_back();  // the end token
  return list;
}

std::shared_ptr<const TokenTrie> tokens(std::int64_t pieces = 600) {
  return std::make_shared<TokenTrie>(vocabulary(pieces, 5));
}

Constraint of_regex(std::string_view regex) {
  return {regex_grammar(regex), tokens()};
}
Constraint of_schema(const std::string& schema, JsonSpace space = JsonSpace::space) {
  return {json_schema_grammar(schema, {.space = space}), tokens()};
}

// Logits drawn anew for every token of every row.
class RandomStep : public Step {
 public:
  RandomStep(std::int64_t vocab_size, std::uint64_t seed) : vocab_size_(vocab_size), random_(seed, 9) {}
  std::int64_t vocab_size() const override { return vocab_size_; }
  void read(Context& c, const StepInput& input) override { logits(c, input); }
  Tensor logits(Context& c, const StepInput& input) override {
    std::int64_t rows = 0;
    for (std::size_t r = 0; r < input.counts.size(); ++r) rows += input.answers.empty() ? 1 : input.answers[r];
    std::vector<float> x;
    for (std::int64_t i = 0; i < rows * vocab_size_; ++i) x.push_back(3 * static_cast<float>(random_.normal()));
    return c.upload<float>(x, {rows, vocab_size_});
  }

 private:
  std::int64_t vocab_size_;
  RandomSequence random_;
};

// Proposes whatever comes to mind.
class RandomProposer : public Proposer {
 public:
  explicit RandomProposer(std::int64_t vocab_size) : vocab_size_(vocab_size), random_(8, 8) {}
  void propose(Context&, const Drafts& rows, std::vector<std::vector<std::int32_t>>& proposals) override {
    proposals.assign(rows.tokens.size(), {});
    for (std::size_t r = 0; r < rows.tokens.size(); ++r)
      for (std::int32_t i = 0; i < rows.most[r]; ++i)
        proposals[r].push_back(static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(vocab_size_))));
  }

 private:
  std::int64_t vocab_size_;
  RandomSequence random_;
};

struct Searches {
  explicit Searches(std::shared_ptr<const TokenTrie> of) : trie(std::move(of)), context(arena) {
    eos = static_cast<std::int32_t>(trie->size()) - 1;
  }
  SearchOptions options(std::shared_ptr<const Constraint> constraint) const {
    SearchOptions o;
    o.eos_ids = {eos};
    o.constraint = std::move(constraint);
    return o;
  }
  std::string text(const Hypothesis& h) const {
    std::string all;
    for (const std::int32_t token : h.tokens) all += trie->bytes(token);
    return all;
  }
  std::vector<Hypothesis> run(const SearchOptions& o, std::int32_t max_length, std::uint64_t seed) {
    RandomStep step(trie->size(), seed);
    const Request request{.max_length = max_length, .number = seed};
    return decode(context, step, {&request, 1}, o)[0];
  }
  std::shared_ptr<const TokenTrie> trie;
  Arena arena;
  Context context;
  std::int32_t eos;
};

TEST(Pattern, MatchesWhatStandardRegularExpressionsMatch) {
  const std::vector<std::string> patterns{
      "abc",        "a|bc|",   "a*b+c?",    "(ab){2,3}", "[a-c]{3}", "[^a]b", "a.c",   "(a|b)*c",  "(?:ab|a)(c|bc)",
      "a{2}",       "a{0,2}b", "\\d+[a-b]", "x{0}a",     "^ab$",     "^a|b$", "a$|^c", "(^a)?b",   "\\w\\W",
      "[\\d\\-a]+", "[]a]*|b", "(a*)*",     "(a+|b+)+c", "a+?b",     "^$",    "\\.",   "[a\\]b]+", "ca{1,}b"};
  RandomSequence random(3, 3);
  const std::string letters = "aabbcc1.- ]";
  std::vector<std::string> texts{""};
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(7); n > 0; --n) text += letters[random.below(letters.size())];
    texts.push_back(text);
  }
  for (const std::string& p : patterns) {
    const bool ecma_differs = p == "[]a]*|b";  // [] is an empty class
    const std::regex expected(ecma_differs ? "$.a]*|b" : p);
    const Pattern whole = Pattern::of_regex(p, Pattern::Match::whole),
                  part = Pattern::of_regex(p, Pattern::Match::part);
    for (const std::string& text : texts) {
      EXPECT_EQ(whole.matches(text), std::regex_match(text, expected)) << p << " on " << text;
      EXPECT_EQ(part.matches(text), std::regex_search(text, expected)) << p << " in " << text;
    }
  }
}

// A regular expression drawn at random, as a tree: what it looks like, and what it matches by the definition.
struct Expression {
  enum class Kind : std::uint8_t { letters, sequence, either, repeat };
  Kind kind = Kind::letters;
  std::u32string letters;  // any of these
  std::vector<Expression> parts;
  int least = 0, most = 0;  // of parts[0]; most -1: any number
  std::string text;

  /// Where a match that begins at `i` may end.
  std::set<std::size_t> ends(const std::u32string& on, std::size_t i) const {
    std::set<std::size_t> found;
    if (kind == Kind::letters) {
      if (i < on.size() && letters.find(on[i]) != std::u32string::npos) found.insert(i + 1);
      return found;
    }
    if (kind == Kind::either) {
      for (const Expression& part : parts) found.merge(part.ends(on, i));
      return found;
    }
    std::set<std::size_t> now{i};
    const auto step = [&](const Expression& part) {
      std::set<std::size_t> next;
      for (const std::size_t at : now) next.merge(part.ends(on, at));
      now = next;
    };
    if (kind == Kind::sequence) {
      for (const Expression& part : parts) step(part);
      return now;
    }
    for (int n = 0; n < least; ++n) step(parts[0]);
    found = now;  // more rounds than there are letters bring nothing new
    for (int n = least; n < (most < 0 ? least + static_cast<int>(on.size()) + 1 : most); ++n) {
      step(parts[0]);
      found.insert(now.begin(), now.end());
    }
    return found;
  }
  bool matches(const std::u32string& on) const { return ends(on, 0).contains(on.size()); }
};

const std::vector<std::pair<char32_t, std::string>>& some_letters() {
  static const std::vector<std::pair<char32_t, std::string>> list{
      {U'a', "a"}, {U'b', "b"}, {U'.', "\\."}, {U'\u00e9', "\u00e9"}, {U'\U0001f600', "\U0001f600"}};
  return list;
}

Expression random_expression(RandomSequence& random, int depth) {
  using enum Expression::Kind;
  const auto letter = [&] { return some_letters()[random.below(some_letters().size())]; };
  Expression e;
  switch (depth >= 4 ? random.below(2) : random.below(7)) {
    case 0: {
      const auto [c, text] = letter();
      e.letters = c, e.text = text;
      return e;
    }
    case 1: {
      const bool others = random.below(3) == 0;
      std::u32string listed;
      e.text = others ? "[^" : "[";
      for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
        const auto [c, text] = letter();
        listed += c, e.text += text;
      }
      e.text += "]";
      for (const auto& [c, text] : some_letters())
        if ((listed.find(c) != std::u32string::npos) != others) e.letters += c;
      return e;
    }
    case 2:
    case 3:
      e.kind = sequence;
      for (std::uint64_t n = random.below(4); n > 0; --n) {
        e.parts.push_back(random_expression(random, depth + 1));
        e.text += e.parts.back().kind == either ? "(?:" + e.parts.back().text + ")" : e.parts.back().text;
      }
      return e;
    case 4:
      e.kind = either;
      for (std::uint64_t n = 2 + random.below(2); n > 0; --n) {
        e.parts.push_back(random_expression(random, depth + 1));
        e.text += (e.parts.size() > 1 ? "|" : "") + e.parts.back().text;
      }
      return e;
    default: {
      e.kind = repeat;
      e.parts.push_back(random_expression(random, depth + 1));
      e.text = e.parts[0].kind == letters ? e.parts[0].text : "(" + e.parts[0].text + ")";
      const std::vector<std::tuple<const char*, int, int>> marks{
          {"*", 0, -1}, {"+", 1, -1}, {"?", 0, 1}, {"{2}", 2, 2}, {"{1,3}", 1, 3}, {"{2,}", 2, -1}, {"*?", 0, -1}};
      const auto& [mark, least, most] = marks[random.below(marks.size())];
      e.text += mark, e.least = least, e.most = most;
      return e;
    }
  }
}

// 500 expressions drawn at random, and the grammars that are made of them, against the definition; no search goes wrong
// under any of them.
TEST(Pattern, MatchesWhatTheDefinitionSays) {
  Searches searches(tokens());
  RandomSequence random(77, 1);
  std::int64_t yes = 0, no = 0;
  for (int i = 0; i < 500; ++i) {
    const Expression e = random_expression(random, 0);
    SCOPED_TRACE(e.text);
    const Pattern pattern = Pattern::of_regex(e.text, Pattern::Match::whole);
    const auto constraint = std::make_shared<const Constraint>(regex_grammar(e.text), searches.trie);
    for (int n = 0; n < 60; ++n) {
      std::u32string text;
      std::string bytes;
      for (std::uint64_t length = random.below(7); length > 0; --length) {
        const char32_t c = some_letters()[random.below(random.below(2) ? 2 : some_letters().size())].first;
        text += c;
        bytes += c == U'\u00e9' ? "\u00e9" : c == U'\U0001f600' ? "\U0001f600" : std::string(1, static_cast<char>(c));
      }
      const bool expected = e.matches(text);
      (expected ? yes : no)++;
      EXPECT_EQ(pattern.matches(bytes), expected) << bytes;
      EXPECT_EQ(constraint->allows(bytes), expected) << bytes;
    }
    SearchOptions o = searches.options(constraint);
    o.sampling.on = i % 2 == 0;
    const std::string found = searches.text(searches.run(
        o, static_cast<std::int32_t>(constraint->least_tokens()) + 1 + i % 9, static_cast<std::uint64_t>(i))[0]);
    EXPECT_TRUE(pattern.matches(found)) << found;
  }
  EXPECT_GT(yes, 1500);
  EXPECT_GT(no, 5000);
}

TEST(Pattern, KnowsCharactersAndCombines) {
  const auto matches = [](const char* p, const std::string& text) {
    return Pattern::of_regex(p, Pattern::Match::whole).matches(text);
  };
  EXPECT_TRUE(matches("[\u00e0-\u00ff\U0001f600]{2}", "\u00e9\U0001f600"));
  EXPECT_FALSE(matches("[\u00e0-\u00ff]", "\u0100"));
  EXPECT_TRUE(matches("\\u00e9\\x41\\u{1F600}\\uD83D\\uDE00\\t", "\u00e9A\U0001f600\U0001f600\t"));
  EXPECT_TRUE(matches(".", "\U0001f600"));
  EXPECT_FALSE(matches(".", "\n"));
  EXPECT_TRUE(matches("[^a]", "\n"));
  EXPECT_TRUE(matches("(?<year>\\d{4})\\/\\D", "2020/\u00e9"));
  const Pattern both = Pattern::of_regex("a*b*", Pattern::Match::whole) & Pattern::of_length(2, 3);
  for (const char* text : {"aa", "ab", "abb", "bbb"}) EXPECT_TRUE(both.matches(text)) << text;
  for (const char* text : {"", "a", "ba", "aabb"}) EXPECT_FALSE(both.matches(text)) << text;
  const std::vector<std::string> names{"a", "abc", "\u00e9"};
  const Pattern others = Pattern::except(names), these = Pattern::of_texts(names);
  for (const char* text : {"", "ab", "abcd", "b", "\u00e8", "\u00e9a"}) {
    EXPECT_TRUE(others.matches(text)) << text;
    EXPECT_FALSE(these.matches(text)) << text;
  }
  for (const std::string& text : names) {
    EXPECT_FALSE(others.matches(text)) << text;
    EXPECT_TRUE(these.matches(text)) << text;
  }
}

void expect_refused(const std::function<void()>& make, const std::string& expected) {
  try {
    make();
    ADD_FAILURE() << "taken, and should be refused: " << expected;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what() << "\nlacks " << expected;
  }
}

TEST(Pattern, RefusesByNameWhatItDoesNotKnow) {
  for (const auto& [regex, expected] :
       std::vector<std::pair<std::string, std::string>>{{"a(?=b)", "look-ahead"},
                                                        {"(?<!b)a", "look-behind"},
                                                        {"(a)\\1", "back reference"},
                                                        {"\\bword", "\\b, which is not supported"},
                                                        {"\\p{L}", "\\p, which"},
                                                        {"(?i)a", "a group of a kind"},
                                                        {"a++", "possessive"},
                                                        {"(a", ")"},
                                                        {"a)", "nothing opened"},
                                                        {"[a", "a ]"},
                                                        {"*a", "repeat of nothing"},
                                                        {"a{3,2}", "at least 3 and at most 2"},
                                                        {"a{999999}", "more than 100000 times"},
                                                        {"[b-a]", "greater to a smaller"},
                                                        {"\\", "what is escaped"},
                                                        {"(a{100000}){100000}", "states"},
                                                        {"\\uD800", "no character"},
                                                        {"^*", "a repeat of ^"},
                                                        {std::string(1000, '('), "more than 200 groups"},
                                                        {"a\xff", "UTF-8"}})
    expect_refused([&r = regex] { Pattern::of_regex(r, Pattern::Match::whole); }, expected);
}

TEST(Grammar, RangesOfCharactersAreUtf8) {
  RandomSequence random(1, 1);
  const auto utf8 = [](char32_t c) {
    std::string out;
    if (c < 0x80) return std::string(1, static_cast<char>(c));
    const int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    const int lead = tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0;
    out += static_cast<char>(lead | static_cast<int>(c >> (6 * tail)));
    for (int i = tail - 1; i >= 0; --i) out += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
    return out;
  };
  for (int i = 0; i < 60; ++i) {
    const char32_t bounds[] = {0x80, 0x800, 0xd800, 0xe000, 0x10000, 0x110000, 0x1000, 0x40000};
    const auto any = [&] {
      const char32_t near = bounds[random.below(8)] + static_cast<char32_t>(random.below(5)) - 3;
      const char32_t c = random.below(2) ? near : static_cast<char32_t>(random.below(last_char + 1));
      return std::min<char32_t>(c, last_char);
    };
    char32_t a = any(), b = any();
    if (a > b) std::swap(a, b);
    if ((a >= 0xd800 && a < 0xe000) || (b >= 0xd800 && b < 0xe000)) continue;
    const Constraint one = of_regex(
        fmt::format("[\\u{{{:x}}}-\\u{{{:x}}}]", static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b)));
    for (const char32_t c : std::vector<char32_t>{a, b, a - 1, b + 1, any(), any(), any(), any(), (a + b) / 2})
      if (c <= last_char && (c < 0xd800 || c > 0xdfff)) {
        EXPECT_EQ(one.allows(utf8(c)), c >= a && c <= b)
            << std::uint32_t{a} << " " << std::uint32_t{b} << " " << std::uint32_t{c};
      }
  }
}

TEST(JsonSchema, NumbersKeepToTheirBounds) {
  const auto digits = [](double x) { return nlohmann::json(x).dump(); };
  for (const auto& [schema, multiple] : std::vector<std::pair<std::string, int>>{
           {R"({"type":"integer","minimum":-17,"maximum":123})", 1},
           {R"({"type":"integer","exclusiveMinimum":9,"exclusiveMaximum":101})", 1},
           {R"({"type":"integer","minimum":-105.5,"maximum":-3.5})", 1},
           {R"({"type":"integer","minimum":97,"multipleOf":7})", 7},
           {R"({"type":"integer","maximum":12,"multipleOf":5})", 5},
           {R"({"type":"number","minimum":3,"multipleOf":4})", 4}}) {
    const Constraint c = of_schema(schema);
    const json s = json::parse(schema);
    for (int x = -220; x <= 220; ++x)
      EXPECT_EQ(c.allows(std::to_string(x)), testing::fault_of(json(x), s, s).empty()) << schema << x;
    for (const char* no : {"-0", "007", "1.0", "+1", "", "-", "1e1"}) EXPECT_FALSE(c.allows(no)) << schema << no;
  }
  for (const std::string schema :
       {R"({"type":"number","minimum":-1.25,"maximum":0.5})",
        R"({"type":"number","exclusiveMinimum":0.1,"maximum":0.3})", R"({"type":"number","exclusiveMaximum":-0.7})",
        R"({"type":"number","minimum":12.5,"exclusiveMaximum":13})",
        R"({"type":"number","minimum":0.30000000000000004})", R"({"type":"number","maximum":1e-7})",
        R"({"type":"number","minimum":5e-324,"maximum":9})"}) {
    const Constraint c = of_schema(schema);
    const json s = json::parse(schema);
    for (int x = -1500; x <= 1500; ++x) {
      const double value = x / 100.0;
      EXPECT_EQ(c.allows(value == std::floor(value) ? fmt::format("{}", x / 100) : digits(value)),
                testing::fault_of(json(value), s, s).empty())
          << schema << value;
    }
    for (const char* no : {"-0", "-0.0", "00.5", ".5", "1.", "1e1"}) EXPECT_FALSE(c.allows(no)) << schema << no;
  }
  const Constraint free = of_schema(R"({"type":"number"})");
  for (const char* yes : {"0", "-0.5", "1e5", "123.25E-3", "999999999999999"}) EXPECT_TRUE(free.allows(yes)) << yes;
  for (const char* no : {"1e400", "01", "--1", "1.", "NaN"}) EXPECT_FALSE(free.allows(no)) << no;
}

TEST(JsonSchema, SaysWhatItAllows) {
  const auto check = [](const std::string& schema, const std::vector<std::string>& yes,
                        const std::vector<std::string>& no, JsonSpace space = JsonSpace::space) {
    const Constraint c = of_schema(schema, space);
    for (const std::string& text : yes) EXPECT_TRUE(c.allows(text)) << schema << "\n" << text;
    for (const std::string& text : no) EXPECT_FALSE(c.allows(text)) << schema << "\n" << text;
  };
  const std::string person =
      R"({"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer","minimum":0}},"required":["name"]})";
  check(person, {R"({"name":"A"})", R"({"name": "\u00e9\n\/", "age": 3})", "{\"name\":\"\u00e9\"}"},
        {"{}", R"({"age":3})", R"({"age":3,"name":"A"})", R"({"name":"A","more":1})", R"({"name":"A",})",
         R"({"name":"A"} )", "{\"name\":\"\n\"}", R"({"name":"\ud800"})", "{\"name\":\"\xc3\"}", R"({"name":  "A"})"});
  check(person, {"{\n  \"name\": \"A\",\n  \"age\": 3\n}", R"({"name":"A"})"}, {"{ \n\"name\":\"A\"}"},
        JsonSpace::lines);
  check(person, {R"({"name":"A","age":3})"}, {R"({"name": "A"})"}, JsonSpace::none);
  check(R"({"anyOf":[{"type":"null"},{"type":"array","items":{"$ref":"#"}}]})", {"null", "[]", "[null, [[], null]]"},
        {"[1]", "[null", "[,]"});
  check(R"({"enum":["a","\n",3,[1,{"k":null}]],"type":["string","array"]})",
        {R"("a")", R"("\n")", R"([1, {"k": null}])"}, {"3", R"("b")"});
  check(
      R"({"allOf":[{"enum":[{"a":1,"b":[{"c":2,"d":null}]},{"a":1},[1,2],"x"]},{"enum":[{"b":[{"d":null,"c":2.0}],"a":1.0},[2,1],"x"]}]})",
      {R"({"a": 1, "b": [{"c": 2, "d": null}]})", R"("x")"}, {R"({"a": 1})", "[1, 2]", "[2, 1]"});
  check(R"({"type":"object","additionalProperties":{"type":"boolean"},"properties":{"ab":{"const":1}}})",
        {"{}", R"({"ab": 1, "a":true,"abc":false})", R"({"b":true})"},
        {R"({"ab":true})", R"({"a":true,"ab":1})", R"({"\u0061b":true})"});
  check(R"({"type":"object","properties":{"a":{},"b":{},"c":{}},"minProperties":2,"maxProperties":2})",
        {R"({"a":1,"b":2})", R"({"b":1,"c":[]})"}, {R"({"a":1})", R"({"a":1,"b":1,"c":1})"});
  check(
      R"({"type":"object","minProperties":1,"maxProperties":2,"propertyNames":{"maxLength":1},"additionalProperties":{"type":"null"}})",
      {R"({"a":null})", R"({"a":null,"":null})"}, {"{}", R"({"ab":null})", R"({"a":null,"b":null,"c":null})"});
  check(R"({"type":"array","prefixItems":[{"const":1},{"const":2}],"items":{"const":3},"maxItems":3})",
        {"[1,2]", "[1, 2, 3]"}, {"[]", "[1]", "[1,2,3,3]"});
  check(
      R"({"allOf":[{"properties":{"a":{"minimum":1}},"additionalProperties":false},{"properties":{"a":{"type":"integer","maximum":2},"b":{}}}],"type":"object"})",
      {"{}", R"({"a":1})", R"({"a":2})"}, {R"({"a":3})", R"({"a":0})", R"({"b":1})"});
  check(R"({"type":"string","pattern":"b$","minLength":2,"maxLength":3})", {R"("ab")", R"("\"ab")", R"("\\b")"},
        {R"("b")", R"("ba")", R"("abab")"});
  check("true", {"1", "{}", R"({"a": [true, null, "x", {"b": -1.5e3}]})"}, {"", "{", "tru", "[1 ,2]"});
}

TEST(JsonSchema, RefusesByNameWhatItDoesNotKnow) {
  for (const auto& [schema, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"not":{"type":"null"}})", "the keyword \"not\" is not supported"},
           {R"({"properties":{"a":{"if":true}}})", "#/properties/a: the keyword \"if\""},
           {R"({"type":"array","uniqueItems":true})", "\"uniqueItems\""},
           {R"({"type":"strin"})", "there is no type \"strin\""},
           {R"({"$ref":"#/$defs/a"})", "there is no \"#/$defs/a\""},
           {R"({"$ref":"other.json"})", "lies elsewhere"},
           {R"({"$ref":"#"})", "refers to itself"},
           {R"({"anyOf":[{"$ref":"#"},{"type":"null"}]})", "begins with itself"},
           {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", "more than one alternative of \"oneOf\""},
           {R"({"type":"string","format":"color"})", "\"color\" is not supported"},
           {R"x({"type":"string","pattern":"(?=a)"})x", "look-ahead"},
           {R"({"type":"number","multipleOf":0.5})", "multipleOf"},
           {R"({"type":"object","minProperties":3})", "minProperties"},
           {R"({"type":"string","maxLength":-1})", "expected a whole number of at least 0"},
           {R"({"type":"string","maxLength":1000000})", "above 100000"},
           {R"({"type":"integer","minimum":3,"maximum":2})", "no text that it allows"},
           {R"({"type":"string","minLength":5,"maxLength":3})", "which nothing satisfies"},
           {R"({"properties":{"a":false},"required":["a"],"type":"object"})", "no text that it allows"},
           {R"({"type":"array","items":[{}]})", "prefixItems"},
           {R"({"allOf":[{"required":1},{"required":["a"]}]})", "#/allOf/required: expected names in an array"},
           {R"({"required":["a",1]})", "expected names in an array"},
           {R"({"allOf":[{"properties":[{}]},{"properties":{"a":{}}}]})", "#/allOf/properties: expected an object"},
           {R"({"allOf":[{"minimum":"1"},{"minimum":1}]})", "#/allOf/minimum: expected a number"},
           {R"({"allOf":[{"maxLength":[]},{"maxLength":1}]})", "expected a whole number of at least 0"},
           {R"({"oneOf":[{"enum":1},{"enum":[2]}]})", "#/oneOf/0/enum: expected values in an array"},
           {R"({"oneOf":[{"anyOf":{"a":{}}},true]})", "#/oneOf/0/anyOf: expected schemas in an array"},
           {R"({"prefixItems":{}})", "expected schemas in an array"},
           {R"({"a":1,"a":2})", "twice"},
           {"[", "JSON schema"},
           {"3", "expected a schema"},
           {R"({"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}})", "no text that it allows"}})
    expect_refused([&s = schema] { json_schema_grammar(s); }, expected);
  std::string deep = "{}";
  for (int i = 0; i < 60; ++i) deep = R"({"items":)" + deep + "}";
  EXPECT_NO_THROW(json_schema_grammar(deep));
  std::string doubling = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 40; ++i)
    doubling +=
        fmt::format(R"("d{}":{{"allOf":[{{"$ref":"#/$defs/d{}"}},{{"$ref":"#/$defs/d{}"}}]}},)", i, i + 1, i + 1);
  expect_refused([&] { json_schema_grammar(doubling + R"("d40":{}}})"); }, "schemas");
  // Names of objects that have no other property: patterns of many states each, of which nothing is written.
  std::string names = R"({"prefixItems":[)";
  for (int i = 0; i < 100; ++i)
    names += fmt::format(
        R"({}{{"type":"object","additionalProperties":false,"propertyNames":{{"pattern":"^[a-c]*$","maxLength":{}}}}})",
        i == 0 ? "" : ",", 50'000 + i);
  expect_refused([&] { json_schema_grammar(names + "]}"); }, "patterns and lengths");
}

// Objects of two objects of two objects ...: a few lines that call for more text than could ever be written.
TEST(Constraint, ATextBeyondAllBoundsIsRefusedBeforeItIsSpelt) {
  const auto trie =
      std::make_shared<TokenTrie>(std::vector<std::string>{"{", "}", "\"", ":", ",", " ", "a", "b", "\":{"});
  for (const int levels : {8, 30, 55, 64, 150}) {
    std::string schema = R"({"$ref":"#/$defs/d0","$defs":{)";
    for (int i = 0; i < levels; ++i)
      schema += fmt::format(
          R"("d{}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{}"}},"b":{{"$ref":"#/$defs/d{}"}}}},)"
          R"("required":["a","b"],"additionalProperties":false}},)",
          i, i + 1, i + 1);
    schema += fmt::format(R"("d{}":{{"type":"object","properties":{{}},"additionalProperties":false}}}}}})", levels);
    const auto grammar = [&] { return json_schema_grammar(schema, {.alphabet = trie->alphabet()}); };
    if (levels > 60) {  // more than can be counted
      expect_refused([&] { grammar(); }, "there is no text that it allows");
      continue;
    }
    const Constraint constraint(grammar(), trie);
    EXPECT_GT(constraint.least_tokens(), 1000) << levels;
    expect_refused([&] { constraint.check_room(1000); }, "the shortest text that it allows has");
    EXPECT_EQ(constraint.after({}, 1000).count, 0) << levels;
  }
}

// A vocabulary without some characters: what can be written without them is, the rest is refused.
TEST(Constraint, KeepsToTheVocabulary) {
  const std::vector<std::string> letters{"a", "b", "{", "}", "\"", ":", ",", " ", "\u00e9", "1", "\xc3", "bb", ""};
  const auto trie = std::make_shared<TokenTrie>(letters);
  EXPECT_EQ(trie->alphabet().size(), 9u);
  EXPECT_TRUE(trie->bytes(10).empty()) << "half a character could never be made whole";
  const Constraint string(json_schema_grammar(R"({"type":"object","additionalProperties":{"type":"string"}})",
                                              {.alphabet = trie->alphabet()}),
                          trie);
  EXPECT_TRUE(string.allows("{\"a\": \"b\u00e9\"}"));
  EXPECT_FALSE(string.allows("{\"c\":\"\"}"));
  expect_refused([&] { json_schema_grammar(R"({"type":"boolean"})", {.alphabet = trie->alphabet()}); },
                 "no token for \"t\"");
  const Constraint regex(regex_grammar("[a-z]+\u00e9?", trie->alphabet()), trie);
  EXPECT_TRUE(regex.allows("abba\u00e9"));
  EXPECT_FALSE(regex.allows("abc"));
}

// Each bit of a mask against the definition: the text with the token's bytes is the beginning of one that is allowed.
TEST(Constraint, MasksAreThoseOfTheDefinition) {
  const auto trie = tokens(400);
  const Constraint c(
      json_schema_grammar(
          R"({"type":"object","properties":{"name":{"type":"string","maxLength":6},"next":{"$ref":"#"},"v":{"enum":["foo","\u00e9",123]}},"required":["name"]})"),
      trie);
  RandomSequence random(6, 6);
  for (int text = 0; text < 12; ++text) {
    std::vector<std::int32_t> so_far;
    for (int steps = 0; steps < 25; ++steps) {
      const Constraint::Allowed allowed = c.after(so_far, 1000);
      ASSERT_TRUE(allowed.possible);
      std::vector<std::int32_t> next;
      for (std::int32_t id = 0; id < trie->size(); ++id) {
        const auto bit = static_cast<std::size_t>(id);
        const bool set = !allowed.mask.empty() && (allowed.mask[bit / 64] >> (bit % 64) & 1) != 0;
        std::vector<std::int32_t> longer = so_far;
        longer.push_back(id);
        if (!trie->bytes(id).empty()) {
          EXPECT_EQ(set, c.after(longer, 1000).possible) << id;
        } else {
          EXPECT_FALSE(set);
        }
        if (set) next.push_back(id);
      }
      EXPECT_EQ(static_cast<std::int64_t>(next.size()), allowed.count);
      if (next.empty()) break;
      so_far.push_back(next[random.below(next.size())]);
    }
  }
}

// From every length that the shortest text keeps to, a greedy search of nonsense ends in a text of the constraint's; and with
// one token less there is none.
TEST(Constraint, EndsWithinAnyLengthThatCanBe) {
  Searches searches(tokens());
  for (
      const std::string schema :
      {R"({"type":"object","properties":{"first_name":{"type":"string","minLength":3},"values":{"type":"array","items":{"type":"integer"},"minItems":2}},"required":["first_name","values"]})",
       R"({"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]},"n":{"const":"something long"}},"required":["next","n"],"additionalProperties":false}}})"}) {
    const auto c = std::make_shared<Constraint>(json_schema_grammar(schema), searches.trie);
    const auto least = static_cast<std::int32_t>(c->least_tokens()) + 1;
    const json s = json::parse(schema);
    for (std::int32_t length = least; length < least + 30; ++length)
      for (std::uint64_t seed = 0; seed < 3; ++seed) {
        const Hypothesis h = searches.run(searches.options(c), length, seed)[0];
        ASSERT_FALSE(h.tokens.empty());
        EXPECT_EQ(h.tokens.back(), searches.eos);
        EXPECT_LE(static_cast<std::int32_t>(h.tokens.size()), length);
        const json value = json::parse(searches.text(h), nullptr, false);
        ASSERT_FALSE(value.is_discarded()) << searches.text(h);
        EXPECT_EQ(testing::fault_of(value, s, s), "") << searches.text(h);
      }
    expect_refused([&] { searches.run(searches.options(c), least - 1, 1); }, "the shortest text that it allows has");
  }
}

// What is forgotten is made again.
TEST(Constraint, KeepsNoMoreStatesThanItMay) {
  Searches searches(tokens());
  const auto c = std::make_shared<Constraint>(json_object_grammar(), searches.trie);
  const std::string unbounded = searches.text(searches.run(searches.options(c), 300, 4)[0]);
  c->limit(50, 2000);
  EXPECT_EQ(searches.text(searches.run(searches.options(c), 300, 4)[0]), unbounded);
  EXPECT_LT(c->states(), 3000u);
}

TEST(Constraint, WinsOverOtherProcessorsAndIsRefusedBesideSome) {
  Searches searches(tokens());
  const auto c = std::make_shared<Constraint>(regex_grammar("(ab|cd){3}"), searches.trie);
  SearchOptions o = searches.options(c);
  o.no_repeat_ngram = 1;
  o.suppress_ids = {'a', 'c'};
  EXPECT_TRUE(c->allows(searches.text(searches.run(o, 20, 1)[0])));
  o = searches.options(c);
  o.ends = [](std::span<const std::int32_t>, std::span<const std::int32_t>) { return false; };
  expect_refused([&] { searches.run(o, 20, 1); }, "that something else ends");
  o = searches.options(c);
  o.forced_bos_id = 3;
  expect_refused([&] { searches.run(o, 20, 1); }, "forced BOS");
  // Without an end token a text ends where nothing may follow.
  o = searches.options(c);
  o.eos_ids.clear();
  EXPECT_TRUE(c->allows(searches.text(searches.run(o, 20, 1)[0])));
  // One that could go on, but not with what others leave, ends too, and nobody beside it is touched.
  const auto any = std::make_shared<Constraint>(regex_grammar("[ab]*"), searches.trie);
  o = searches.options(any);
  o.eos_ids.clear();
  o.no_repeat_ngram = 1;
  const std::vector<Request> requests{{.max_length = 6, .number = 1}, {.max_length = 6, .number = 2}};
  RandomStep step(searches.trie->size(), 3);
  for (const auto& found : decode(searches.context, step, requests, o)) {
    const std::string text = searches.text(found[0]);
    EXPECT_TRUE(any->allows(text)) << text;
    const std::set<std::int32_t> different(found[0].tokens.begin(), found[0].tokens.end());
    EXPECT_EQ(different.size(), found[0].tokens.size()) << text;
  }
}

// The whole of it: 500 schemas; greedy search, samples, beams and proposals; lengths from the least one on.
TEST(Constraint, FiveHundredSchemas) {
  Searches searches(tokens());
  RandomSequence random(2024, 11);
  std::size_t texts = 0, bytes = 0;
  for (int number = 0; number < 500; ++number) {
    const nlohmann::ordered_json schema = testing::random_schema(random);
    SCOPED_TRACE(fmt::format("schema {}: {}", number, schema.dump()));
    const auto space =
        std::array{JsonSpace::none, JsonSpace::space, JsonSpace::lines}[static_cast<std::size_t>(number % 3)];
    std::shared_ptr<const Constraint> c;
    try {
      c = std::make_shared<Constraint>(json_schema_grammar(schema.dump(), {.space = space}), searches.trie);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const json s = json::parse(schema.dump());
    const auto least = static_cast<std::int32_t>(c->least_tokens()) + 1;
    const auto expect_valid = [&](const Hypothesis& h) {
      ASSERT_FALSE(h.tokens.empty());
      EXPECT_EQ(h.tokens.back(), searches.eos);
      const std::string text = searches.text(h);
      const json value = json::parse(text, nullptr, false);
      ASSERT_FALSE(value.is_discarded()) << text;
      EXPECT_EQ(testing::fault_of(value, s, s), "") << text;
      EXPECT_TRUE(c->allows(text)) << text;
      ++texts, bytes += text.size();
    };
    SearchOptions o = searches.options(c);
    const auto seed = static_cast<std::uint64_t>(number);
    expect_valid(searches.run(o, least + number % 40, seed)[0]);
    o.sampling.on = true, o.n_best = 3, o.sampling.top_k = number % 2 == 0 ? 0 : 20;
    for (const Hypothesis& h : searches.run(o, least + 120, seed)) expect_valid(h);
    if (number % 5 == 0) {
      o = searches.options(c);
      o.beam_size = 4, o.n_best = 2;
      for (const Hypothesis& h : searches.run(o, least + 12, seed)) expect_valid(h);
    }
    if (number % 5 == 1) {
      o = searches.options(c);
      RandomStep step(searches.trie->size(), seed);
      RandomProposer proposer(searches.trie->size());
      const Request request{.max_length = least + 30};
      Speculation counts;
      expect_valid(decode_speculatively(searches.context, step, proposer, 3, {&request, 1}, o, 0, {}, counts)[0][0]);
    }
  }
  EXPECT_GE(texts, 2000u);
  EXPECT_GE(bytes, 100'000u) << "texts long enough to say something";
}

}  // namespace
}  // namespace tril::search
