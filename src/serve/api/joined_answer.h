// One answer to a request whose texts are translated in several groups, by different models or from different languages.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "serve/api/service.h"

namespace tril::serve {

class JoinedAnswer : public std::enable_shared_from_this<JoinedAnswer> {
 public:
  /// @param groups  how many parts there will be
  JoinedAnswer(CallPtr call, std::size_t groups) : call_(std::move(call)), left_(groups) {}

  /// A call for the translation of a group, as a list, whose answer becomes a part of the joined one. The texts' lists are put
  /// together by their places; the first error is the answer, and the other parts are cancelled.
  /// @param places  of the group's texts in the request
  CallPtr part(std::vector<std::size_t> places);

 private:
  class Part;
  /// Cancels all parts; none of them responds after this.
  void cancel();
  void begin();
  void take(const std::vector<std::size_t>& places, const Json& body);
  void fail(HttpResponse response);
  void partial(const std::vector<std::size_t>& places, Json event);

  CallPtr call_;
  std::mutex mutex_;         ///< guards all that follows
  std::mutex output_mutex_;  ///< held while something is sent; taken before mutex_
  std::vector<std::weak_ptr<Part>> parts_;
  Json body_ = Json::object();
  std::size_t left_;
  bool begun_ = false, ended_ = false;
};

}  // namespace tril::serve
