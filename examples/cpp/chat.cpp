// Talks with a language model, and shows its answers while they are generated: chat MODEL
#include <tril/tril.h>

#include <iostream>

int main(int, char** arguments) try {
  tril::Generator generator(tril::Model::open(arguments[1]), {{"max-new-tokens", 200}, {"temperature", 0.7}});
  std::vector<tril::Message> talk;
  for (std::string line; std::cout << "> " && std::getline(std::cin, line);) {
    talk.push_back({"user", line});
    const auto show = [](const tril::TextPiece& piece) { std::cout << piece.text << std::flush; };
    talk.push_back({"assistant", generator.chat(talk, {.on_text = show})[0].text});
    std::cout << "\n";
  }
} catch (const tril::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
