// Objects that one thread uses at a time: a call takes one with its options or makes it, and puts it back.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace tril::python {

template <class Item>
class Pool {
 public:
  /// Calls use(item) with an item of this key that no other thread uses; make() makes a new one. An item whose use throws is not
  /// used again.
  template <class Make, class Use>
  auto with(const std::string& key, const Make& make, const Use& use) {
    std::unique_ptr<Item> item = take(key);
    if (!item) item = make();
    auto result = use(*item);
    put(key, std::move(item));
    return result;
  }

  /// An idle item, or null.
  std::unique_ptr<Item> take(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(idle_.begin(), idle_.end(), [&](const auto& entry) { return entry.first == key; });
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<Item> item = std::move(found->second);
    idle_.erase(found);
    return item;
  }

  void put(const std::string& key, std::unique_ptr<Item> item) {
    std::unique_ptr<Item> oldest;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    idle_.emplace_front(key, std::move(item));
    if (idle_.size() <= most_idle) return;
    oldest = std::move(idle_.back().second);
    idle_.pop_back();
  }

 private:
  static constexpr std::size_t most_idle = 8;

  std::mutex mutex_;
  std::deque<std::pair<std::string, std::unique_ptr<Item>>> idle_;
};

}  // namespace tril::python
