// Translates the lines of standard input: translate MODEL < text
#include <tril/tril.h>

#include <iostream>

int main(int, char** arguments) try {
  tril::Translator translator(tril::Model::open(arguments[1]), {{"beam-size", 4}});
  for (std::string line; std::getline(std::cin, line);) std::cout << translator.translate(line) << "\n";
} catch (const tril::Error& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
