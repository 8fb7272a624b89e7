#include "cli/commands/commands.h"

namespace tril::cli {

App make_app() {
  App app;
  add_vocab(app);
  add_train(app);
  add_find_rate(app);
  add_report(app);
  add_translate(app);
  add_generate(app);
  add_chat(app);
  add_score(app);
  add_perplexity(app);
  add_serve(app);
  add_attend(app);
  add_trace(app);
  add_explain(app);
  add_align(app);
  add_shortlist(app);
  add_eval(app);
  add_inspect(app);
  add_doctor(app);
  add_families(app);
  add_tokenize(app);
  add_detokenize(app);
  add_detect(app);
  add_pull(app);
  add_quantize(app);
  add_export(app);
  add_pack(app);
  add_bench_translate(app);
  add_bench_generate(app);
  add_bench_train(app);
  add_signature(app);
  add_demo(app);
  add_learn(app);
  add_learn_check(app);
  add_learn_draw(app);
  add_completion(app);
  add_help(app);
  return app;
}

}  // namespace tril::cli
