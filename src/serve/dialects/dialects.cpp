#include "serve/dialects/dialects.h"

namespace tril::serve {

void add_dialects(Service& service) {
  add_deepl_text_routes(service);
  add_deepl_account_routes(service);
  add_deepl_document_routes(service);
  add_deepl_glossary_routes(service);
  add_deepl_multilingual_routes(service);
  add_google_routes(service);
  add_microsoft_routes(service);
}

}  // namespace tril::serve
