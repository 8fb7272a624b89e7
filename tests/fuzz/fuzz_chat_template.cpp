// libFuzzer: any bytes as a chat template. An Error is fine; a crash, a hang or an endless text is not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "chat/chat_template.h"
#include "template_mutator.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tril::ChatInput input{
      .messages = nlohmann::ordered_json::parse(
          R"([{"role": "system", "content": "a"}, {"role": "user", "content": "b"}, {"role": "assistant", "content": "c"}])"),
      .add_generation_prompt = true,
      .special_tokens = {{"bos_token", "<s>"}, {"eos_token", "</s>"}},
      .now = 0};
  try {
    const tril::ChatTemplate chat(std::string_view(reinterpret_cast<const char*>(data), size));
    if (chat.render(input).size() > std::size_t{64} << 20) std::abort();
  } catch (const tril::Error&) {
  }
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return tril::fuzz::TemplateMutator(seed)(data, size, most);
}
