"""A small language model of random weights with a chat template, by `transformers`, for check_clients.py --chat:

  python3 scripts/make_chat_model.py DIR && tril serve -m plays=DIR &
"""
import sys, torch
from tokenizers import Tokenizer, models, pre_tokenizers, decoders
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
out = sys.argv[1]
vocab = {}
for t in ["<s>", "</s>"] : vocab[t] = len(vocab)
for b in [chr(c) for c in range(33, 127)] + ['Ġ', 'Ċ']: vocab[b] = len(vocab)
tok = Tokenizer(models.BPE(vocab=vocab, merges=[]))
tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tok.decoder = decoders.ByteLevel()
fast = PreTrainedTokenizerFast(tokenizer_object=tok, bos_token="<s>", eos_token="</s>")
fast.chat_template = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
fast.save_pretrained(out)
torch.manual_seed(3)
m = GPT2LMHeadModel(GPT2Config(vocab_size=len(vocab), n_positions=1024, n_embd=64, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1, initializer_range=0.3))
m.save_pretrained(out)
