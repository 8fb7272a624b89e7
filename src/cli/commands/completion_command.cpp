// tril completion: a script that completes the program's options in a shell.
#include <memory>

#include "cli/app/completion.h"
#include "cli/commands/commands.h"
#include "cli/io/standard_output.h"

namespace tril::cli {

void add_completion(App& app) {
  auto shell = std::make_shared<std::string>();
  Fields f;
  f.add("shell", shell.get(), "the shell that will use it")
      .choices({"bash", "zsh", "fish"})
      .value_name("SHELL")
      .positional()
      .required();

  app.add({.name = "completion",
           .summary = "print a completion script for a shell",
           .description = "",
           .examples = {{"source <(tril completion bash)", "completion in the current bash"},
                        {"tril completion fish > ~/.config/fish/completions/tril.fish", "completion in every fish"}},
           .fields = f,
           .apply_preset = {},
           .run = [shell](const Invocation& invocation) {
             write_stdout(*shell == "bash"  ? bash_completion(invocation.app)
                          : *shell == "zsh" ? zsh_completion(invocation.app)
                                            : fish_completion(invocation.app));
             return exit_success;
           }});
}

}  // namespace tril::cli
