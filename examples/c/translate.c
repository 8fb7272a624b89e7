/* Translates the lines of standard input: translate MODEL < text */
#include <stdio.h>
#include <string.h>
#include <tril/tril_c.h>

static int fail(tril_error* error) {
  fprintf(stderr, "%s\n", tril_error_message(error));
  tril_error_free(error);
  return 1;
}

int main(int count, char** arguments) {
  char line[4096];
  tril_error* error = NULL;
  tril_options* options = tril_options_new();
  tril_options_set(options, "beam-size", "4");
  tril_model* model = tril_model_open(count > 1 ? arguments[1] : "", NULL, &error);
  if (!model) return fail(error);
  tril_translator* translator = tril_translator_new(model, options, &error);
  if (!translator) return fail(error);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    char* translation = tril_translate(translator, line, &error);
    if (!translation) return fail(error);
    puts(translation);
    tril_string_free(translation);
  }
  tril_translator_free(translator);
  tril_model_free(model);
  tril_options_free(options);
  return 0;
}
