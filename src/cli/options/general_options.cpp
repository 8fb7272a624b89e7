#include "cli/options/general_options.h"

namespace tril::cli {

Fields fields_of(GeneralOptions& options, const CommandTraits& traits) {
  Fields f;
  f.group("General");
  if (traits.reads_config) {
    f.add("config", &options.config, "YAML file of options, with the names as here; command-line options override it")
        .value_name("FILE");
    f.add("dump-config", &options.dump_config, "print all options as YAML and exit");
  }
  if (traits.opens_models)
    f.add("pull", &options.pull,
          "download models that are given by name (OWNER/NAME) and are not in the cache, without asking");
  f.add("help", &options.help, "print this help and exit").letter('h');
  f.include(fields_of(options.log));
  return f;
}

}  // namespace tril::cli
