#include "trace/question_fields.h"

namespace tril::trace {

void add_change_fields(Fields& f, QuestionOptions& o) {
  f.add(
       "edit", &o.edits,
       "change of the pass, POINT[HEAD]@TOKEN=ACTION: zero, mean, scale X, temperature T, uniform, all, causal, window "
       "N, skip, patch; several apply in order")
      .value_name("EDIT");
  f.add("patch-text", &o.patch_text, "text whose values the action `patch` takes").value_name("TEXT");
  f.add("patch-target", &o.patch_target, "text that follows it").value_name("TEXT");
  f.add("new-tokens", &o.new_tokens,
        "number of tokens by which the text is continued greedily, with and without the changes; 0: not at all")
      .at_least(0)
      .at_most(4096);
}

void add_analysis_fields(Fields& f, Analyses& a) {
  f.add("lens", &a.lens, "what the end of the model makes of the stream after each layer");
  f.add("rollout", &a.rollout, "how attention carries tokens through all layers");
  f.add("attribute", &a.attributed_token,
        "what each head and each feed-forward adds to the logit of the best token after this token; tokens count from "
        "0")
      .at_least(0)
      .at_most(1 << 20);
  f.add("head-scores", &a.repeated_tokens,
        "scores of each head for looking back, induction and copying, on this many random tokens that are repeated; 0: "
        "none")
      .at_least(0)
      .at_most(4096);
}

void add_value_fields(Fields& f, QuestionOptions& o) {
  f.add("only", &o.only,
        "names of the points to keep: * stands for any characters, and a part's name for all in it; unset: all")
      .value_name("PATTERN");
  f.add("gradients", &o.gradients, "also keep the gradients of the loss, as NAME.gradient");
  f.add("max-bytes", &o.most_bytes, "refuse to keep more bytes of values than this").at_least(1);
}

void check_options(const QuestionOptions& o) {
  if (o.analyses.any() && !o.edits.empty())
    fail_usage("edit", "analyses are of a plain pass", "leave the edits or the analyses out");
  if (o.patch_target && !o.patch_text)
    fail_usage("patch_target", "there is no `patch_text` that it could follow", "give both");
}

Question question_of(const QuestionOptions& o, const std::string& text, const std::string& target,
                     const Languages& languages) {
  check_options(o);
  const auto read = [&](const std::string& from, const std::string& to) {
    return Texts{prepend_language_tag(languages.prefix, from), to, languages.source, languages.target};
  };
  Question q{.texts = read(text, target), .only = o.only, .edits = o.edits, .donor = {}};
  if (o.patch_text) q.donor = read(*o.patch_text, o.patch_target.value_or(""));
  q.gradients = o.gradients, q.new_tokens = o.new_tokens, q.most_bytes = o.most_bytes;
  return q;
}

}  // namespace tril::trace
