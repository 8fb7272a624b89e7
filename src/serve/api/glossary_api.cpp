// Glossaries that clients upload, and those of the operator:
//   GET /glossaries   POST /glossaries   GET /glossaries/{id}   PATCH /glossaries/{id}   DELETE /glossaries/{id}
#include <algorithm>

#include "base/printable.h"
#include "serve/api/request_terms.h"
#include "terms/glossary_checks.h"
#include "terms/stored_glossary_json.h"

namespace tril::serve {
namespace {

struct GlossaryRequest {
  std::string name, source, target, entries;
  terms::TableFormat format = terms::TableFormat::tsv;
};

const std::vector<std::pair<std::string, terms::TableFormat>>& formats() {
  static const std::vector<std::pair<std::string, terms::TableFormat>> list{
      {"tsv", terms::TableFormat::tsv}, {"csv", terms::TableFormat::csv}, {"tbx", terms::TableFormat::tbx}};
  return list;
}

Fields fields_of(GlossaryRequest& r) {
  Fields f;
  f.add("name", &r.name, "name of the glossary; it replaces the key's glossary of this name and pair").required();
  f.add("source", &r.source, "source language, by its code in any form").required();
  f.add("target", &r.target, "target language, likewise").required();
  f.add("entries", &r.entries, "the text of a glossary file, in the format; or a list of [phrase, translation]")
      .required();
  f.add("format", &r.format, "format of the entries", formats());
  return f;
}

// What is absent or empty stays as it is.
struct GlossaryChange {
  GlossaryRequest to;
};
Fields fields_of(GlossaryChange& change) {
  GlossaryRequest& r = change.to;
  Fields f;
  f.add("name", &r.name, "new name of the glossary");
  f.add("source", &r.source, "new source language");
  f.add("target", &r.target, "new target language");
  f.add("entries", &r.entries, "the new entries in place of the old ones, in a form of POST /glossaries");
  f.add("format", &r.format, "format of the entries", formats());
  return f;
}

// The schema of a request whose entries are a text or a list.
template <class Request>
Json schema_with_entries() {
  Json schema = schema_of_request<Request>();
  schema["properties"]["entries"]["type"] = Json::array({"string", "array"});
  return schema;
}

// Takes a list of entries out of a body, whose field then is a text.
Json take_list(Json& body) {
  if (body.contains("entries") && body["entries"].is_array()) return std::exchange(body["entries"], "list");
  return nullptr;
}

Json described(const terms::StoredGlossary& one) {
  return {{"id", one.id},
          {"name", one.glossary.name},
          {"source", one.glossary.languages.source},
          {"target", one.glossary.languages.target},
          {"entries", one.glossary.entries.size()},
          {"created", one.created}};
}

// Those of the operator have no id: they cannot be removed.
Json described(const std::string& name, const terms::TermTable& table) {
  return {{"name", name}, {"languages", table.languages}, {"entries", table.concepts.size()}};
}

// [["dog", "Hund"], ...] or [["dog", "Hund", "exact"], ...]
terms::TermTable table_of_list(const Json& list) {
  terms::TermTable table{.name = "entries", .languages = {"", ""}, .concepts = {}};
  for (const Json& entry : list) {
    const bool sound = entry.is_array() && (entry.size() == 2 || entry.size() == 3) &&
                       std::all_of(entry.begin(), entry.end(), [](const Json& part) { return part.is_string(); });
    if (!sound) throw field_error("entries", "expected a text, or a list of [phrase, translation]");
    table.concepts.push_back({.line = std::ssize(table.concepts) + 1,
                              .phrases = {{0, entry[0].get<std::string>()}, {1, entry[1].get<std::string>()}}});
    if (entry.size() < 3) continue;
    table.concepts.back().match = terms::find_match(entry[2].get<std::string>());
    if (!table.concepts.back().match) throw field_error("entries", "a match is exact, case or stem");
  }
  return table;
}

// What is wrong with the entries is wrong with the request.
terms::Glossary glossary_of_request(const GlossaryRequest& r, const Json& list) {
  try {
    const terms::TermTable table =
        list.is_array() ? table_of_list(list) : terms::read_term_table(r.entries, r.format, "entries");
    terms::Glossary glossary = terms::glossary_of(table, {r.source, r.target});
    glossary.name = r.name;
    glossary.languages = {r.source, r.target};
    return glossary;
  } catch (const Error& e) {
    throw HttpError(400, e.what()).of_field("entries");
  }
}

void upload(const Service& service, const CallPtr& call, const GlossaryRequest& r, const Json& list) {
  terms::Glossary glossary = glossary_of_request(r, list);
  for (const std::string& note : glossary.notes) call->warnings.tell(note);
  const terms::StoredGlossaryPtr stored = service.glossaries().store().add(std::move(glossary), viewer_of(*call), true);
  if (!service.glossaries().store().is_lasting())
    call->warnings.tell("the glossary is lost when the server stops, because it has no directory for glossaries");
  call->send(described(*stored), 201);
}

// The glossary at /glossaries/{id}, or by its name if it is the only one of that name.
terms::StoredGlossaryPtr addressed(const Service& service, const Call& call) {
  const std::string name = call.request.path.substr(std::string_view("/glossaries/").size());
  const terms::GlossaryStore& store = service.glossaries().store();
  if (terms::StoredGlossaryPtr one = store.find(name, viewer_of(call))) return one;
  std::vector<terms::StoredGlossaryPtr> called = store.list(viewer_of(call));
  std::erase_if(called, [&](const terms::StoredGlossaryPtr& one) { return one->glossary.name != name; });
  if (called.size() > 1)
    throw HttpError(400,
                    fmt::format("{} glossaries are called \"{}\"; give the id of one", called.size(), printable(name)));
  if (!called.empty()) return called[0];
  if (service.glossaries().tables().contains(name))
    throw HttpError(403, fmt::format("\"{}\" is a glossary of the operator", printable(name)), "permission_error");
  throw HttpError(404, fmt::format("there is no glossary \"{}\"", printable(name)));
}

// Refuses a change after which two glossaries of one owner have the same name and pair.
void check_unused(const terms::GlossaryStore& store, const terms::StoredGlossary& one, const terms::Glossary& changed) {
  for (const terms::StoredGlossaryPtr& other : store.list({one.owner}))
    if (other->group_id() != one.group_id() && terms::is_same(other->glossary, changed))
      throw HttpError(409, fmt::format("there is another glossary \"{}\" for these languages; delete it, or choose "
                                       "another name",
                                       printable(changed.name)))
          .of_field("name");
}

void change(const Service& service, const CallPtr& call, const GlossaryRequest& to, const Json& list) {
  const terms::StoredGlossaryPtr one = addressed(service, *call);
  terms::GlossaryStore& store = service.glossaries().store();
  const auto edit_one = [&](terms::Glossary& glossary) {
    GlossaryRequest all = to;
    if (all.name.empty()) all.name = glossary.name;
    if (all.source.empty()) all.source = glossary.languages.source;
    if (all.target.empty()) all.target = glossary.languages.target;
    if (list.is_array() || !to.entries.empty()) {
      glossary = glossary_of_request(all, list);
      for (const std::string& note : glossary.notes) call->warnings.tell(note);
    } else {
      glossary.name = all.name;
      glossary.languages = {all.source, all.target};
    }
  };
  // Dictionaries of one glossary of DeepL's clients have different pairs and one name.
  const auto edit = [&](std::vector<terms::Glossary>& group) {
    const auto found = std::find_if(group.begin(), group.end(), [&](const terms::Glossary& glossary) {
      return terms::is_same_pair(glossary, one->glossary);
    });
    if (found == group.end()) throw HttpError(409, "the glossary has been changed by another request");
    edit_one(*found);
    for (auto other = group.begin(); other != group.end(); ++other) {
      if (other == found) continue;
      if (terms::is_same_pair(*other, *found))
        throw HttpError(409, "the glossary has another dictionary for these languages").of_field("target");
      if (!to.name.empty()) other->name = to.name;
    }
    for (const terms::Glossary& changed : group) check_unused(store, *one, changed);
  };
  for (const terms::StoredGlossaryPtr& changed : store.change_group(one->group_id(), viewer_of(*call), edit))
    if (changed->id == one->id) return call->send(described(*changed));
  throw HttpError(404, "the glossary has been removed by another request");
}

Json with_entries(const terms::StoredGlossary& one) {
  Json json = described(one);
  json["entries"] = Json::array();
  for (const terms::Entry& entry : one.glossary.entries) json["entries"].push_back(terms::entry_json(entry));
  return json;
}

}  // namespace

void Service::add_glossary_routes() {
  // Reads a body whose entries are a text or a list, and runs a function of both in the side worker.
  const auto aside_with_entries = [this](const CallPtr& call, auto work) {
    Json body = body_of(call->request);
    Json list = take_list(body);
    aside(call, [work, body = std::move(body), list = std::move(list)](search::WorkerPool&) { work(body, list); });
  };
  routes_.push_back({.method = "GET",
                     .path = "/glossaries",
                     .summary = "Lists the key's glossaries and those of the operator",
                     .request_schema = nullptr,
                     .response =
                         "a list of glossaries: id, name, source, target, the number of entries, and when it was "
                         "created; those of the operator have languages and no id",
                     .handle =
                         [this](const CallPtr& call) {
                           Json list = Json::array();
                           for (const auto& [name, table] : glossaries().tables())
                             list.push_back(described(name, table));
                           for (const terms::StoredGlossaryPtr& one : glossaries().store().list(viewer_of(*call)))
                             list.push_back(described(*one));
                           call->send(std::move(list));
                         },
                     .errors = ErrorStyle::libretranslate});

  routes_.push_back({.method = "POST",
                     .path = "/glossaries",
                     .summary = "Uploads a glossary of one language pair for the key's requests",
                     .request_schema = schema_with_entries<GlossaryRequest>(),
                     .response = "the glossary's id, name, source, target, number of entries and time of creation",
                     .handle =
                         [this, aside_with_entries](const CallPtr& call) {
                           aside_with_entries(call, [this, call](const Json& body, const Json& list) {
                             upload(*this, call, read_request<GlossaryRequest>(body, call->warnings), list);
                           });
                         },
                     .errors = ErrorStyle::libretranslate});

  routes_.push_back({.method = "GET",
                     .path = "/glossaries/{id}",
                     .summary = "A glossary with its entries, by its id, or by its name if this is unambiguous",
                     .request_schema = nullptr,
                     .response = "as in the list; entries is a list of [phrase, translation]",
                     .handle = [this](const CallPtr& call) { call->send(with_entries(*addressed(*this, *call))); },
                     .errors = ErrorStyle::libretranslate});

  routes_.push_back({.method = "PATCH",
                     .path = "/glossaries/{id}",
                     .summary = "Changes a glossary of the key, which keeps its id; administrators may change all",
                     .request_schema = schema_with_entries<GlossaryChange>(),
                     .response = "as in the list",
                     .handle =
                         [this, aside_with_entries](const CallPtr& call) {
                           aside_with_entries(call, [this, call](const Json& body, const Json& list) {
                             change(*this, call, read_request<GlossaryChange>(body, call->warnings).to, list);
                           });
                         },
                     .errors = ErrorStyle::libretranslate});

  routes_.push_back({.method = "DELETE",
                     .path = "/glossaries/{id}",
                     .summary = "Removes a glossary of the key; administrators may remove all",
                     .request_schema = nullptr,
                     .response = "the id of the glossary",
                     .handle =
                         [this](const CallPtr& call) {
                           const std::string id = addressed(*this, *call)->id;
                           if (!glossaries().store().remove(id, viewer_of(*call)))
                             throw HttpError(404, "the glossary has been removed by another request");
                           call->send({{"id", id}});
                         },
                     .errors = ErrorStyle::libretranslate});
}

}  // namespace tril::serve
