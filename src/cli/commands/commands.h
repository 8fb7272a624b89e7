// The list of subcommands: declare add_NAME here, call it in make_app() (commands.cpp), define it in NAME_command.cpp.
#pragma once

#include "cli/app/app.h"

namespace tril::cli {

void add_vocab(App& app);
void add_train(App& app);
void add_find_rate(App& app);
void add_report(App& app);
void add_translate(App& app);
void add_generate(App& app);
void add_chat(App& app);
void add_score(App& app);
void add_perplexity(App& app);
void add_serve(App& app);
void add_attend(App& app);
void add_trace(App& app);
void add_explain(App& app);
void add_align(App& app);
void add_shortlist(App& app);
void add_eval(App& app);
void add_inspect(App& app);
void add_doctor(App& app);
void add_families(App& app);
void add_tokenize(App& app);
void add_detokenize(App& app);
void add_detect(App& app);
void add_pull(App& app);
void add_quantize(App& app);
void add_export(App& app);
void add_pack(App& app);
void add_bench_translate(App& app);
void add_bench_generate(App& app);
void add_bench_train(App& app);
void add_signature(App& app);
void add_demo(App& app);
void add_learn(App& app);
void add_learn_check(App& app);
void add_learn_draw(App& app);
void add_completion(App& app);
void add_help(App& app);  // last: it describes all others

}  // namespace tril::cli
