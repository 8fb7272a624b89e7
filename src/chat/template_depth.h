// How deep a recursion is, counted so that the stack suffices.
#pragma once

namespace tril::chat {

class Deeper {
 public:
  /// Calls `refuse` if the recursion is `deepest` deep already.
  template <class Refuse>
  Deeper(int& depth, int deepest, const Refuse& refuse) : depth_(depth) {
    if (depth_ >= deepest) refuse();
    ++depth_;
  }
  ~Deeper() { --depth_; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;

 private:
  int& depth_;
};

}  // namespace tril::chat
