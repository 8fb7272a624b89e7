// The mathematics of the kinds of attention. Arrays are flat, row by row; T is a number of tokens, d of values. Nothing here knows the page.

// softmax(row) V without ever holding the whole row [Milakov and Gimelshein 2018; Dao et al. 2022]: the largest score m so far, the sum l
// of exp(score - m), and the result o so far. A tile with a larger score shrinks what there is by exp(m_old - m). values: [T, d]
function runningSoftmax(row, values, d, tile) {
  let m = -Infinity, l = 0, o = new Float64Array(d);
  const steps = [];
  for (let from = 0; from < row.length; from += tile) {
    const scores = Array.from(row.slice(from, from + tile)), most = Math.max(m, ...scores);
    if (most === -Infinity) { steps.push({ from, scores, m, shrink: 1, l, o: o.slice() }); continue; }  // all forbidden
    const shrink = Math.exp(m - most), e = scores.map(s => Math.exp(s - most));
    m = most;
    l = l * shrink + e.reduce((a, b) => a + b, 0);
    o = o.map((x, n) => x * shrink + e.reduce((sum, w, j) => sum + w * values[(from + j) * d + n], 0));
    steps.push({ from, scores, m, shrink, l, o: o.slice() });
  }
  return { steps, result: o.map(x => l > 0 ? x / l : 0) };
}

// Linear attention [Katharopoulos et al. 2020] with phi(x) = elu(x) + 1: S and z after each token, and what the token's query reads.
const phi = x => x > 0 ? x + 1 : Math.exp(x);
function linearAttention(q, k, v, T, d, dv) {
  const S = new Float64Array(d * dv), z = new Float64Array(d), states = [], results = [];
  for (let t = 0; t < T; ++t) {
    for (let i = 0; i < d; ++i) {
      const f = phi(k[t * d + i]);
      z[i] += f;
      for (let j = 0; j < dv; ++j) S[i * dv + j] += f * v[t * dv + j];
    }
    let below = 0;
    const o = new Float64Array(dv);
    for (let i = 0; i < d; ++i) {
      const f = phi(q[t * d + i]);
      below += f * z[i];
      for (let j = 0; j < dv; ++j) o[j] += f * S[i * dv + j];
    }
    states.push(S.slice()), results.push(o.map(x => x / below));
  }
  return { states, results };
}
// The same by all pairs: what token t reads.
function linearByPairs(q, k, v, t, d, dv) {
  const o = new Float64Array(dv);
  let below = 0;
  for (let j = 0; j <= t; ++j) {
    let w = 0;
    for (let i = 0; i < d; ++i) w += phi(q[t * d + i]) * phi(k[j * d + i]);
    below += w;
    for (let n = 0; n < dv; ++n) o[n] += w * v[j * dv + n];
  }
  return o.map(x => x / below);
}

// ALiBi [Press et al. 2022]: the slopes are powers of 2^(-8/n), for n heads that are a power of two; others take every second one of the
// next power as well.
function slopesOf(heads) {
  const n = 2 ** Math.floor(Math.log2(heads));
  const powers = of => Array.from({ length: of }, (_, h) => 2 ** (-8 * (h + 1) / of));
  return powers(n).concat(powers(2 * n).filter((_, h) => h % 2 === 0)).slice(0, heads);
}

// The angle by which one position turns pair i of d values, in rotary embeddings and in sinusoids alike.
const angle = (i, d) => 10000 ** (-2 * i / d);
// Rotary embeddings [Su et al. 2021]: the pairs (x_i, x_{i + d/2}) turned by p angles.
function turned(x, p) {
  const d = x.length, half = d / 2, y = Float64Array.from(x);
  for (let i = 0; i < half; ++i) {
    const c = Math.cos(p * angle(i, d)), s = Math.sin(p * angle(i, d));
    y[i] = c * x[i] - s * x[i + half], y[i + half] = s * x[i] + c * x[i + half];
  }
  return y;
}
// Sinusoids [Vaswani et al. 2017]: the pair (sin, cos) of each angle.
const sinusoid = (p, d) => Float64Array.from({ length: d }, (_, n) => (n % 2 ? Math.cos : Math.sin)(p * angle(n >> 1, d)));
// PE(p) with its pairs turned by k angles: sin(a + b) = sin a cos b + cos a sin b. It is PE(p + k).
function shifted(pe, k) {
  const y = Float64Array.from(pe), d = pe.length;
  for (let n = 0; n + 1 < d; n += 2) {
    const c = Math.cos(k * angle(n / 2, d)), s = Math.sin(k * angle(n / 2, d));
    y[n] = pe[n] * c + pe[n + 1] * s, y[n + 1] = pe[n + 1] * c - pe[n] * s;
  }
  return y;
}
// The largest difference of two rows.
const apart = (a, b) => a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
