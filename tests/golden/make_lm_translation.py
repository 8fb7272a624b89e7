"""Tiny random language models that translate: the prompt of each known family, by a chat template of the family's shape, and
what `transformers` generates after it.

usage: make_lm_translation.py OUT_DIR [--seed N] [--only NAME,...]

A prompt is written here as its model card writes it, and not with tril's templates. Token ids are those of
apply_chat_template, or of the tokenizer for a prompt without a chat template. Seeds are tried until no greedy step is close to a
tie and a translation has several different tokens."""
import argparse
import json
import pathlib

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

SIZES = dict(hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=8,
             max_position_embeddings=640, tie_word_embeddings=True, initializer_range=.4)
CHATML = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
          "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")
THINKING = CHATML[:-len("{% endif %}")] + ("{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\\n\\n</think>\\n\\n' }}"
                                           "{% endif %}{% endif %}")
GEMMA = ("{{ bos_token }}{% for message in messages %}{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else 'user') + "
         "'\\n' + message['content'] | trim + '<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}"
         "{{ '<start_of_turn>model\\n' }}{% endif %}")
# The system message comes before the first user's, as in Gemma 3.
GEMMA_SYSTEM = ("{{ bos_token }}{% set first = '' %}{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + "
                "'\\n\\n' %}{% set messages = messages[1:] %}{% endif %}{% for message in messages %}{{ '<start_of_turn>' + ('model' if "
                "message['role'] == 'assistant' else 'user') + '\\n' + (first if loop.first else '') + message['content'] | trim + "
                "'<end_of_turn>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}")
STRUCTURED = ("{%- set languages = {'en': 'English', 'de': 'German', 'pt-BR': 'Portuguese'} -%}{{ bos_token }}"
              "{%- for message in messages -%}{%- if message['role'] == 'assistant' -%}"
              "{{ '<start_of_turn>model\\n' + message['content'] + '<end_of_turn>\\n' }}{%- else -%}"
              "{%- set one = message['content'][0] -%}{%- if one['type'] != 'text' or one['target_lang_code'] not in languages -%}"
              "{{ raise_exception('unknown language ' + one['target_lang_code']) }}{%- endif -%}"
              "{{ '<start_of_turn>user\\nTranslate this ' + languages[one['source_lang_code']] + ' (' + one['source_lang_code'] + ') text "
              "into ' + languages[one['target_lang_code']] + ' (' + one['target_lang_code'] + '):\\n\\n\\n' + one['text'] | trim + "
              "'<end_of_turn>\\n' }}{%- endif -%}{%- endfor -%}"
              "{%- if add_generation_prompt -%}{{ '<start_of_turn>model\\n' }}{%- endif -%}")
HUNYUAN = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] + '<|extra_4|>' }}"
           "{% elif message['role'] == 'user' %}{{ '<|startoftext|>' + message['content'] + '<|extra_0|>' }}"
           "{% else %}{{ message['content'] + '<|eos|>' }}{% endif %}{% endfor %}")
INST = ("{{ bos_token }}{% for message in messages %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}"
        "{% else %}{{ ' ' + message['content'] + ' ' + eos_token }}{% endif %}{% endfor %}")

NAMES = {"en": "English", "de": "German", "fr": "French", "zh": "Chinese", "hi": "Hindi", "pt-BR": "Portuguese (Brazil)"}
CHINESE = {"en": "英语", "de": "德语", "fr": "法语", "zh": "中文"}
TERMS = [("dog", "Hund"), ("old house", "Altbau")]
CONTEXT = ["It was late.", "Nobody was there."]


def source_text(s, t, x):  # Tower+, EuroLLM
    return f"Translate the following {NAMES[s]} source text to {NAMES[t]}:\n{NAMES[s]}: {x}\n{NAMES[t]}: "


def this_from(s, t, x):  # ALMA, X-ALMA, GemmaX2
    return f"Translate this from {NAMES[s]} to {NAMES[t]}:\n{NAMES[s]}: {x}\n{NAMES[t]}:"


def tower(s, t, x):
    return f"Translate the following text from {NAMES[s]} into {NAMES[t]}.\n{NAMES[s]}: {x}\n{NAMES[t]}:"


def hunyuan(s, t, x):
    if "zh" in (s, t):
        return f"把下面的文本翻译成{CHINESE[t]}，不要额外解释。\n\n{x}"
    return f"Translate the following segment into {NAMES[t]}, without additional explanation.\n\n{x}"


def hunyuan15(s, t, x, terms=(), context=()):
    if context:
        return "\n".join(context) + f"\n参考上面的信息，把下面的文本翻译成{CHINESE[t]}，注意不需要翻译上文，也不要额外解释：\n{x}"
    if terms:
        listed = "".join(f"{a} 翻译成 {b}\n" for a, b in terms)
        return f"参考下面的翻译：\n{listed}\n将以下文本翻译为{CHINESE[t]}，注意只需要输出翻译后的结果，不要额外解释：\n{x}"
    if "zh" in (s, t):
        return f"将以下文本翻译为{CHINESE[t]}，注意只需要输出翻译后的结果，不要额外解释：\n\n{x}"
    return hunyuan(s, t, x)


def hunyuan2(s, t, x, terms=()):
    listed = "Reference the following translations:\n" + "".join(f"{a} translates to {b}\n" for a, b in terms) + "\n" if terms else ""
    return (listed + f"Translate the following text into {NAMES[t]}. Note that you should only output the translated result without any "
            f"additional explanation:\n\n{x}")


def seed_x(s, t, x):
    return f"Translate the following {NAMES[s]} sentence into {NAMES[t]}:\n{x} <{t}>"


def general(s, t, x, terms=(), context=(), style=""):
    parts = ""
    if context:
        parts += "These sentences come before the text. Do not translate them:\n" + "\n".join(context) + "\n\n"
    if terms:
        parts += "Use these translations of terms:\n" + "".join(f"{a} = {b}\n" for a, b in terms) + "\n"
    how = f" The style of the translation is: {style}." if style else ""
    return (parts + f"Translate the following text from {NAMES[s]} into {NAMES[t]}.{how} Answer with the translation alone, without "
            f"explanations.\n\n{x}")


def user(content, system=None):
    return ([] if system is None else [dict(role="system", content=system)]) + [dict(role="user", content=content)]


def structured(s, t, x):
    return [dict(role="user", content=[dict(type="text", source_lang_code=s, target_lang_code=t, text=x)])]


PAIRS = [("en", "de", "The dog sleeps in the old house."), ("de", "en", "Guten Morgen: es regnet.")]
# name of the directory: model_type, chat template, special tokens, (source, target, text, further input) -> prompt or messages
FAMILIES = {
    "translategemma-4b-it": ("gemma3_text", STRUCTURED, ["<bos>", "<end_of_turn>", "<start_of_turn>"], structured,
                             [*PAIRS, ("en", "pt-BR", "It rains.")]),
    "Hunyuan-MT-7B": ("hunyuan_v1_dense", HUNYUAN, ["<|startoftext|>", "<|eos|>", "<|extra_0|>", "<|extra_4|>"],
                      lambda *a: user(hunyuan(*a)), [*PAIRS, ("en", "zh", "It rains."), ("zh", "fr", "下雨了。")]),
    "HY-MT1.5-1.8B": ("hunyuan_v1_dense", HUNYUAN, ["<|startoftext|>", "<|eos|>", "<|extra_0|>", "<|extra_4|>"],
                      lambda *a, **k: user(hunyuan15(*a, **k)),
                      [*PAIRS, ("en", "zh", "It rains."), (*PAIRS[0], dict(terms=TERMS)), (*PAIRS[0], dict(context=CONTEXT))]),
    "Hy-MT2-1.8B": ("hunyuan_v1_dense", HUNYUAN, ["<|startoftext|>", "<|eos|>", "<|extra_0|>", "<|extra_4|>"],
                    lambda *a, **k: user(hunyuan2(*a, **k)), [*PAIRS, (*PAIRS[0], dict(terms=TERMS))]),
    "TowerInstruct-7B-v0.2": ("llama", CHATML, ["<s>", "<|im_end|>", "<|im_start|>"], lambda *a: user(tower(*a)), PAIRS),
    "Tower-Plus-2B": ("gemma2", GEMMA, ["<bos>", "<end_of_turn>", "<start_of_turn>"], lambda *a: user(source_text(*a)),
                      [*PAIRS, ("en", "pt-BR", "It rains.")]),
    "EuroLLM-1.7B-Instruct": ("llama", CHATML, ["<s>", "<|im_end|>", "<|im_start|>"], lambda *a: user(source_text(*a), ""), PAIRS),
    "ALMA-7B-R": ("llama", None, ["<s>", "</s>"], this_from, PAIRS),
    "X-ALMA-13B-Group1": ("llama", INST, ["<s>", "</s>"], lambda *a: user(this_from(*a)), PAIRS),
    "GemmaX2-28-2B-v0.2": ("gemma2", None, ["<bos>", "<eos>"], this_from, PAIRS),
    "Seed-X-PPO-7B": ("mistral", None, ["<s>", "</s>", "<zh>", "<de>", "<en>"], seed_x, PAIRS),
    "sarvam-translate": ("gemma3_text", GEMMA_SYSTEM, ["<bos>", "<end_of_turn>", "<start_of_turn>"],
                         lambda s, t, x: user(x, f"Translate the text below to {NAMES[t]}."), [("en", "hi", "It rains.")]),
    "some-chat-model": ("qwen3", THINKING, ["<|endoftext|>", "<|im_end|>", "<|im_start|>", "<think>", "</think>"],
                        lambda *a, **k: user(general(*a, **k)),
                        [*PAIRS, (*PAIRS[0], dict(terms=TERMS, context=CONTEXT, style="formal"))]),
}
CORPUS = ["Translate the following text from English into German. The dog sleeps in the old house.", "Guten Morgen: es regnet.",
          "without additional explanation", "Translate this from German to English:", "Der Hund schläft im alten Haus."]


def make_tokenizer(special, chat_template):
    """A small byte-level BPE. special[0] begins a text, special[1] ends an answer."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=290, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                                      special_tokens=["<pad>", *special], show_progress=False))
    # <think> is an ordinary added token, as in Qwen3
    t.add_tokens([AddedToken(s, special=False, normalized=False) for s in special if "think" in s])
    if chat_template is None:
        t.post_processor = processors.TemplateProcessing(single=f"{special[0]} $A", special_tokens=[(special[0], t.token_to_id(special[0]))])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=t, bos_token=special[0], eos_token=special[1], pad_token="<pad>",
                                                chat_template=chat_template)


def results(model, tokenizer, make_prompt, pairs, chat):
    """The cases, or None if a step is close to a tie or a translation is dull."""
    cases = []
    for s, t, text, *more in pairs:
        further = more[0] if more else {}
        prompt = make_prompt(s, t, text, **further)
        if chat:
            asked = dict(enable_thinking=False) if "enable_thinking" in tokenizer.chat_template else {}
            ids = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=True, return_dict=False, **asked)
        else:
            ids = tokenizer(prompt)["input_ids"]
        given = torch.tensor([list(ids)])
        with torch.no_grad():
            out = model.generate(given, attention_mask=torch.ones_like(given), do_sample=False, max_new_tokens=14,
                                 output_logits=True, return_dict_in_generate=True)
            beam = model.generate(given, attention_mask=torch.ones_like(given), do_sample=False, num_beams=3, max_new_tokens=10,
                                  length_penalty=1.0)
        best = torch.stack(out.logits, 1)[0].topk(2).values
        if (best[:, 0] - best[:, 1]).min() < 4e-3:
            return None
        new = out.sequences[0, given.shape[1]:].tolist()
        if len(set(new)) < 4:
            return None
        logits = torch.log_softmax(torch.stack(out.logits, 1)[0].float(), -1)
        cases.append(dict(source=s, target=t, text=text, **further, prompt_ids=given[0].tolist(), greedy=new,
                          beam=beam[0, given.shape[1]:].tolist(),
                          log_prob=round(sum(logits[i, token].item() for i, token in enumerate(new)), 4)))
    return cases


def main():
    torch.set_num_threads(1)
    p = argparse.ArgumentParser()
    p.add_argument("out"), p.add_argument("--seed", type=int, default=1), p.add_argument("--only")
    a = p.parse_args()
    for name, (kind, template, special, make_prompt, pairs) in FAMILIES.items():
        if a.only and name not in a.only.split(","):
            continue
        tokenizer = make_tokenizer(special, template)
        kinds = dict(gemma2=dict(query_pre_attn_scalar=8, sliding_window=512), gemma3_text=dict(query_pre_attn_scalar=8, sliding_window=512),
                     mistral=dict(sliding_window=None))
        sizes = SIZES | kinds.get(kind, {}) | dict(vocab_size=len(tokenizer), pad_token_id=0, bos_token_id=tokenizer.bos_token_id,
                                                   eos_token_id=tokenizer.eos_token_id)
        for seed in range(a.seed, a.seed + 400):
            torch.manual_seed(seed)
            model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(kind, **sizes),
                                                                  attn_implementation="eager").eval()
            with torch.no_grad():  # every weight matters, and outputs vary
                for key, w in model.named_parameters():
                    w.copy_((0 if "gemma" in kind else 1) * (w.dim() == 1) + torch.randn_like(w) * (.2 if w.dim() == 1 else .05 if "embed" in key else .6))
            if cases := results(model, tokenizer, make_prompt, pairs, template is not None):
                break
        else:
            raise SystemExit(f"{name}: no seed gives clear results")
        out = pathlib.Path(a.out) / name
        model.save_pretrained(out), tokenizer.save_pretrained(out)
        (out / "cases.json").write_text(json.dumps(dict(transformers=transformers.__version__, seed=seed, cases=cases), indent=1) + "\n")
        print(name, "seed", seed, [c["greedy"][:8] for c in cases])


if __name__ == "__main__":
    main()
