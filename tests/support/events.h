// Combines a stream of events into the equivalent plain answer.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "serve/api/request_fields.h"

namespace tril::serve::testing {

/// The objects of "data: {...}" events, in order. The last event must be "[DONE]".
inline std::vector<Json> events_of(const std::string& body) {
  std::vector<Json> events;
  bool done = false;
  for (std::size_t at = 0; at < body.size();) {
    const std::size_t end = body.find("\n\n", at);
    if (end == std::string::npos || body.compare(at, 6, "data: ") != 0) {
      ADD_FAILURE() << "no event: " << body.substr(at);
      return events;
    }
    const std::string event = body.substr(at + 6, end - at - 6);
    at = end + 2;
    EXPECT_FALSE(done) << "after the end: " << event;
    done = event == "[DONE]";
    if (!done) events.push_back(Json::parse(event));
  }
  EXPECT_TRUE(done) << body;
  return events;
}

/// The choices of all events as a plain answer has them, and its usage and warnings where an event has some.
inline Json joined(const std::vector<Json>& events, bool chat) {
  Json whole{{"choices", Json::array()}};
  for (const Json& event : events) {
    if (event.contains("error")) whole["error"] = event["error"];
    for (const char* name : {"usage", "warnings"})
      if (event.contains(name) && !event[name].is_null()) {
        EXPECT_FALSE(whole.contains(name)) << name << " comes once";
        whole[name] = event[name];
      }
    for (const Json& choice : event.value("choices", Json::array())) {
      const auto at = choice["index"].get<std::size_t>();
      while (whole["choices"].size() <= at)
        whole["choices"].push_back({{"text", ""}, {"logprobs", nullptr}, {"finish_reason", nullptr}});
      Json& to = whole["choices"][at];
      const std::string more = chat ? choice["delta"].value("content", "") : choice["text"].get<std::string>();
      to["text"] = to["text"].get<std::string>() + more;
      if (!choice["finish_reason"].is_null()) to["finish_reason"] = choice["finish_reason"];
      if (choice["logprobs"].is_null()) continue;
      if (to["logprobs"].is_null()) {
        to["logprobs"] = choice["logprobs"];
        continue;
      }
      for (auto& [name, list] : to["logprobs"].items())
        if (list.is_array())
          for (const Json& one : choice["logprobs"][name]) list.push_back(one);
    }
  }
  return whole;
}

}  // namespace tril::serve::testing
