// What a model computes in one pass over a text, by name, and what changes if some of it is changed. With the same options, results
// are those of `tril trace`, bit for bit. docs/trace.md lists the points, with the shapes of their values, and the edits.
#pragma once

#include <tril/model.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

TRIL_NAMESPACE_BEGIN
class TracerState;
struct TraceState;

/// A value that a pass computed. The Trace keeps its elements: they may be read while it or a copy of it exists.
struct TracedValue {
  std::string name;                 ///< "decoder.0.self.q"
  std::vector<std::int64_t> shape;  ///< {tokens, heads, width of a head}
  // The elements, row by row. One of the three has them, the others are empty.
  std::span<const float> floats = {};       ///< of most points
  std::span<const std::int32_t> ids = {};   ///< of "decoder.tokens", and of the experts that a mixture chose
  std::span<const std::uint8_t> mask = {};  ///< of masks: 1 where a query may attend to a key
};

/// A token that the encoder or the decoder reads.
struct TracedToken {
  std::int32_t id = 0;  ///< its number in the vocabulary
  std::string piece;    ///< its text in the vocabulary: "▁the"
};

/// What the model predicts after a token of the decoder.
struct NextToken {
  std::int32_t best_id = 0;    ///< the most probable next token
  std::string best;            ///< its piece
  std::int32_t label_id = -1;  ///< the token that follows in the text, if the loss counts it; otherwise -1
  std::string label;           ///< its piece
  double log_prob = 0;         ///< natural logarithm of its probability
};

/// What edits change after a token of the decoder.
struct TokenChange {
  std::int32_t best_before_id = 0;      ///< the most probable next token without the edits
  std::int32_t best_after_id = 0;       ///< with them
  std::string best_before;              ///< the piece of `best_before_id`
  std::string best_after;               ///< the piece of `best_after_id`
  double log_prob_before = 0;           ///< of `best_before`, without the edits
  double log_prob_after = 0;            ///< of `best_before`, with them
  double largest_logit_difference = 0;  ///< absolute
  double kl_divergence = 0;             ///< KL(before || after) of the next token, in nats
};

/// What edits change.
struct TraceChange {
  bool bit_identical = false;       ///< true: no logit changed
  double loss_before = 0;           ///< Trace::loss() without the edits; 0 without a loss
  double loss_after = 0;            ///< with them
  std::vector<TokenChange> tokens;  ///< one for each of Trace::tokens()
  std::string text_before;          ///< with "new-tokens": the greedy continuation without the edits
  std::string text_after;           ///< with "new-tokens": the one with them
};

/// The logit lens at a point of the residual stream: what the end of the model makes of it.
struct LensRow {
  std::string point;                   ///< "decoder.stream", "decoder.0.output", ...
  std::vector<float> logits;           ///< [tokens, vocabulary]
  std::vector<std::int32_t> best_ids;  ///< of each token, the most probable next token
  std::vector<std::string> best;       ///< their pieces
};

/// What a part of the model adds to a logit.
struct AttributedPart {
  std::string point;       ///< "decoder.stream", "decoder.0.self.heads", "decoder.0.feed_forward.out"
  std::int64_t head = -1;  ///< the head at this point; -1: all of it
  double logit = 0;        ///< what it adds
};

/// Direct logit attribution: a logit as the sum of `bias`, the parts and `rest`.
struct Attribution {
  std::int64_t token = 0;             ///< the token of the decoder, from 0
  std::int32_t next_id = 0;           ///< the most probable next token, whose logit it is
  std::string next;                   ///< its piece
  double logit = 0;                   ///< the model's, before a soft cap
  double bias = 0;                    ///< what the end of the model adds by itself
  double rest = 0;                    ///< rounding
  std::vector<AttributedPart> parts;  ///< in the order of computation
};

/// What a head does on random tokens that are repeated: mean attention weights, and a share of logits (docs/trace.md).
struct HeadScore {
  std::int64_t layer = 0;  ///< of the decoder, from 0
  std::int64_t head = 0;   ///< from 0
  double previous = 0;     ///< weight of the token before
  double duplicate = 0;    ///< weight of the earlier occurrence of the same token
  double induction = 0;    ///< weight of the token after the earlier occurrence
  double copying = 0;      ///< share of the raised logits that goes to tokens of the text
};

/// What one pass computed. Copies share the values, which never change. Thread-safe.
class TRIL_API Trace {
 public:
  const std::vector<TracedToken>& source() const;  ///< what the encoder reads; empty for a language model
  const std::vector<TracedToken>& tokens() const;  ///< what the decoder reads
  std::int64_t prompt_tokens() const;              ///< how many of tokens() come before the target
  const std::vector<NextToken>& next() const;      ///< one for each of tokens()
  std::optional<double> loss() const;  ///< mean of -log_prob over the labels in next(); nothing without labels
  const TracedValue& logits() const;   ///< [tokens, vocabulary]; there even if "only" does not name them

  /// The kept values, in the order of computation.
  const std::vector<TracedValue>& values() const;
  bool contains(std::string_view name) const;  ///< whether a value of this name was kept
  /// @throws Error (usage) naming the nearest point if no value of this name was kept
  const TracedValue& at(std::string_view name) const;

  const TraceChange* change() const;                  ///< null without edits
  const std::vector<LensRow>& lens() const;           ///< with "lens": the stream, and the output of each layer
  const std::vector<float>& encoder_rollout() const;  ///< with "rollout", of an encoder: [source, source]
  const std::vector<float>& decoder_rollout() const;  ///< with "rollout": [tokens, tokens]
  const Attribution* attribution() const;             ///< null without "attribute"
  const std::vector<HeadScore>& head_scores() const;  ///< with "head-scores": by layer and head

 private:
  friend class TracerState;
  explicit Trace(std::shared_ptr<const TraceState> state);

  std::shared_ptr<const TraceState> state_;
};

/// Traces passes of a model. A pass takes one core; calls from several threads run side by side. Movable.
class TRIL_API Tracer {
 public:
  /// @param model  an encoder-decoder model or a language model
  /// @param options  those of option_list(), which all calls have: "only" (patterns of the points to keep), "edit" (edits, which
  ///                 apply in order), "patch-text", "patch-target", "new-tokens", "gradients", "max-bytes", "lens", "rollout",
  ///                 "attribute", "head-scores", "source-language", "target-language"
  /// @throws Error (usage) for options that are unknown or contradict each other, and for a model that was opened with "models",
  ///                       "draft-model" or "prompt-lookup"
  explicit Tracer(const Model& model, const Options& options = {});
  ~Tracer();
  Tracer(Tracer&&) noexcept;                     ///< moves; the other object may only be destroyed or assigned to
  Tracer& operator=(Tracer&&) noexcept;          ///< moves likewise
  static std::vector<OptionInfo> option_list();  ///< the options of the constructor and of calls

  /// One pass. Without "only", all values are kept, or with an analysis ("lens", "rollout", "attribute", "head-scores") none.
  /// @param text  what the encoder reads; in a language model, what comes first
  /// @param target  what the decoder should say; in a language model, what follows. "": nothing is given
  /// @param options  of this call; each takes the place of the constructor's of the same name
  /// @throws Error (usage) naming the option, text, edit or pattern that does not fit. With "gradients" the first call loads the
  ///         model's weights in float32, and throws for a model that was opened with "adapter" or "precision"
  Trace trace(const std::string& text, const std::string& target = {}, const Options& options = {}) const;
  /// The same, until stop is requested from any thread. It is looked at before each value of a pass.
  /// @throws Error (failure) if it was requested
  Trace trace(const std::string& text, const std::string& target, const Options& options,
              const std::stop_token& stop) const;

 private:
  std::unique_ptr<TracerState> state_;
};

TRIL_NAMESPACE_END
