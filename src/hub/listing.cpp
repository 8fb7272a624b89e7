#include "hub/listing.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "format/json_file.h"
#include "hub/repo_name.h"

namespace tril::hub {
namespace {

constexpr JsonLimits listing_limits{.bytes = largest_listing, .depth = 32, .values = 5'000'000};
constexpr std::size_t most_files = 100'000;
constexpr std::uint64_t largest_file = std::uint64_t{1} << 46;  // 64 TiB: sums of sizes stay far below 2^63

constexpr const char* endpoint_hint = "if HF_ENDPOINT is set, check that a hub answers there";

std::uint64_t size_of(const JsonObject& object, const std::string& name) {
  const std::int64_t size = object.get<std::int64_t>("size");
  if (size < 0 || static_cast<std::uint64_t>(size) > largest_file)
    fail(object.where(), "says that " + printable(name) + " has " + std::to_string(size) + " bytes");
  return static_cast<std::uint64_t>(size);
}

RemoteFile read_file(const JsonObject& entry) {
  RemoteFile file;
  file.name = entry.get<std::string>("rfilename");
  if (!stays_inside(file.name))
    fail(entry.where(), "lists \"" + printable(file.name) + "\", which is not the name of a file inside the repository",
         "do not use this model");
  const auto lfs = entry.find_object("lfs");
  const JsonObject& content = lfs ? *lfs : entry;
  file.kind = lfs ? SumKind::sha256 : SumKind::git;
  file.size = size_of(content, file.name);
  file.sum = content.get<std::string>(lfs ? "sha256" : "blobId");
  if (!is_hex(file.sum, lfs ? 64 : 40))
    fail(entry.where(), "gives \"" + printable(file.sum) + "\" as the checksum of " + printable(file.name),
         endpoint_hint);
  return file;
}

}  // namespace

const RemoteFile* Listing::find(std::string_view name) const {
  const auto at = std::find_if(files.begin(), files.end(), [&](const RemoteFile& f) { return f.name == name; });
  return at == files.end() ? nullptr : &*at;
}

std::vector<std::string> Listing::names() const {
  std::vector<std::string> all;
  for (const RemoteFile& file : files) all.push_back(file.name);
  return all;
}

Listing read_listing(std::string_view text, const std::string& where) {
  return from_files([&] {
    const nlohmann::json json = parse_json(text, where, listing_limits);
    if (!json.is_object()) fail(where, "is not a hub's description of a model", endpoint_hint);
    const JsonObject object(json, where);
    Listing listing;
    listing.commit = object.get<std::string>("sha");
    if (!is_hex(listing.commit, 40))
      fail(where, "gives \"" + printable(listing.commit) + "\" as the commit, expected 40 hexadecimal digits",
           endpoint_hint);
    const auto siblings = json.find("siblings");
    if (siblings == json.end() || !siblings->is_array()) fail(where, "lists no files", endpoint_hint);
    if (siblings->size() > most_files)
      fail(where, fmt::format("lists {} files, at most {} are read", siblings->size(), most_files));
    std::set<std::string_view> seen;
    listing.files.reserve(siblings->size());
    for (const nlohmann::json& entry : *siblings) {
      if (!entry.is_object()) fail(where, "lists a file that is not an object", endpoint_hint);
      listing.files.push_back(read_file(JsonObject(entry, where)));
      if (!seen.insert(listing.files.back().name).second)
        fail(where, "lists " + printable(listing.files.back().name) + " twice");
    }
    return listing;
  });
}

}  // namespace tril::hub
