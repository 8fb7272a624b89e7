// The APIs of other translators. Each request becomes a request of POST /translate (serve/api/translate_api.h), whose answer is turned
// into that of the API, so there is one way of translating.
#pragma once

#include "serve/api/service.h"

namespace tril::serve {

/// DeepL's API, version 2; Google's Cloud Translation API, version 2 (Basic); Microsoft's Translator API, version 3.
/// Adds their routes, before the first request. The service must outlive its requests.
void add_dialects(Service& service);

void add_deepl_text_routes(Service& service);
void add_deepl_account_routes(Service& service);
void add_deepl_document_routes(Service& service);
void add_deepl_glossary_routes(Service& service);
void add_deepl_multilingual_routes(Service& service);
void add_google_routes(Service& service);
void add_microsoft_routes(Service& service);

}  // namespace tril::serve
