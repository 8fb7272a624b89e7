// libFuzzer: any bytes as a hub's description of a repository, as an index of shards, and as the name of a model. An
// Error is fine; what is accepted leads nowhere but into the model's own directory.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "fuzz/must.h"
#include "hub/listing.h"
#include "hub/plan.h"
#include "hub/repo_name.h"

namespace {

using tril::fuzz::must;
namespace hub = tril::hub;

void check_inside(const std::string& name) {
  must(hub::stays_inside(name), "a name stays inside");
  const std::filesystem::path path = (std::filesystem::path("/cache") / name).lexically_normal();
  must(path.string().starts_with("/cache/"), "its path does");
}

void check_name(std::string_view text) {
  const auto name = hub::repo_name_of(text);
  if (!name) return;
  must(hub::repo_name_of(name->text())->text() == name->text(), "a name is read as it is written");
  check_inside(name->repo);
  check_inside(name->revision);
  if (!name->file.empty()) check_inside(name->file);
}

void check_listing(const std::string& text) {
  const hub::Listing listing = hub::read_listing(text, "fuzz");
  must(hub::is_hex(listing.commit, 40), "a commit is one");
  for (const hub::RemoteFile& file : listing.files) {
    check_inside(file.name);
    must(hub::is_hex(file.sum, file.kind == hub::SumKind::git ? 40 : 64), "a sum is one");
  }
  for (const std::string& name : hub::files_of_model(
           listing.names(), "", [&](const std::string&) { return text; }, "fuzz"))
    must(listing.find(name), "what is planned is there");
}

void check_index(const std::string& text) {
  const std::vector<std::string> names{"config.json", "model.safetensors.index.json", "a.safetensors"};
  for (const std::string& name : hub::files_of_model(
           names, "", [&](const std::string&) { return text; }, "fuzz"))
    must(std::find(names.begin(), names.end(), name) != names.end(), "what is planned is there");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_name(text);
  for (const auto check : {check_listing, check_index}) {
    try {
      check(text);
    } catch (const tril::Error&) {
    }
  }
  return 0;
}
