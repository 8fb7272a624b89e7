#include "model_io/contents/weight_files.h"

#include <algorithm>
#include <set>

#include "base/element.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/printable.h"

namespace tril {

NameInFile name_in_file_of(std::map<std::string, std::string, std::less<>> names) {
  return [names = std::make_shared<const decltype(names)>(std::move(names))](std::string_view name) {
    const auto found = names->find(name);
    return found == names->end() ? std::string(name) : found->second;
  };
}

WeightFiles::WeightFiles(Contents contents) : contents_(std::move(contents)) {
  std::sort(contents_.tensors.begin(), contents_.tensors.end(),
            [](const StoredTensor& a, const StoredTensor& b) { return a.view.name < b.view.name; });
  for (const StoredTensor& t : contents_.tensors) names_.push_back(t.view.name);
}

const StoredTensor* WeightFiles::stored(std::string_view name) const {
  const auto at = std::lower_bound(names_.begin(), names_.end(), name);
  return at != names_.end() && *at == name ? &element(contents_.tensors, at - names_.begin()) : nullptr;
}

const WeightView* WeightFiles::find(std::string_view name) const {
  const StoredTensor* const found = stored(name);
  return found ? &found->view : nullptr;
}

const WeightView& WeightFiles::at(std::string_view name) const {
  const StoredTensor* const found = stored(name);
  if (!found) fail_missing(name);
  return found->view;
}

const std::string& WeightFiles::file_of(std::string_view name) const {
  const StoredTensor* const found = stored(name);
  if (!found) fail_missing(name);
  return found->file;
}

std::string WeightFiles::name_in_file(std::string_view name) const {
  return contents_.name_in_file ? contents_.name_in_file(name) : std::string(name);
}

std::string WeightFiles::place_of(std::string_view name) const {
  return fmt::format("{}: {}", file_of(name), printable(name_in_file(name)));
}

std::size_t WeightFiles::file_count() const {
  std::set<std::string_view> files;
  for (const StoredTensor& t : contents_.tensors) files.insert(t.file);
  return files.size();
}

void WeightFiles::release(std::span<const std::byte> bytes) const {
  if (contents_.is_mapped) release_pages(bytes);  // pages of other memory would lose their values
}

void WeightFiles::fail_missing(std::string_view name) const {
  const std::string near = nearest(name, names_);
  fail(printable(contents_.where, 400), fmt::format("has no tensor {}", printable(name_in_file(name))),
       near.empty() ? "" : fmt::format("did you mean {}?", printable(name_in_file(near))));
}

}  // namespace tril
