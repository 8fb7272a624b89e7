#include "cli/commands/document_translator.h"

#include "decode/models/model_set.h"
#include "decode/texts/split_translator.h"

namespace tril::cli {

std::int64_t DocumentTranslator::translate(const DocumentPlan& plan) {
  if (!text_) text_ = setup_.make_text();
  DocumentJob job(plan, search::segments_that_fit(setup_.form.split, languages_.given.prefix, *text_, setup_.plain));
  std::unique_ptr<Tool>& tool = job.has_marks() ? with_links_ : plain_;
  if (!tool)
    tool =
        std::make_unique<Tool>(setup_, job.has_marks() ? setup_.with_links : setup_.plain, languages_, stop_.token());
  const bool finished =
      job.run({.translate = [&](const auto& texts, std::int64_t first) { return tool->lines.best(texts, first); },
               .continue_after = [&](const auto& texts) { tool->lines.continue_after(texts); },
               .tokenizer = text_->tokenizer(),
               .work = setup_.work,
               .window = setup_.window,
               .progress = setup_.progress},
              stop_);
  return finished ? job.sentences() : -1;
}

void DocumentTranslator::report(const model::Model& model) const {
  for (const std::unique_ptr<Tool>* tool : {&plain_, &with_links_}) {
    if (!*tool) continue;
    report_speculation((*tool)->translator.speculation());
    warn_of_lines((*tool)->translator, (*tool)->lines.tally(), model, 0);
  }
}

}  // namespace tril::cli
