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

if args.translator:
    api = LibreTranslateAPI(base + "/", None if args.key == "none" else args.key)
    languages = api.languages()
    check(isinstance(languages, list) and languages, f"languages: {languages}")
    source = next((l["code"] for l in languages if l.get("targets")), "auto")
    target = next((t for l in languages for t in l.get("targets", [])), "de")
    text = api.translate("A dog runs in the snow.", source, target)
    check(isinstance(text, str) and text, f"translate: {text!r}")
    try:
        check(False, f"detect: {api.detect('A dog runs.')}")
    except Exception as error:  # no language is detected, and none is made up
        check("501" in str(error) or "detected" in str(error), f"detect: {error}")
