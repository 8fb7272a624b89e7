#include <algorithm>
#include <cmath>

#include "base/element.h"
#include "base/error.h"
#include "model_io/ctranslate2/ctranslate2_model.h"

namespace tril::model {
namespace {

constexpr float impossible_logit = -1e9f;          // as a logit
constexpr std::int64_t computed_positions = 2048;  // rows of a computed position table
constexpr const char* sides[] = {"encoder", "decoder"};

// The position table of a file without one: sinusoids from position 1, sines before cosines.
WeightView sinusoids_view(std::int64_t width) {
  return made_view({computed_positions, width}, "made", [width](std::span<float> out) {
    const std::int64_t half = width / 2;
    const float step = std::log(10000.0f) / static_cast<float>(half - 1);
    for (std::int64_t t = 0; t < computed_positions; ++t)
      for (std::int64_t i = 0; i < half; ++i) {
        const float angle = static_cast<float>(t + 1) * std::exp(-step * static_cast<float>(i));
        element(out, t * width + i) = std::sin(angle);
        element(out, t * width + half + i) = std::cos(angle);
      }
  });
}

class TranslationSpec {
 public:
  TranslationSpec(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids)
      : r_(r),
        own_(own),
        ids_(ids),
        source_(r.has("encoder/embeddings/weight") ? "encoder/embeddings" : "encoder/embeddings_0") {
    width_ = r_.shape(source_ + "/weight", 2)[1];
    words_ = r_.shape("decoder/embeddings/weight", 2)[0];
    rows_ = std::max(r_.shape(source_ + "/weight", 2)[0], words_) + 1;
  }

  Ctranslate2Model read() {
    nlohmann::json config = sizes();
    read_embeddings(config);
    read_positions(config);
    for (const char* side : sides) {
      const std::string name = side;
      const auto layers = config.at(name + "_layers").get<std::int64_t>();
      for (std::int64_t i = 0; i < layers; ++i) read_layer(name, i);
      if (config.at("normalize_before")) take_norm(name + "/layer_norm", fmt::format("model.{}.layer_norm", name));
      if (config.at("normalize_embedding"))
        take_norm(name + "/layernorm_embedding", fmt::format("model.{}.layernorm_embedding", name));
    }
    return {std::move(config), r_.finish()};
  }

 private:
  // The value of an attribute that both sides have since revision 5; they must agree.
  template <class Read>
  auto of_both(const std::string& attribute, const Read& read) {
    const bool shared = r_.file().revision() < 5 && r_.has(attribute);
    auto value = read(shared ? attribute : "encoder/" + attribute);
    const std::string other = shared ? attribute : "decoder/" + attribute;
    if (read(other) != value) r_.fail_at(other, "differs from the encoder's", "both sides must have the same");
    return value;
  }

  nlohmann::json sizes() {
    const auto flag = [this](bool otherwise) {
      return [this, otherwise](const std::string& n) { return r_.flag(n, otherwise); };
    };
    const bool pre_norm = of_both("pre_norm", flag(true));
    const bool embedding_norm =
        of_both("layernorm_embedding/gamma", [this](const std::string& n) { return r_.has(n); });
    const std::string activation = of_both("activation", [this](const std::string& n) { return activation_at(r_, n); });
    for (const char* side : sides)
      if (r_.has(std::string(side) + "/layer_norm/gamma") != pre_norm)
        r_.fail_at(std::string(side) + "/layer_norm", pre_norm
                                                          ? "is missing, but the norms come first"
                                                          : "is not supported after sublayers that end with a norm");
    const bool scaled = of_both("scale", [this](const std::string& n) { return scales(n.substr(0, n.find('/'))); });
    refuse_other_kinds();
    const std::int64_t heads[] = {heads_of("encoder"), heads_of("decoder")};
    return {{"model_type", "tril"},
            {"architecture", "opennmt"},
            {"vocab_size", rows_},
            {"decoder_vocab_size", rows_},
            {"d_model", width_},
            {"encoder_layers", r_.count_scopes("encoder/layer_")},
            {"decoder_layers", r_.count_scopes("decoder/layer_")},
            {"encoder_attention_heads", heads[0]},
            {"decoder_attention_heads", heads[1]},
            {"encoder_ffn_dim", r_.shape("encoder/layer_0/ffn/linear_0/weight", 2)[0]},
            {"decoder_ffn_dim", r_.shape("decoder/layer_0/ffn/linear_0/weight", 2)[0]},
            {"activation_function", activation},
            {"scale_embedding", scaled},
            {"normalize_before", pre_norm},
            {"add_final_layer_norm", pre_norm},
            {"normalize_embedding", embedding_norm},
            {"static_position_embeddings", false},
            {"layer_norm_eps", norm_eps_of(own_, 1e-5)},
            {"pad_token_id", rows_ - 1},
            {"decoder_start_token_id", ids_.decoder_start < 0 ? rows_ - 1 : ids_.decoder_start},
            {"eos_token_id", ids_.eos},
            {"bos_token_id", ids_.bos < 0 ? nlohmann::json(nullptr) : nlohmann::json(ids_.bos)},
            {"forced_eos_token_id", nullptr},
            {"is_encoder_decoder", true}};
  }

  std::int64_t heads_of(const std::string& side) {
    const std::string own = side + "/num_heads";
    const std::int64_t heads = r_.integer(r_.has(own) ? own : "num_heads", 8);
    if (heads < 1 || width_ % heads != 0)
      r_.fail_at(own, fmt::format("{} heads do not divide the width {}", heads, width_));
    return heads;
  }

  // True if a side's embeddings are multiplied by the square root of their width: the attribute is 1 or that number.
  bool scales(const std::string& side) {
    std::string name = side + "/scale_embeddings";
    if (!r_.has(name)) name = (side == "encoder" ? source_ : side + "/embeddings") + "/multiply_by_sqrt_depth";
    const std::optional<double> scale = r_.number(name);
    if (!scale) return true;
    const bool is_flag = r_.file().find(name)->dtype == StoredType::i8;
    const double root = std::sqrt(static_cast<double>(width_));
    if (is_flag ? *scale == 0 : *scale == 1) return false;
    if (!is_flag && std::abs(*scale - root) > 1e-5 * root)
      r_.fail_at(name, fmt::format("{} is not supported", *scale),
                 fmt::format("only 1 and the root of the width, {}, are", root));
    return true;
  }

  void refuse_other_kinds() {
    r_.only("encoder/multi_query_attention", 0);
    if (r_.has(source_ + "/weight") && r_.has("encoder/embeddings_1/weight"))
      r_.fail_at("encoder/embeddings_1/weight", "is for a second word feature; only words are supported");
    for (const char* side : sides) {
      const std::string prefix = side;
      r_.integer(prefix + "/embeddings_merge", 0);  // no effect with one embedding
      for (const char* off : {"/alibi", "/sliding_window"}) r_.only(prefix + off, 0);
      for (const char* unused :
           {"/alibi_use_positive_positions", "/scale_alibi", "/alignment_layer", "/alignment_heads"})
        r_.number(prefix + unused);
    }
    for (const char* unused : {"embeddings_merge", "alignment_layer", "alignment_heads"}) r_.number(unused);
    if (r_.has("encoder/layer_0/self_attention/relative_position_keys"))
      r_.fail_at("encoder/layer_0/self_attention/relative_position_keys",
                 "are relative positions [Shaw et al. 2018], which are not supported",
                 "use a model with absolute positions");
  }

  void read_embeddings(nlohmann::json& config) {
    const bool shared = r_.same(source_ + "/weight", "decoder/embeddings/weight");
    const bool tied = r_.same("decoder/projection/weight", "decoder/embeddings/weight");
    config["share_encoder_decoder_embeddings"] = shared;
    config["tie_word_embeddings"] = tied;
    const auto take_rows = [&](const std::string& name, const std::string& here) {
      r_.add(padded_view(r_.values(name), 0, rows_, 0), here, name);
    };
    if (shared) {
      take_rows("decoder/embeddings/weight", "model.shared.weight");
    } else {
      take_rows(source_ + "/weight", "model.encoder.embed_tokens.weight");
      take_rows("decoder/embeddings/weight", "model.decoder.embed_tokens.weight");
    }
    if (!tied) take_rows("decoder/projection/weight", "lm_head.weight");
    if (r_.shape("decoder/projection/weight", 2)[0] != words_)
      r_.fail_at("decoder/projection/weight", fmt::format("does not have {} words", words_));
    const std::string bias = "decoder/projection/bias";
    WeightView logits = padded_view(r_.has(bias) ? r_.values(bias, {.count = words_}) : constant_view({words_}, 0), 0,
                                    rows_, impossible_logit);
    logits.shape = {1, rows_};
    r_.add(std::move(logits), "final_logits_bias", bias);
  }

  void read_positions(nlohmann::json& config) {
    const auto name_of = [](const char* side) { return fmt::format("{}/position_encodings/encodings", side); };
    std::int64_t positions = computed_positions;
    for (const char* side : sides)
      if (r_.has(name_of(side))) positions = std::min(positions, r_.shape(name_of(side), 2)[0]);
    for (const char* side : sides) {
      const std::string name = name_of(side);
      const bool stored = r_.has(name);
      if (!stored && (width_ < 4 || width_ % 2 != 0)) r_.fail_at(name, "is missing");
      WeightView table = stored ? r_.values(name, {.count = positions}) : sinusoids_view(width_);
      if (!stored) table = first_rows(table, positions);
      r_.add(std::move(table), fmt::format("model.{}.embed_positions.weight", side), name);
    }
    config["max_position_embeddings"] = positions;
  }

  static WeightView first_rows(const WeightView& table, std::int64_t rows) {
    if (table.shape[0] == rows) return table;
    return made_view({rows, table.shape[1]}, "made", [table](std::span<float> out) {
      const std::vector<float> all = to_f32(table);
      std::copy_n(all.begin(), out.size(), out.begin());
    });
  }

  void read_layer(const std::string& side, std::int64_t i) {
    const std::string name = fmt::format("{}/layer_{}", side, i), here = fmt::format("model.{}.layers.{}", side, i);
    read_self_attention(name + "/self_attention", here + ".self_attn");
    take_norm(name + "/self_attention/layer_norm", here + ".self_attn_layer_norm");
    if (side == "decoder") {
      read_cross_attention(name + "/attention", here + ".encoder_attn");
      take_norm(name + "/attention/layer_norm", here + ".encoder_attn_layer_norm");
    }
    take_linear(name + "/ffn/linear_0", here + ".fc1");
    take_linear(name + "/ffn/linear_1", here + ".fc2");
    take_norm(name + "/ffn/layer_norm", here + ".final_layer_norm");
  }

  void read_self_attention(const std::string& name, const std::string& here) {
    const char* const parts[] = {"q_proj", "k_proj", "v_proj"};
    for (std::int64_t i = 0; i < 3; ++i)
      take_linear(name + "/linear_0", fmt::format("{}.{}", here, parts[i]), {i * width_, width_});
    check_rows(name + "/linear_0/weight", 3 * width_);
    take_linear(name + "/linear_1", here + ".out_proj");
    check_query_scale(name);
  }

  void read_cross_attention(const std::string& name, const std::string& here) {
    take_linear(name + "/linear_0", here + ".q_proj");
    take_linear(name + "/linear_1", here + ".k_proj", {0, width_});
    take_linear(name + "/linear_1", here + ".v_proj", {width_, width_});
    check_rows(name + "/linear_1/weight", 2 * width_);
    take_linear(name + "/linear_2", here + ".out_proj");
    check_query_scale(name);
  }

  void check_rows(const std::string& name, std::int64_t rows) {
    if (r_.shape(name, 2)[0] != rows)
      r_.fail_at(name, fmt::format("has {} rows, expected {}", r_.shape(name, 2)[0], rows));
  }

  void check_query_scale(const std::string& name) {
    const std::string own = name + "/queries_scale";
    if (r_.has(own))
      r_.fail_at(
          own,
          "is not supported: attention with absolute positions divides scores by the square root of the head size");
  }

  // OpenNMT's layers may lack biases, which are zero here.
  void take_linear(const std::string& name, const std::string& here, RowRange rows = {}) {
    r_.take(name + "/weight", here + ".weight", rows);
    const std::string bias = name + "/bias";
    const std::int64_t count = rows.count > 0 ? rows.count : r_.shape(name + "/weight", 2)[0];
    r_.add(r_.has(bias) ? r_.values(bias, {rows.begin, count}) : constant_view({count}, 0), here + ".bias", bias);
  }

  void take_norm(const std::string& name, const std::string& here) {
    r_.take(name + "/gamma", here + ".weight");
    r_.take(name + "/beta", here + ".bias");
  }

  Ctranslate2Reader& r_;
  const JsonObject& own_;
  const Ctranslate2Ids& ids_;
  std::string source_;  // the scope of the source embedding
  std::int64_t width_ = 0, words_ = 0, rows_ = 0;
};

}  // namespace

Ctranslate2Model read_ctranslate2_translation(Ctranslate2Reader& r, const JsonObject& own, const Ctranslate2Ids& ids) {
  return TranslationSpec(r, own, ids).read();
}

}  // namespace tril::model
