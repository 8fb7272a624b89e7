// The vocabulary shortlist of `tril translate --shortlist`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/steps/shortlist.h"
#include "tokenizer/files/tokenizer.h"

namespace tril::cli {

/// Reads a shortlist. @param option  FILE [FIRST [BEST [P]]]; empty: none
/// @return  null if there is none. @throws Error(usage) for wrong values
std::shared_ptr<const search::Shortlist> shortlist_of(const std::vector<std::string>& option,
                                                      const Tokenizer& tokenizer, const search::SearchPlan& s);

}  // namespace tril::cli
