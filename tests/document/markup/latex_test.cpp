// LaTeX: what is text, what stays, and that braces stay balanced.
#include "document/markup/latex.h"

#include <gtest/gtest.h>

#include "support/document_text.h"
#include "support/linear_time.h"
#include "support/rounds.h"

namespace tril::document::latex_test {
namespace {

std::string capitals(const std::string& bytes) {
  return capitals_of(*read_latex(bytes));
}
std::vector<std::string> texts(const std::string& bytes) {
  return texts_of(*read_latex(bytes));
}
using Texts = std::vector<std::string>;

TEST(Latex, OnlyTheBodyIsTranslated) {
  const std::string head = "\\documentclass[a4paper]{article}\n\\title{Kept}\n\\newcommand{\\x}[1]{kept #1}\n";
  EXPECT_EQ(capitals(head + "\\begin{document}\n\\maketitle\n\\section*{A dog}\\label{sec:dog}\nIt runs.\n% kept\n"
                            "\\begin{equation}\nx = y\n\\end{equation}\n\\begin{verbatim}\nkept {\n\\end{verbatim}\n"
                            "\\begin{itemize}\n  \\item One\n  \\item[x] Two\n\\end{itemize}\n\\end{document}\nkept\n"),
            head +
                "\\begin{document}\n\\maketitle\n\\section*{A DOG}\\label{sec:dog}\nIT RUNS.\n% kept\n"
                "\\begin{equation}\nx = y\n\\end{equation}\n\\begin{verbatim}\nkept {\n\\end{verbatim}\n"
                "\\begin{itemize}\n  \\item ONE\n  \\item[x] TWO\n\\end{itemize}\n\\end{document}\nkept\n");
  EXPECT_EQ(texts(head), Texts{});
  EXPECT_EQ(texts("one\n two\n\nthree"), (Texts{"one\ntwo", "three"})) << "a part of a document";
}

TEST(Latex, CommandsAreMarks) {
  EXPECT_EQ(capitals("a \\emph{big \\textbf{red}} ball, see~\\ref{fig:a} \\cite[p.~3]{knuth} and $x_1$ or \\(y\\)."),
            "A \\emph{BIG \\textbf{RED}} BALL, SEE~\\ref{fig:a} \\cite[p.~3]{knuth} AND $x_1$ OR \\(y\\).");
  EXPECT_EQ(
      capitals(
          "the {\\bf big} dog \\verb|x_1| \\unknown[a]{kept} is \\today\\ or \\foo here \\href{http://x.y/%7e}{this}"),
      "THE {\\bf BIG} DOG \\verb|x_1| \\unknown[a]{kept} IS \\today\\ OR \\foo HERE \\href{http://x.y/%7e}{THIS}");
  EXPECT_EQ(texts("a dog.\\footnote{Or \\emph{two}.} It\\\\ runs"), (Texts{"a dog.", "Or two.", "It", "runs"}));
  EXPECT_EQ(texts("\\begin{tabular}{l|r}a & b \\\\ \\hline \\multicolumn{2}{c}{c d}\\end{tabular}"),
            (Texts{"a", "b", "c d"}));
  EXPECT_EQ(capitals("one % note\n two"), "ONE % note\n TWO");
}

TEST(Latex, EnvironmentsThatHaveNoName) {
  for (const std::string name : {"", " ", " document", "figure table"})
    EXPECT_EQ(capitals("a dog \\begin{" + name + "}kept\\end{" + name + "} runs"),
              "A DOG \\begin{" + name + "}kept\\end{" + name + "} RUNS")
        << name;
}

TEST(Latex, TextInBracesIsNoArgument) {
  EXPECT_EQ(
      texts("\\begin{frame}<1->[fragile]{A title}{Below it}\nOne.\n\\begin{block}{Note}Two.\\end{block}\\end{frame}"),
      (Texts{"A title", "Below it", "One.", "Note", "Two."}));
  EXPECT_EQ(texts("\\begin{center}{\\Large Hello} you\\end{center}"), Texts{"Hello you"});
  EXPECT_EQ(texts("\\begin{wrapfigure}[3]{r}{5cm}{\\it One}\\end{wrapfigure}"), Texts{"One"});
  EXPECT_EQ(texts("\\begin{minipage}[t]{5cm}{\\it One}\\end{minipage}"), Texts{"One"});
  EXPECT_EQ(capitals("\\noindent {\\bf Note} that"), "\\noindent {\\bf NOTE} THAT");
  EXPECT_EQ(capitals("see \\hyperref[sec:a]{this section} or \\hyperref{u}{c}{n}{that}"),
            "SEE \\hyperref[sec:a]{THIS SECTION} OR \\hyperref{u}{c}{n}{that}");
}

TEST(Latex, LabelsOfItemsAreTexts) {
  EXPECT_EQ(capitals("\\item[A \\emph{dog}:] It runs.\n\\item[{a [b]}] two\n\\item[a)] three\n\\item[--] four"),
            "\\item[A \\emph{DOG}:] IT RUNS.\n\\item[{A [B{]}}] TWO\n\\item[a)] THREE\n\\item[--] FOUR");
  EXPECT_EQ(texts("\\item[The dog] It runs [fast]."), (Texts{"The dog", "It runs [fast]."}));
  EXPECT_EQ(read_latex("\\item[dog] x")->write(std::vector<Segment>{{"a [b] c", {}, {}}, {"[y]", {}, {}}}),
            "\\item[a [b{]} c] {[}y]");
  EXPECT_EQ(texts("\\item[dog"), Texts{"[dog"}) << "without an end";
}

TEST(Latex, ATranslationBeginsNoArgument) {
  for (const std::string before : {"\\item ", "\\\\\n", "\\today "})
    for (const auto& [text, written] : {std::pair{"[a] b", "{[}a] b"}, {"*a", "{*}a"}, {"a [b] *", "a [b] *"}})
      EXPECT_EQ(read_latex(before + "dog")->write(std::vector<Segment>{{text, {}, {}}}), before + written);
}

TEST(Latex, CharactersAreReadAndWritten) {
  EXPECT_EQ(texts("50\\,\\% of ``it'' --- na\\\"{\\i}ve \\c{c}a \\'etude stra\\ss e B\\&B~x\\_y\\dots"),
            Texts{"50\u202f% of \u201cit\u201d \u2014 na\u00efve \u00e7a \u00e9tude stra\u00dfe B&B\u00a0x_y\u2026"});
  const auto document = read_latex("a ``dog''");
  EXPECT_EQ(document->write(std::vector<Segment>{{"\u201c5 % & $_#{}~^\\\u201d\u00a0x", {}, {}}}),
            "``5 \\% \\& \\$\\_\\#\\{\\}\\textasciitilde{}\\textasciicircum{}\\textbackslash{}''~x");
}

TEST(Latex, RandomFilesStayThemselvesWithBalancedBraces) {
  const std::vector<std::string> parts{"\\emph{",
                                       "}",
                                       "{",
                                       "\\section{",
                                       "\\item ",
                                       "\\item[to do",
                                       "\\foo ",
                                       "\\foo{x}",
                                       "$",
                                       "\\(",
                                       "\\)",
                                       "%",
                                       "\n",
                                       "\n\n",
                                       "&",
                                       "\\\\",
                                       "~",
                                       "``",
                                       "''",
                                       "--",
                                       "dog ",
                                       "runs. ",
                                       "\\'e",
                                       "\\begin{itemize}",
                                       "\\end{itemize}",
                                       "\\begin{align}",
                                       "\\end{align}",
                                       "[",
                                       "]",
                                       "\\verb|x|",
                                       "\\cite{a}",
                                       "\\footnote{",
                                       "\\begin{document}",
                                       "\\",
                                       "{\\bf ",
                                       "\\c"};
  const auto depth = [](const std::string& text) {
    int open = 0;
    for (const char c : text) open += c == '{' ? 1 : c == '}' ? -1 : 0;
    return open;
  };
  test::rounds(20'000, [&](RandomSequence& random) {
    std::string text;
    for (std::uint64_t n = random.below(16); n > 0; --n) text += parts[random.below(parts.size())];
    const auto document = read_latex(text);
    ASSERT_EQ(document->write(document->segments()), text);
    EXPECT_EQ(depth(capitals_of(*document)), depth(text)) << text;
  });
}

TEST(Latex, HostileInputTakesLinearTime) {
  for (const std::string part :
       {"{", "\\emph{", "\\foo[", "$x", "\\begin{a}", "\\(", "%", "\\verb|", "}", "\\item[", "\\item[ab"}) {
    SCOPED_TRACE(part);
    test::expect_linear_time(
        500, [&](std::size_t n) { return test::repeated(part, n); }, [](const std::string& text) { read_latex(text); });
  }
}

}  // namespace
}  // namespace tril::document::latex_test
