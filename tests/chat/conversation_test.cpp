// Chat templates that read the content of messages as a text, or only as a list of parts.
#include "chat/conversation.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "support/contains.h"
#include "support/error_of.h"

namespace tril::conversation_test {
namespace {

using Json = nlohmann::ordered_json;

const std::string of_texts =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m.content }};{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";
const std::string of_parts =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}] {% for p in m.content %}{{ p.text }}{% endfor %};{% endfor "
    "%}"
    "{% if add_generation_prompt %}[assistant]{% endif %}";
const std::vector<std::pair<std::string, std::string>> tokens{{"bos_token", "<s>"}};

TEST(ConversationTemplate, WritesTextsInTheFormThatTheTemplateReads) {
  const Json messages{{{"role", "user"}, {"content", "a dog"}},
                      {{"role", "assistant"}, {"content", ""}},
                      {{"role", "user"}, {"content", "runs"}}};
  const std::string expected = "<s>[user] a dog;[assistant] ;[user] runs;";
  for (const std::string& source :
       {of_texts, of_parts,
        "{% if messages[0].content is string %}{{ raise_exception('parts') }}{% endif %}" + of_parts}) {
    const ConversationTemplate written(source, tokens);
    EXPECT_EQ(written.render(messages, false), expected);
    EXPECT_EQ(written.render(messages, true), expected + "[assistant]");
  }
  // Calls of tools have no text.
  const Json call{{{"role", "assistant"}, {"content", nullptr}}};
  EXPECT_EQ(ConversationTemplate(of_parts, tokens).render(call, false), "<s>[assistant] ;");
}

TEST(ConversationTemplate, OneThatLeavesOutTheMessageIsRefused) {
  for (const std::string source : {"", "{{ bos_token }}", "{% for m in messages %}{{ m.role }}{% endfor %}"})
    EXPECT_TRUE(
        contains(error_of([&] { ConversationTemplate(source, tokens, "x.jinja"); }), "x.jinja", "user's message"));
  // An error of the template is told when it occurs: another conversation may be possible.
  const ConversationTemplate other("{% if messages | length < 2 %}{{ raise_exception('alone') }}{% endif %}" + of_texts,
                                   tokens);
  const Json one{{"role", "user"}, {"content", "a"}};
  EXPECT_EQ(other.render(Json::array({one, one}), false), "<s>[user] a;[user] a;");
  EXPECT_TRUE(contains(error_of([&] { other.render(Json::array({one}), false); }), "alone"));
}

}  // namespace
}  // namespace tril::conversation_test
