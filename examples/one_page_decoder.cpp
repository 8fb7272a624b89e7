// A decoder on one page, with its training, in plain C++ without a library. It learns to reverse: it reads "bcad|" and
// writes "dacb.". Every part is a forward function that follows its formula, and beside it the gradient:
//
//   x = E[ids] + P                                         embeddings and learned positions             [T, d]
//   h = x + Attention(Norm(x)),  x = h + FF(Norm(h))       in each layer: two sublayers, two residuals
//   logits = Norm(x) E^T                                   the output matrix is the embedding, tied     [T, V]
//   loss = mean of -log softmax(logits)[next id]           cross-entropy
//
// This is GPT-2 [Radford et al. 2019] with ReLU: the decoder of Vaswani et al. 2017 without cross-attention, with the
// norm before each sublayer. dX stands for the derivative of the loss with respect to X. A part keeps what
// its gradient needs.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace one_page {

// --- matrices, row by row ---

struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;
  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
  double& operator()(std::size_t i, std::size_t j) { return values[i * columns + j]; }
  double operator()(std::size_t i, std::size_t j) const { return values[i * columns + j]; }
};

Matrix operator*(const Matrix& A, const Matrix& B) {
  Matrix C(A.rows, B.columns);
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t k = 0; k < A.columns; ++k)
      for (std::size_t j = 0; j < B.columns; ++j) C(i, j) += A(i, k) * B(k, j);
  return C;
}

Matrix operator*(double a, Matrix A) {
  for (double& x : A.values) x *= a;
  return A;
}

Matrix& operator+=(Matrix& A, const Matrix& B) {
  for (std::size_t i = 0; i < A.values.size(); ++i) A.values[i] += B.values[i];
  return A;
}

Matrix operator+(Matrix A, const Matrix& B) {
  return A += B;
}

Matrix transposed(const Matrix& A) {
  Matrix T(A.columns, A.rows);
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t j = 0; j < A.columns; ++j) T(j, i) = A(i, j);
  return T;
}

/// The columns of head h of so many.
Matrix head(const Matrix& A, std::size_t h, std::size_t heads) {
  Matrix H(A.rows, A.columns / heads);
  for (std::size_t i = 0; i < H.rows; ++i)
    for (std::size_t j = 0; j < H.columns; ++j) H(i, j) = A(i, h * H.columns + j);
  return H;
}

void set_head(Matrix& A, std::size_t h, const Matrix& H) {
  for (std::size_t i = 0; i < H.rows; ++i)
    for (std::size_t j = 0; j < H.columns; ++j) A(i, h * H.columns + j) = H(i, j);
}

// --- weights, and how Adam changes them ---

struct Weight {
  Matrix value, gradient, m, v;
  Weight(std::size_t r, std::size_t c) : value(r, c), gradient(r, c), m(r, c), v(r, c) {}
};

// m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,  w = w - rate m' / (sqrt(v') + eps), where m' = m / (1 - b1^t) and
// v' = v / (1 - b2^t) undo that both begin at 0 [Kingma & Ba 2015, algorithm 1].
void adam(Weight& w, double rate, int t) {
  constexpr double b1 = 0.9, b2 = 0.98, eps = 1e-9;  // [Vaswani et al. 2017, section 5.3]
  for (std::size_t i = 0; i < w.value.values.size(); ++i) {
    double &g = w.gradient.values[i], &m = w.m.values[i], &v = w.v.values[i];
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    w.value.values[i] -= rate * (m / (1 - std::pow(b1, t))) / (std::sqrt(v / (1 - std::pow(b2, t))) + eps);
    g = 0;
  }
}

// --- the parts ---

// y = x W + b
struct Linear {
  Weight W, b;
  Matrix x;
  Linear(std::size_t in, std::size_t out) : W(in, out), b(1, out) {}

  Matrix forward(const Matrix& input) {
    x = input;
    Matrix y = x * W.value;
    for (std::size_t i = 0; i < y.rows; ++i)
      for (std::size_t j = 0; j < y.columns; ++j) y(i, j) += b.value(0, j);
    return y;
  }

  // dW = x^T dy,  db = the sum of dy's rows,  dx = dy W^T
  Matrix backward(const Matrix& dy) {
    W.gradient += transposed(x) * dy;
    for (std::size_t i = 0; i < dy.rows; ++i)
      for (std::size_t j = 0; j < dy.columns; ++j) b.gradient(0, j) += dy(i, j);
    return dy * transposed(W.value);
  }
};

// y = g o n + b, where n = (x - mean(x)) / sqrt(var(x) + eps) row by row [Ba et al. 2016, eq. 4]
struct Norm {
  Weight g, b;
  Matrix n;
  std::vector<double> r;  // 1 / sqrt(var(x) + eps)
  explicit Norm(std::size_t d) : g(1, d), b(1, d) { std::fill(g.value.values.begin(), g.value.values.end(), 1.0); }

  Matrix forward(const Matrix& x) {
    n = Matrix(x.rows, x.columns), r.assign(x.rows, 0);
    Matrix y(x.rows, x.columns);
    const auto d = static_cast<double>(x.columns);
    for (std::size_t i = 0; i < x.rows; ++i) {
      double mean = 0, variance = 0;
      for (std::size_t j = 0; j < x.columns; ++j) mean += x(i, j) / d;
      for (std::size_t j = 0; j < x.columns; ++j) variance += (x(i, j) - mean) * (x(i, j) - mean) / d;
      r[i] = 1 / std::sqrt(variance + 1e-5);
      for (std::size_t j = 0; j < x.columns; ++j) {
        n(i, j) = (x(i, j) - mean) * r[i];
        y(i, j) = g.value(0, j) * n(i, j) + b.value(0, j);
      }
    }
    return y;
  }

  // dg = sum of dy o n,  db = sum of dy,  dn = dy o g,  dx = r (dn - mean(dn) - n mean(dn o n))
  Matrix backward(const Matrix& dy) {
    Matrix dx(dy.rows, dy.columns);
    const auto d = static_cast<double>(dy.columns);
    for (std::size_t i = 0; i < dy.rows; ++i) {
      double mean = 0, mean_n = 0;
      for (std::size_t j = 0; j < dy.columns; ++j) {
        g.gradient(0, j) += dy(i, j) * n(i, j);
        b.gradient(0, j) += dy(i, j);
        mean += dy(i, j) * g.value(0, j) / d;
        mean_n += dy(i, j) * g.value(0, j) * n(i, j) / d;
      }
      for (std::size_t j = 0; j < dy.columns; ++j)
        dx(i, j) = r[i] * (dy(i, j) * g.value(0, j) - mean - n(i, j) * mean_n);
    }
    return dx;
  }
};

// softmax(S)_j = exp(S_j) / sum of exp(S): the row's largest is subtracted first, which changes nothing but keeps exp finite.
Matrix softmax(Matrix S) {
  for (std::size_t i = 0; i < S.rows; ++i) {
    double largest = S(i, 0), sum = 0;
    for (std::size_t j = 0; j < S.columns; ++j) largest = std::max(largest, S(i, j));
    for (std::size_t j = 0; j < S.columns; ++j) sum += S(i, j) = std::exp(S(i, j) - largest);
    for (std::size_t j = 0; j < S.columns; ++j) S(i, j) /= sum;
  }
  return S;
}

// The mask: a token sees itself and those before it. exp(-inf) = 0, so a later one gets no weight.
Matrix masked(Matrix S) {
  for (std::size_t i = 0; i < S.rows; ++i)
    for (std::size_t j = i + 1; j < S.columns; ++j) S(i, j) = -std::numeric_limits<double>::infinity();
  return S;
}

// By head: P = softmax(masked(Q K^T / sqrt(d_k))), Y = P V; the heads side by side, times W_O
// [Vaswani et al. 2017, eq. 1 and section 3.2.2]
struct Attention {
  std::size_t heads;
  double scale;
  Linear q, k, v, out;
  Matrix Q, K, V;
  std::vector<Matrix> P;
  Attention(std::size_t d, std::size_t h)
      : heads(h), scale(1 / std::sqrt(static_cast<double>(d / h))), q(d, d), k(d, d), v(d, d), out(d, d), P(h) {}

  Matrix forward(const Matrix& x) {
    Q = q.forward(x), K = k.forward(x), V = v.forward(x);
    Matrix Y(x.rows, x.columns);
    for (std::size_t h = 0; h < heads; ++h) {
      P[h] = softmax(masked(scale * (head(Q, h, heads) * transposed(head(K, h, heads)))));
      set_head(Y, h, P[h] * head(V, h, heads));
    }
    return out.forward(Y);
  }

  // dV = P^T dY,  dP = dY V^T,  dS = P o (dP - rowsum(dP o P)),  dQ = scale dS K,  dK = scale dS^T Q
  Matrix backward(const Matrix& dy) {
    const Matrix dY = out.backward(dy);
    Matrix dQ(dy.rows, dy.columns), dK(dy.rows, dy.columns), dV(dy.rows, dy.columns);
    for (std::size_t h = 0; h < heads; ++h) {
      Matrix dS = head(dY, h, heads) * transposed(head(V, h, heads));  // dP, which the loop turns into dS
      for (std::size_t i = 0; i < dS.rows; ++i) {
        double sum = 0;
        for (std::size_t j = 0; j < dS.columns; ++j) sum += dS(i, j) * P[h](i, j);
        for (std::size_t j = 0; j < dS.columns; ++j) dS(i, j) = P[h](i, j) * (dS(i, j) - sum);
      }
      set_head(dQ, h, scale * (dS * head(K, h, heads)));
      set_head(dK, h, scale * (transposed(dS) * head(Q, h, heads)));
      set_head(dV, h, transposed(P[h]) * head(dY, h, heads));
    }
    return q.backward(dQ) + k.backward(dK) + v.backward(dV);
  }
};

// FF(x) = max(0, x W_1 + b_1) W_2 + b_2 [Vaswani et al. 2017, eq. 2]
struct FeedForward {
  Linear first, second;
  FeedForward(std::size_t d, std::size_t d_ff) : first(d, d_ff), second(d_ff, d) {}

  Matrix forward(const Matrix& x) {
    Matrix inner = first.forward(x);
    for (double& a : inner.values) a = std::max(a, 0.0);
    return second.forward(inner);
  }

  // The slope of max(0, a) is 1 where the result is above 0, else 0.
  Matrix backward(const Matrix& dy) {
    Matrix d = second.backward(dy);
    for (std::size_t i = 0; i < d.values.size(); ++i) d.values[i] *= second.x.values[i] > 0 ? 1 : 0;
    return first.backward(d);
  }
};

// h = x + Attention(Norm(x)),  y = h + FF(Norm(h))
struct Layer {
  Norm norm_1, norm_2;
  Attention attention;
  FeedForward feed_forward;
  Layer(std::size_t d, std::size_t heads, std::size_t d_ff)
      : norm_1(d), norm_2(d), attention(d, heads), feed_forward(d, d_ff) {}

  Matrix forward(const Matrix& x) {
    const Matrix h = x + attention.forward(norm_1.forward(x));
    return h + feed_forward.forward(norm_2.forward(h));
  }

  // A sum passes its gradient to both terms: dh = dy + what came through FF, dx = dh + what came through Attention.
  Matrix backward(const Matrix& dy) {
    const Matrix dh = dy + norm_2.backward(feed_forward.backward(dy));
    return dh + norm_1.backward(attention.backward(dh));
  }
};

struct Sizes {
  std::size_t vocabulary, positions, d, heads, d_ff, layers;
};

struct Decoder {
  Weight E, P;
  std::vector<Layer> layers;
  Norm last;
  std::vector<int> ids;
  Matrix n;
  explicit Decoder(const Sizes& s)
      : E(s.vocabulary, s.d), P(s.positions, s.d), layers(s.layers, Layer(s.d, s.heads, s.d_ff)), last(s.d) {}

  Matrix forward(const std::vector<int>& tokens) {
    ids = tokens;
    Matrix x(ids.size(), E.value.columns);
    for (std::size_t t = 0; t < x.rows; ++t)
      for (std::size_t j = 0; j < x.columns; ++j)
        x(t, j) = E.value(static_cast<std::size_t>(ids[t]), j) + P.value(t, j);
    for (Layer& layer : layers) x = layer.forward(x);
    n = last.forward(x);
    return n * transposed(E.value);
  }

  // E has two gradients: as the output matrix, and as the embedding.
  void backward(const Matrix& dlogits) {
    E.gradient += transposed(dlogits) * n;
    Matrix dx = last.backward(dlogits * E.value);
    for (std::size_t i = layers.size(); i-- > 0;) dx = layers[i].backward(dx);
    for (std::size_t t = 0; t < dx.rows; ++t)
      for (std::size_t j = 0; j < dx.columns; ++j) {
        E.gradient(static_cast<std::size_t>(ids[t]), j) += dx(t, j);
        P.gradient(t, j) += dx(t, j);
      }
  }

  /// All weights; the matrices of products first, whose first values are random.
  std::vector<Weight*> weights() {
    std::vector<Weight*> all{&E, &P}, others{&last.g, &last.b};
    for (Layer& l : layers) {
      for (Linear* f : {&l.attention.q, &l.attention.k, &l.attention.v, &l.attention.out, &l.feed_forward.first,
                        &l.feed_forward.second})
        all.push_back(&f->W), others.push_back(&f->b);
      for (Norm* f : {&l.norm_1, &l.norm_2}) others.push_back(&f->g), others.push_back(&f->b);
    }
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
};

struct Loss {
  double value = 0;
  Matrix dlogits;
};

// The mean of -log softmax(logits)[label] over the tokens with a label; -1 is none. dlogits = (softmax - one(label)) / count
Loss cross_entropy(const Matrix& logits, const std::vector<int>& labels) {
  const auto count =
      static_cast<double>(labels.size()) - static_cast<double>(std::count(labels.begin(), labels.end(), -1));
  Loss loss{0, softmax(logits)};
  for (std::size_t t = 0; t < labels.size(); ++t) {
    const bool counts = labels[t] >= 0;
    const auto label = static_cast<std::size_t>(counts ? labels[t] : 0);
    if (counts) loss.value -= std::log(loss.dlogits(t, label)) / count, loss.dlogits(t, label) -= 1;
    for (std::size_t j = 0; j < logits.columns; ++j) loss.dlogits(t, j) *= counts ? 1 / count : 0;
  }
  return loss;
}

// --- the task: "bcad|dacb." as ids. A text whose numbers, each times its place, add up to a multiple of 10 is kept for
// the test ---

constexpr int letters = 8, bar = letters, stop = letters + 1;
constexpr std::size_t longest = 6;

struct Text {
  std::vector<int> ids;
  std::size_t length = 0;  // letters before the bar
  bool is_kept = false;
};

Text random_text(std::mt19937& random) {
  Text text{{}, 3 + random() % (longest - 2), false};
  std::size_t sum = 0;
  for (std::size_t i = 0; i < text.length; ++i) {
    text.ids.push_back(static_cast<int>(random() % letters));
    sum += static_cast<std::size_t>(text.ids[i]) * (i + 1);
  }
  text.ids.push_back(bar);
  for (std::size_t i = text.length; i-- > 0;) text.ids.push_back(text.ids[i]);
  text.ids.push_back(stop);
  text.is_kept = sum % 10 == 0;
  return text;
}

std::string written(const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) text += id == bar ? '|' : id == stop ? '.' : static_cast<char>('a' + id);
  return text;
}

/// The decoder reads all but the last token, and predicts at each place the next: what follows the bar counts.
double learn(Decoder& decoder, const Text& text) {
  const std::vector<int> tokens(text.ids.begin(), text.ids.end() - 1);
  std::vector<int> labels(text.ids.begin() + 1, text.ids.end());
  std::fill_n(labels.begin(), text.length, -1);
  const Loss loss = cross_entropy(decoder.forward(tokens), labels);
  decoder.backward(loss.dlogits);
  return loss.value;
}

/// Continues greedily: the likeliest token is appended, until it is the stop.
std::vector<int> reversed(Decoder& decoder, const Text& text) {
  std::vector<int> ids(text.ids.begin(), text.ids.begin() + static_cast<std::ptrdiff_t>(text.length) + 1);
  while (ids.back() != stop && ids.size() <= 2 * longest + 1) {
    const Matrix logits = decoder.forward(ids);
    const auto row = logits.values.end() - static_cast<std::ptrdiff_t>(logits.columns);
    ids.push_back(static_cast<int>(std::max_element(row, logits.values.end()) - row));
  }
  return ids;
}

/// What a head looks at when it writes a letter: the mean weight of the place in the text where that letter stands.
double weight_of_the_right_place(Decoder& decoder, const Text& text, const Layer& layer, std::size_t h) {
  decoder.forward(text.ids);
  double sum = 0;
  for (std::size_t i = 0; i < text.length; ++i) sum += layer.attention.P[h](text.length + i, text.length - 1 - i);
  return sum / static_cast<double>(text.length);
}

/// First values: matrices uniform with a standard deviation of 1/sqrt(32); norms and biases keep theirs.
void initialise(Decoder& decoder, std::mt19937& random) {
  for (Weight* w : decoder.weights())
    for (double& x : w->value.values)
      if (w->value.rows > 1) x = (static_cast<double>(random()) / 4294967296.0 - 0.5) * std::sqrt(12.0 / 32);
}

constexpr Sizes small{
    .vocabulary = letters + 2, .positions = 2 * longest + 2, .d = 32, .heads = 4, .d_ff = 64, .layers = 2};

}  // namespace one_page

#ifndef ONE_PAGE_DECODER_WITHOUT_MAIN  // other programs include this file: a test compares the decoder with tril's engine
int main() {
  using namespace one_page;
  constexpr int updates = 500, texts_an_update = 16;
  Decoder decoder(small);
  std::mt19937 random(1);
  initialise(decoder, random);
  std::size_t count = 0;
  for (const Weight* w : decoder.weights()) count += w->value.values.size();
  std::printf("%zu weights\n", count);

  for (int update = 1; update <= updates; ++update) {
    double loss = 0;
    for (int i = 0; i < texts_an_update;) {
      const Text text = random_text(random);
      if (!text.is_kept) loss += learn(decoder, text) / texts_an_update, ++i;
    }
    const double rate =
        0.004 * std::min(update / 100.0, (updates - update) / (updates - 100.0));  // warm-up, then down to 0
    for (Weight* w : decoder.weights()) {
      w->gradient = 1.0 / texts_an_update * w->gradient;
      adam(*w, rate, update);
    }
    if (update % 100 == 0) std::printf("update %4d  loss %.4f\n", update, loss);
  }

  int right = 0, seen = 0;
  for (; seen < 500;) {
    const Text text = random_text(random);
    if (!text.is_kept) continue;
    const std::vector<int> ids = reversed(decoder, text);
    right += ids == text.ids;
    if (++seen <= 4) std::printf("%s\n", written(ids).c_str());
  }
  std::printf("%.1f%% of %d unseen texts are reversed\n", 100.0 * right / seen, seen);

  const Text text = random_text(random);
  std::printf("weight of the place from which the next letter of %s must come:\n", written(text.ids).c_str());
  for (std::size_t l = 0; l < decoder.layers.size(); ++l) {
    std::printf("  layer %zu, by head ", l + 1);
    for (std::size_t h = 0; h < decoder.layers[l].attention.heads; ++h)
      std::printf(" %.2f", weight_of_the_right_place(decoder, text, decoder.layers[l], h));
    std::printf("\n");
  }
  return right > 0.97 * seen ? 0 : 1;
}
#endif
