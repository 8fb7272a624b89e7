// tril report: a page with the curves, samples and options of a run, or of several runs in the same plots.
#include <spdlog/spdlog.h>

#include <filesystem>
#include <memory>

#include "base/streams.h"
#include "cli/commands/commands.h"
#include "cli/io/ending_signal.h"
#include "report/report_page.h"

namespace tril::cli {
namespace {

struct ReportOptions {
  std::vector<std::string> runs;
  std::string out = "report.html";
};

Fields fields_of(ReportOptions& o) {
  Fields f;
  f.group("Report");
  f.add("runs", &o.runs, "directories of runs (--model of tril train)").value_name("RUN_DIR").positional().required();
  f.add("out", &o.out, "output file for the page; - is standard output").letter('o').value_name("FILE");
  return f;
}

// A page may go into a run's directory, but must not replace any of its files.
void check_place(const ReportOptions& o) {
  if (takes_a_stream(o.out)) return;
  const std::filesystem::path out = std::filesystem::weakly_canonical(o.out);
  if (out.extension() == ".html" || !std::filesystem::exists(out)) return;
  for (const std::string& run : o.runs) {
    const std::filesystem::path within = out.lexically_relative(std::filesystem::weakly_canonical(run));
    if (!within.empty() && *within.begin() != "..")
      fail_usage("--out", o.out + " is a file of the run " + run, "choose another, such as report.html");
  }
}

int report(const ReportOptions& o) {
  const EndingSignal ending;
  check_place(o);
  std::vector<train::RunLines> runs;
  for (const std::string& directory : o.runs) runs.push_back(train::read_run(directory));
  write_output(o.out, train::report_page(runs));
  spdlog::info("{}: {}", o.out, runs.size() == 1 ? std::string("one run") : fmt::format("{} runs", runs.size()));
  return exit_success;
}

}  // namespace

void add_report(App& app) {
  auto o = std::make_shared<ReportOptions>();
  app.add({.name = "report",
           .summary = "make a page with the curves, samples and options of one or more runs",
           .description = "The page is one self-contained file. Several runs are drawn in the same plots, with a table "
                          "of the options in which they differ. Runs can be viewed while they are still training.",
           .examples = {{"tril report de", "the page of one run, the same as de/report.html from training"},
                        {"tril report small large -o compared.html", "two runs in the same plots"}},
           .fields = fields_of(*o),
           .apply_preset = {},
           .run = [o](const Invocation&) { return report(*o); }});
}

}  // namespace tril::cli
