#include "cli/commands.h"

namespace tril::cli {

App make_app() {
  App app;
  add_vocab(app);
  add_eval(app);
  add_completion(app);
  add_help(app);
  return app;
}

}  // namespace tril::cli
