// Log-probabilities of tokens for OpenAI's clients: the tokens form the text, streamed or not.
#include "serve/api/logprobs.h"

#include "support/events.h"
#include "support/serving.h"
#include "tokenizer/files/pipeline_tokenizer.h"
#include "tokenizer/files/token_bytes.h"
#include "unicode/characters.h"
#include "unicode/trim.h"

#include "support/paths.h"

namespace tril::serve {
namespace {

using testing::events_of;
using testing::joined;

// The bytes of a token's name: literal, or spelt out ("bytes:\xe2\x82").
std::string bytes_of_name(const std::string& name) {
  if (!name.starts_with("bytes:")) return name;
  std::string bytes;
  for (std::size_t at = 6; at + 4 <= name.size(); at += 4)
    bytes += static_cast<char>(std::stoi(name.substr(at + 2, 2), nullptr, 16));
  return bytes;
}

// Checks a list of tokens of a completion: their bytes form the text, and the offsets are their positions in it.
void expect_tokens_are(const Json& logprobs, const std::string& text, std::size_t offset) {
  std::string bytes;
  for (const Json& token : logprobs["tokens"]) bytes += bytes_of_name(token.get<std::string>());
  EXPECT_EQ(valid_utf8(bytes), text);
  std::size_t in_front = 0;
  for (std::size_t i = 0; i < logprobs["tokens"].size(); ++i) {
    std::size_t characters = 0;
    for (std::size_t end = 0; end < bytes.size() && end + bytes_of_character(bytes, end) <= in_front; ++characters)
      end += bytes_of_character(bytes, end);
    EXPECT_EQ(logprobs["text_offset"][i], offset + characters) << i << " of " << logprobs;
    in_front += bytes_of_name(logprobs["tokens"][i].get<std::string>()).size();
  }
}

// A model that samples any bytes, so that most of its output is not valid UTF-8.
struct LogProbs : Serving {
  static Loaded of_bytes() {
    Loaded l = writer;
    l.search.suppress_ids.clear();
    return l;
  }
  // A model of random weights over another vocabulary.
  static Loaded of_tokenizer(const std::string& name) {
    Loaded l = writer;
    l.tokenizer = load_tokenizer(test::test_dir() + "/golden/hf/tokenizers/" + name);
    model::Gpt2Config k;
    k.vocab_size = l.tokenizer->size(Side::target);
    k.n_positions = 200;
    k.n_embd = 32, k.n_layer = 1, k.n_head = 4;
    k.initializer_range = 0.1;
    k.bos_token_id = k.eos_token_id = std::max(0, l.tokenizer->special(Side::target).eos);
    const auto m = std::make_shared<model::Gpt2>(k);
    m->parameters().allocate();
    m->parameters().initialise(4);
    m->parameters().refresh(kern::best());
    l.model = m;
    l.search.eos_ids = {m->special_ids().eos};
    l.search.suppress_ids.clear();
    return l;
  }
  Json stream(const std::string& path, Json body, bool chat = false) {
    body["stream"] = true;
    const Answer a = ask("POST", path, body.dump());
    EXPECT_EQ(a.status, 200) << a.body;
    return joined(events_of(a.body), chat);
  }
};

TEST_F(LogProbs, AreOfTokensThatAreTheText) {
  for (const char* name : {"", "bpe_llama2", "bytelevel_gpt2", "unigram_t5", "bpe_metaspace"}) {
    SCOPED_TRACE(name);
    serve({}, translator, *name ? of_tokenizer(name) : of_bytes());
    int broken = 0;
    for (int seed = 0; seed < 12; ++seed) {
      Json body{{"prompt", "ab cd"},  {"max_tokens", 24}, {"seed", seed},
                {"temperature", 1.5}, {"logprobs", 5},    {"n", 2}};
      if (seed % 3 == 1) body["stop"] = {"e", " ", "\u00e9"};
      if (seed % 3 == 2) body["stop"] = {"\ufffd"};
      const Json whole = post("/v1/completions", body), pieces = stream("/v1/completions", body);
      body.erase("logprobs");
      const Json bare = post("/v1/completions", body), bare_pieces = stream("/v1/completions", body);
      for (std::size_t i = 0; i < 2; ++i) {
        const Json& choice = whole["choices"][i];
        const std::string text = choice["text"];
        expect_tokens_are(choice["logprobs"], text, 5);
        for (const Json& tops : choice["logprobs"]["top_logprobs"]) EXPECT_GE(tops.size(), 5u) << tops;
        for (std::size_t t = 0; t < choice["logprobs"]["tokens"].size(); ++t) {
          const Json& tops = choice["logprobs"]["top_logprobs"][t];
          bool chosen = false;
          for (const auto& [token, log_prob] : tops.items())
            chosen |= log_prob == choice["logprobs"]["token_logprobs"][t];
          EXPECT_TRUE(chosen) << "the token that came is among them: " << tops;
        }
        broken += text.find("\ufffd") != std::string::npos;
        EXPECT_EQ(pieces["choices"][i]["text"], text);
        EXPECT_EQ(pieces["choices"][i]["finish_reason"], choice["finish_reason"]);
        if (!choice["logprobs"]["tokens"].empty()) {
          EXPECT_EQ(pieces["choices"][i]["logprobs"], choice["logprobs"]);
        }
        EXPECT_EQ(bare["choices"][i]["text"], text);
        EXPECT_EQ(bare_pieces["choices"][i]["text"], text);
      }
    }
    if (!*name) {
      EXPECT_GT(broken, 3) << "there are bytes that are no character";
    }
  }
}

TEST_F(LogProbs, OfAChatHaveTheirBytes) {
  serve({}, translator, of_bytes());
  for (int seed = 0; seed < 10; ++seed) {
    Json body{{"messages", {{{"role", "user"}, {"content", "ab"}}}},
              {"max_tokens", 16},
              {"seed", seed},
              {"temperature", 1.5},
              {"logprobs", true},
              {"top_logprobs", 4}};
    const Json whole = post("/v1/chat/completions", body)["choices"][0];
    std::string all;
    for (const Json& one : whole["logprobs"]["content"]) {
      std::string bytes;
      for (const Json& byte : one["bytes"]) bytes += static_cast<char>(byte.get<int>());
      EXPECT_EQ(bytes_of_name(one["token"].get<std::string>()), bytes);
      EXPECT_EQ(one["top_logprobs"].size(), 4u);
      for (const Json& top : one["top_logprobs"]) {
        if (top["bytes"].is_null()) continue;
        std::string others;
        for (const Json& byte : top["bytes"]) others += static_cast<char>(byte.get<int>());
        EXPECT_EQ(bytes_of_name(top["token"].get<std::string>()), others);
      }
      all += bytes;
    }
    EXPECT_EQ(valid_utf8(all), whole["message"]["content"].get<std::string>());
    const Json pieces = stream("/v1/chat/completions", body, true)["choices"][0];
    EXPECT_EQ(pieces["text"], whole["message"]["content"]);
    if (!whole["logprobs"]["content"].empty()) {
      EXPECT_EQ(pieces["logprobs"]["content"], whole["logprobs"]["content"]);
    }
  }
}

TEST_F(LogProbs, CountFromThePromptsBeginning) {
  serve();
  Json body{{"prompt", "ab\u20acd"}, {"max_tokens", 3}, {"min_tokens", 3}, {"temperature", 0}, {"logprobs", 0}};
  const Json plain = post("/v1/completions", body)["choices"][0];
  ASSERT_EQ(plain["logprobs"]["tokens"].size(), 3u);
  expect_tokens_are(plain["logprobs"], plain["text"], 4);
  EXPECT_EQ(plain["logprobs"]["text_offset"][0], 4) << "characters, not bytes";
  EXPECT_TRUE(plain["logprobs"]["top_logprobs"].is_null()) << "none were asked for";
  EXPECT_FALSE(plain["logprobs"]["token_logprobs"].empty());
  body["echo"] = true;
  body["logprobs"] = 2;
  for (const bool streamed : {false, true}) {
    const Json echoed = (streamed ? stream("/v1/completions", body) : post("/v1/completions", body))["choices"][0];
    const Json& l = echoed["logprobs"];
    ASSERT_EQ(l["tokens"].size(), 4u + 3);
    expect_tokens_are(l, echoed["text"], 0);
    EXPECT_TRUE(l["token_logprobs"][0].is_null());
    EXPECT_TRUE(l["top_logprobs"][0].is_null());
    EXPECT_TRUE(l["token_logprobs"][1].is_number());
    EXPECT_GE(l["top_logprobs"][1].size(), 2u);
    // The answer's tokens are the same as without the echo.
    const std::size_t n = plain["logprobs"]["tokens"].size(), all = l["tokens"].size();
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_EQ(l["text_offset"][all - n + i], plain["logprobs"]["text_offset"][i]);
      EXPECT_EQ(l["token_logprobs"][all - n + i], plain["logprobs"]["token_logprobs"][i]);
    }
  }
}

// "<0x61>" and "a" are two tokens of the same text: neither replaces the other.
TEST_F(LogProbs, TokensOfOneTextAreToldEachByItself) {
  const auto tokenizer = load_tokenizer(test::test_dir() + "/golden/hf/tokenizers/bpe_llama2");
  const std::vector<std::string> bytes = token_bytes(*tokenizer);
  const std::int32_t byte = tokenizer->find("<0x61>", Side::target).value(),
                     letter = tokenizer->find("a", Side::target).value();
  ASSERT_EQ(bytes[static_cast<std::size_t>(byte)], bytes[static_cast<std::size_t>(letter)]);
  ScoredToken token;
  token.token = {.number = 0, .id = letter, .bytes = "a"};
  token.score.log_prob = -1;
  token.score.top = {{.log_prob = -1, .token = letter}, {.log_prob = -2, .token = byte}};
  const LogprobsForm form(*tokenizer, bytes);
  const Json tops = form.of_completion({&token, 1}, 0, true)["top_logprobs"][0];
  EXPECT_EQ(tops, (Json{{"a", -1.0}, {fmt::format("token_id:{}", byte), -2.0}}));
  EXPECT_EQ(form.of_chat({&token, 1})["content"][0]["top_logprobs"].size(), 2u);
  EXPECT_EQ(token_text("\u20ac"), "\u20ac");
  EXPECT_EQ(token_text("\xe2\x82"), "bytes:\\xe2\\x82");
}

}  // namespace
}  // namespace tril::serve
