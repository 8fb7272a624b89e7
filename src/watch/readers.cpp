#include "watch/readers.h"

#include <fmt/format.h>

namespace tril::watch {

bool Readers::add(const std::shared_ptr<serve::Responder>& reader, std::size_t most) {
  {
    const std::lock_guard lock(open_->mutex);
    if (open_->list.size() >= most) return false;
    // The comment makes browsers take the stream for open at once.
    reader->begin(
        {.content_type = "text/event-stream", .body = ": the run\n\n", .headers = {{"Cache-Control", "no-store"}}});
    open_->list.push_back(reader);
    open_->count = open_->list.size();
  }
  reader->on_gone([open = open_, gone = reader.get()] {
    const std::lock_guard lock(open->mutex);
    std::erase_if(open->list, [&](const auto& one) { return one.get() == gone; });
    open->count = open->list.size();
  });
  return true;
}

void Readers::tell(std::string_view event, std::string_view json) {
  if (count() == 0) return;
  const std::string text = fmt::format("event: {}\ndata: {}\n\n", event, json);
  const std::lock_guard lock(open_->mutex);
  for (const auto& reader : open_->list) reader->write(text);  // queued, never sent here
}

void Readers::finish() {
  const std::lock_guard lock(open_->mutex);
  for (const auto& reader : open_->list) reader->finish();
  open_->list.clear();
  open_->count = 0;
}

}  // namespace tril::watch
