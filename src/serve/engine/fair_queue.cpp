#include "serve/engine/fair_queue.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace tril::serve {

FairQueue::FairQueue(std::size_t most, std::int64_t quantum) : most_(most), quantum_(quantum) {
  check(most >= 1 && quantum >= 1, "queue", "expected room and a quantum of at least 1, got {} and {}", most, quantum);
}

std::size_t FairQueue::size(const std::string& client) const {
  std::size_t n = 0;
  for (const auto& [priority, turns] : by_priority_)
    for (const Client& c : turns) n += c.name == client ? c.works.size() : 0;
  return n;
}

Clock::time_point FairQueue::first_arrival() const {
  auto first = Clock::time_point::max();
  for (const auto& [priority, turns] : by_priority_)
    for (const Client& c : turns) first = std::min(first, c.works.front()->arrived);
  return first;
}

std::size_t FairQueue::clients() const {
  std::set<std::string> names;
  for (const auto& [priority, turns] : by_priority_)
    for (const Client& c : turns) names.insert(c.name);
  return names.size();
}

bool FairQueue::has_room(const std::string& client, std::size_t n) const {
  return size_ + n <= most_ && size(client) + n <= share_of_one(most_);
}

bool FairQueue::push(std::span<const WorkPtr> works, Admission admission) {
  if (works.empty()) return true;
  const std::string& name = works.front()->client;
  if (admission == Admission::asked && !has_room(name, works.size())) return false;
  for (const WorkPtr& work : works) {
    Turns& turns = by_priority_[work->priority];
    auto client = std::find_if(turns.begin(), turns.end(), [&](const Client& c) { return c.name == name; });
    if (client == turns.end()) client = turns.insert(turns.end(), Client{name, {}, 0});
    client->works.push_back(work);
    ++size_;
  }
  return true;
}

WorkPtr FairQueue::pop(std::int64_t most_tokens, const std::function<bool(const Work&)>& may) {
  if (by_priority_.empty()) return nullptr;
  const auto first = by_priority_.begin();
  Turns& turns = first->second;
  for (std::size_t barred = 0;;) {
    Client& next = turns.front();
    const Work& work = *next.works.front();
    if (may && !may(work)) {
      if (++barred == turns.size()) return nullptr;
    } else {
      barred = 0;
      if (next.deficit >= work.cost()) break;
      next.deficit += quantum_;
      if (next.deficit >= work.cost()) break;
    }
    // The balance does not cover the work: it is the next client's turn, and the balance is kept.
    turns.splice(turns.end(), turns, turns.begin());
  }
  Client& client = turns.front();
  if (client.works.front()->cache_tokens() > most_tokens) return nullptr;
  WorkPtr work = std::move(client.works.front());
  client.works.pop_front();
  client.deficit -= work->cost();
  --size_;
  if (client.works.empty())
    turns.pop_front();
  else if (client.deficit < client.works.front()->cost())
    turns.splice(turns.end(), turns, turns.begin());
  if (turns.empty()) by_priority_.erase(first);
  return work;
}

std::vector<WorkPtr> FairQueue::take_if(const std::function<bool(const Work&)>& gone) {
  std::vector<WorkPtr> taken;
  for (auto& [priority, turns] : by_priority_) {
    for (Client& client : turns)
      std::erase_if(client.works, [&](const WorkPtr& work) {
        if (!gone(*work)) return false;
        taken.push_back(work);
        return true;
      });
    std::erase_if(turns, [](const Client& c) { return c.works.empty(); });
  }
  std::erase_if(by_priority_, [](const auto& entry) { return entry.second.empty(); });
  size_ -= taken.size();
  return taken;
}

std::vector<WorkPtr> FairQueue::take_gone(Clock::time_point now) {
  return take_if([&](const Work& work) { return work.cancelled || work.deadline <= now; });
}

std::vector<WorkPtr> FairQueue::take_all() {
  return take_if([](const Work&) { return true; });
}

}  // namespace tril::serve
