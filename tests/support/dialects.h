// A service with the APIs of other translators, over sockets.
#pragma once

#include "serve/dialects/dialects.h"
#include "support/serving.h"

namespace tril::serve {

struct ServingDialects : Serving {
  void begin(ServiceOptions o = {}, Loaded de = translator, Loaded plays = writer) {
    serve(std::move(o), std::move(de), std::move(plays));
    add_dialects(*service);
  }
  /// Any request; the answer as JSON.
  Json request(const std::string& method, const std::string& path, const std::string& body = "",
               const std::string& headers = "", int status = 200) const {
    const Answer a = ask(method, path, body, headers);
    EXPECT_EQ(a.status, status) << method << " " << path << " " << body << " " << a.body;
    const Json json = Json::parse(a.body, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << a.body;
    return json;
  }
  static inline const std::string form_type = "Content-Type: application/x-www-form-urlencoded\r\n";
};

}  // namespace tril::serve
