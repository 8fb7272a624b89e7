// A small decoder that learns on this page: token and position embeddings, pre-norm layers of self-attention and feed-forward, a last
// norm, and the token embeddings again as output matrix. Each part's gradient is beside it.

// The shapes of the weights, by name. sizes: { vocabulary V, positions, width D, heads, inner F, layers }
function weightShapes({ vocabulary: V, positions, width: D, inner: F, layers }) {
  const shapes = { tokens: [V, D], positions: [positions, D] };
  for (let l = 0; l < layers; ++l)
    Object.assign(shapes, {
      [`${l}.self.norm.gain`]: [D], [`${l}.self.norm.bias`]: [D], [`${l}.self.qkv.W`]: [D, 3 * D], [`${l}.self.qkv.b`]: [3 * D],
      [`${l}.self.out.W`]: [D, D], [`${l}.self.out.b`]: [D],
      [`${l}.ff.norm.gain`]: [D], [`${l}.ff.norm.bias`]: [D], [`${l}.ff.inner.W`]: [D, F], [`${l}.ff.inner.b`]: [F],
      [`${l}.ff.out.W`]: [F, D], [`${l}.ff.out.b`]: [D],
    });
  return { ...shapes, 'norm.gain': [D], 'norm.bias': [D] };
}
// A model whose first weights follow from the seed alone, so that two models of one seed begin alike. All weights lie in one array, and
// all gradients in another: { sizes, causal, values, gradients, weights: by name, moments, updates }
function newModel(sizes, causal, seed) {
  const shapes = Object.entries(weightShapes(sizes)), count = shape => shape.reduce((a, b) => a * b, 1);
  const all = shapes.reduce((n, [, shape]) => n + count(shape), 0), random = randomFrom(seed);
  const model = { sizes, causal, values: new Float64Array(all), gradients: new Float64Array(all), weights: {},
    moments: [new Float64Array(all), new Float64Array(all)], updates: 0 };
  let at = 0;
  for (const [name, shape] of shapes) {
    const value = model.values.subarray(at, at + count(shape)), gradient = model.gradients.subarray(at, at + count(shape));
    // Embeddings: standard deviation 1/√D. A matrix keeps the size of what it multiplies: 1/√rows. Gains 1, biases 0.
    const deviation = shape.length === 1 ? 0 : 1 / Math.sqrt(/W$/.test(name) ? shape[0] : shape[1]);
    for (let i = 0; i < value.length; ++i) value[i] = name.endsWith('gain') ? 1 : deviation && deviation * normal(random);
    model.weights[name] = { value, gradient };
    at += value.length;
  }
  return model;
}
const partsOf = (model, name, ...parts) => Object.fromEntries(parts.map(p => [p, model.weights[`${name}.${p}`]]));

// The logits [R, V] of texts of token ids, and what the gradient needs. x is the residual stream.
function forward(model, texts) {
  const { width: D, layers, vocabulary: V } = model.sizes, E = model.weights.tokens.value, P = model.weights.positions.value;
  const ids = texts.flat(), R = ids.length, sequences = [];
  let begin = 0;
  for (const text of texts) sequences.push({ begin, length: text.length }), begin += text.length;
  let x = new Float64Array(R * D);
  for (const { begin, length } of sequences)
    for (let t = 0; t < length; ++t)
      for (let n = 0; n < D; ++n) x[(begin + t) * D + n] = E[ids[begin + t] * D + n] + P[t * D + n];
  const kept = [], options = { width: D, heads: model.sizes.heads, causal: model.causal };
  for (let l = 0; l < layers; ++l) {
    const norm = layerNorm(x, partsOf(model, `${l}.self.norm`, 'gain', 'bias'), R);
    const qkv = linear(norm.y, partsOf(model, `${l}.self.qkv`, 'W', 'b'), R), self = selfAttention(qkv, sequences, options);
    x = plus(x, linear(self.y, partsOf(model, `${l}.self.out`, 'W', 'b'), R));
    const ffNorm = layerNorm(x, partsOf(model, `${l}.ff.norm`, 'gain', 'bias'), R);
    const inner = relu(linear(ffNorm.y, partsOf(model, `${l}.ff.inner`, 'W', 'b'), R));
    x = plus(x, linear(inner, partsOf(model, `${l}.ff.out`, 'W', 'b'), R));
    kept.push({ norm, qkv, self, ffNorm, inner });
  }
  const last = layerNorm(x, partsOf(model, 'norm', 'gain', 'bias'), R), logits = new Float64Array(R * V);
  for (let r = 0; r < R; ++r)
    for (let v = 0; v < V; ++v) {
      let sum = 0;
      for (let n = 0; n < D; ++n) sum += last.y[r * D + n] * E[v * D + n];
      logits[r * V + v] = sum;
    }
  return { ids, R, sequences, options, kept, last, logits };
}
// Adds the gradients of all weights: the same steps as forward, from the last to the first.
function backward(model, pass, dlogits) {
  const { width: D, layers, vocabulary: V } = model.sizes, { ids, R, sequences, options, kept, last } = pass;
  const E = model.weights.tokens.value, dE = model.weights.tokens.gradient, dP = model.weights.positions.gradient;
  const dlast = new Float64Array(R * D);
  for (let r = 0; r < R; ++r)
    for (let v = 0; v < V; ++v) {
      const g = dlogits[r * V + v];
      if (g) for (let n = 0; n < D; ++n) dlast[r * D + n] += g * E[v * D + n], dE[v * D + n] += g * last.y[r * D + n];
    }
  let dx = layerNormGradient(last, partsOf(model, 'norm', 'gain', 'bias'), R, dlast);
  for (let l = layers - 1; l >= 0; --l) {
    const { norm, qkv, self, ffNorm, inner } = kept[l];
    const dinner = reluGradient(inner, linearGradient(inner, partsOf(model, `${l}.ff.out`, 'W', 'b'), R, dx));
    const dffNorm = linearGradient(ffNorm.y, partsOf(model, `${l}.ff.inner`, 'W', 'b'), R, dinner);
    dx = plus(dx, layerNormGradient(ffNorm, partsOf(model, `${l}.ff.norm`, 'gain', 'bias'), R, dffNorm));
    const dself = linearGradient(self.y, partsOf(model, `${l}.self.out`, 'W', 'b'), R, dx);
    const dqkv = selfAttentionGradient(qkv, sequences, options, self.weights, dself);
    const dnorm = linearGradient(norm.y, partsOf(model, `${l}.self.qkv`, 'W', 'b'), R, dqkv);
    dx = plus(dx, layerNormGradient(norm, partsOf(model, `${l}.self.norm`, 'gain', 'bias'), R, dnorm));
  }
  for (const { begin, length } of sequences)
    for (let t = 0; t < length; ++t)
      for (let n = 0; n < D; ++n) {
        const g = dx[(begin + t) * D + n];
        dE[ids[begin + t] * D + n] += g, dP[t * D + n] += g;
      }
}
const plus = (a, b) => a.map((x, i) => x + b[i]);

// Each token's target is the next one; of the tokens before `from`, and after the last one, nothing is asked.
const targetsOf = (ids, from) => ids.map((_, t) => t + 1 >= from && t + 1 < ids.length ? ids[t + 1] : -1);

// Adam [Kingma and Ba 2015], with a linear warm-up of the learning rate: rate · min(1, t / warmup), t = 1, 2 …
const ADAM = { beta1: 0.9, beta2: 0.98, epsilon: 1e-9 };
const rateAt = (t, { rate, warmup }) => warmup ? rate * Math.min(1, t / warmup) : rate;
function adam(model, options) {
  const { values, gradients: g, moments: [m, v] } = model, t = ++model.updates, rate = rateAt(t, options);
  const c1 = 1 - ADAM.beta1 ** t, c2 = 1 - ADAM.beta2 ** t;
  for (let i = 0; i < values.length; ++i) {
    m[i] = ADAM.beta1 * m[i] + (1 - ADAM.beta1) * g[i], v[i] = ADAM.beta2 * v[i] + (1 - ADAM.beta2) * g[i] * g[i];
    values[i] -= rate * (m[i] / c1) / (Math.sqrt(v[i] / c2) + ADAM.epsilon);
  }
}
// One update with a batch of examples { ids, from }. options: { rate, warmup, smoothing }. The loss, without label smoothing.
function learn(model, batch, options) {
  const pass = forward(model, batch.map(e => e.ids)), targets = batch.flatMap(e => targetsOf(e.ids, e.from));
  const { plain, dlogits } = crossEntropy(pass.logits, targets, model.sizes.vocabulary, options.smoothing);
  model.gradients.fill(0);
  backward(model, pass, dlogits);
  adam(model, options);
  return plain;
}

// The logits of the token after each text: all that the model reads when it generates.
function nextLogits(model, texts) {
  const { vocabulary: V, positions } = model.sizes, { logits, sequences } = forward(model, texts.map(ids => ids.slice(-positions)));
  return sequences.map(({ begin, length }) => logits.subarray((begin + length - 1) * V, (begin + length) * V));
}
const bestOf = logits => logits.reduce((best, x, v) => x > logits[best] ? v : best, 0);
// Greedy generation: the likeliest token, again and again, until each text has its length.
function generate(model, texts, lengths) {
  const written = texts.map(ids => ids.slice());
  for (;;) {
    const growing = written.filter((ids, i) => ids.length < lengths[i]);
    if (!growing.length) return written;
    nextLogits(model, growing).forEach((logits, i) => growing[i].push(bestOf(logits)));
  }
}
// How the model does when it generates the answers of examples: the mean of −log p of the right tokens, of which the model reads only
// those that come earlier; and the share of answers that greedy generation has right, with what it wrote.
function whenGenerating(model, examples) {
  const asked = examples.flatMap(({ ids, given }) => ids.slice(given).map((target, n) => ({ before: ids.slice(0, given + n), target })));
  const losses = nextLogits(model, asked.map(a => a.before)).map((logits, i) => crossEntropy(logits, [asked[i].target], logits.length, 0).plain);
  const written = generate(model, examples.map(e => e.ids.slice(0, e.given)), examples.map(e => e.ids.length));
  const isRight = written.map((ids, i) => ids.every((id, t) => id === examples[i].ids[t]));
  return { loss: losses.reduce((a, b) => a + b, 0) / losses.length, right: isRight.filter(Boolean).length / examples.length, written, isRight };
}
