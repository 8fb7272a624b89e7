#include "cli/io/partial_output.h"

#include <string_view>

#include "cli/io/standard_output.h"

namespace tril::cli {

void check_output(const std::string& path) {
  if (path != "-" && !takes_a_stream(path)) const AtomicFile possible(path);
}

PartialOutput::PartialOutput(const std::string& path) : path_(path) {
  if (path == "-") return;
  if (takes_a_stream(path)) {
    stream_.emplace(path);
    return;
  }
  check_output(path_);
  path_ = behind_links(path_);  // replaces the file, not a link to it
  file_.emplace(path_ + ".partial");
}

void PartialOutput::write(const std::string& text) {
  if (file_)
    file_->write(std::string_view(text));
  else if (stream_)
    stream_->write(text);
  else
    write_stdout(text);
}

void PartialOutput::commit() {
  if (stream_) stream_->commit();
  if (!file_) return;
  file_->commit();
  rename_durably(file_->path(), path_);
}

std::string PartialOutput::leave() {
  if (!file_) return stream_ ? path_ : "standard output";
  file_->commit();
  return file_->path();
}

}  // namespace tril::cli
