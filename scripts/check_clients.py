"""The published Python clients against a running server: `openai` and `libretranslatepy` (pip install both).

  tril serve -m de=DIR plays=DIR --port 8080 &
  python3 scripts/check_clients.py --port 8080 --translator de --writer plays

Not part of the tests, which need no Python; exits 77 where a client is not installed.
"""
import argparse
import sys

try:
    import openai
    from libretranslatepy import LibreTranslateAPI
except ImportError as missing:
    print(f"check_clients: {missing}; left out", file=sys.stderr)
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


client = openai.OpenAI(base_url=base + "/v1", api_key=args.key, max_retries=0)
names = [m.id for m in client.models.list()]
check(all(n in names for n in (args.translator, args.writer) if n), f"models.list: {names}")

if args.writer:
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
        check(text == said.choices[0].message.content, f"chat.completions: {text!r}")
    else:
        try:
            client.chat.completions.create(**chat)
            check(False, "a chat without a template is refused")
        except openai.BadRequestError as error:
            check("chat template" in error.message, "a chat without a template is refused")

if args.translator:
    api = LibreTranslateAPI(base + "/", None if args.key == "none" else args.key)
    languages = api.languages()
    check(isinstance(languages, list) and languages, f"languages: {languages}")
    source = next((l["code"] for l in languages if l.get("targets")), "auto")
    target = next((t for l in languages for t in l.get("targets", [])), "de")
    text = api.translate("A dog runs in the snow.", source, target)
    check(isinstance(text, str) and text, f"translate: {text!r}")
    try:
        found = api.detect("A dog runs.")
        check(found[0]["language"] == source, f"detect: {found}")
    except Exception as error:  # a server whose models do not say what they read
        print(f"      detect: {error}")
