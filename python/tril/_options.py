"""Types of the options of each call. Made by python/tools/make_options.py from the program's tables."""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence, TypedDict, Union

from typing_extensions import Literal

Path = Union[str, "os.PathLike[str]"]
Texts = Union[str, Sequence[Any], Mapping[Any, Any]]
Paths = Union[Path, Sequence[Path]]


class TranslateOptions(TypedDict, total=False):
    source_language: str
    """source language in any form (en, eng, eng_Latn, en_XX), for a model with language tokens; unset: as its
    directory says, else English, with a warning; auto: detected for each line, in `tril translate`"""

    target_language: str
    """target language, for a multilingual model: its tag, >>de<< or <2de>, is put in front of the source, or the
    translation begins with its token"""

    languages: str
    """source and target language of a model of one pair, if its files and its name state none or wrong ones: en:de;
    for a model with tags, en:-"""

    split: Literal["none", "lines", "sentences"]
    """none: translate each line whole, and cut off what exceeds the model's positions, with a warning; lines:
    translate a line that exceeds them in parts, cut at clauses; sentences: translate each sentence of a line by
    itself, and cut long ones too. The translations of a line are joined with the white space of the source"""

    split_language: str
    """language of the text (en, eng, eng_Latn), whose abbreviations `split` sentences then uses; unset: as
    `source_language` or the model's directory says, else the abbreviations of all languages are used"""

    terminology: Path
    """file of required phrase translations, one per line: source phrase, tab, target phrase, compared exactly; needs a
    beam, or a language model whose prompt lists them"""

    glossary: Paths
    """glossaries: .tsv, .csv or .tbx; their phrases get their translations, as with `terminology`; if files contradict
    each other, the first one takes precedence (docs/terms.md)"""

    glossary_match: Literal["exact", "case", "stem"]
    """how phrases of glossaries are compared: exact, case (upper and lower case are equal) or stem (inflectional
    endings may differ as well)"""

    memory: Path
    """translation memory, .tmx or .tsv; a line that is in it gets its translation from there, and `json` lists similar
    lines"""

    terms: Texts
    """required translations of phrases, {source: target}, compared exactly; needs a beam, or a language model whose
    prompt lists them"""

    n_best: int
    """print this many translations of each line: number ||| text ||| score (from 1 to 1000)"""

    scores: bool
    """compute log-probabilities in greedy search and sampling; a beam always has them"""

    prompt_template: Path
    """prompt for a language model: a template in the language of chat templates with {{ text }}, {{ source_language
    }}, {{ target_language }}, {{ context }}, {{ terms }} and {{ style }}; a file that holds one; or the name of a
    known prompt (general, hunyuan-mt, tower-plus, ...); unset: chosen by the model's name and chat template"""

    context: int
    """number of lines before each line that the prompt of a language model shows (from 0 to 1000)"""

    style: str
    """style that the prompt of a language model asks for, such as "formal\""""

    alignment: Union[str, float]
    """print the source tokens of each output token, by cross-attention: all weights (soft), the highest (hard), or
    those above a number; end tokens are included"""

    alignment_layer: str
    """decoder layer whose attention is used: a number from 1, or last; unset: the layer trained with guided alignment,
    or the last"""

    replace_unknowns: bool
    """replace an unknown token in the output with the source word it attends to most"""

    coverage_penalty: float
    """add B times the sum over source tokens of log(min(their attention, 1)) to the scores of finished hypotheses; 0:
    off (from 0 to 1000)"""

    shortlist: Paths
    """vocabulary shortlist: Marian's binary file (lex.*.bin), or a table made by `tril shortlist`, which may be
    followed by the number of most frequent tokens (100), the number of translations of each source token (100) and
    their minimum probability (0); none: all tokens; unset: the lex.*.bin in a Marian model's directory, if there is
    one"""

    beam_size: int
    """hypotheses kept at each decode step; 1 is greedy search; unset: as the model's directory says, or 1 (from 1 to
    1000)"""

    length_penalty: float
    """a hypothesis of n tokens scores log p / n^A; unset: as the model's directory says, or 1 (from -50 to 50)"""

    early_stopping: Literal["false", "true", "never"]
    """end a beam search once beam_size hypotheses are finished (true), when better ones are unlikely (false), or when
    better ones are impossible (never); unset: as the model's directory says, or false"""

    patience: float
    """a beam search stops after P x beam_size finished hypotheses; unset: 1 (above 0, at most 1000)"""

    beam_groups: int
    """diverse beam search: divide the beam into G groups, each of which avoids what earlier groups found; unset: as
    the model's directory says, or 1 (from 1 to 1000)"""

    diversity_penalty: float
    """subtracted from a token's log-probability for each hypothesis of an earlier group that has it at the same
    position; unset: as the model's directory says, or 0.5 with several groups (from 0 to 1000)"""

    alternatives: bool
    """return the best hypothesis for each of the likeliest first tokens, instead of the best hypotheses overall"""

    min_alternative_prob: float
    """start alternatives only from first tokens of at least probability P (from 0 to 1)"""

    min_length: int
    """minimum number of output tokens; unset: as the model's directory says, or 0 (from 0 to 1000000)"""

    max_length: int
    """maximum number of output tokens, including the end token; unset: as the model's directory says, or 512 (from 1
    to 1000000)"""

    max_length_factor: float
    """maximum output length as a multiple of the source length in tokens, plus 20; 0: no such limit; unset: none if
    the model's directory sets a length below the model's positions, else 3 (at least 0)"""

    batch_size: int
    """number of sentences that a worker decodes together (from 1 to 100000)"""

    time_limit: float
    """seconds that a sentence or prompt may take once it has started; then the best result so far is printed; 0: no
    limit (from 0 to 1000000000)"""

    no_cache: bool
    """compute every step from the first token, without a KV cache: slower, with the same result; for checks"""

    cache_precision: Literal["fp32", "int8"]
    """number format of the KV cache: int8, with a scale for each token and head, takes a quarter of the memory; unset:
    int8 with `precision` int8, int4 or blocks, else fp32"""

    attention_window: int
    """a token attends only to itself and the W - 1 tokens of the output (or text) before it; 0: no window (from 0 to
    1000000000)"""

    attention_sinks: int
    """with `attention_window`: the first S tokens stay visible too, which keeps a model fluent beyond its window (from
    0 to 1000000)"""

    mbr: int
    """minimum Bayes risk decoding: draw N translations of each line with the sampling options and take the one most
    similar to the others by chrF; 0: off (from 0 to 10000)"""

    deterministic: bool
    """give the same output to the last bit for any batching and number of workers; slower"""

    sampling: bool
    """draw tokens at random instead of taking the likeliest; the options of this group imply it"""

    temperature: float
    """divide logits by T before tokens are drawn: below 1 sharper, above 1 flatter; 0: take the likeliest token;
    unset: as the model's directory says, or 1 (from 0 to 1000)"""

    top_k: int
    """draw from the K likeliest tokens; 0 or -1: from all; unset: as the model's directory says, or 50 (from -1 to
    1000000000)"""

    top_p: float
    """draw from the fewest tokens whose probabilities sum to at least P; 1: from all (from 0 to 1)"""

    min_p: float
    """draw from tokens at least P times as probable as the likeliest one; 0: from all (from 0 to 1)"""

    typical_p: float
    """draw from the tokens whose information is nearest to the entropy: the fewest whose probabilities sum to at least
    P; 1: from all (above 0, at most 1)"""

    seed: int
    """seed of the random draws; unset: 1, so that the same command gives the same text"""

    repetition_penalty: float
    """divide the logits of tokens that have already occurred, prompt included, by X (multiply if negative); unset: as
    the model's directory says, or 1: no penalty (above 0, at most 1000)"""

    presence_penalty: float
    """subtracted from the logit of every token already generated (from -1000 to 1000)"""

    frequency_penalty: float
    """subtracted from a token's logit once for each time it was generated (from -1000 to 1000)"""

    no_repeat_ngram: int
    """never repeat a sequence of N tokens; 0: allow repeats; unset: as the model's directory says, or 0 (from 0 to
    1000000)"""

    encoder_no_repeat_ngram: int
    """never generate a sequence of N tokens from the source text (with a language model: from the prompt); 0: allow
    them; unset: as the model's directory says, or 0 (from 0 to 1000000)"""

    bad_words: Texts
    """texts that are never generated, at the beginning of a word or within one"""

    logit_bias: Texts
    """added to the logit of a token, given by its id or as a text of one token: from -100, which forbids it, to 100"""


class TranslatorOptions(TranslateOptions, total=False):
    adapter: Path
    """PEFT adapter (LoRA, rsLoRA, DoRA) to apply at run time: a directory, or OWNER/NAME on the hub; no file of the
    model changes"""

    precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the weights: fewer bits are faster and smaller; unset: as the directory stores them"""

    threads: int
    """number of cores to use; 0: all (from 0 to 4096)"""

    pin: str
    """bind each thread to a core of its own; compact: neighbours first; spread: the nodes of memory in turn; or a list
    such as 0-3,8; none: the system moves threads"""

    numa: Literal["none", "interleave", "local"]
    """where memory lies on a machine of several nodes; interleave: the weights, and caches that threads share, on all
    nodes in turn; local: on the node of the thread that writes it first; none: as the process was started"""

    pull: bool
    """download a model of the hub that is not in the cache"""

    models: Paths
    """directories of further models with the same vocabulary, which form an ensemble with `model`"""

    weights: Texts
    """weights of the models, `model` first; unset: equal weights"""

    ensemble_mean: Literal["log-probabilities", "probabilities"]
    """what is averaged at each step: log-probabilities (all models must agree) or probabilities (one model can
    suffice)"""

    draft_model: Path
    """speculative decoding: directory of a small model with the same vocabulary; it proposes tokens that `model`
    checks in one step; the text is the same; needs greedy search, or sampling of one text"""

    draft_heads: Path
    """speculative decoding: directory of Medusa heads that were trained for `model`, by `medusa_heads` of `tril train`
    or elsewhere; they propose tokens from its last hidden state"""

    draft_precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the draft model's weights: `model` with fewer bits may be its own draft; unset: as `precision`"""

    draft_min_prob: float
    """stop proposing after a token that the draft model finds less probable than this; 0: never stop for this (from 0
    to 1)"""

    prompt_lookup: int
    """speculative decoding without a draft model: propose what followed an earlier occurrence of the last N tokens, or
    fewer, in the text or its source; 0: off (from 0 to 1000)"""

    draft_tokens: int
    """number of tokens proposed at a time; unset: chosen while running, by measured speed: from none to 8, or to one
    for each head (from 1 to 1000)"""


class GenerateOptions(TypedDict, total=False):
    n: int
    """number of generations for each prompt: samples, or the best of a beam (from 1 to 10000)"""

    scores: bool
    """compute log-probabilities in greedy search and sampling; a beam always has them"""

    logprobs: int
    """give the log-probability of each token, and this many of the likeliest tokens at its place (from 0 to 1000)"""

    max_new_tokens: int
    """maximum number of tokens to generate; also limited by the model's positions; unset: as the model's directory
    says, or 256 (from 1 to 1000000)"""

    min_new_tokens: int
    """minimum number of tokens before the end token; unset: as the model's directory says, or 0 (from 0 to 1000000)"""

    stop: Texts
    """stop strings: generation ends before them"""

    beam_size: int
    """hypotheses kept at each decode step; 1 is greedy search; unset: as the model's directory says, or 1 (from 1 to
    1000)"""

    length_penalty: float
    """a hypothesis of n tokens scores log p / n^A; unset: as the model's directory says, or 1 (from -50 to 50)"""

    early_stopping: Literal["false", "true", "never"]
    """end a beam search once beam_size hypotheses are finished (true), when better ones are unlikely (false), or when
    better ones are impossible (never); unset: as the model's directory says, or false"""

    patience: float
    """a beam search stops after P x beam_size finished hypotheses; unset: 1 (above 0, at most 1000)"""

    beam_groups: int
    """diverse beam search: divide the beam into G groups, each of which avoids what earlier groups found; unset: as
    the model's directory says, or 1 (from 1 to 1000)"""

    diversity_penalty: float
    """subtracted from a token's log-probability for each hypothesis of an earlier group that has it at the same
    position; unset: as the model's directory says, or 0.5 with several groups (from 0 to 1000)"""

    alternatives: bool
    """return the best hypothesis for each of the likeliest first tokens, instead of the best hypotheses overall"""

    min_alternative_prob: float
    """start alternatives only from first tokens of at least probability P (from 0 to 1)"""

    batch_size: int
    """number of sentences that a worker decodes together (from 1 to 100000)"""

    time_limit: float
    """seconds that a sentence or prompt may take once it has started; then the best result so far is printed; 0: no
    limit (from 0 to 1000000000)"""

    no_cache: bool
    """compute every step from the first token, without a KV cache: slower, with the same result; for checks"""

    cache_precision: Literal["fp32", "int8"]
    """number format of the KV cache: int8, with a scale for each token and head, takes a quarter of the memory; unset:
    int8 with `precision` int8, int4 or blocks, else fp32"""

    attention_window: int
    """a token attends only to itself and the W - 1 tokens of the output (or text) before it; 0: no window (from 0 to
    1000000000)"""

    attention_sinks: int
    """with `attention_window`: the first S tokens stay visible too, which keeps a model fluent beyond its window (from
    0 to 1000000)"""

    prompt_chunk: int
    """number of prompt tokens read at once: memory outside the cache grows with it (from 1 to 1000000)"""

    deterministic: bool
    """give the same output to the last bit for any batching and number of workers; slower"""

    sampling: bool
    """draw tokens at random instead of taking the likeliest; the options of this group imply it"""

    temperature: float
    """divide logits by T before tokens are drawn: below 1 sharper, above 1 flatter; 0: take the likeliest token;
    unset: as the model's directory says, or 1 (from 0 to 1000)"""

    top_k: int
    """draw from the K likeliest tokens; 0 or -1: from all; unset: as the model's directory says, or 50 (from -1 to
    1000000000)"""

    top_p: float
    """draw from the fewest tokens whose probabilities sum to at least P; 1: from all (from 0 to 1)"""

    min_p: float
    """draw from tokens at least P times as probable as the likeliest one; 0: from all (from 0 to 1)"""

    typical_p: float
    """draw from the tokens whose information is nearest to the entropy: the fewest whose probabilities sum to at least
    P; 1: from all (above 0, at most 1)"""

    seed: int
    """seed of the random draws; unset: 1, so that the same command gives the same text"""

    repetition_penalty: float
    """divide the logits of tokens that have already occurred, prompt included, by X (multiply if negative); unset: as
    the model's directory says, or 1: no penalty (above 0, at most 1000)"""

    presence_penalty: float
    """subtracted from the logit of every token already generated (from -1000 to 1000)"""

    frequency_penalty: float
    """subtracted from a token's logit once for each time it was generated (from -1000 to 1000)"""

    no_repeat_ngram: int
    """never repeat a sequence of N tokens; 0: allow repeats; unset: as the model's directory says, or 0 (from 0 to
    1000000)"""

    encoder_no_repeat_ngram: int
    """never generate a sequence of N tokens from the source text (with a language model: from the prompt); 0: allow
    them; unset: as the model's directory says, or 0 (from 0 to 1000000)"""

    bad_words: Texts
    """texts that are never generated, at the beginning of a word or within one"""

    logit_bias: Texts
    """added to the logit of a token, given by its id or as a text of one token: from -100, which forbids it, to 100"""

    json_schema: Union[Path, Mapping[str, Any]]
    """write JSON that is valid against this schema"""

    json_object: bool
    """write any JSON object"""

    regex: str
    """write a text that matches this regular expression as a whole"""

    json_space: Literal["none", "space", "lines"]
    """white space allowed in JSON: none, a space after : and , (space), or also indented lines (lines); unset: space"""


class GeneratorOptions(GenerateOptions, total=False):
    adapter: Path
    """PEFT adapter (LoRA, rsLoRA, DoRA) to apply at run time: a directory, or OWNER/NAME on the hub; no file of the
    model changes"""

    precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the weights: fewer bits are faster and smaller; unset: as the directory stores them"""

    threads: int
    """number of cores to use; 0: all (from 0 to 4096)"""

    pin: str
    """bind each thread to a core of its own; compact: neighbours first; spread: the nodes of memory in turn; or a list
    such as 0-3,8; none: the system moves threads"""

    numa: Literal["none", "interleave", "local"]
    """where memory lies on a machine of several nodes; interleave: the weights, and caches that threads share, on all
    nodes in turn; local: on the node of the thread that writes it first; none: as the process was started"""

    pull: bool
    """download a model of the hub that is not in the cache"""

    models: Paths
    """directories of further models with the same vocabulary, which form an ensemble with `model`"""

    weights: Texts
    """weights of the models, `model` first; unset: equal weights"""

    ensemble_mean: Literal["log-probabilities", "probabilities"]
    """what is averaged at each step: log-probabilities (all models must agree) or probabilities (one model can
    suffice)"""

    draft_model: Path
    """speculative decoding: directory of a small model with the same vocabulary; it proposes tokens that `model`
    checks in one step; the text is the same; needs greedy search, or sampling of one text"""

    draft_heads: Path
    """speculative decoding: directory of Medusa heads that were trained for `model`, by `medusa_heads` of `tril train`
    or elsewhere; they propose tokens from its last hidden state"""

    draft_precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the draft model's weights: `model` with fewer bits may be its own draft; unset: as `precision`"""

    draft_min_prob: float
    """stop proposing after a token that the draft model finds less probable than this; 0: never stop for this (from 0
    to 1)"""

    prompt_lookup: int
    """speculative decoding without a draft model: propose what followed an earlier occurrence of the last N tokens, or
    fewer, in the text or its source; 0: off (from 0 to 1000)"""

    draft_tokens: int
    """number of tokens proposed at a time; unset: chosen while running, by measured speed: from none to 8, or to one
    for each head (from 1 to 1000)"""


class PairScoreOptions(TypedDict, total=False):
    source_language: str
    """source language in any form (en, eng, eng_Latn, en_XX), for a model with language tokens; unset: as its
    directory says, else English, with a warning; auto: detected for each line, in `tril translate`"""

    target_language: str
    """target language, for a multilingual model: its tag, >>de<< or <2de>, is put in front of the source, or the
    translation begins with its token"""

    prompt_template: Path
    """prompt for a language model: a template in the language of chat templates with {{ text }}, {{ source_language
    }}, {{ target_language }}, {{ context }}, {{ terms }} and {{ style }}; a file that holds one; or the name of a
    known prompt (general, hunyuan-mt, tower-plus, ...); unset: chosen by the model's name and chat template"""

    alignment: Union[str, float]
    """print the source tokens of each output token, by cross-attention: all weights (soft), the highest (hard), or
    those above a number; end tokens are included"""

    alignment_layer: str
    """decoder layer whose attention is used: a number from 1, or last; unset: the layer trained with guided alignment,
    or the last"""

    batch_size: int
    """number of sentences that a worker decodes together (from 1 to 100000)"""


class TextScoreOptions(TypedDict, total=False):
    begin: bool
    """score the first token too, after the model's begin token; otherwise it is only context"""

    context: int
    """window size in tokens; 0: the model's positions (from 0 to 16777216)"""

    stride: int
    """tokens from one window of a long text to the next: a smaller stride gives each token more context; 0: half of
    `context` (from 0 to 16777216)"""

    batch_size: int
    """number of sentences that a worker decodes together (from 1 to 100000)"""


class TraceOptions(TypedDict, total=False):
    source_language: str
    """source language in any form (en, eng, eng_Latn, en_XX), for a model with language tokens; unset: as its
    directory says, else English, with a warning; auto: detected for each line, in `tril translate`"""

    target_language: str
    """target language, for a multilingual model: its tag, >>de<< or <2de>, is put in front of the source, or the
    translation begins with its token"""

    edit: Texts
    """change of the pass, POINT[HEAD]@TOKEN=ACTION: zero, mean, scale X, temperature T, uniform, all, causal, window
    N, skip, patch; several apply in order"""

    patch_text: str
    """text whose values the action `patch` takes"""

    patch_target: str
    """text that follows it"""

    new_tokens: int
    """number of tokens by which the text is continued greedily, with and without the changes; 0: not at all (from 0 to
    4096)"""

    lens: bool
    """what the end of the model makes of the stream after each layer"""

    rollout: bool
    """how attention carries tokens through all layers"""

    attribute: int
    """what each head and each feed-forward adds to the logit of the best token after this token; tokens count from 0
    (from 0 to 1048576)"""

    head_scores: int
    """scores of each head for looking back, induction and copying, on this many random tokens that are repeated; 0:
    none (from 0 to 4096)"""

    only: Texts
    """names of the points to keep: * stands for any characters, and a part's name for all in it; unset: all"""

    gradients: bool
    """also keep the gradients of the loss, as NAME.gradient"""

    max_bytes: int
    """refuse to keep more bytes of values than this (at least 1)"""


class EvaluateOptions(TypedDict, total=False):
    metrics: Texts
    """bleu, chrf, or both, separated by a comma"""

    tokenize: Literal["13a", "none"]
    """how BLEU splits words"""

    chrf_word_order: int
    """order of the word n-grams in chrF; 2 is chrF++ (from 0 to 9)"""

    lowercase: bool
    """ignore case"""


class ServeOptions(TypedDict, total=False):
    models: Paths
    """directories of models: each directory and each model file in them is served as a model of that name"""

    load: Literal["at-start", "on-demand"]
    """when to load a model: at-start, or on-demand for its first request; unset: at-start, but on-demand with
    model_memory or idle_unload"""

    model_memory: str
    """maximum memory of all loaded models, such as 2GiB: weights, tokenizers and KV caches; the least recently used
    models are unloaded to make room for others; with load at-start, as many models are loaded as fit; 0: no limit"""

    idle_unload: str
    """unload a model after this time without requests, such as 10m; 0: never"""

    adapter: Paths
    """PEFT adapters (LoRA, rsLoRA, DoRA): NAME=DIR for the first model, MODEL:NAME=DIR for another; DIR may also be
    OWNER/NAME on the hub; a request with "model": "MODEL:NAME" uses one"""

    shortlist: Paths
    """vocabulary shortlist of a model that translates: NAME=FILE, a binary file (lex.*.bin) or a table made by `tril
    shortlist`; NAME=none: all tokens; unset: the lex.*.bin in a Marian model's directory, if there is one"""

    precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the weights; unset: as the directory stores them"""

    languages: Texts
    """source and target language of a model: NAME=en:de; the languages of a language model that translates:
    NAME=en,de,fr; for a model with tags (>>de<<), the target is the default of requests, and - means no tag; not
    for a model with language tokens; unset: as its tokenizer_config.json says"""

    prompt_template: Paths
    """prompt with which a language model translates, as for `tril translate`; needs the model's languages unless its
    publisher lists them"""

    max_pivots: int
    """maximum number of languages between source and target, if no model translates directly: fr -> en -> de has one;
    0: none (from 0 to 3)"""

    pivot: Texts
    """languages to prefer as pivots, the best first; unset: the first in the order of model"""

    glossary: Paths
    """glossaries for requests with "glossary": "NAME": .tsv, .csv or .tbx files; if a file does not state its
    languages, put them before it: NAME=en:de:FILE"""

    glossary_dir: Path
    """directory for the glossaries that clients upload (POST /glossaries), and for the counts of characters that each
    key has had translated; unset: they are kept in memory only"""

    memory: Paths
    """translation memories for requests with "memory": "NAME": .tmx or .tsv files, each after its languages:
    NAME=en:de:FILE"""

    beam_size: int
    """default beam size of requests; unset: as the model's directory says, or 1 (from 1 to 64)"""

    draft_model: Paths
    """a small model with the same vocabulary as the first model, or as the model NAME; it proposes tokens that the
    model checks in one step; the answers are the same up to rounding; for requests with greedy search or one sample"""

    draft_heads: Paths
    """Medusa heads that were trained for the first model, or for the model NAME; they propose tokens from its last
    hidden state"""

    draft_precision: Literal["fp32", "bf16", "int8", "int4", "blocks"]
    """precision of the draft model's weights: `model` with fewer bits may be its own draft; unset: as `precision`"""

    draft_min_prob: float
    """stop proposing after a token that the draft model finds less probable than this; 0: never stop for this (from 0
    to 1)"""

    prompt_lookup: int
    """speculative decoding without a draft model: propose what followed an earlier occurrence of the last N tokens, or
    fewer, in the text or its source; 0: off (from 0 to 1000)"""

    draft_tokens: int
    """number of tokens proposed at a time; unset: chosen while running, by measured speed: from none to 8, or to one
    for each head (from 1 to 1000)"""

    threads: int
    """number of cores to use; 0: all (from 0 to 4096)"""

    pin: str
    """bind each thread to a core of its own; compact: neighbours first; spread: the nodes of memory in turn; or a list
    such as 0-3,8; none: the system moves threads"""

    numa: Literal["none", "interleave", "local"]
    """where memory lies on a machine of several nodes; interleave: the weights, and caches that threads share, on all
    nodes in turn; local: on the node of the thread that writes it first; none: as the process was started"""

    batch_size: int
    """number of sentences that a worker decodes together (from 1 to 100000)"""

    queue_size: float
    """maximum number of waiting sentences; one client may have half of them; further requests get 429 (from 1 to
    10000000)"""

    cache_tokens: int
    """size of the KV cache in tokens of all hypotheses, which bounds memory; 0: 262144 (from 0 to 1000000000000)"""

    cache_precision: Literal["fp32", "int8"]
    """number format of the KV cache: int8, with a scale for each token and head, takes a quarter of the memory; unset:
    int8 with `precision` int8, int4 or blocks, else fp32"""

    prompt_tokens: int
    """number of prompt or source tokens that are read between two decode steps (from 1 to 1000000)"""

    prefix_tokens: int
    """size of the prefix cache in tokens of prompts and answers, in addition to cache_tokens; the least recently used
    are dropped first; 0: no prefix cache, as with deterministic (from 0 to 1000000000000)"""

    deterministic: bool
    """give answers that are the same to the last bit, whatever other requests are running; slower"""

    host: str
    """address to listen on; if other machines can reach it, requests need keys"""

    port: int
    """port to listen on; 0: any free port (from 0 to 65535)"""

    http_threads: int
    """number of threads for connections; 0: one for every four of threads (from 0 to 256)"""

    api_key_file: Path
    """file of API keys, one per line; a request needs one of them, or the key in TRIL_API_KEY; a line KEY characters=N
    limits the characters that the key may have translated until the server stops, or in all with glossary_dir; KEY
    requests=N requests-per-hour=N requests-per-day=N are the key's own limits of requests, instead of the options'"""

    admin_key_file: Path
    """file of administrators' keys, one per line; administrators may load and unload models and set priorities"""

    allow_anyone: bool
    """allow requests without keys from other machines"""

    classroom: bool
    """for a class: serve only the page that shows how models compute, and what it asks (POST /trace, /search and
    /score), within smaller bounds and on all threads; nothing can be changed"""

    trusted_proxies: Texts
    """addresses or networks of reverse proxies, such as 127.0.0.1 or 10.0.0.0/8, whose header X-Forwarded-For names
    the client; unset: the header is ignored"""

    cors_origins: Texts
    """origins of web pages that may send requests; *: any"""

    tls_certificate: Path
    """certificate chain in PEM; enables HTTPS, with tls_key"""

    tls_key: Path
    """private key of the certificate"""

    access_log: Path
    """file for the access log, a JSON object for each request; - is standard output; none: no log"""

    log_texts: bool
    """include the texts of requests in the access log"""

    unknown_fields: Literal["refuse", "warn", "ignore"]
    """what to do with unknown fields of a request: refuse it with 400, report them in the response's "warnings", or
    ignore them"""

    suggestions: Path
    """file to which POST /suggest appends users' translations, as JSON lines; unset: suggestions are refused"""

    max_connections: float
    """maximum number of connections (from 1 to 1000000)"""

    requests_per_minute: int
    """maximum number of requests of a client in a minute; a client is a key, or an address without one; a list of
    texts counts as many requests; not for administrators; further requests get 429; 0: no limit (from 0 to
    1000000000)"""

    requests_per_hour: int
    """likewise in an hour (from 0 to 1000000000)"""

    requests_per_day: int
    """likewise in 24 hours (from 0 to 1000000000)"""

    max_body_kib: float
    """maximum size of a request body in KiB (from 1 to 60000)"""

    max_texts: float
    """maximum number of texts in a request (from 1 to 100000)"""

    max_characters: float
    """maximum number of bytes in a request's texts (from 1 to 60000000)"""

    max_document: str
    """maximum size of a file to translate, such as 16MiB; 0: no files"""

    document_memory: str
    """maximum size of all files in translation (each counted twice) and of all translations not yet downloaded; one
    client may use half; files that are arriving have a separate limit of the same size"""

    keep_documents: str
    """time after which a translated file is deleted if it is not downloaded, such as 10m"""

    document_timeout: str
    """time after which the translation of a file fails, including its waiting time, such as 1h"""

    max_suggestions: str
    """maximum size of the file of suggestions"""

    max_new_tokens: int
    """maximum number of new tokens that a request may ask for (from 1 to 1000000)"""

    request_timeout: float
    """seconds after which the decoding of a request ends with the result so far (above 0, at most 1000000)"""

    idle_timeout: float
    """seconds after which an idle connection is closed (above 0, at most 1000000)"""


class TrainOptions(TypedDict, total=False):
    overwrite: bool
    """start over if the directory already holds a run"""

    save_freq: str
    """how often to save: 500u, 1e, 10m"""

    keep_checkpoints: int
    """number of checkpoints to keep (at least 1)"""

    disp_freq: str
    """how often to report: 50u, 1e, 1m"""

    seed: float
    """seed of the initial weights, the data order and dropout"""

    threads: int
    """cores to use; 0: all (from 0 to 1024)"""

    pin: str
    """bind each thread to a core of its own; compact: neighbours first; spread: the nodes of memory in turn; or a list
    such as 0-3,8; none: the system moves threads"""

    numa: Literal["none", "interleave", "local"]
    """where memory lies on a machine of several nodes; interleave: the weights, and caches that threads share, on all
    nodes in turn; local: on the node of the thread that writes it first; none: as the process was started"""

    deterministic: bool
    """get the same weights with any number of threads (up to 4) and ranks"""

    gradient_checkpointing: bool
    """recompute activations in the backward pass: less memory, more time"""

    precision: Literal["fp32", "bf16"]
    """precision of the computation"""

    reduce_precision: Literal["fp32", "bf16"]
    """precision of the gradients exchanged between ranks"""

    shard_weights: bool
    """for models larger than one rank's memory: each rank keeps its share of weights and gradients, and layers are
    gathered when needed"""

    rank_timeout: float
    """save and end the run if a rank does not respond for this many seconds (from 1 to 86400)"""

    train_sets: Paths
    """parallel source and target files (with `tsv`, one tab-separated file); for several corpora, A.src A.tgt B.src
    B.tgt; for a language model, one text"""

    valid_sets: Paths
    """files for validation, as for `train_sets`"""

    tsv: bool
    """each set is one file with lines of source, tab, target"""

    data_weighting: Paths
    """for each corpus, a file with the loss weight of each pair, one per line"""

    guided_alignment: Paths
    """for each corpus, a file with the word alignment of each pair, one per line: "0-0 1-2", source word first,
    counted from 0; or learn: align the corpora first, as `tril align` does"""

    guided_alignment_units: Literal["words", "tokens"]
    """units of the alignments: words separated by spaces, or tokens of the vocabulary (including a language tag and
    the end token)"""

    language_tags: Texts
    """for each corpus, the language of the tag put before its source texts (de: >>de<<); - for none"""

    corpus_temperature: float
    """sample a corpus of n pairs in proportion to n^(1/T); 1: in proportion to its size; large values: all equally
    (from 1 to 1000000)"""

    corpus_weights: Union[float, Sequence[float]]
    """sampling weights of the corpora, one number each, instead of a temperature (above 0)"""

    bpe_dropout: float
    """probability that a BPE merge is skipped, drawn again in each epoch (from 0 to 1)"""

    bpe_dropout_sides: Literal["both", "source", "target"]
    """sides to which `bpe_dropout` or `subword_alpha` applies"""

    subword_alpha: float
    """sample the segmentations of a unigram vocabulary in each epoch, by their probabilities to this power; 0: do not
    sample (from 0 to 1000000)"""

    vocab: Path
    """SentencePiece model, or model directory whose tokenizer to use; unset: train a vocabulary"""

    vocab_size: int
    """number of pieces of the vocabulary to train; fewer if the text yields fewer (from 8 to 1000000)"""

    vocab_type: Literal["bpe", "unigram", "char", "byte_bpe"]
    """type of the vocabulary to train"""

    separate_vocabs: bool
    """train a separate vocabulary for each side instead of a joint one"""

    max_tokens: int
    """maximum number of tokens in a batch: the longer sides of its pairs, added up (from 1 to 2147483647)"""

    max_length: int
    """maximum number of tokens in a sentence (longer pairs are left out); for a language model, the context length
    (from 1 to 1048576)"""

    documents: Literal["whole", "lines", "blank_lines"]
    """what a language model's text consists of: one text (whole), a document on each line, or documents between blank
    lines; no document is predicted from another"""

    max_length_crop: bool
    """truncate longer sentences instead of leaving the pair out"""

    skip_invalid: bool
    """leave out pairs that are not valid UTF-8 instead of stopping"""

    data_memory: int
    """maximum memory for sentences in MiB; larger corpora are streamed (from 1 to 1073741824)"""

    arch: Literal["marian", "marian_nmt", "marian_ssru", "opennmt", "bart", "mbart", "m2m_100", "pegasus", "plbart", "mvp", "blenderbot", "blenderbot-small", "t5gemma", "t5", "mt5", "umt5", "switch_transformers", "gpt2", "opt", "gpt_neox", "phi", "gptj", "codegen", "gpt_neo", "gpt_bigcode", "bloom", "mpt", "falcon", "xglm", "biogpt", "llama", "mistral", "qwen2", "qwen3", "phi3", "gemma", "gemma2", "vaultgemma", "olmo2", "granite", "gemma3_text", "gemma4_text", "smollm3", "olmo", "olmo3", "exaone", "exaone4", "cohere", "cohere2", "ministral", "ministral3", "hunyuan_v1_dense", "glm", "glm4", "granite_swa", "minicpm3", "youtu", "cwm", "internlm2", "internlm3", "iquestcoder", "hyperclovax", "arcee", "apertus", "nemotron", "jais2", "persimmon", "stablelm", "starcoder2", "seed_oss", "ernie4_5", "helium", "nanochat", "bitnet", "mixtral", "olmoe", "cohere2_moe", "hunyuan_v1_moe", "hy_v3", "glm4_moe", "qwen2_moe", "qwen3_moe", "flint", "granitemoe", "granitemoeshared", "granitemoe_swa", "deepseek_v2", "deepseek_v3", "glm4_moe_lite", "axk1", "sarvam_mla", "sarvam_moe", "laguna", "step3p5", "dots1", "afmoe", "flex_olmo", "exaone_moe", "kolibri1", "solar_open", "mellum", "phimoe", "gpt_oss", "minimax_m2", "ernie4_5_moe", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "lara_mini", "lfm2", "lfm2_moe", "lfm3", "mamba2", "granitemoehybrid", "bamba", "falcon_h1", "nemotron_h", "full_transformer", "linear_decoder"]
    """family of a new model: encoder-decoders from marian to switch_transformers, then language models; marian_ssru is
    a marian_nmt with an SSRU in the decoder"""

    preset: Literal["tiny", "base", "big"]
    """default sizes, dropout rates and learning rate; other options override them"""

    d_model: int
    """model width, d_model (from 2 to 65536)"""

    num_heads: int
    """number of attention heads; must divide `d_model` (from 1 to 1024)"""

    ffn_dim: int
    """width of the feed-forward layers (from 1 to 1048576)"""

    enc_depth: int
    """number of encoder layers (from 1 to 1000)"""

    dec_depth: int
    """number of decoder layers (from 1 to 1000)"""

    activation: Literal["relu", "gelu", "gelu_new", "silu", "relu2", "gelu_pytorch_tanh"]
    """activation of the feed-forward layers; unset: the family's"""

    max_positions: int
    """longest sequence that the model supports, in tokens (from 2 to 1048576)"""

    model_keys: Texts
    """further keys of a new model's config.json, each as KEY=VALUE: sliding_window=64, num_experts=4,
    encoder.sliding_window=8"""

    depth_scaled_init: bool
    """divide the initial weights of layer l by sqrt(l), for deep models"""

    dropout: float
    """dropout rate of sublayer outputs and embeddings (from 0 to 0.95)"""

    embedding_dropout: float
    """dropout rate of embeddings, instead of `dropout` (from 0 to 0.95)"""

    attention_dropout: float
    """dropout rate of attention weights (from 0 to 0.95)"""

    activation_dropout: float
    """dropout rate after the feed-forward activation (from 0 to 0.95)"""

    dropout_warmup: int
    """updates over which dropout rates rise: p (1 - e^(-10 t / N)); 0: none (at least 0)"""

    layer_drop: float
    """probability that a batch skips a layer (from 0 to 0.95)"""

    after: str
    """how long to train: 8000u updates, 30e epochs, 10m minutes, 5Gt target tokens; several, such as 30e,10m:
    whichever comes first"""

    accumulate: int
    """batches whose gradients make one update, on each rank (from 1 to 1048576)"""

    learn_rate: float
    """peak learning rate (above 0, at most 1000)"""

    lr_schedule: Literal["inverse_sqrt", "linear", "cosine", "constant"]
    """shape of the learning rate after the warm-up"""

    warmup: int
    """updates over which the learning rate rises to its peak (at least 0)"""

    lr_decay_updates: int
    """update at which a linear or cosine schedule ends; 0: that of `after` (at least 0)"""

    lr_min: float
    """learning rate at the end of a linear or cosine schedule (at least 0)"""

    guided_alignment_cost: Literal["ce", "mse", "mult"]
    """alignment loss: cross-entropy, squared error, or -log of the total weight on the aligned tokens"""

    guided_alignment_weight: float
    """weight of the alignment loss, added to the loss of the targets (above 0)"""

    guided_alignment_layer: str
    """decoder layer whose cross-attention learns the alignments: a number from 1, or last"""

    guided_alignment_heads: int
    """number of heads of this layer, from the first, whose mean learns the alignments; 0: all (at least 0)"""

    label_smoothing: float
    """part of the target's probability that is spread over the vocabulary (from 0 to 0.9)"""

    r_drop: float
    """alpha of R-Drop: run each batch twice with different dropout and penalise the divergence of the two outputs; 0:
    off (from 0 to 1000)"""

    r_drop_start: int
    """number of updates before R-Drop begins; until then each batch runs once (at least 0)"""

    router_aux_loss: float
    """weight of the load-balancing loss of mixture-of-experts models (router_aux_loss_coef); unset: the family's for a
    new model; 0: off (from 0 to 1000)"""

    teacher: Paths
    """directories of teacher models for distillation; the student uses their vocabulary"""

    distillation_temperature: float
    """temperature of the teacher's and the student's distributions (from 0.01 to 1000)"""

    distillation_mix: float
    """weight of the teacher in the loss; the targets get the rest (from 0 to 1)"""

    optimizer: Literal["adam", "adamw", "lion", "adafactor", "muon"]
    """optimizer; adamw decouples the weight decay from the gradient; muon uses adamw for everything except matrices"""

    optimizer_bits: Literal["32", "8"]
    """adam, adamw: bits of each value of the moments; 8: in large matrices, where embeddings, the output layer, norms
    and biases keep 32"""

    beta1: float
    """decay of the gradient's moving average; not used by adafactor (from 0 to 0.999999)"""

    beta2: float
    """decay of the squared gradient's moving average (lion: of the gradient's; adafactor: its own) (from 0 to
    0.999999)"""

    epsilon: float
    """added to the square root of the squared gradient's average (adam, adamw, muon) (above 0)"""

    momentum: float
    """muon: decay of the matrices' momentum (from 0 to 0.999999)"""

    weight_decay: float
    """weight decay, multiplied by the learning rate; adam: L2 penalty (at least 0)"""

    decay_matrices_only: bool
    """do not decay norms and biases"""

    clip_norm: float
    """clip the gradient to this global norm; 0: no clipping (at least 0)"""

    gradient_noise: float
    """add Gaussian noise of variance N / (1 + update)^0.55 to the gradient; 0: none (at least 0)"""

    ema: float
    """decay of a moving average of the weights, which is the model that is validated and saved; 0: none (from 0 to
    0.9999999)"""

    average_checkpoints: int
    """number of latest validations whose weights are averaged, then validated and saved; 1: none (from 1 to 1000)"""

    nan_guard: Literal["stop", "skip", "rollback"]
    """what to do if the loss or gradient is not a number: stop, skip the update, or roll back to the last checkpoint
    and continue with other data"""

    spike_guard: float
    """apply `nan_guard` also if the loss or gradient norm is N standard deviations above its running average; 0: off
    (at least 0)"""

    max_rollbacks: int
    """stop after this many rollbacks (at least 1)"""

    rollback_rate: float
    """multiply the learning rate by this factor at each rollback (above 0, at most 1)"""

    init_from: Path
    """directory of the model to start from; its vocabulary is used too"""

    train_only: Texts
    """names of the weights to train (decoder.*); all others are frozen"""

    freeze: Texts
    """names of the weights to freeze (embed*)"""

    lora_rank: int
    """train LoRA adapters of this rank instead of the weights; at most the smaller side of their matrices; 0: train
    the weights (from 0 to 65536)"""

    lora_alpha: float
    """scale the adapters by alpha / rank; 0: do not scale (at least 0)"""

    lora_dropout: float
    """dropout rate of the adapters' inputs (from 0 to 0.95)"""

    lora_targets: Texts
    """names of the linear layers that get adapters"""

    medusa_heads: int
    """train this number of Medusa heads on the frozen model: for `draft_heads` of other commands, where they propose
    as many tokens; the text should be like those that the model will write; 0: none (from 0 to 64)"""

    medusa_layers: int
    """layers of each head (from 1 to 16)"""

    medusa_own_output: bool
    """give each head an output matrix of its own, which is read at every step, instead of the model's"""

    medusa_decay: float
    """weight of a head's loss, relative to that of the head before (above 0, at most 1)"""

    valid_freq: str
    """how often to validate: 500u, 1e, 10m"""

    valid_metrics: Texts
    """validation metrics: loss, perplexity, bleu, chrf; the first decides which model is best"""

    valid_beam: int
    """beam size for validation translations (from 1 to 1024)"""

    valid_samples: int
    """number of validation sentences whose translations the report shows; 0: none (from 0 to 100)"""

    valid_attention: int
    """number of these sentences that are shown with attention maps (from 0 to 20)"""

    early_stopping: int
    """stop after this many validations without improvement; 0: never (at least 0)"""
