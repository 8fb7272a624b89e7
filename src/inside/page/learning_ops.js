// The operations of the small model that learns on this page, each with its gradient below it. Arrays are flat, row by row; R counts
// rows. A weight is { value, gradient }; gradients of weights are added up, those of values are new arrays. Nothing here knows the page.

// y = x W + b.  x: [R, I], W: [I, O]
function linear(x, { W, b }, R) {
  const w = W.value, O = b.value.length, I = w.length / O, y = new Float64Array(R * O);
  for (let r = 0; r < R; ++r) {
    for (let o = 0; o < O; ++o) y[r * O + o] = b.value[o];
    for (let i = 0; i < I; ++i) {
      const a = x[r * I + i];
      for (let o = 0; o < O; ++o) y[r * O + o] += a * w[i * O + o];
    }
  }
  return y;
}
// dx = dy Wᵀ,  dW += xᵀ dy,  db += the sum of dy over the rows
function linearGradient(x, { W, b }, R, dy) {
  const w = W.value, dw = W.gradient, O = b.value.length, I = w.length / O, dx = new Float64Array(R * I);
  for (let r = 0; r < R; ++r) {
    for (let o = 0; o < O; ++o) b.gradient[o] += dy[r * O + o];
    for (let i = 0; i < I; ++i) {
      const a = x[r * I + i];
      let sum = 0;
      for (let o = 0; o < O; ++o) {
        const g = dy[r * O + o];
        sum += g * w[i * O + o];
        dw[i * O + o] += a * g;
      }
      dx[r * I + i] = sum;
    }
  }
  return dx;
}

// y = gain · (x − mean) / √(variance + ε) + bias, row by row. Saved for the gradient: n, the normalised rows, and 1 / √(variance + ε).
const NORM_EPSILON = 1e-5;
function layerNorm(x, { gain, bias }, R) {
  const D = gain.value.length, y = new Float64Array(R * D), n = new Float64Array(R * D), scale = new Float64Array(R);
  for (let r = 0; r < R; ++r) {
    let mean = 0, variance = 0;
    for (let i = 0; i < D; ++i) mean += x[r * D + i] / D;
    for (let i = 0; i < D; ++i) variance += (x[r * D + i] - mean) ** 2 / D;
    scale[r] = 1 / Math.sqrt(variance + NORM_EPSILON);
    for (let i = 0; i < D; ++i) {
      n[r * D + i] = (x[r * D + i] - mean) * scale[r];
      y[r * D + i] = gain.value[i] * n[r * D + i] + bias.value[i];
    }
  }
  return { y, n, scale };
}
// With g = dy · gain:  dx = scale · (g − mean of g − n · mean of (g n)),  dgain += Σ dy n,  dbias += Σ dy
function layerNormGradient({ n, scale }, { gain, bias }, R, dy) {
  const D = gain.value.length, dx = new Float64Array(R * D);
  for (let r = 0; r < R; ++r) {
    let mean = 0, along = 0;
    for (let i = r * D, c = 0; c < D; ++i, ++c) {
      gain.gradient[c] += dy[i] * n[i], bias.gradient[c] += dy[i];
      mean += dy[i] * gain.value[c] / D, along += dy[i] * gain.value[c] * n[i] / D;
    }
    for (let i = r * D, c = 0; c < D; ++i, ++c) dx[i] = scale[r] * (dy[i] * gain.value[c] - mean - n[i] * along);
  }
  return dx;
}

// y = max(x, 0), and its gradient, which flows where y > 0.
const relu = x => x.map(a => Math.max(a, 0));
const reluGradient = (y, dy) => dy.map((g, i) => y[i] > 0 ? g : 0);

// w = softmax(q kᵀ / √d + mask),  y = w v, head by head of each sequence. qkv: [R, 3 D], the queries, keys and values side by side.
// A sequence { begin, length } is a run of rows. With the causal mask a query sees no later key; without it, every key of its sequence.
// Saved for the gradient: the weights, [H, T, T] of each sequence.
function selfAttention(qkv, sequences, { width: D, heads, causal }) {
  const d = D / heads, scale = 1 / Math.sqrt(d), y = new Float64Array(qkv.length / 3), weights = [];
  for (const { begin, length: T } of sequences) {
    const w = new Float64Array(heads * T * T);
    for (let h = 0; h < heads; ++h)
      for (let i = 0; i < T; ++i) {
        const q = (begin + i) * 3 * D + h * d, row = (h * T + i) * T, seen = causal ? i + 1 : T, out = (begin + i) * D + h * d;
        let most = -Infinity, sum = 0;
        for (let j = 0, k = begin * 3 * D + D + h * d; j < seen; ++j, k += 3 * D) {
          let product = 0;
          for (let n = 0; n < d; ++n) product += qkv[q + n] * qkv[k + n];
          w[row + j] = scale * product;
          most = Math.max(most, w[row + j]);
        }
        for (let j = 0; j < seen; ++j) sum += w[row + j] = Math.exp(w[row + j] - most);
        for (let j = 0, v = begin * 3 * D + 2 * D + h * d; j < seen; ++j, v += 3 * D) {
          const a = w[row + j] /= sum;
          for (let n = 0; n < d; ++n) y[out + n] += a * qkv[v + n];
        }
      }
    weights.push(w);
  }
  return { y, weights };
}
// dv = wᵀ dy,  dw = dy vᵀ,  ds = w (dw − Σ w dw),  dq = ds k / √d,  dk = dsᵀ q / √d. A forbidden pair has w = 0, and so no gradient.
function selfAttentionGradient(qkv, sequences, { width: D, heads, causal }, weights, dy) {
  const d = D / heads, scale = 1 / Math.sqrt(d), dqkv = new Float64Array(qkv.length);
  sequences.forEach(({ begin, length: T }, s) => {
    const w = weights[s], dw = new Float64Array(T);
    for (let h = 0; h < heads; ++h)
      for (let i = 0; i < T; ++i) {
        const q = (begin + i) * 3 * D + h * d, row = (h * T + i) * T, seen = causal ? i + 1 : T, out = (begin + i) * D + h * d;
        let along = 0;
        for (let j = 0, v = begin * 3 * D + 2 * D + h * d; j < seen; ++j, v += 3 * D) {
          dw[j] = 0;
          for (let n = 0; n < d; ++n) {
            dw[j] += dy[out + n] * qkv[v + n];
            dqkv[v + n] += w[row + j] * dy[out + n];
          }
          along += w[row + j] * dw[j];
        }
        for (let j = 0, k = begin * 3 * D + D + h * d; j < seen; ++j, k += 3 * D) {
          const ds = scale * w[row + j] * (dw[j] - along);
          for (let n = 0; n < d; ++n) dqkv[q + n] += ds * qkv[k + n], dqkv[k + n] += ds * qkv[q + n];
        }
      }
  });
  return dqkv;
}

// The mean over the rows whose target is a token (−1: none) of  −(1 − ε) log p(target) − ε/V Σ log p,  p = softmax(logits).  [R, V]
// The gradient comes with it: (p − (1 − ε) onehot − ε/V) / rows. `plain` is the mean of −log p(target), whatever ε is.
function crossEntropy(logits, targets, V, epsilon) {
  const dlogits = new Float64Array(logits.length), rows = targets.reduce((n, target) => n + (target >= 0), 0);
  let loss = 0, plain = 0;
  targets.forEach((target, r) => {
    if (target < 0) return;
    let most = -Infinity, sum = 0, all = 0;
    for (let v = r * V; v < (r + 1) * V; ++v) most = Math.max(most, logits[v]);
    for (let v = r * V; v < (r + 1) * V; ++v) sum += Math.exp(logits[v] - most);
    for (let v = r * V; v < (r + 1) * V; ++v) {
      const log = logits[v] - most - Math.log(sum);
      all += log;
      dlogits[v] = (Math.exp(log) - epsilon / V) / rows;
    }
    dlogits[r * V + target] -= (1 - epsilon) / rows;
    const log = logits[r * V + target] - most - Math.log(sum);
    loss -= ((1 - epsilon) * log + epsilon / V * all) / rows, plain -= log / rows;
  });
  return { loss, plain, dlogits };
}
