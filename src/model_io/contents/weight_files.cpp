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

const StoredTensor& WeightFiles::tensor(std::string_view name) const {
  const StoredTensor* const found = stored(name);
  if (!found) fail_missing(name);
  return *found;
}

const WeightView& WeightFiles::at(std::string_view name) const {
  return tensor(name).view;
}

const std::string& WeightFiles::file_of(std::string_view name) const {
  return tensor(name).file;
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

std::size_t WeightFiles::stored_bytes() const {
  std::vector<std::span<const std::byte>> all;
  for (const StoredTensor& t : contents_.tensors) {
    all.push_back(t.view.bytes);
    all.insert(all.end(), t.further.begin(), t.further.end());
  }
  std::erase_if(all, [](std::span<const std::byte> bytes) { return bytes.empty(); });
  constexpr std::less<> before{};  // files are mapped to unrelated addresses
  std::ranges::sort(all, before, [](std::span<const std::byte> bytes) { return bytes.data(); });
  std::size_t sum = 0;
  const std::byte* counted = nullptr;
  for (const std::span<const std::byte> bytes : all) {
    const std::byte* const end = bytes.data() + bytes.size();
    const std::byte* const begin = counted && before(bytes.data(), counted) ? counted : bytes.data();
    if (!before(begin, end)) continue;
    sum += static_cast<std::size_t>(end - begin);
    counted = end;
  }
  return sum;
}

void WeightFiles::release(std::span<const std::byte> bytes) const {
  if (contents_.is_mapped) release_pages(bytes);  // pages of other memory would lose their values
}

void WeightFiles::release(const WeightView& weight) const {
  release(weight.bytes);
  if (const StoredTensor* const whole = stored(weight.name))
    for (const std::span<const std::byte> bytes : whole->further) release(bytes);
}

void WeightFiles::fail_missing(std::string_view name) const {
  const std::string near = nearest(name, names_);
  fail(printable(contents_.where, 400), fmt::format("has no tensor {}", printable(name_in_file(name))),
       near.empty() ? "" : fmt::format("did you mean {}?", printable(name_in_file(near))));
}

}  // namespace tril
