#include "hypotheses.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "decode/models/alignment_fields.h"
#include "search/stop_reason.h"

namespace tril::python {
namespace {

std::vector<std::pair<std::string, std::string>> pairs_of(const std::vector<search::Term>& terms) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const search::Term& t : terms) pairs.emplace_back(t.source, t.target);
  return pairs;
}

// The weights, without a copy: the array keeps the hypothesis alive.
nb::object attention_of(nb::handle_t<Hypothesis> self) {
  const Hypothesis& h = nb::cast<const Hypothesis&>(self);
  if (h.attention.empty()) return nb::none();
  return nb::cast(nb::ndarray<nb::numpy, const float, nb::ndim<2>>(
      h.attention.data(), {h.ids.size(), h.attention.size() / h.ids.size()}, self));
}

nb::object token_log_probs_of(const Hypothesis& h) {
  if (h.token_scores.empty()) return nb::none();
  nb::list list;
  for (const search::TokenScore& score : h.token_scores) list.append(static_cast<double>(score.log_prob));
  return list;
}

nb::object top_log_probs_of(const Hypothesis& h) {
  if (h.token_scores.empty()) return nb::none();
  nb::list list;
  for (const search::TokenScore& score : h.token_scores) {
    nb::list top;
    for (const search::Candidate& c : score.top)
      if (c.token >= 0) top.append(nb::make_tuple(c.token, static_cast<double>(c.log_prob)));
    list.append(top);
  }
  return list;
}

}  // namespace

std::shared_ptr<Hypothesis> shown(search::Translation t, const Shown& how) {
  auto h = std::make_shared<Hypothesis>();
  h->text = std::move(t.text);
  h->ids = std::move(t.tokens), h->source_ids = std::move(t.source);
  if (how.scores) h->log_prob = t.log_prob, h->score = t.score;
  h->stop_reason = search::name_of(t.stop_reason);
  h->attention = std::move(t.attention);
  if (!how.alignment.empty() && how.alignment != "soft" && !h->ids.empty()) {
    h->alignment.emplace();
    for (const AlignmentPoint& p :
         alignment_points({.alignment = how.alignment, .layer = {}}, h->attention, h->ids.size()))
      h->alignment->emplace_back(p.source, p.target);
  }
  h->terms = pairs_of(t.terms), h->missing_terms = pairs_of(t.unsatisfied);
  for (search::RemovedPart& part : t.removed) h->removed.emplace_back(search::name_of(part.kind), std::move(part.text));
  h->recalled = t.recalled, h->truncated = t.at_length;
  h->tokenizer = how.tokenizer;
  return h;
}

std::shared_ptr<Hypothesis> shown(search::Generation g, const Shown& how) {
  auto h = std::make_shared<Hypothesis>();
  h->text = std::move(g.text);
  h->ids = std::move(g.tokens);
  if (how.scores) h->log_prob = g.log_prob, h->score = g.score;
  h->stop_reason = search::name_of(g.stop_reason);
  h->token_scores = std::move(g.token_scores);
  h->tokenizer = how.tokenizer;
  return h;
}

void bind_hypotheses(nb::module_& m) {
  nb::class_<Hypothesis>(m, "Hypothesis", "One output of a search.")
      .def_ro("text", &Hypothesis::text, "The text.")
      .def_ro("ids", &Hypothesis::ids, "Ids as generated, with the end token if there is one.")
      .def_prop_ro(
          "tokens", [](const Hypothesis& h) { return pieces_of(h.ids, *h.tokenizer, Side::target); },
          "The pieces of `ids`.")
      .def_ro("log_prob", &Hypothesis::log_prob,
              "Sum of the log-probabilities of `ids`; None if it was not computed (pass scores=True).")
      .def_ro("score", &Hypothesis::score, "log_prob / len(ids) ** length_penalty; None as `log_prob`.")
      .def_ro("stop_reason", &Hypothesis::stop_reason,
              "\"end_token\", \"stop\", \"length\", \"positions\", \"dead_end\", \"time_limit\", \"cancelled\" or "
              "\"refused\".")
      .def_prop_ro("attention", &attention_of, nb::sig("def attention(self) -> typing.Optional[numpy.ndarray]"),
                   "Cross-attention weights [ids, source_ids], float32, read-only, without a copy; None unless "
                   "`alignment` is given.")
      .def_ro("alignment", &Hypothesis::alignment,
              "Pairs (source token, token), with alignment=\"hard\" or a threshold; else None.")
      .def_ro("source_ids", &Hypothesis::source_ids, "Ids of the source, if `attention` is there; else empty.")
      .def_prop_ro(
          "source_tokens", [](const Hypothesis& h) { return pieces_of(h.source_ids, *h.tokenizer, Side::source); },
          "The pieces of `source_ids`.")
      .def_ro("terms", &Hypothesis::terms, "Phrases of glossaries in the source, with their translations.")
      .def_ro("missing_terms", &Hypothesis::missing_terms, "Those whose translation is missing in `text`.")
      .def_ro("removed", &Hypothesis::removed, "What was removed around a language model's translation: (kind, text).")
      .def_ro("recalled", &Hypothesis::recalled, "True if the translation memory gave the text.")
      .def_ro("truncated", &Hypothesis::truncated, "True if the output ended at its maximum length.")
      .def_prop_ro("token_log_probs", &token_log_probs_of,
                   nb::sig("def token_log_probs(self) -> typing.Optional[list[float]]"),
                   "The log-probability of each of `ids`, with the option `logprobs`; else None.")
      .def_prop_ro("top_log_probs", &top_log_probs_of,
                   nb::sig("def top_log_probs(self) -> typing.Optional[list[list[tuple[int, float]]]]"),
                   "The likeliest ids at each position with their log-probabilities, with the option `logprobs`; else "
                   "None.")
      .def("__str__", [](const Hypothesis& h) { return h.text; })
      .def("__repr__", [](const Hypothesis& h) {
        const nb::object text = nb::repr(nb::str(h.text.data(), h.text.size()));
        return "<tril.Hypothesis " + nb::cast<std::string>(text) + ">";
      });
}

}  // namespace tril::python
