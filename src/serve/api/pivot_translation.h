// Translates sentences through pivots, on the way to a request's last model.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/api/language_graph.h"
#include "serve/api/schedule.h"
#include "serve/api/service.h"

namespace tril::serve {

/// The sentences of a request, from hop to hop.
struct PivotTask {
  std::vector<Hop> hops;               ///< all but the last, which has the request's search options
  std::vector<std::string> sentences;  ///< in the source language of the next hop
  Schedule schedule;
  /// Receives the sentences in the source language of the last hop, outside of the server's threads; an exception becomes the
  /// answer of the call.
  std::function<void(std::vector<std::string> sentences)> then;
};

/// How a hop's model reads sentences: its options with the hop's languages, and the tag before each sentence.
struct HopText {
  search::TextOptions options;
  std::string tag;
};

HopText text_of(const ServedModel& model, const Hop& hop);

/// Starts the task. Each hop takes the best translation of each sentence, by the server's search options for the model.
/// @throws HttpError if the first hop refuses the request
void translate_through(Service& service, const CallPtr& call, PivotTask task);

}  // namespace tril::serve
