// Linear attention of every instruction set against its quadratic form in double: y_i = sum_j A_ij v_j / sum_j A_ij
// with A_ij = phi(q_i) . phi(k_j), whose gradient is checked by finite differences; and step by step against all at
// once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "kern/attention.h"
#include "kern/support.h"

namespace tril::kern::linear_attention_test {
namespace {

using Matrix = std::vector<double>;  // [tokens, heads * d]

struct Shape {
  std::size_t heads, d_k, d_v;
  bool causal;
  std::vector<std::pair<int, int>> rows;
};

double phi(double x) {
  return x > 0 ? x + 1 : std::exp(x);
}

struct Twin {
  Matrix out, dq, dk, dv;
  Twin(const LinearAttention& a, const Matrix& q, const Matrix& k, const Matrix& v, const Matrix& d_out)
      : out(d_out.size()), dq(q.size()), dk(k.size()), dv(v.size()) {
    Matrix phi_q(q), phi_k(k);
    for (double& x : phi_q) x = phi(x);
    for (double& x : phi_k) x = phi(x);
    for (std::size_t r = 0; r < a.num_rows; ++r) {
      const RowSpan& s = a.rows[r];
      for (std::size_t h = 0; h < a.heads; ++h) {
        for (int i = 0; i < s.q_len; ++i) {
          const std::size_t qi = static_cast<std::size_t>(s.q_begin + i) * a.heads + h;
          const int seen = a.causal ? std::min(i + 1, s.k_len) : s.k_len;
          const auto key = [&](int j) { return static_cast<std::size_t>(s.k_begin + j) * a.heads + h; };
          std::vector<double> weight(static_cast<std::size_t>(seen)), d_weight(weight.size());
          double sum = 0, mean = 0;
          for (int j = 0; j < seen; ++j) {
            double& w = weight[static_cast<std::size_t>(j)];
            for (std::size_t c = 0; c < a.d_k; ++c) w += phi_q[qi * a.d_k + c] * phi_k[key(j) * a.d_k + c];
            sum += w;
          }
          for (int j = 0; j < seen; ++j) {
            const double w = weight[static_cast<std::size_t>(j)] / sum;
            for (std::size_t c = 0; c < a.d_v; ++c) {
              const double dy = d_out[qi * a.d_v + c];
              out[qi * a.d_v + c] += w * v[key(j) * a.d_v + c];
              dv[key(j) * a.d_v + c] += w * dy;
              d_weight[static_cast<std::size_t>(j)] += dy * v[key(j) * a.d_v + c];
            }
            mean += w * d_weight[static_cast<std::size_t>(j)];
          }
          for (int j = 0; j < seen; ++j) {
            const double dw = (d_weight[static_cast<std::size_t>(j)] - mean) / sum;
            for (std::size_t c = 0; c < a.d_k; ++c) {
              const std::size_t x = qi * a.d_k + c, y = key(j) * a.d_k + c;
              dq[x] += dw * phi_k[y] * (q[x] > 0 ? 1 : phi_q[x]);
              dk[y] += dw * phi_q[x] * (k[y] > 0 ? 1 : phi_k[y]);
            }
          }
        }
      }
    }
  }
};

/// [tokens, cols] with a wider stride
struct Strided {
  std::size_t rows, cols, stride;
  Floats32 x;
  Strided(std::size_t rows_, std::size_t cols_, std::size_t slack, std::uint64_t stream)
      : rows(rows_), cols(cols_), stride(cols_ + slack), x(rows_ * stride, slack) {
    fill_normal(x, stream);
  }
  Matrix dense() const {
    Matrix m;
    for (std::size_t i = 0; i < rows; ++i) m.insert(m.end(), x.data() + i * stride, x.data() + i * stride + cols);
    return m;
  }
  /// The expected memory after a call: `result` (added if requested), and unchanged padding.
  Matrix after(const Matrix& result, bool accumulate) const {
    Matrix m(x.data(), x.data() + x.size());
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t c = 0; c < cols; ++c)
        m[i * stride + c] = result[i * cols + c] + (accumulate ? m[i * stride + c] : 0);
    }
    return m;
  }
};

/// The arguments of one shape.
struct Data {
  std::vector<RowSpan> rows;
  std::size_t q_tokens = 0, k_tokens = 0;
  std::unique_ptr<Strided> q, k, v, d_out;
  LinearAttention a;
  Data(const Shape& s, std::size_t slack) {
    for (auto [q_len, k_len] : s.rows) {
      rows.push_back({static_cast<int>(q_tokens), q_len, static_cast<int>(k_tokens), k_len});
      q_tokens += static_cast<std::size_t>(q_len), k_tokens += static_cast<std::size_t>(k_len);
    }
    q = std::make_unique<Strided>(q_tokens, s.heads * s.d_k, slack, 1);
    k = std::make_unique<Strided>(k_tokens, s.heads * s.d_k, slack, 2);
    v = std::make_unique<Strided>(k_tokens, s.heads * s.d_v, slack, 3);
    d_out = std::make_unique<Strided>(q_tokens, s.heads * s.d_v, slack, 4);
    a.q = q->x, a.k = k->x, a.v = v->x;
    a.q_stride = q->stride, a.k_stride = k->stride, a.v_stride = v->stride;
    a.rows = rows.data(), a.num_rows = rows.size();
    a.heads = s.heads, a.d_k = s.d_k, a.d_v = s.d_v, a.causal = s.causal;
  }
};

class LinearAttentionTest : public KernelTest {};
INSTANTIATE_TEST_SUITE_P(Tables, LinearAttentionTest, every_table(), table_name);

// All tables of this processor are compared with one definition, which takes most of the time.
TEST(LinearAttentionDefinition, IsMatchedByEveryTable) {
  std::size_t n = 0;
  for (std::size_t d_k : {1u, 3u, 8u, 32u, 33u, 80u}) {
    for (bool causal : {false, true}) {
      for (bool accumulate : {false, true}) {
        const Shape s{1 + n % 3,
                      d_k,
                      n % 2 ? d_k : d_k + 7,
                      causal,
                      {{0, 0}, {1, 1}, {15, 15}, {0, 3}, {64, 64}, {65, 65}, {130, 257}, {150, 60}, {3, 0}}};
        const std::size_t slack = n++ % 4;
        const std::string name =
            "d_k " + std::to_string(d_k) + (causal ? " causal" : " full") + " slack " + std::to_string(slack);
        const Data d(s, slack);
        const Twin twin(d.a, d.q->dense(), d.k->dense(), d.v->dense(), d.d_out->dense());
        for (const Kernels* k : tables()) {
          SCOPED_TRACE(k->name);
          Floats32 scratch(k->linear_attention_scratch(s.d_k, s.d_v), slack);
          Strided out(d.q_tokens, s.heads * s.d_v, slack, 5);
          const Matrix expected = out.after(twin.out, false);
          k->linear_attention(d.a, out.x.data(), out.stride, scratch);
          expect_close(out.x, expected, 2e-5, name + " out");

          Strided dq(d.q_tokens, s.heads * s.d_k, slack, 6), dk(d.k_tokens, s.heads * s.d_k, slack, 7),
              dv(d.k_tokens, s.heads * s.d_v, slack, 8);
          const Matrix dq_expected = dq.after(twin.dq, accumulate), dk_expected = dk.after(twin.dk, accumulate),
                       dv_expected = dv.after(twin.dv, accumulate);
          k->linear_attention_backward(d.a, d.d_out->x, d.d_out->stride, dq.x, dq.stride, dk.x, dk.stride, dv.x,
                                       dv.stride, accumulate, scratch);
          expect_close(dq.x, dq_expected, 5e-5, name + " dq");
          expect_close(dk.x, dk_expected, 5e-5, name + " dk");
          expect_close(dv.x, dv_expected, 5e-5, name + " dv");
          EXPECT_TRUE(scratch.intact()) << name << ": scratch overrun";
        }
      }
    }
  }
}

TEST(LinearAttentionDefinition, GradientStaysExactInLongRows) {
  const Shape s{1, 16, 16, true, {{3000, 3000}}};  // S is undone chunk by chunk: the first tokens show any loss
  const Data d(s, 0);
  const Twin twin(d.a, d.q->dense(), d.k->dense(), d.v->dense(), d.d_out->dense());
  for (const Kernels* k : tables()) {
    SCOPED_TRACE(k->name);
    Floats32 scratch(k->linear_attention_scratch(16, 16)), dq(3000 * 16), dk(3000 * 16), dv(3000 * 16);
    k->linear_attention_backward(d.a, d.d_out->x, 16, dq, 16, dk, 16, dv, 16, false, scratch);
    expect_close(dq, twin.dq, 5e-5, "dq");
    expect_close(dk, twin.dk, 5e-5, "dk");
    expect_close(dv, twin.dv, 5e-5, "dv");
  }
}

TEST(LinearAttentionTwin, GradientIsThatOfFiniteDifferences) {
  for (bool causal : {false, true}) {
    const Data d({2, 3, 2, causal, {{4, 4}, {2, 3}}}, 0);
    Matrix x[3] = {d.q->dense(), d.k->dense(), d.v->dense()};
    const Matrix d_out = d.d_out->dense();
    const auto value = [&] {
      const Matrix y = Twin(d.a, x[0], x[1], x[2], d_out).out;
      return std::inner_product(y.begin(), y.end(), d_out.begin(), 0.0);
    };
    const Twin at(d.a, x[0], x[1], x[2], d_out);
    const Matrix* gradient[3] = {&at.dq, &at.dk, &at.dv};
    for (int which = 0; which < 3; ++which) {
      for (std::size_t i = 0; i < x[which].size(); ++i) {
        const double kept = x[which][i], step = 1e-5;
        x[which][i] = kept + step;
        const double above = value();
        x[which][i] = kept - step;
        const double below = value();
        x[which][i] = kept;
        ASSERT_NEAR((above - below) / (2 * step), (*gradient[which])[i], 1e-7) << "input " << which << " element " << i;
      }
    }
  }
}

TEST_P(LinearAttentionTest, StepsEqualTheCausalForm) {
  for (std::size_t d_k : {1u, 7u, 32u, 80u, 130u}) {
    constexpr std::size_t heads = 3, steps = 20, sequences = 2;
    const std::size_t d_v = d_k + 2;
    const Data d({heads, d_k, d_v, true, {{20, 20}, {20, 20}}}, 1);
    const Matrix expected = Twin(d.a, d.q->dense(), d.k->dense(), d.v->dense(), d.d_out->dense()).out;
    Floats32 state(sequences * heads * (d_k * d_v + d_k), 1), out(sequences * heads * d_v, 2);
    std::fill_n(state.data(), state.size(), 0.0f);
    for (std::size_t t = 0; t < steps; ++t) {
      LinearAttention one = d.a;  // token t of both sequences, which lie `steps` tokens apart
      one.q += t * one.q_stride, one.k += t * one.k_stride, one.v += t * one.v_stride;
      one.q_stride *= steps, one.k_stride *= steps, one.v_stride *= steps;
      const RowSpan rows[sequences] = {{0, 1, 0, 1}, {1, 1, 1, 1}};
      one.rows = rows, one.num_rows = sequences;
      k.linear_attention_step(one, state, out, heads * d_v);
      Matrix now;
      for (std::size_t r = 0; r < sequences; ++r) {
        const auto from = expected.begin() + static_cast<long>((r * steps + t) * heads * d_v);
        now.insert(now.end(), from, from + static_cast<long>(heads * d_v));
      }
      expect_close(out, now, 2e-5, "step " + std::to_string(t) + ", d_k " + std::to_string(d_k));
    }
    EXPECT_TRUE(state.intact());
  }
}

}  // namespace
}  // namespace tril::kern::linear_attention_test
