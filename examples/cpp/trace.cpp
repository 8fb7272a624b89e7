// The heads of a language model, and how much more the loss of a text is without each of them: trace MODEL TEXT
#include <tril/tril.h>

#include <cstdio>

int main(int, char** arguments) try {
  const tril::Tracer tracer(tril::Model::open(arguments[1]));
  const std::string text = arguments[2];
  const tril::Trace plain = tracer.trace(text, "", {{"only", "*.self.heads"}});
  std::printf("%zu tokens, loss %.4f\n", plain.tokens().size(), plain.loss().value_or(0));
  for (const tril::TracedValue& heads : plain.values())  // [tokens, heads, width of a head]
    for (int head = 0; head < heads.shape[1]; ++head) {
      const std::string edit = heads.name + "[" + std::to_string(head) + "]=zero";
      const tril::Trace without = tracer.trace(text, "", {{"only", "logits"}, {"edit", edit}});
      std::printf("%-32s %+.4f\n", edit.c_str(), without.change()->loss_after - without.change()->loss_before);
    }
} catch (const tril::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
