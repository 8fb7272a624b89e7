#include "cli/commands/watch_documents.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/printable.h"
#include "base/progress.h"
#include "cli/io/directory_watch.h"
#include "cli/io/standard_output.h"
#include "document/formats/formats.h"
#include "format/json_text.h"
#include "language/code.h"

namespace tril::cli {
namespace {

namespace fs = std::filesystem;

class Watching {
 public:
  Watching(const WatchPlan& plan, DocumentTranslator& translator, const StopSignal& stop)
      : plan_(plan),
        translator_(translator),
        stop_(stop),
        output_(plan.documents.output == "-" ? plan.documents.input : plan.documents.output) {}

  void run() {
    DirectoryWatch watch(plan_.documents.input);
    spdlog::info("{}: watched for documents to translate; press Ctrl-C to end", plan_.documents.input);
    while (!stop_.came())
      for (const std::string& name : watch.next(stop_.token()))
        if (is_document(name) && !stop_.came()) translate(name);
  }

 private:
  bool is_document(const std::string& name) const {
    if (name.starts_with('.') || !document::is_known(name)) return false;
    const std::size_t extension = name.find_last_of('.');
    const std::string stem = name.substr(0, extension);
    return !stem.ends_with("." + plan_.documents.target_language) && !is_translation_of_another(stem, extension, name);
  }

  // Whether another run translated it: notes.fr.md, if there is notes.md.
  bool is_translation_of_another(const std::string& stem, std::size_t extension, const std::string& name) const {
    const std::size_t point = stem.find_last_of('.');
    if (point == std::string::npos || !find_language(stem.substr(point + 1))) return false;
    std::error_code error;
    return fs::is_regular_file(fs::path(plan_.documents.input) / (stem.substr(0, point) + name.substr(extension)),
                               error);
  }

  void translate(const std::string& name) {
    const fs::path source = fs::path(plan_.documents.input) / name;
    const fs::path target = fs::path(output_) / document::translated_path(name, plan_.documents.target_language);
    const auto before = stamp_of(source), made = stamp_of(target);
    if (!before || (made && made->time >= before->time)) return;
    DocumentPlan plan = plan_.documents;
    plan.input = source.string(), plan.output = target.string();
    const auto begun = std::chrono::steady_clock::now();
    nlohmann::ordered_json entry{{"document", plan.input}};
    try {
      const std::int64_t sentences = translator_.translate(plan);
      if (sentences < 0) return;
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
      entry["translation"] = plan.output, entry["sentences"] = sentences, entry["seconds"] = taken.count();
      spdlog::info("{}: {} {}, {:.1f} s, to {}", printable(plan.input, 400), format_count(sentences),
                   sentences == 1 ? "sentence" : "sentences", taken.count(), printable(plan.output, 400));
      // If it changed meanwhile, its translation is marked as older, so that also a later run translates it again.
      std::error_code ignored;
      if (stamp_of(source) != before) fs::last_write_time(target, before->time - std::chrono::seconds(1), ignored);
    } catch (const std::exception& e) {
      entry["error"] = e.what();
      spdlog::error("{}", e.what());
    }
    if (plan_.json) write_stdout(json_text(entry) + "\n");
  }

  const WatchPlan& plan_;
  DocumentTranslator& translator_;
  const StopSignal& stop_;
  std::string output_;
};

}  // namespace

void check_watch(const WatchPlan& plan) {
  for (const auto& [path, option] :
       {std::pair{&plan.documents.input, "--watch"}, std::pair{&plan.documents.output, "--output"}})
    if (std::error_code error; *path != "-" && !fs::is_directory(*path, error))
      fail_usage(option, fmt::format("{} is not a directory", *path), "create it, or name another one");
}

void watch_documents(const WatchPlan& plan, DocumentTranslator& translator, const StopSignal& stop) {
  Watching(plan, translator, stop).run();
}

}  // namespace tril::cli
