#include "document/segments/character_references.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

#include "unicode/characters.h"

namespace tril::document {
namespace {

struct Named {
  std::string_view name;
  char32_t code;
};
constexpr std::array<Named, 253> references{
    {// by name
     {"AElig", 198},   {"Aacute", 193},  {"Acirc", 194},    {"Agrave", 192},  {"Alpha", 913},    {"Aring", 197},
     {"Atilde", 195},  {"Auml", 196},    {"Beta", 914},     {"Ccedil", 199},  {"Chi", 935},      {"Dagger", 8225},
     {"Delta", 916},   {"ETH", 208},     {"Eacute", 201},   {"Ecirc", 202},   {"Egrave", 200},   {"Epsilon", 917},
     {"Eta", 919},     {"Euml", 203},    {"Gamma", 915},    {"Iacute", 205},  {"Icirc", 206},    {"Igrave", 204},
     {"Iota", 921},    {"Iuml", 207},    {"Kappa", 922},    {"Lambda", 923},  {"Mu", 924},       {"Ntilde", 209},
     {"Nu", 925},      {"OElig", 338},   {"Oacute", 211},   {"Ocirc", 212},   {"Ograve", 210},   {"Omega", 937},
     {"Omicron", 927}, {"Oslash", 216},  {"Otilde", 213},   {"Ouml", 214},    {"Phi", 934},      {"Pi", 928},
     {"Prime", 8243},  {"Psi", 936},     {"Rho", 929},      {"Scaron", 352},  {"Sigma", 931},    {"THORN", 222},
     {"Tau", 932},     {"Theta", 920},   {"Uacute", 218},   {"Ucirc", 219},   {"Ugrave", 217},   {"Upsilon", 933},
     {"Uuml", 220},    {"Xi", 926},      {"Yacute", 221},   {"Yuml", 376},    {"Zeta", 918},     {"aacute", 225},
     {"acirc", 226},   {"acute", 180},   {"aelig", 230},    {"agrave", 224},  {"alefsym", 8501}, {"alpha", 945},
     {"amp", 38},      {"and", 8743},    {"ang", 8736},     {"apos", 39},     {"aring", 229},    {"asymp", 8776},
     {"atilde", 227},  {"auml", 228},    {"bdquo", 8222},   {"beta", 946},    {"brvbar", 166},   {"bull", 8226},
     {"cap", 8745},    {"ccedil", 231},  {"cedil", 184},    {"cent", 162},    {"chi", 967},      {"circ", 710},
     {"clubs", 9827},  {"cong", 8773},   {"copy", 169},     {"crarr", 8629},  {"cup", 8746},     {"curren", 164},
     {"dArr", 8659},   {"dagger", 8224}, {"darr", 8595},    {"deg", 176},     {"delta", 948},    {"diams", 9830},
     {"divide", 247},  {"eacute", 233},  {"ecirc", 234},    {"egrave", 232},  {"empty", 8709},   {"emsp", 8195},
     {"ensp", 8194},   {"epsilon", 949}, {"equiv", 8801},   {"eta", 951},     {"eth", 240},      {"euml", 235},
     {"euro", 8364},   {"exist", 8707},  {"fnof", 402},     {"forall", 8704}, {"frac12", 189},   {"frac14", 188},
     {"frac34", 190},  {"frasl", 8260},  {"gamma", 947},    {"ge", 8805},     {"gt", 62},        {"hArr", 8660},
     {"harr", 8596},   {"hearts", 9829}, {"hellip", 8230},  {"iacute", 237},  {"icirc", 238},    {"iexcl", 161},
     {"igrave", 236},  {"image", 8465},  {"infin", 8734},   {"int", 8747},    {"iota", 953},     {"iquest", 191},
     {"isin", 8712},   {"iuml", 239},    {"kappa", 954},    {"lArr", 8656},   {"lambda", 955},   {"lang", 10216},
     {"laquo", 171},   {"larr", 8592},   {"lceil", 8968},   {"ldquo", 8220},  {"le", 8804},      {"lfloor", 8970},
     {"lowast", 8727}, {"loz", 9674},    {"lrm", 8206},     {"lsaquo", 8249}, {"lsquo", 8216},   {"lt", 60},
     {"macr", 175},    {"mdash", 8212},  {"micro", 181},    {"middot", 183},  {"minus", 8722},   {"mu", 956},
     {"nabla", 8711},  {"nbsp", 160},    {"ndash", 8211},   {"ne", 8800},     {"ni", 8715},      {"not", 172},
     {"notin", 8713},  {"nsub", 8836},   {"ntilde", 241},   {"nu", 957},      {"oacute", 243},   {"ocirc", 244},
     {"oelig", 339},   {"ograve", 242},  {"oline", 8254},   {"omega", 969},   {"omicron", 959},  {"oplus", 8853},
     {"or", 8744},     {"ordf", 170},    {"ordm", 186},     {"oslash", 248},  {"otilde", 245},   {"otimes", 8855},
     {"ouml", 246},    {"para", 182},    {"part", 8706},    {"permil", 8240}, {"perp", 8869},    {"phi", 966},
     {"pi", 960},      {"piv", 982},     {"plusmn", 177},   {"pound", 163},   {"prime", 8242},   {"prod", 8719},
     {"prop", 8733},   {"psi", 968},     {"quot", 34},      {"rArr", 8658},   {"radic", 8730},   {"rang", 10217},
     {"raquo", 187},   {"rarr", 8594},   {"rceil", 8969},   {"rdquo", 8221},  {"real", 8476},    {"reg", 174},
     {"rfloor", 8971}, {"rho", 961},     {"rlm", 8207},     {"rsaquo", 8250}, {"rsquo", 8217},   {"sbquo", 8218},
     {"scaron", 353},  {"sdot", 8901},   {"sect", 167},     {"shy", 173},     {"sigma", 963},    {"sigmaf", 962},
     {"sim", 8764},    {"spades", 9824}, {"sub", 8834},     {"sube", 8838},   {"sum", 8721},     {"sup", 8835},
     {"sup1", 185},    {"sup2", 178},    {"sup3", 179},     {"supe", 8839},   {"szlig", 223},    {"tau", 964},
     {"there4", 8756}, {"theta", 952},   {"thetasym", 977}, {"thinsp", 8201}, {"thorn", 254},    {"tilde", 732},
     {"times", 215},   {"trade", 8482},  {"uArr", 8657},    {"uacute", 250},  {"uarr", 8593},    {"ucirc", 251},
     {"ugrave", 249},  {"uml", 168},     {"upsih", 978},    {"upsilon", 965}, {"uuml", 252},     {"weierp", 8472},
     {"xi", 958},      {"yacute", 253},  {"yen", 165},      {"yuml", 255},    {"zeta", 950},     {"zwj", 8205},
     {"zwnj", 8204}}};

// The characters for numbers from 128 to 159.
constexpr std::array<char32_t, 32> windows_1252{0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021,
                                                0x2c6,  0x2030, 0x160,  0x2039, 0x152,  0x8d,   0x17d,  0x8f,
                                                0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
                                                0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

constexpr std::size_t longest_name = 31;  // in HTML 5

const Named* find_name(std::string_view name) {
  const auto* const found = std::lower_bound(references.begin(), references.end(), name,
                                             [](const Named& n, std::string_view x) { return n.name < x; });
  return found != references.end() && found->name == name ? found : nullptr;
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Number {
  std::size_t bytes = 0;  // including "&#", without a semicolon; 0: no reference
  std::uint32_t code = 0;
};
Number number_at(std::string_view text) {
  if (!text.starts_with("&#")) return {};
  const bool hex = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const std::size_t begin = hex ? 3 : 2;
  std::size_t end = begin;
  while (end < text.size() &&
         (is_digit(text[end]) || (hex && std::string_view("abcdefABCDEF").find(text[end]) != std::string_view::npos)))
    ++end;
  if (end == begin) return {};
  Number n{.bytes = end};
  const auto [at, error] = std::from_chars(text.data() + begin, text.data() + end, n.code, hex ? 16 : 10);
  if (error != std::errc()) n.code = 0xffffffff;
  return n;
}

}  // namespace

std::optional<CharacterReference> character_reference(std::string_view text) {
  if (text.size() < 4 || text[0] != '&') return std::nullopt;
  char32_t code = 0;
  std::size_t end = 0;
  if (text[1] == '#') {
    const Number n = number_at(text);
    if (n.bytes == 0 || n.code == 0 || n.code > 0x10ffff || (n.code >= 0xd800 && n.code < 0xe000)) return std::nullopt;
    end = n.bytes;
    code = n.code >= 0x80 && n.code < 0xa0 ? windows_1252[n.code - 0x80] : n.code;
  } else {
    end = text.substr(0, longest_name + 2).find(';');
    const Named* const known = end == std::string_view::npos ? nullptr : find_name(text.substr(1, end - 1));
    if (!known) return std::nullopt;
    code = known->code;
  }
  if (end >= text.size() || text[end] != ';') return std::nullopt;
  CharacterReference r{.text = {}, .bytes = end + 1};
  append_utf8(r.text, code);
  return r;
}

std::size_t other_reference(std::string_view text) {
  if (text.size() < 3 || text[0] != '&') return 0;
  if (const Number n = number_at(text); n.bytes > 0)
    return n.bytes + (n.bytes < text.size() && text[n.bytes] == ';' ? 1 : 0);
  if (!is_letter(text[1])) return 0;
  std::size_t end = 1;
  while (end < text.size() && end <= longest_name && (is_letter(text[end]) || is_digit(text[end]))) ++end;
  if (end < text.size() && text[end] == ';') return end + 1;
  // Names of Latin-1 and of markup are also read without a semicolon, even before further letters.
  for (std::size_t n = end; n > 2; --n)
    if (const Named* const old = find_name(text.substr(1, n - 1)); old && old->code < 0x100 && old->code != '\'')
      return n;
  return 0;
}

}  // namespace tril::document
