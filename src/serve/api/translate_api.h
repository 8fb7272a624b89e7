// The translation of a request's texts: the one path of all routes that translate.
#pragma once

#include <cstdint>

#include "serve/api/service.h"
#include "serve/api/translate_request.h"

namespace tril::serve {

/// Translates each text from its own language, and answers the call as POST /translate does. An error that is found later becomes
/// the response.
/// @param request  read from `body` (translate_request.h), with texts that Service::check_texts() accepts
/// @throws HttpError, or Error(usage), for a request that cannot be satisfied
void translate(Service& service, const CallPtr& call, TranslateRequest request, Json body);

/// Counts characters for the key of a call once it has succeeded.
/// @throws HttpError (429) if they exceed the key's limit
void count_characters(Service& service, const CallPtr& call, std::int64_t characters);

}  // namespace tril::serve
