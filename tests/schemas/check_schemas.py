#!/usr/bin/env python3
"""Holds what tril writes under JSON schemas against the reference validator, the Python package `jsonschema`.

    ninja -C build sample_schemas
    python3 tests/schemas/check_schemas.py suite DIR     JSON-Schema-Test-Suite's tests/
    python3 tests/schemas/check_schemas.py corpus DIR... every *.json below, each a schema
    python3 tests/schemas/check_schemas.py random N      random schemas of siblings, allOf, $ref, not, oneOf, ...

--program PATH is sample_schemas (build/tests/sample_schemas), --samples N texts are drawn for each schema. Every text must be JSON
and valid. Of a suite, no text that it calls invalid may be what tril writes. What is refused is counted by its reason. The exit
code is 1 where a text is invalid. It needs `pip install jsonschema` (4.26 was used) and is no part of `make test`.
"""
import argparse
import collections
import json
import os
import random
import re
import signal
import subprocess
import sys
import warnings

warnings.simplefilter("ignore", DeprecationWarning)
import jsonschema
from jsonschema import validators

DRAFTS = {
    "draft4": ("http://json-schema.org/draft-04/schema#", validators.Draft4Validator),
    "draft6": ("http://json-schema.org/draft-06/schema#", validators.Draft6Validator),
    "draft7": ("http://json-schema.org/draft-07/schema#", validators.Draft7Validator),
    "draft2019-09": ("https://json-schema.org/draft/2019-09/schema", validators.Draft201909Validator),
    "draft2020-12": ("https://json-schema.org/draft/2020-12/schema", validators.Draft202012Validator),
}


class Slow(Exception):
    pass


def within(seconds, act):
    """What act() gives; Slow where it takes longer."""

    def stop(*_):
        raise Slow()

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return act()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


class Tril:
    """The program, started anew where a schema ends it."""

    def __init__(self, path):
        self.path, self.process = path, None

    def ask(self, schema, samples, texts=(), seed=1):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        question = {"schema": json.dumps(schema), "samples": samples, "seed": seed, "texts": list(texts)}
        try:
            self.process.stdin.write(json.dumps(question) + "\n")
            self.process.stdin.flush()
            return json.loads(within(120, self.process.stdout.readline) or '{"error": "the program ended", "seconds": 0}')
        except Slow:
            self.process.kill()
            self.process.wait()
            self.process = None
            return {"error": "takes more than 120 s", "seconds": 120}


class Count:
    def __init__(self):
        self.schemas = self.compiled = self.texts = self.unchecked = 0
        self.invalid, self.reasons, self.folders = [], collections.Counter(), collections.defaultdict(lambda: [0, 0])
        self.slowest, self.peak, self.most_states = (0, ""), 0, (0, "")

    def add(self, name, folder, answer):
        self.schemas += 1
        self.folders[folder][1] += 1
        self.slowest = max(self.slowest, (answer.get("seconds", 0), name))
        self.peak = max(self.peak, answer.get("peak_kib", 0))
        if "error" in answer:
            reason = re.sub(r'"[^"]*"', '"..."', answer["error"].split(": ", 2)[-1])
            self.reasons[re.sub(r"[0-9.e+]{2,}", "N", reason)[:110]] += 1
            return False
        self.compiled += 1
        self.folders[folder][0] += 1
        self.most_states = max(self.most_states, (answer["states"], name))
        return True

    def report(self):
        share = 100 * self.compiled / max(1, self.schemas)
        print(f"{self.schemas} schemas, {self.compiled} compile ({share:.1f}%)")
        if len(self.folders) > 1:
            for folder, (good, all_) in sorted(self.folders.items()):
                print(f"  {good:6} of {all_:6}  {folder}")
        print(f"{self.texts} texts, {len(self.invalid)} invalid, {self.unchecked} that the validator could not judge")
        print(f"slowest {self.slowest[0]:.2f} s ({self.slowest[1]}), most states {self.most_states[0]} "
              f"({self.most_states[1]}), peak {self.peak / 1024:.0f} MiB")
        for reason, n in self.reasons.most_common(40):
            print(f"  {n:6}  {reason}")
        for one in self.invalid[:20]:
            print("INVALID", json.dumps(one)[:600])
        return 1 if self.invalid else 0


def fault_of(validator, text):
    """None where the text is valid; what is wrong; or "?" where the validator cannot tell."""

    def pairs(items):
        if len({key for key, _ in items}) < len(items):
            repeated.append(1)
        return dict(items)

    repeated = []
    try:
        value = json.loads(text, object_pairs_hook=pairs)
    except ValueError as error:
        return f"no JSON: {error}"
    try:
        error = within(20, lambda: next(iter(validator.iter_errors(value)), None))
    except Exception:  # an expression that Python's re lacks, a reference that lies elsewhere
        return "?"
    return None if error is None else f"{list(error.absolute_path)}: {error.message[:200]} ({error.validator})"


def judge(count, name, validator, answer):
    for text in answer["samples"]:
        count.texts += 1
        fault = fault_of(validator, text)
        if fault == "?":
            count.unchecked += 1
        elif fault:
            count.invalid.append({"schema": name, "text": text[:300], "fault": fault})


def validator_of(schema, default=validators.Draft202012Validator):
    cls = validators.validator_for(schema, default=default)
    return cls(schema, format_checker=cls.FORMAT_CHECKER)


def suite(tril, count, folder, samples):
    """The suite's schemas, with the draft that their folder names."""
    for draft, (url, cls) in DRAFTS.items():
        for path, _, files in os.walk(os.path.join(folder, draft)):
            for file in sorted(files):
                if not file.endswith(".json"):
                    continue
                for group in json.load(open(os.path.join(path, file))):
                    schema = group["schema"]
                    if isinstance(schema, dict) and "$schema" not in schema:
                        schema = {"$schema": url, **schema}
                    if "optional" in path and "format" not in path:
                        continue
                    # As tril lays JSON out without blanks.
                    texts = [json.dumps(t["data"], separators=(",", ":"), ensure_ascii=False) for t in group["tests"]]
                    answer = tril.ask(schema, samples, texts)
                    name = f"{draft}/{file}: {group['description']}"
                    if not count.add(name, draft, answer):
                        if "no text" in answer["error"] and any(t["valid"] for t in group["tests"]):
                            print("EMPTY", name, answer["error"][:150])
                        continue
                    for test, text, accepted in zip(group["tests"], texts, answer["accepted"]):
                        if accepted and not test["valid"]:
                            count.invalid.append({"schema": name, "text": text, "fault": "accepted: " + test["description"]})
                    judge(count, name, cls(schema, format_checker=cls.FORMAT_CHECKER), answer)


def corpus(tril, count, folders, samples, every):
    """Schemas of files; `every` n-th."""
    files = []
    for folder in folders:
        for path, _, names in os.walk(folder):
            files += [os.path.join(path, n) for n in names if n.endswith(".json")]
    for number, file in enumerate(sorted(files)[::every]):
        try:
            schema = json.load(open(file))
            validator = validator_of(schema)
        except Exception:
            continue
        answer = tril.ask(schema, samples, seed=number + 1)
        if count.add(file, os.path.basename(os.path.dirname(file)), answer):
            judge(count, file, validator, answer)


class Random:
    """Schemas whose words meet: siblings, allOf, anyOf, $ref, not, oneOf, if, over few names and values."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def schema(self, depth=0):
        r = self.r
        if depth >= 3 or r.random() < 0.08:
            return r.choice([True, {}, {"const": r.choice([1, 3, "a", "b", None, [3], {"a": 1}])}, {"type": "integer"},
                             {"type": "string"}, {"minimum": r.randint(-2, 5)}, {"type": "null"}, {"enum": [1, 2, "a", "ab"]},
                             False if r.random() < 0.3 else {"type": "boolean"}])
        out = {}
        makers = [self.numbers, self.strings, self.arrays, self.objects, self.arrays, self.objects, self.combined, self.combined]
        for make in r.sample(makers, r.choice([1, 1, 2, 3])):
            make(out, depth)
        if r.random() < 0.4:
            kind = ["object", "array", "string", "integer", "number", "boolean", "null"]
            out["type"] = r.choice(kind) if r.random() < 0.7 else r.sample(kind, 2)
        if r.random() < 0.08:
            out["enum"] = r.sample([1, 2, 3, 5.5, "a", "ab", "b", "xyz", None, True, [], [1], [3, 3], {}, {"a": 1}, {"b": "b"}], 5)
        return out

    def numbers(self, out, _):
        r = self.r
        for word in r.sample(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"], r.choice([1, 2])):
            out[word] = r.choice([2, 3, 5]) if word == "multipleOf" else r.randint(-5, 5) + (10 if "max" in word.lower() else 0)

    def strings(self, out, _):
        r = self.r
        for word in r.sample(["minLength", "maxLength", "pattern"], r.choice([1, 2])):
            out[word] = r.choice(["^a", "b$", "^[a-c]*$", "a|b", "^.{2,3}$"]) if word == "pattern" else \
                r.randint(0, 2) + (2 if word == "maxLength" else 0)

    def arrays(self, out, depth):
        r = self.r
        for word in r.sample(["items", "prefixItems", "minItems", "maxItems", "contains", "uniqueItems", "unevaluatedItems"],
                             r.choice([1, 2, 3])):
            if word == "prefixItems":
                out[word] = [self.schema(depth + 1) for _ in range(r.choice([1, 2]))]
            elif word in ("items", "contains", "unevaluatedItems"):
                out[word] = False if word != "contains" and r.random() < 0.3 else self.schema(depth + 1)
                if word == "contains" and r.random() < 0.5:
                    out[r.choice(["minContains", "maxContains"])] = r.choice([0, 1, 2])
            elif word == "uniqueItems":
                out[word] = True
            else:
                out[word] = r.randint(0, 2) + (1 if word == "maxItems" else 0)

    def objects(self, out, depth):
        r = self.r
        words = ["properties", "properties", "required", "additionalProperties", "patternProperties", "propertyNames",
                 "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"]
        for word in dict.fromkeys(r.sample(words, r.choice([1, 2, 3]))):
            names = r.sample(["a", "b", "ab", "c"], r.choice([1, 2]))
            if word == "properties":
                out[word] = {n: self.schema(depth + 1) for n in names}
            elif word == "required":
                out[word] = names
            elif word == "patternProperties":
                out[word] = {r.choice(["^a", "b$", "^[a-c]$", "a"]): self.schema(depth + 1) for _ in range(r.choice([1, 2]))}
            elif word == "propertyNames":
                out[word] = r.choice([{"pattern": "^a"}, {"maxLength": 1}, {"enum": ["a", "b"]}, {"enum": ["b", "c"], "pattern": "^b"},
                                      {"not": {"const": "a"}}, {"minLength": 2}])
            elif word in ("minProperties", "maxProperties"):
                out[word] = r.randint(0, 2) + (1 if word[1] == "a" else 0)
            elif word == "dependentRequired":
                out[word] = {names[0]: [r.choice(["a", "b", "c"])]}
            elif word == "dependentSchemas":
                out[word] = {names[0]: self.schema(depth + 1)}
            else:
                out[word] = False if r.random() < 0.4 else self.schema(depth + 1)

    def combined(self, out, depth):
        r = self.r
        for word in r.sample(["allOf", "allOf", "anyOf", "oneOf", "not", "if", "$ref"], r.choice([1, 2])):
            if word == "$ref":
                out[word] = r.choice(["#/$defs/x", "#/$defs/y"])
            elif word == "not":
                out[word] = self.schema(depth + 2)
            elif word == "if":
                out[word] = self.schema(depth + 2)
                for branch in r.sample(["then", "else"], r.choice([1, 2])):
                    out[branch] = self.schema(depth + 1)
            else:
                out[word] = [self.schema(depth + 1) for _ in range(r.choice([1, 2, 3]))]

    def root(self):
        out = self.schema()
        if not isinstance(out, dict):
            out = {"allOf": [out]}
        out["$defs"] = {"x": self.schema(1), "y": self.schema(2)}
        try:  # a definition that refers to itself in place has no meaning
            for name in ("x", "y"):
                text = json.dumps(out["$defs"][name])
                if "$ref" in text:
                    out["$defs"][name] = {"type": "object", "properties": {"a": {"type": "string"}}}
        except ValueError:
            pass
        return out


# Values among which one is looked for that is valid, where tril says that no text is.
SCALARS = [None, True, False, 0, 1, 2, 3, 4, 5, 6, 7, 10, 30, -1, -5, 2.5, 5.5, "", "a", "b", "ab", "ba", "abc", "bb", "aaab", "c", "xyz"]
VALUES = SCALARS + [[]] + [[x] for x in SCALARS] + [[x, y] for x in (1, 3, "a", None) for y in (1, 2, 3, "ab", {})] + [{}] + \
    [{n: x} for n in ("a", "b", "ab", "c", "d") for x in SCALARS] + [{"a": x, "b": y} for x in (1, 3, "a", None) for y in (1, 2, "ab", {})]


def random_schemas(tril, count, number, samples, first):
    empty = 0
    for seed in range(first, first + number):
        schema = Random(seed).root()
        answer = tril.ask(schema, samples, seed=seed)
        validator = validator_of(schema)
        if count.add(f"seed {seed}", "random", answer):
            judge(count, f"seed {seed}: {json.dumps(schema)}", validator, answer)
        elif "no text" in answer["error"]:
            found = next((v for v in VALUES if validator.is_valid(v)), VALUES)
            if found is not VALUES:
                empty += 1
                if empty <= 10:
                    print("EMPTY", f"seed {seed}:", json.dumps(schema)[:500], "allows", json.dumps(found))
    print(f"{empty} refused as empty that allow some small value")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["suite", "corpus", "random"])
    parser.add_argument("of", nargs="+")
    parser.add_argument("--program", default="build/tests/sample_schemas")
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--every", type=int, default=1, help="only every n-th file of a corpus")
    parser.add_argument("--first", type=int, default=0, help="the first seed of random schemas")
    o = parser.parse_args()
    tril, count = Tril(o.program), Count()
    try:
        if o.what == "suite":
            suite(tril, count, o.of[0], o.samples)
        elif o.what == "corpus":
            corpus(tril, count, o.of, o.samples, o.every)
        else:
            random_schemas(tril, count, int(o.of[0]), o.samples, o.first)
    except KeyboardInterrupt:
        print("stopped; so far:")
    sys.exit(count.report())


if __name__ == "__main__":
    main()
