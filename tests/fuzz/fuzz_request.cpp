// libFuzzer: any bytes as a connection to the server, any path and body as a request (tests/support/request_harness.h).
// Refusals are fine; a crash, a hang, an internal error or an answer that is no JSON is not.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "support/json_mutator.h"
#include "support/request_harness.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static tril::serve::testing::RequestHarness harness;
  const std::string wrong = harness.say({reinterpret_cast<const char*>(data), size});
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}

// JSON bodies stay JSON; connections, forms, and one request in eight are mutated as bytes.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const std::vector<std::string> words{
      // of requests
      "a dog", "the ball", "de", "en", "plays", "q", "source", "target", "model", "text", "prompt", "messages", "role",
      "user", "content", "prefix", "terminology", "split", "none", "format", "html", "alternatives", "scores",
      "alignment", "replace_unknowns", "max_length", "max_length_factor", "max_tokens", "min_tokens", "n", "best_of",
      "echo", "logprobs", "top_logprobs", "logit_bias", "stop", "stream", "stream_options", "include_usage", "priority",
      "time_limit", "response_format", "json_object", "json_schema", "schema", "beam_size", "beam_groups",
      "diversity_penalty", "length_penalty", "early_stopping", "never", "patience", "coverage_penalty", "branch",
      "min_branch_probability", "temperature", "top_k", "top_p", "min_p", "typical_p", "seed", "repetition_penalty",
      "presence_penalty", "frequency_penalty", "no_repeat_ngram", "bad_words", "side", "ids", "style",
      // of schemas
      "type", "object", "array", "string", "number", "integer", "boolean", "null", "properties", "required",
      "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties", "items",
      "prefixItems", "minItems", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum",
      "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "$defs",
      "#", "#/$defs/a", "#/properties/a", "date", "time", "date-time", "uuid", "email", "ipv4", "uri", "^[a-c]{2,}$",
      "(a|b)*c", "[^\\d]+", "\\p{L}{0,1000}", "(?:ab?)+"};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n') + 1;  // 0: there is none
  if (line == 0 || text.starts_with("RAW\n") || seed % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  return line + tril::test::JsonMutator(seed / 8, words, LLVMFuzzerMutate)(data + line, size - line, most - line);
}
