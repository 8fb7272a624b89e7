"""The published Python clients against a running server: `openai`, `libretranslatepy`, `libretranslate-aio`, `deep-translator`,
`deepl`, `google-cloud-translate` and `azure-ai-translation-text<2`. Those that are not installed are left out.

  tril serve -m de=DIR plays=DIR --languages de=en:de --port 8080 --suggestions suggestions.jsonl &
  python3 scripts/check_clients.py --port 8080 --translator de --writer plays

Not part of the tests, which need no Python; exits 77 if no client is installed.
"""
import argparse
import importlib
import io
import sys
import urllib.request


def installed(name):
    try:
        return importlib.import_module(name)
    except ImportError as missing:
        print(f"check_clients: {missing}; left out", file=sys.stderr)
        return None


openai, libretranslatepy, deepl = installed("openai"), installed("libretranslatepy"), installed("deepl")
google, azure = installed("google.cloud.translate_v2"), installed("azure.ai.translation.text")
aio, deep_translator = installed("libretranslate_aio"), installed("deep_translator")
if not any((openai, libretranslatepy, aio, deep_translator, deepl, google, azure)):
    sys.exit(77)

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("--translator", help="name of a model that translates")
parser.add_argument("--writer", help="name of a language model")
parser.add_argument("--chat", action="store_true", help="the language model has a chat template")
parser.add_argument("--key", default="none")
args = parser.parse_args()
base = f"http://127.0.0.1:{args.port}"


def check(ok, what):
    print(("ok    " if ok else "WRONG ") + what)
    if not ok:
        sys.exit(1)


if openai:
    client = openai.OpenAI(base_url=base + "/v1", api_key=args.key, max_retries=0)
    names = [m.id for m in client.models.list()]
    check(all(n in names for n in (args.translator, args.writer) if n), f"models.list: {names}")

if openai and args.writer:
    ask = dict(model=args.writer, prompt="The king", max_tokens=12, temperature=0)
    whole = client.completions.create(**ask)
    check(whole.choices[0].finish_reason in ("length", "stop"), f"completions: {whole.choices[0].text!r}")
    check(whole.usage.completion_tokens <= 12, f"usage: {whole.usage.total_tokens} tokens")
    text = "".join(c.choices[0].text for c in client.completions.create(**ask, stream=True) if c.choices)
    check(text == whole.choices[0].text, "completions, stream: the same text")
    several = client.completions.create(model=args.writer, prompt=["A", "B"], n=2, max_tokens=5, seed=3)
    check([c.index for c in several.choices] == [0, 1, 2, 3], "completions: two of two prompts")
    again = client.completions.create(model=args.writer, prompt=["A", "B"], n=2, max_tokens=5, seed=3)
    check([c.text for c in several.choices] == [c.text for c in again.choices], "seed: the same again")
    scored = client.completions.create(model=args.writer, prompt="The king", max_tokens=3, logprobs=2, echo=True, temperature=0)
    tokens = scored.choices[0].logprobs
    check("".join(tokens.tokens) == scored.choices[0].text and tokens.token_logprobs[0] is None, "logprobs with echo")
    stopped = client.completions.create(**ask, stop=[whole.choices[0].text[4:6]])
    check(stopped.choices[0].text == whole.choices[0].text[:whole.choices[0].text.find(whole.choices[0].text[4:6])], "stop")
    try:
        client.completions.create(model=args.writer, prompt="A", temperature=-1)
        check(False, "a wrong temperature is refused")
    except openai.BadRequestError as error:
        check(error.param == "temperature", f"errors: {error.message}")
    try:
        client.completions.create(model="nothing", prompt="A")
        check(False, "a model that is not there is refused")
    except openai.NotFoundError:
        check(True, "a model that is not there is refused")
    chat = dict(model=args.writer, messages=[{"role": "user", "content": "Hello"}], max_tokens=8, temperature=0)
    if args.chat:
        said = client.chat.completions.create(**chat)
        parts = client.chat.completions.create(**chat, stream=True)
        text = "".join(c.choices[0].delta.content or "" for c in parts if c.choices)
        whole = said.choices[0].message.content
        check(text == whole and said.choices[0].message.role == "assistant", f"chat.completions and its stream: {text!r}")
        check(said.choices[0].finish_reason in ("length", "stop"), f"finish_reason: {said.choices[0].finish_reason}")
        check(said.usage.total_tokens == said.usage.prompt_tokens + said.usage.completion_tokens, "usage adds up")
        *_, last = client.chat.completions.create(**chat, stream=True, stream_options={"include_usage": True})
        check(last.usage.total_tokens == said.usage.total_tokens, "usage at the end of a stream")
        stop = whole[len(whole) // 2 :][:2]
        cut = client.chat.completions.create(**chat, stop=stop).choices[0]
        check(cut.message.content == whole[: whole.find(stop)] and cut.finish_reason == "stop", f"stop at {stop!r}")
        parts = client.chat.completions.create(**chat, stop=stop, stream=True)
        text = "".join(c.choices[0].delta.content or "" for c in parts if c.choices)
        check(text == whole[: whole.find(stop)], "stop in a stream")
        drawn = dict(chat, temperature=1, seed=7, n=3)
        one, two = (client.chat.completions.create(**drawn) for _ in range(2))
        check([c.message.content for c in one.choices] == [c.message.content for c in two.choices], "n and seed")
        tops = client.chat.completions.create(**chat, logprobs=True, top_logprobs=2).choices[0].logprobs.content
        check("".join(t.token for t in tops) == whole and all(len(t.top_logprobs) == 2 for t in tops), "logprobs")
        check(all(abs(t.logprob - t.top_logprobs[0].logprob) < 1e-5 for t in tops), "the likeliest is what was said")
        talk = chat["messages"] + [{"role": "assistant", "content": whole}, {"role": "user", "content": "And?"}]
        check(client.chat.completions.create(**dict(chat, messages=talk)).choices, "a second turn")
        for wrong, param in (
            (dict(messages=[]), "messages"),
            (dict(messages=[{"role": "user"}]), "messages"),
            (dict(temperature=-1), "temperature"),
            (dict(top_logprobs=3), "top_logprobs"),
            (dict(logit_bias={"5": 101}), "logit_bias"),
            (dict(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}]), "tools"),
            (dict(response_format={"type": "xml"}), "response_format"),
        ):
            try:
                client.chat.completions.create(**dict(chat, **wrong))
                check(False, f"a wrong {param} is refused")
            except openai.BadRequestError as error:
                check(error.param == param, f"errors: {error.message}")
        stream = client.chat.completions.create(**dict(chat, max_tokens=60), stream=True)
        next(iter(stream))
        stream.close()
        check(client.chat.completions.create(**chat).choices[0].message.content == whole, "who goes away is missed by nobody")
    else:
        try:
            client.chat.completions.create(**chat)
            check(False, "a chat without a template is refused")
        except openai.BadRequestError as error:
            check("chat template" in error.message, "a chat without a template is refused")

english = "We went home early because of the rain. A dog runs in the snow."

if libretranslatepy and args.translator:
    api = libretranslatepy.LibreTranslateAPI(base + "/", None if args.key == "none" else args.key)
    languages = api.languages()
    check(isinstance(languages, list) and languages, f"languages: {languages}")
    source = next((l["code"] for l in languages if l.get("targets")), "auto")
    target = next((t for l in languages for t in l.get("targets", [])), "de")
    text = api.translate("A dog runs in the snow.", source, target)
    check(isinstance(text, str) and text, f"translate: {text!r}")
    detected = api.detect(english)
    check(detected[0]["language"] == "en" and detected[0]["confidence"] > 50, f"detect: {detected}")

if aio and args.translator:
    key = None if args.key == "none" else args.key
    with aio.LibreTranslate(base, api_key=key) as api:
        check(api.health(), "libretranslate_aio: health")
        pair = next(l for l in api.languages() if l.targets and l.code == "en")
        target = pair.targets[0]
        settings = api.frontend_settings()
        check(".md" in settings.supported_files_format and settings.api_keys == bool(key), f"frontend_settings: {settings.char_limit}")
        one = api.translate(english, "en", target, alternatives=2)
        check(isinstance(one.translated_text, str) and isinstance(one.alternatives, list), f"translate: {one.translated_text!r}")
        several = api.translate([english, "A ball."], "auto", target)
        check(several.translated_text[0] == one.translated_text and several.detected_language[0].language == "en",
              f"translate: a list, {several.detected_language}")
        html = api.translate("<p>A <b>dog</b></p>", "en", target, format="html").translated_text
        check(html.startswith("<p>") and "<b>" in html, f"translate: {html!r}")
        file = io.BytesIO(f"# {english}\n\n- A ball.\n".encode())
        file.name = "notes.md"
        url = api.translate_file(file, "auto", target).translated_file_url
        with urllib.request.urlopen(url + (f"?api_key={key}" if key else "")) as got:
            text = got.read().decode()
            check(text == f"# {one.translated_text}\n\n- {several.translated_text[1]}\n", f"translate_file: {text!r}")
            check(f"notes.{target}.md" in got.headers["Content-Disposition"], "download_file: its name")
        if settings.suggestions:
            check(api.suggest(english, "Ein Hund.", "en", target), "suggest")
        else:
            try:
                api.suggest(english, "Ein Hund.", "en", target)
                check(False, "suggest: is refused")
            except aio.exceptions.ForbiddenError as error:
                check("disabled" in str(error), f"suggest: {error}")
        for wrong, what in ((dict(q="A", source="en", target="zz"), "zz"), (dict(q="", source="en", target=target), "q")):
            try:
                empty = api.translate(**wrong)
                check(what == "q" and empty.translated_text == "", "translate: an empty text" if what == "q" else f"a wrong {what} is refused")
            except aio.exceptions.BadRequestError as error:
                check(what in str(error), f"errors: {error}")
        file = io.BytesIO(b"x")
        file.name = "notes.exe"
        try:
            api.translate_file(file, "en", target)
            check(False, "an unknown format is refused")
        except aio.exceptions.BadRequestError as error:
            check("file format not supported" in str(error), f"errors: {error}")
    if key:
        try:
            aio.LibreTranslate(base, api_key="wrong").translate("A", "en", target)
            check(False, "a wrong key is refused")
        except aio.exceptions.ForbiddenError as error:
            check(str(error).startswith("Invalid API key"), f"errors: {error}")

if deep_translator and args.translator:
    target = next(t for l in languages for t in l["targets"]) if libretranslatepy else "de"
    api = deep_translator.LibreTranslator("en", target, api_key=args.key, custom_url=base + "/")
    check(api.translate(english) and len(api.translate_batch([english, "A ball."])) == 2, f"deep_translator: {api.translate(english)!r}")

if deepl and args.translator:
    api = deepl.DeepLClient(args.key, server_url=base)
    deepl.http_client.max_network_retries = 0
    source = api.get_source_languages()[0].code
    targets = api.get_target_languages()
    target = next(t.code for t in targets if not t.code.startswith(source))
    check(all(isinstance(t.supports_formality, bool) for t in targets), f"languages: {source} to {[t.code for t in targets]}")
    before = api.get_usage().character.count
    one = api.translate_text(english, source_lang=source.lower(), target_lang=target.lower())
    check(one.detected_source_lang == source and one.billed_characters == len(english), f"translate_text: {one.text!r}")
    check(api.get_usage().character.count == before + len(english), "usage: counted")
    list_of = api.translate_text((t for t in [english, "", "A ball."]), source_lang=source, target_lang=target)
    check([t.text for t in list_of][:2] == [one.text, ""] and len(list_of) == 3, "translate_text: a list in its order")
    for model_type in deepl.ModelType:
        used = api.translate_text("A ball.", source_lang=source, target_lang=target, model_type=model_type)
        check(used.model_type_used is not None, f"model_type_used: {used.model_type_used}")
    for how in deepl.SplitSentences:
        api.translate_text("A dog runs.\nIt is old.", source_lang=source, target_lang=target, split_sentences=how)
    page = "<d><par>A <b>dog</b> runs.</par><raw>stay</raw></d>"
    kept = api.translate_text(page, source_lang=source, target_lang=target, tag_handling="xml", ignore_tags=["raw"],
                              splitting_tags="par", non_splitting_tags=["b"], outline_detection=False)
    check(kept.text.startswith("<d><par>") and kept.text.endswith("</par><raw>stay</raw></d>") and "<b>" in kept.text,
          f"tag_handling: {kept.text!r}")
    api.translate_text(english, source_lang=source, target_lang=target, preserve_formatting=True, context="Animals.",
                       formality=deepl.Formality.PREFER_MORE)
    for wrong, what in ((dict(target_lang="XX"), "target_lang"), (dict(source_lang="XX", target_lang=target), "source_lang"),
                        (dict(target_lang=target, source_lang=source, formality="invalid"), "formality"),
                        (dict(target_lang=target, source_lang=source, split_sentences="invalid"), "split_sentences"),
                        (dict(target_lang=target, source_lang=source, glossary="no-such-glossary"), "glossary")):
        try:
            api.translate_text("A ball.", **wrong)
            check(False, f"a wrong {what} is refused")
        except deepl.DeepLException as error:
            check(what in str(error), f"errors: {error}")
    pairs = [(p.source_lang, p.target_lang) for p in api.get_glossary_languages()]
    base_target = target.split("-")[0]
    check((source.lower(), base_target.lower()) in pairs, f"get_glossary_languages: {pairs}")
    entries = {"dog": "ball", "men": "snow"}
    made = api.create_glossary("pets", source, target, entries)
    check(made.ready and made.entry_count == 2 and (made.source_lang, made.target_lang) == (source, base_target),
          f"create_glossary: {made} of {made.creation_time}")
    check(api.get_glossary(made.glossary_id).name == "pets" and api.get_glossary_entries(made) == entries, "get_glossary_entries")
    csv = api.create_glossary_from_csv("csv", source, target, f'"a ""dog""",ball,{source},{base_target}\n')
    check(api.get_glossary_entries(csv) == {'a "dog"': "ball"}, "create_glossary_from_csv")
    check({g.glossary_id for g in api.list_glossaries()} >= {made.glossary_id, csv.glossary_id}, "list_glossaries")
    with_terms = api.translate_text_with_glossary("A dog runs.", made, target_lang=target).text
    check("ball" in with_terms, f"translate_text_with_glossary: {with_terms!r}")
    also = api.translate_text("A dog runs.", source_lang=source, target_lang=target, glossary_ids=[csv, made]).text
    check("ball" in also, f"glossary_ids: {also!r}")
    paper = io.BytesIO()
    api.translate_document(b"A dog runs.", paper, source_lang=source, target_lang=target, filename="a.txt", glossary=made)
    check("ball" in paper.getvalue().decode(), f"translate_document, glossary: {paper.getvalue().decode()!r}")
    api.delete_glossary(csv)
    api.delete_glossary(made)
    for ask in (api.get_glossary, api.get_multilingual_glossary, api.delete_glossary):
        try:
            ask(made.glossary_id)
            check(False, "a deleted glossary is refused")
        except deepl.GlossaryNotFoundException as error:
            check("404" in str(error) or "not found" in str(error), f"errors: {error}")

    def dictionary(into, entries):
        return deepl.api_data.MultilingualGlossaryDictionaryEntries(source, into, entries)

    other = next(code for code in ("FR", "ES") if code not in (source, base_target))
    both = api.create_multilingual_glossary("pets", [dictionary(target, {"dog": "ball"}), dictionary(other, {"dog": "x"})])

    def counts(glossary):
        return {d.target_lang: d.entry_count for d in glossary.dictionaries}

    check(counts(both) == {base_target: 1, other: 1}, f"create_multilingual_glossary: {both}")
    check(any(g.glossary_id == both.glossary_id for g in api.list_multilingual_glossaries()), "list_multilingual_glossaries")
    text = api.translate_text("A dog runs.", source_lang=source, target_lang=target, glossary=both).text
    check("ball" in text, f"translate_text, a multilingual glossary: {text!r}")
    check(api.update_multilingual_glossary_name(both, "animals").name == "animals", "update_multilingual_glossary_name")
    more = api.update_multilingual_glossary_dictionary(both, dictionary(target, {"men": "snow"}))
    check(counts(more)[base_target] == 2, "update_multilingual_glossary_dictionary")
    more = api.update_multilingual_glossary_dictionary_from_csv(both, source, target, "king,snow\n")
    check(counts(more)[base_target] == 3, "update_multilingual_glossary_dictionary_from_csv")
    less = api.replace_multilingual_glossary_dictionary(both, dictionary(target, {"king": "snow"}))
    check(less.entry_count == 1, "replace_multilingual_glossary_dictionary")
    got = api.get_multilingual_glossary_entries(both, source, target).dictionaries[0].entries
    check(got in ("king\tsnow", {"king": "snow"}), f"get_multilingual_glossary_entries: {got!r}")
    api.delete_multilingual_glossary_dictionary(both, source_lang=source, target_lang=base_target)
    check(len(api.get_multilingual_glossary(both.glossary_id).dictionaries) == 1, "delete_multilingual_glossary_dictionary")
    api.delete_multilingual_glossary(both)
    check(all(g.glossary_id != both.glossary_id for g in api.list_multilingual_glossaries()), "delete_multilingual_glossary")
    if args.key != "none":
        try:
            deepl.DeepLClient("wrong", server_url=base).get_usage()
            check(False, "a wrong key is refused")
        except deepl.AuthorizationException as error:
            check(True, f"errors: {error}")
    translated = io.BytesIO()
    status = api.translate_document(english.encode(), translated, source_lang=source, target_lang=target,
                                    filename="notes.txt")
    check(status.done and translated.getvalue().decode() == one.text, f"translate_document: {status.billed_characters} characters")
    try:
        api.translate_document(b"x", io.BytesIO(), target_lang=target, filename="notes.exe")
        check(False, "an unknown format is refused")
    except deepl.DeepLException as error:
        check("format" in str(error), f"errors: {error}")

if google and args.translator:
    from google.auth.credentials import AnonymousCredentials
    from google.cloud.exceptions import GoogleCloudError

    api = google.Client(credentials=AnonymousCredentials(), client_options={"api_endpoint": base})
    if args.key != "none":
        api._connection.extra_headers = {}
        api._http.headers["X-Goog-Api-Key"] = args.key
    codes = [l["language"] for l in api.get_languages(target_language="de")]
    check("en" in codes, f"google: languages {codes}")
    target = next(c for c in codes if c != "en")
    several = api.translate([english, "A <b>dog</b> & men"], target_language=target, source_language="en")
    check(len(several) == 2 and "<b>" in several[1]["translatedText"], f"google: {several[0]['translatedText']!r}")
    plain = api.translate(english, target_language=target, format_="text", model="nmt")
    check(plain["detectedSourceLanguage"] == "en" and plain["model"] == "nmt", "google: detectedSourceLanguage, model")
    check(api.detect_language(english)["language"] == "en", "google: detect")
    try:
        api.translate("A ball.", target_language="xx")
        check(False, "google: a wrong target is refused")
    except GoogleCloudError as error:
        check(error.code == 400, f"google: {error.message}")

if azure and args.translator:
    from azure.core.credentials import AzureKeyCredential
    from azure.core.exceptions import HttpResponseError

    api = azure.TextTranslationClient(endpoint=base, credential=AzureKeyCredential(args.key))
    languages = api.get_supported_languages().translation
    check("en" in languages and languages["en"].dir == "ltr", f"azure: languages {list(languages)}")
    target = next(c for c in languages if c != "en")
    got = api.translate(body=[english, "A ball."], to_language=[target, target], from_language="en")
    check([t.to for t in got[0].translations] == [target, target], f"azure: {got[1].translations[0].text!r}")
    got = api.translate(body=[english], to_language=[target])
    check(got[0].detected_language.language == "en", "azure: detected_language")
    broken = api.find_sentence_boundaries(body=["How are you? I am fine. What did you do today?"], language="en")
    check(broken[0].sent_len == [13, 11, 22], f"azure: sentences {broken[0].sent_len}")
    try:
        api.translate(body=["A ball."], to_language=["xx"])
        check(False, "azure: a wrong target is refused")
    except HttpResponseError as error:
        check(error.error.code in (400036, "400036"), f"azure: {error.error.message}")
