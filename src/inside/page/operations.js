// What each point of a pass is: the formula, and the file whose code computes it, where the pass does not name the line.
const OPERATIONS = {
  tokens: ['id(piece)', 'src/trace/text.cpp'],
  embeddings: ['x = E[id]', 'src/nn/layers.cpp'],
  positions: ['p = PE(position)', 'src/nn/positions.cpp'],
  stream: ['x₀ = x + p', 'src/model/spec/stack.h'],
  input: ['xₗ', 'src/model/spec/stack.h'],
  sub_input: ['x = norm(xₗ)  |  xₗ', 'src/nn/blocks.cpp'],
  q: ['q = x W_Q', 'src/nn/attention.cpp'],
  k: ['k = x W_K', 'src/nn/attention.cpp'],
  v: ['v = x W_V', 'src/nn/attention.cpp'],
  latent: ['c = x W_down', 'src/nn/latent_attention.cpp'],
  bias: ['b(i, j)', 'src/nn/relative_bias.cpp'],
  softcap: ['c', 'src/ops/observed_attention.cpp'],
  scores: ['s = q kᵀ / √d', 'src/ops/observed_attention.cpp'],
  mask: ['', 'src/ops/allowed_pairs.cpp'],
  masked_scores: ['s′ = s (m = 1),  −∞ (m = 0)', 'src/ops/observed_attention.cpp'],
  weights: ['w = softmax(s′)', 'src/ops/attention.cpp'],
  heads: ['h = w v', 'src/ops/attention.cpp'],
  out: ['y = [h₁ … h_H] W_O', 'src/nn/attention.cpp'],
  ff_out: ['y = inner W₂', 'src/nn/layers.cpp'],
  inner: ['inner = f(x W₁)', 'src/nn/layers.cpp'],
  after: ['x + y', 'src/nn/blocks.cpp'],
  router: ['r = x W_r', 'src/nn/routed.h'],
  chosen: ['top-k(r)', 'src/nn/routed.h'],
  expert_weights: ['g = softmax(r)', 'src/nn/routed.h'],
  state: ['S', 'src/nn/kv_cache.h'],
  output: ['xₗ₊₁ = x + y', 'src/model/spec/stack.h'],
  final: ['z', 'src/model/spec/stack.h'],
  logits: ['ℓ = z Eᵀ,  p = softmax(ℓ)', 'src/model/spec/model.h'],
  other: ['', 'src/tensor/observer.h'],
};
// { key, label key, side, layer, part, last } of a point's name.
function pointOf(name) {
  const parts = name.split('.'), last = parts[parts.length - 1], side = parts[0] === 'encoder' ? 'encoder' : 'decoder';
  const layer = /^\d+$/.test(parts[1] || '') ? Number(parts[1]) : null;
  let key = last;
  if (last === 'input' && parts.length > 3) key = 'sub_input';
  if (last === 'out' && parts.includes('feed_forward')) key = 'ff_out';
  if (last === 'after_self' || last === 'after_cross') key = 'after';
  if (!OPERATIONS[key]) key = 'other';
  const stage = layer === null ? (last === 'final' || last === 'logits' ? 'end' : 'begin') : layer;
  return { name, key, words: key === 'ff_out' ? 'out' : key, side, layer, stage, part: parts.slice(0, -1).join('.'), last,
    crossing: parts.includes('cross') || last === 'after_cross' };
}
