#include "corpus/blocks.h"

#include <algorithm>
#include <span>

#include "base/content_hash.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

namespace tril {
namespace {

void add_line(Hash& hash, const std::string& line) {
  hash.add(content_hash(std::as_bytes(std::span(line))));
}

}  // namespace

std::vector<TextBlock> find_blocks(const std::string& path, std::int64_t lines_each, const ReadOptions& options,
                                   const std::function<bool()>& stopped) {
  std::vector<TextBlock> blocks;
  LineReader reader(path, options);
  std::string line;
  for (bool at_end = false; !at_end && !stopped();) {
    TextBlock block{.first = reader.line_number(), .lines = 0, .offset = reader.offset(), .hash = 0};
    Hash hash;
    while (block.lines < lines_each && !(at_end = reader.next(line) == Line::end)) {
      add_line(hash, line);
      ++block.lines;
    }
    block.hash = hash.value();
    if (block.lines > 0) blocks.push_back(block);
  }
  return blocks;
}

std::vector<std::string> BlockReader::read(const TextBlock& block) {
  if (!reader_ || !reader_->go_to({block.offset, block.first})) {
    reader_.emplace(path_, options_);
    reader_->go_to({block.offset, block.first});
  }
  std::vector<std::string> lines;
  Hash hash;
  std::string line;
  while (std::ssize(lines) < block.lines) {
    const Line kind = reader_->next(line);
    if (kind == Line::end) break;
    invalid_ += kind == Line::invalid ? 1 : 0;
    add_line(hash, line);
    lines.push_back(std::move(line));
  }
  if (std::ssize(lines) != block.lines || hash.value() != block.hash)
    fail(reader_->name(),
         fmt::format("lines {} to {} have changed since the work began", block.first + 1, block.first + block.lines),
         "restore the text, or start over with another `work_dir`");
  return lines;
}

std::string file_fingerprint(const std::string& path) {
  constexpr std::size_t places = 64, bytes_each = 4096;
  const MappedFile file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file.bytes();
  Hash hash;
  if (bytes.size() <= places * bytes_each) {
    hash.add(content_hash(bytes));
  } else {
    for (std::size_t i = 0; i < places; ++i) {  // the first and last bytes are among them
      const std::size_t at = (bytes.size() - bytes_each) / (places - 1) * i;
      hash.add(content_hash(bytes.subspan(i + 1 == places ? bytes.size() - bytes_each : at, bytes_each)));
    }
  }
  return fmt::format("{} bytes, {:016x}", bytes.size(), hash.value());
}

}  // namespace tril
