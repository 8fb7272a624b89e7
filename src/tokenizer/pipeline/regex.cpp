#include "tokenizer/pipeline/regex.h"

#include <oniguruma.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "unicode/trim.h"

namespace tril {
namespace {

constexpr std::size_t longest_pattern = 1 << 14;
constexpr double most_atoms = 1e6;           // nested {n} multiply: the compiler unrolls them
constexpr unsigned long most_retries = 1e6;  // of one match: a reasonable pattern takes a few for each character

const OnigUChar* bytes(const char* text) {
  return reinterpret_cast<const OnigUChar*>(text);
}

void initialize_library() {
  static const int status = [] {
    OnigEncoding utf8 = ONIG_ENCODING_UTF8;
    onig_set_parse_depth_limit(200);
    return onig_initialize(&utf8, 1);
  }();
  check(status == ONIG_NORMAL, "regular expressions", "the Oniguruma library cannot be initialised: {}", status);
}

std::string message_of(int code, OnigErrorInfo* info) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> text{};
  const int length = info ? onig_error_code_to_str(text.data(), code, info) : onig_error_code_to_str(text.data(), code);
  return printable({reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(std::max(0, length))});
}

// The largest number in {n}, {n,m} or {,m} at `at`, which is moved past it; 1 for braces without one.
double read_repetition(std::string_view pattern, std::size_t& at) {
  double largest = 1, number = 0;
  for (++at; at < pattern.size() && pattern[at] != '}'; ++at) {
    number = pattern[at] >= '0' && pattern[at] <= '9' ? 10 * number + (pattern[at] - '0') : 0;
    largest = std::max(largest, number);
  }
  return largest;
}

// The end of the bracketed class that begins at `at`; classes may be nested.
std::size_t last_of_class(std::string_view pattern, std::size_t at) {
  int depth = 0;
  for (; at < pattern.size(); ++at) {
    if (pattern[at] == '\\')
      ++at;
    else if (pattern[at] == '[')
      ++depth;
    else if (pattern[at] == ']' && --depth == 0)
      return at;
  }
  return at;
}

// The number of atoms after the compiler has unrolled every {n}: a repeated part counts that many times.
double unrolled_size(std::string_view pattern) {
  std::vector<double> before = {0};  // for each open group, the size before its last atom
  double last = 0;
  const auto add = [&](double atom) { before.back() += std::exchange(last, atom); };
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const char c = pattern[at];
    if (c == '(') {
      add(0);
      before.push_back(0);
    } else if (c == ')' && before.size() > 1) {
      add(0);
      last = before.back() + 1;
      before.pop_back();
    } else if (c == '{') {
      last *= read_repetition(pattern, at);
    } else if (c != '?' && c != '*' && c != '+') {
      if (c == '\\' && pattern.substr(at + 1).starts_with("p{"))
        at = pattern.find('}', at);  // the name of a property
      else if (c == '\\')
        ++at;
      else if (c == '[')
        at = last_of_class(pattern, at);
      add(1);
    }
    if (at == pattern.npos) break;
  }
  double size = last;
  for (const double part : before) size += part;
  return size;
}

}  // namespace

struct Regex::Impl {
  regex_t* regex = nullptr;
  std::string pattern, where;
  ~Impl() {
    if (regex) onig_free(regex);
  }
};

Regex::Regex(std::string_view pattern, const std::string& where) : impl_(std::make_unique<Impl>()) {
  initialize_library();
  const auto refuse = [&](std::string_view why) {
    fail(where, fmt::format("\"{}\" is not a valid regular expression: {}", printable(pattern), why));
  };
  impl_->pattern = pattern;
  impl_->where = where;
  if (!is_utf8(pattern)) refuse("it is not UTF-8");
  if (pattern.size() > longest_pattern) refuse(fmt::format("it is longer than {} bytes", longest_pattern));
  if (unrolled_size(pattern) > most_atoms) refuse("it has too many repetitions");
  OnigErrorInfo info{};
  const int status = onig_new(&impl_->regex, bytes(pattern.data()), bytes(pattern.data() + pattern.size()),
                              ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_RUBY, &info);
  if (status != ONIG_NORMAL) {
    impl_->regex = nullptr;
    refuse(message_of(status, &info));
  }
}

Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

void Regex::find_all(std::string_view text, std::vector<std::pair<std::size_t, std::size_t>>& matches) const {
  struct Search {
    OnigRegion* region = onig_region_new();
    OnigMatchParam* limits = onig_new_match_param();
    ~Search() {
      onig_region_free(region, 1);
      onig_free_match_param(limits);
    }
  } search;
  onig_initialize_match_param(search.limits);
  onig_set_retry_limit_in_match_of_match_param(search.limits, most_retries);
  onig_set_retry_limit_in_search_of_match_param(search.limits, 10 * most_retries);
  const OnigUChar *begin = bytes(text.data()), *end = begin + text.size();
  std::size_t last_end = text.npos;
  for (std::size_t at = 0; at <= text.size();) {
    const int found = onig_search_with_param(impl_->regex, begin, end, begin + at, end, search.region, ONIG_OPTION_NONE,
                                             search.limits);
    if (found == ONIG_MISMATCH) return;
    if (found < 0)
      fail(impl_->where, fmt::format("the regular expression \"{}\" failed on this text: {}", printable(impl_->pattern),
                                     message_of(found, nullptr)));
    const auto from = static_cast<std::size_t>(search.region->beg[0]),
               to = static_cast<std::size_t>(search.region->end[0]);
    if (from == to && to == last_end) {  // an empty match directly after the last one
      for (++at; at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;) ++at;
      continue;
    }
    matches.emplace_back(from, to);
    at = last_end = to;
  }
}

}  // namespace tril
