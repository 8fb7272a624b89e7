// Load for a translation server: either requests arrive at random times, whether earlier ones have been answered or
// not (an open loop with exponential intervals), or a fixed number of clients send the next request when they get a
// response (a closed loop). Sentences are drawn from a file by Zipf's law over their lengths: the n-th shortest
// length has probability ~ 1 / n^S, so most are short and a few are long.
//
//   bench_load --port 8080 --text test.en --rate 200 --seconds 30
//   bench_load --port 8080 --text test.en --clients 64 --seconds 30
//
// Prints one JSON object: responses per second, source words per second, latencies in milliseconds, and other outcomes.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio.hpp>
#include <chrono>
#include <cmath>
#include <deque>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/rng.h"

namespace {

namespace net = boost::asio;
using net::ip::tcp;
using Clock = std::chrono::steady_clock;
using boost::system::error_code;

struct Options {
  int port = 8080, clients = 0;
  std::string text, model, key;
  double rate = 0, seconds = 10, zipf = 1, ramp = 1;
  std::uint64_t seed = 1;
  int beam = 0, print = 0;
  bool as_they_are = false;
};

// Draws sentences, with lengths by Zipf's law.
class Sentences {
 public:
  Sentences(const Options& o) : random_(o.seed, 1) {
    std::map<std::size_t, std::vector<std::string>> by_words;
    std::ifstream file(o.text);
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) by_words[o.as_they_are ? 0 : words_of(line)].push_back(line);
    }
    if (by_words.empty()) throw std::runtime_error(o.text + " has no lines");
    double sum = 0;
    for (auto& [words, list] : by_words) {  // shortest first
      sum += 1 / std::pow(static_cast<double>(lengths_.size() + 1), o.zipf);
      lengths_.push_back({std::move(list), sum});
    }
  }
  const std::string& draw(std::size_t& words) {
    const double at = random_.uniform() * lengths_.back().sum;
    const auto length =
        std::find_if(lengths_.begin(), lengths_.end() - 1, [&](const Length& l) { return at <= l.sum; });
    const std::string& line = length->list[random_.below(length->list.size())];
    words = words_of(line);
    return line;
  }
  double exponential(double rate) { return -std::log(1 - random_.uniform()) / rate; }

 private:
  static std::size_t words_of(const std::string& line) {
    return static_cast<std::size_t>(std::count(line.begin(), line.end(), ' ')) + 1;
  }
  struct Length {
    std::vector<std::string> list;
    double sum;
  };
  std::vector<Length> lengths_;
  tril::RandomSequence random_;
};

struct Result {
  std::vector<double> milliseconds, lengths;
  std::map<std::string, int> outcomes;
  std::size_t words = 0, sent = 0, in_time = 0;
};

// Processor time of this program so far: the load generator's use of the machine.
double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class Load;

// A connection that sends one request after the other.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(net::io_context& io, Load& load) : socket_(io), load_(load) {}
  /// @param due  when the request should have been sent; its latency counts from then
  void ask(std::string request, std::size_t words, Clock::time_point due);

 private:
  void write();
  void read();
  void done(const std::string& outcome);

  tcp::socket socket_;
  Load& load_;
  std::string request_;
  net::streambuf buffer_;
  std::size_t words_ = 0;
  Clock::time_point begun_;
};

class Load {
 public:
  explicit Load(const Options& o) : o_(o), sentences_(o), timer_(io_) {
    end_ = Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(o.seconds * 1e6));
    measured_from_ = Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(o.ramp * 1e6));
  }
  Result run() {
    next_ = Clock::now();
    if (o_.clients > 0)
      for (int i = 0; i < o_.clients; ++i) send(std::make_shared<Connection>(io_, *this));
    else
      arrive();
    io_.run_until(end_ + std::chrono::seconds(30));
    return std::move(result_);
  }
  void answered(const std::shared_ptr<Connection>& c, bool alive, const std::string& outcome, std::size_t words,
                Clock::time_point begun) {
    const auto now = Clock::now();
    if (begun >= measured_from_ && begun < end_) {
      ++result_.outcomes[outcome];
      if (outcome == "200") {
        result_.milliseconds.push_back(std::chrono::duration<double, std::milli>(now - begun).count());
        result_.lengths.push_back(static_cast<double>(words));
        if (now < end_) ++result_.in_time, result_.words += words;
      }
    }
    if (o_.clients > 0) {
      if (now < end_) send(alive ? c : std::make_shared<Connection>(io_, *this));
    } else if (alive) {
      idle_.push_back(c);
    }
  }
  int port() const { return o_.port; }

 private:
  void arrive() {
    next_ += std::chrono::microseconds(static_cast<std::int64_t>(1e6 * sentences_.exponential(o_.rate)));
    if (next_ >= end_) return;
    timer_.expires_at(next_);
    timer_.async_wait([this](error_code error) {
      if (error) return;
      if (idle_.empty()) {
        send(std::make_shared<Connection>(io_, *this));
      } else {
        const auto c = idle_.back();
        idle_.pop_back();
        send(c);
      }
      arrive();
    });
  }
  void send(const std::shared_ptr<Connection>& c) {
    std::size_t words = 0;
    nlohmann::json body{{"q", sentences_.draw(words)}, {"source", "auto"}, {"split", "none"}};
    if (!o_.model.empty()) body["model"] = o_.model;
    if (o_.beam > 0) body["beam_size"] = o_.beam;
    const std::string text = body.dump();
    ++result_.sent;
    c->ask("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
               (o_.key.empty() ? "" : "Authorization: Bearer " + o_.key + "\r\n") +
               "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text,
           words, o_.clients > 0 ? Clock::now() : next_);
  }

  const Options& o_;
  net::io_context io_;
  Sentences sentences_;
  net::steady_timer timer_;
  Clock::time_point end_, measured_from_, next_;
  std::vector<std::shared_ptr<Connection>> idle_;
  Result result_;
};

void Connection::ask(std::string request, std::size_t words, Clock::time_point due) {
  request_ = std::move(request), words_ = words;
  begun_ = due;
  if (socket_.is_open()) return write();
  socket_.async_connect(
      tcp::endpoint(net::ip::address_v4::loopback(), static_cast<std::uint16_t>(load_.port())),
      [self = shared_from_this()](error_code error) { error ? self->done("no connection") : self->write(); });
}

void Connection::write() {
  net::async_write(socket_, net::buffer(request_), [self = shared_from_this()](error_code error, std::size_t) {
    error ? self->done("lost") : self->read();
  });
}

void Connection::read() {
  net::async_read_until(socket_, buffer_, "\r\n\r\n", [self = shared_from_this()](error_code error, std::size_t n) {
    if (error) return self->done("lost");
    const std::string head(net::buffers_begin(self->buffer_.data()),
                           net::buffers_begin(self->buffer_.data()) + static_cast<std::ptrdiff_t>(n));
    self->buffer_.consume(n);
    const std::size_t at = head.find("Content-Length: ");
    const std::size_t length = at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
    const std::string status = head.substr(9, 3);
    const std::size_t there = self->buffer_.size();
    if (there >= length) {
      self->buffer_.consume(length);
      return self->done(status);
    }
    net::async_read(self->socket_, self->buffer_, net::transfer_exactly(length - there),
                    [self, length, status](error_code e, std::size_t) {
                      if (e) return self->done("lost");
                      self->buffer_.consume(length);
                      self->done(status);
                    });
  });
}

void Connection::done(const std::string& outcome) {
  const bool alive = outcome.size() == 3;
  if (!alive) {
    error_code ignored;
    socket_.close(ignored);
  }
  load_.answered(shared_from_this(), alive, outcome, words_, begun_);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Load for tril serve");
  app.add_option("--port", o.port, "of the server, on this machine");
  app.add_option("--text", o.text, "sentences, one a line")->required();
  app.add_option("--rate", o.rate, "requests a second, whatever becomes of them");
  app.add_option("--clients", o.clients, "instead: so many clients, each of which waits for its answer");
  app.add_option("--seconds", o.seconds, "how long");
  app.add_option("--ramp", o.ramp, "seconds at the beginning that do not count");
  app.add_option("--zipf", o.zipf, "exponent of the law by which lengths are drawn; 0: all lengths alike");
  app.add_flag("--as-they-are", o.as_they_are, "instead: every line of the file alike");
  app.add_option("--model", o.model, "a model's name");
  app.add_option("--beam-size", o.beam, "of each request; unset: as the server has it");
  app.add_option("--key", o.key, "an API key");
  app.add_option("--seed", o.seed, "of times and sentences");
  app.add_option("--print", o.print, "ask nothing, print so many sentences as they would be drawn: for tril translate");
  CLI11_PARSE(app, argc, argv);
  if (o.print > 0) {
    Sentences sentences(o);
    for (std::size_t words = 0; o.print > 0; --o.print) std::cout << sentences.draw(words) << "\n";
    return 0;
  }
  if ((o.rate > 0) == (o.clients > 0)) {
    std::cerr << "bench_load: give --rate or --clients\n";
    return 2;
  }
  Result r = Load(o).run();
  std::sort(r.milliseconds.begin(), r.milliseconds.end());
  std::sort(r.lengths.begin(), r.lengths.end());
  const auto quantile_of = [](const std::vector<double>& x, double q) {
    return x.empty() ? 0.0 : x[static_cast<std::size_t>(q * static_cast<double>(x.size() - 1))];
  };
  const auto quantile = [&](double q) { return quantile_of(r.milliseconds, q); };
  // A sentence of twice the tokens takes twice the steps, so the two spreads are compared.
  const auto spread = [&](const std::vector<double>& x) {
    return x.empty() ? 0.0 : quantile_of(x, 0.99) / quantile_of(x, 0.5);
  };
  const double seconds = o.seconds - o.ramp;
  std::cout << nlohmann::ordered_json{{"answers_per_second", static_cast<double>(r.in_time) / seconds},
                                      {"source_words_per_second", static_cast<double>(r.words) / seconds},
                                      {"p50_ms", quantile(0.5)},
                                      {"p90_ms", quantile(0.9)},
                                      {"p99_ms", quantile(0.99)},
                                      {"p99_over_p50", spread(r.milliseconds)},
                                      {"words_p99_over_p50", spread(r.lengths)},
                                      {"outcomes", r.outcomes},
                                      {"own_cpu_seconds", cpu_seconds()}}
            << std::endl;
  return 0;
}
