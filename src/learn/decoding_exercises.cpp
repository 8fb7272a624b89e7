// Chapter 13: the distribution from which a token is drawn, and what the cache holds.
#include <cmath>
#include <nlohmann/json.hpp>

#include "format/json_file.h"
#include "learn/distribution.h"
#include "learn/exercises.h"
#include "model_io/source/registry.h"
#include "perf/model_cost.h"

namespace tril::learn {
namespace {

Exercise drawn_distribution() {
  const std::vector<double> logits{2, 1, 0, -1};
  return {.task = {"The logits are (2, 1, 0, -1). Temperature 0.5 comes first, then top-p 0.9. Give the four "
                   "probabilities from which the next "
                   "token is drawn.",
                   "logits 是 (2, 1, 0, -1)。先用温度 0.5，再用 top-p 0.9。写出抽取下一个词元所用的四个概率。"},
          .answer = distribution(logits, {.temperature = 0.5, .top_p = 0.9}),
          .mistakes = {{distribution(logits, {.temperature = 0.5}),
                        {"top-p is missing: the first two have 0.98 together, so the others are cut",
                         "漏了 top-p：前两个词元的概率合计 0.98，其余应被截去"}},
                       {distribution(logits, {.temperature = 2, .top_p = 0.9}),
                        {"the logits are divided by the temperature: 0.5 makes the distribution sharper",
                         "logits 应除以温度：0.5 使分布更尖"}},
                       {distribution(logits, {.top_p = 0.9}), {"the temperature is missing", "漏了温度"}}}};
}

double cache_bytes(int kv_heads) {
  const nlohmann::json config{{"model_type", "llama"},
                              {"vocab_size", 100},
                              {"hidden_size", 512},
                              {"intermediate_size", 1024},
                              {"num_hidden_layers", 6},
                              {"num_attention_heads", 8},
                              {"num_key_value_heads", kv_heads},
                              {"max_position_embeddings", 64}};
  return train::cost_of(*model::make(JsonObject(config, "config.json")), 8).cache_bytes;
}

Exercise bytes_of_the_cache() {
  return {
      .task = {"A Llama has 6 layers, hidden size 512, 8 heads and 2 heads of keys and values (chapter 14). How many "
               "bytes does one token take in the cache, in float32?",
               "一个 Llama 模型有 6 层，隐藏维度 512，8 个查询头，2 个键值头（第 14 章）。"
               "用 float32 时，一个词元在缓存中占多少字节？"},
      .answer = {cache_bytes(2)},
      .tolerance = 0,
      .mistakes = {{{cache_bytes(8)},
                    {"the cache holds the 2 heads of keys and values, not 8", "缓存里存的是 2 个键值头，不是 8 个"}},
                   {{cache_bytes(2) / 2}, {"there are keys and values: twice as many", "既有键又有值：要乘 2"}},
                   {{cache_bytes(2) / 4}, {"a float32 has 4 bytes", "一个 float32 占 4 字节"}},
                   {{cache_bytes(2) / 6}, {"each of the 6 layers has its own", "6 层各有一份"}}}};
}

}  // namespace

TwoExercises exercises_on_decoding() {
  return {drawn_distribution, bytes_of_the_cache};
}

}  // namespace tril::learn
