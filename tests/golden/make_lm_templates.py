"""One tiny random language model under many chat templates: the general prompt of a translation in each, with and without context,
terms and a style, and what `transformers` generates after it.

usage: make_lm_templates.py OUT_DIR [--seed N]

Most templates are those of tests/chat/chat_cases, which have the constructs of published families. The others are written here: for
messages that are lists of parts, for reasoning that the prompt begins, and for answers in channels. A translation ends where two
tokens are close to a tie."""
import argparse
import json
import pathlib

import torch
import transformers
from make_lm_translation import CONTEXT, PAIRS, SIZES, TERMS, general, make_tokenizer, user

# Pictures and texts alternate, and a string is no list of parts.
PARTS = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + ':' }}{% for part in message['content'] %}"
         "{% if part['type'] == 'image' %}{{ '<image>' }}{% elif part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}"
         "{{ '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant:' }}{% endif %}")
FIRST_PART = ("{{ bos_token }}{%- for message in messages -%}{{ 'USER: ' if message.role == 'user' else 'ASSISTANT: ' }}"
              "{{ message['content'][0]['text'] | trim }}{{ '\\n' if message.role == 'user' else eos_token }}{%- endfor -%}"
              "{%- if add_generation_prompt -%}ASSISTANT:{%- endif -%}")
# Either form, as in Gemma 3; turns must alternate.
EITHER = ("{{ bos_token }}{%- for message in messages -%}{%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}"
          "{{ raise_exception('roles must alternate') }}{%- endif -%}{{ '<|im_start|>' ~ message['role'] ~ '\\n' }}"
          "{%- if message['content'] is string -%}{{ message['content'] | trim }}{%- elif message['content'] is iterable -%}"
          "{%- for item in message['content'] -%}{{ item['text'] | trim if item['type'] == 'text' else '' }}{%- endfor -%}"
          "{%- else -%}{{ raise_exception('no content') }}{%- endif -%}{{ '<|im_end|>\\n' }}{%- endfor -%}"
          "{%- if add_generation_prompt -%}{{ '<|im_start|>model\\n' }}{%- endif -%}")
FORCED_THINKING = ("{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
                   "{% set ns = namespace(is_first=true, system='') %}{%- for message in messages %}{%- if message['role'] == 'system' %}"
                   "{% set ns.system = ns.system + message['content'] %}{%- endif %}{%- endfor %}{{ bos_token }}{{ ns.system }}"
                   "{%- for message in messages %}{%- if message['role'] == 'user' %}{{ '<｜User｜>' + message['content'] }}"
                   "{%- elif message['role'] == 'assistant' %}{% set content = message['content'] %}{% if '</think>' in content %}"
                   "{% set content = content.split('</think>')[-1] %}{% endif %}{{ '<｜Assistant｜>' + content + eos_token }}{%- endif %}"
                   "{%- endfor %}{% if add_generation_prompt %}{{ '<｜Assistant｜><think>\\n' }}{% endif %}")
CHANNELS = ("{%- set effort = reasoning_effort if reasoning_effort is defined else 'medium' -%}"
            "{{- '<|start|>system<|message|>Reasoning: ' + effort + '\\n# Valid channels: analysis, final.<|end|>' -}}"
            "{%- for message in messages -%}{%- if message.role == 'assistant' -%}"
            "{{- '<|start|>assistant<|channel|>final<|message|>' + message.content + '<|return|>' -}}{%- else -%}"
            "{{- '<|start|>' + message.role + '<|message|>' + message.content + '<|end|>' -}}{%- endif -%}{%- endfor -%}"
            "{%- if add_generation_prompt -%}<|start|>assistant{%- endif -%}")
TURN_TOKENS = ("{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set preamble = "
               "messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set preamble = 'You answer briefly.' %}{% endif %}"
               "{{ '<|turn|><|system|>' + preamble + '<|turn_end|>' }}{% for message in loop_messages %}{% set content = message['content'] %}"
               "{{ '<|turn|>' + ('<|user|>' if message['role'] == 'user' else '<|bot|>') + content.strip() + '<|turn_end|>' }}{% endfor %}"
               "{% if add_generation_prompt %}{{ '<|turn|><|bot|>' }}{% endif %}")
PREFIXED = ("[gMASK]<sop>{% macro said(m) %}{% if m.content is string %}{{ m.content }}{% else %}{{ m.content | map(attribute='text') | "
            "join }}{% endif %}{% endmacro %}{% for m in messages %}<|{{ m.role }}|>\n{{ said(m) }}{% endfor %}"
            "{% if add_generation_prompt %}<|assistant|>{{ '\n<think></think>\n' if enable_thinking is defined and not enable_thinking "
            "else '\n' }}{% endif %}")
SWITCHED = ("{%- if enable_thinking is not defined -%}{%- set enable_thinking = true -%}{%- endif -%}{%- set mode = '/think' if "
            "enable_thinking else '/no_think' -%}{{- '<|im_start|>system\\n' -}}{%- if messages[0].role == 'system' -%}"
            "{{- messages[0].content.rstrip() + '\\n' -}}{%- endif -%}{{- 'Mode: ' + mode + '<|im_end|>\\n' -}}{%- for message in messages "
            "-%}{%- set content = message.content if message.content is string else '' -%}{%- if message.role == 'user' -%}"
            "{{ '<|im_start|>user\\n' + content + '<|im_end|>\\n' }}{%- elif message.role == 'assistant' -%}{% generation %}"
            "{{ '<|im_start|>assistant\\n' + content.lstrip('\\n') + '<|im_end|>\\n' }}{% endgeneration %}{%- endif -%}{%- endfor -%}"
            "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' + ('' if enable_thinking else '<think>\\n\\n</think>\\n\\n') }}"
            "{%- endif -%}")
OWN = {"parts": PARTS, "first_part": FIRST_PART, "either": EITHER, "forced_thinking": FORCED_THINKING, "channels": CHANNELS,
       "turn_tokens": TURN_TOKENS, "prefixed": PREFIXED, "switched": SWITCHED}
BORROWED = ["chatml", "llama2", "mistral", "gemma", "phi3", "qwen3", "olmo2", "generation"]
LISTS = {"parts", "first_part"}
SPECIAL = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|return|>", "<|user|>",
           "<|assistant|>", "<|system|>", "<|bot|>", "<|turn|>", "<|turn_end|>", "<｜User｜>", "<｜Assistant｜>", "[gMASK]", "<sop>",
           "[INST]", "[/INST]", "<image>", "<think>", "</think>"]
CASES = [(*PAIRS[0], {}), (*PAIRS[1], dict(context=["Es war spät."])),
         (*PAIRS[0], dict(context=CONTEXT, terms=TERMS, style="formal"))]


def result(model, tokenizer, name, s, t, text, further):
    """A case, or None if it is dull: an early tie, or always the same token."""
    content = general(s, t, text, **further)
    messages = user([dict(type="text", text=content)] if name in LISTS else content)
    asked = dict(enable_thinking=False) if "enable_thinking" in tokenizer.chat_template else {}
    asked |= dict(reasoning_effort="low") if "reasoning_effort" in tokenizer.chat_template else {}
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False, **asked)
    given = torch.tensor([list(ids)])
    with torch.no_grad():
        out = model.generate(given, attention_mask=torch.ones_like(given), do_sample=False, max_new_tokens=12, output_logits=True,
                             return_dict_in_generate=True)
    best = torch.stack(out.logits, 1)[0].topk(2).values
    close = ((best[:, 0] - best[:, 1]) < 1e-3).nonzero().flatten().tolist()
    new = out.sequences[0, given.shape[1]:].tolist()[:close[0] if close else None]
    if len(new) < 4 or len(set(new)) < 3:
        return None
    return dict(template=name, source=s, target=t, text=text, **further, prompt_ids=list(ids), greedy=new)


def main():
    torch.set_num_threads(1)
    p = argparse.ArgumentParser()
    p.add_argument("out"), p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    known = json.loads((pathlib.Path(__file__).parent.parent / "chat/chat_cases/cases.json").read_text())["templates"]
    templates = {name: known[name] for name in BORROWED} | OWN
    tokenizer = make_tokenizer(SPECIAL, "")
    sizes = SIZES | dict(vocab_size=len(tokenizer), pad_token_id=0, bos_token_id=tokenizer.bos_token_id,
                         eos_token_id=tokenizer.eos_token_id, max_position_embeddings=1200)
    for seed in range(a.seed, a.seed + 200):
        torch.manual_seed(seed)
        model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model("llama", **sizes),
                                                              attn_implementation="eager").eval()
        with torch.no_grad():  # every weight matters, and outputs vary
            for key, w in model.named_parameters():
                w.copy_((w.dim() == 1) + torch.randn_like(w) * (.2 if w.dim() == 1 else .05 if "embed" in key else .6))
        cases = []
        for name, template in templates.items():
            tokenizer.chat_template = template
            for case in CASES:
                cases.append(result(model, tokenizer, name, *case))
                if not cases[-1]:
                    break
            if not cases[-1]:
                break
        else:
            break
    else:
        raise SystemExit("no seed gives clear results")
    out = pathlib.Path(a.out)
    tokenizer.chat_template = None
    model.save_pretrained(out), tokenizer.save_pretrained(out)
    head = json.dumps(dict(transformers=transformers.__version__, seed=seed, templates=templates), indent=1)
    lines = ",\n  ".join(json.dumps(case) for case in cases)  # one case a line
    (out / "templates.json").write_text(head[:-2] + ',\n "cases": [\n  ' + lines + "\n ]\n}\n")
    print("seed", seed, len(cases), "cases", sorted(len(c["greedy"]) for c in cases))


if __name__ == "__main__":
    main()
