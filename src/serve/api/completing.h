// A completion in progress: its prompts are decoded together, and its answer is sent whole or as a stream.
#pragma once

#include <vector>

#include "serve/api/completion_request.h"
#include "serve/api/service.h"

namespace tril::serve {

/// Begins to answer the call. @throws HttpError for a request that cannot be
void complete(Service& service, const CallPtr& call, const ModelPtr& model, CompletionRequest r,
              std::vector<Prompt> prompts);

}  // namespace tril::serve
