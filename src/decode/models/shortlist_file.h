// Vocabulary shortlists in files: those that an option names, and those that publishers put beside their models.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode/steps/shortlist.h"
#include "model_io/source/model_source.h"
#include "tokenizer/files/tokenizer.h"

namespace tril {

/// Reads a shortlist.
/// @param values  of --shortlist: FILE [FIRST [BEST [P]]]; the numbers are for tables, a binary file has its own
/// @throws Error(usage) for wrong values, Error for a damaged file
std::shared_ptr<const search::Shortlist> read_shortlist(const std::vector<std::string>& values,
                                                        const Tokenizer& tokenizer, const search::SearchPlan& plan);

/// The binary shortlist (lex.*.bin, as of Bergamot and Firefox) in a directory that is opened as a Marian model, for which the
/// publisher has made it; "" if there is none, or more than one.
std::string published_shortlist(const model::ModelSource& source);

/// The shortlist of a model: that of the option; null with "none"; or if the option is empty, the published one, unless the plan has
/// a constraint. A published one that is damaged or of another model is left out with a warning.
/// @param allowed  false: something that the plan does not show rules a published shortlist out
std::shared_ptr<const search::Shortlist> shortlist_of(const std::vector<std::string>& option,
                                                      const model::ModelSource& source, const Tokenizer& tokenizer,
                                                      const search::SearchPlan& plan, bool allowed);

}  // namespace tril
