// The server with good and bad clients: slow, half-open, oversized, gone, and many.
#include "serve/http/http_server.h"
#include "support/little_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "support/certificate.h"
#include "support/client.h"
#include "support/temporary.h"

namespace tril::serve {
namespace {

using testing::Answer;
using testing::Client;

HttpServerOptions quick() {
  HttpServerOptions o;
  o.port = 0;
  o.most_body_bytes = 2000;
  o.most_head_bytes = 2000;
  return o;
}

// Begins a request whose one-byte body does not arrive, and waits until the server has read the rest.
void begin(Client& client, const std::string& path) {
  client.send("POST " + path + " HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n");
  EXPECT_EQ(client.receive(), "HTTP/1.1 100 Continue\r\n\r\n");
}

// Answers with the request's contents.
void echo(const HttpRequest& request, const std::shared_ptr<Responder>& out) {
  std::string text = request.method + " " + request.path;
  for (const auto& [name, value] : request.query) text += " " + name + "=" + value;
  out->send({.content_type = "text/plain", .body = text + "|" + request.body, .headers = {{"X-One", "1"}}});
}

TEST(HttpServer, TooFewThreadsAreAnErrorAndNotTheEnd) {
  if (!test::can_limit_memory()) GTEST_SKIP() << "no limit on addresses holds";
  const auto start_many = [] {
    HttpServerOptions o = quick();
    o.threads = 1000;
    const HttpServer server(o, echo);
  };
  EXPECT_EXIT(test::end_with_little_memory(start_many), ::testing::ExitedWithCode(7),
              "HTTP threads: only [0-9]+ of 1000 can be started");
}

TEST(HttpServer, AnswersOneAfterTheOther) {
  HttpServer server(quick(), echo);
  Client client(server.port());
  for (int i = 0; i < 5; ++i) {
    const Answer a = client.ask("POST", "/a%20b?x=1&y=a%2Bb+c", "body " + std::to_string(i));
    EXPECT_EQ(a.status, 200);
    EXPECT_EQ(a.body, "POST /a b x=1 y=a+b c|body " + std::to_string(i));
    EXPECT_EQ(a.headers.at("x-one"), "1");
    EXPECT_EQ(a.headers.at("connection"), "keep-alive");
  }
  const Answer head = client.ask("HEAD", "/h");
  EXPECT_EQ(head.headers.at("content-length"), "8");
  // Several at once, answered in order.
  client.send(Client::request("GET", "/1") + Client::request("POST", "/2", "x") + Client::request("GET", "/3"));
  for (const char* expected : {"GET /1|", "POST /2|x", "GET /3|"}) EXPECT_EQ(client.answer().body, expected);
  // In pieces.
  for (const char c : Client::request("POST", "/slow", "abc")) client.send(std::string(1, c));
  EXPECT_EQ(client.answer().body, "POST /slow|abc");
  client.send("POST /c HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(client.answer().body, "POST /c|abcde");
  client.send("POST /e HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_EQ(client.answer().body, "POST /e|ok");
  client.send("GET /old HTTP/1.0\r\n\r\n");
  EXPECT_EQ(client.answer().headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed(5));
}

TEST(HttpServer, RefusesWhatIsTooLargeOrNoHttp) {
  HttpServer server(quick(), echo);
  const auto status = [&](const std::string& bytes) {
    Client client(server.port());
    client.send(bytes);
    const Answer a = client.answer();
    EXPECT_TRUE(client.is_closed(5));
    return a.status;
  };
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 2001\r\n\r\n"), 413);
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nfff\r\n" + std::string(4095, 'x') +
                   "\r\n"),
            413);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nX: " + std::string(3000, 'x') + "\r\n\r\n"), 431);
  EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
  // Chunk headers are limited too, even if they never end.
  const std::string chunked = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string begin : {"3;", "0", "3\r\nabc\r\n1;", "0\r\nX: ", "3\r\nabc\r\n0\r\nA: b\r\nX: "})
    EXPECT_EQ(status(chunked + begin + std::string(30'000, '0')), 431) << begin;
  const std::string more = ";" + std::string(1000, 'x') + "\r\n";
  EXPECT_EQ(status(chunked + "3" + more + "abc\r\n0" + more + "X: y\r\nConnection: close\r\n\r\n"), 200);
  // Proxies may see another end of these bodies, so what follows must not be taken for a request.
  for (const std::string coding : {"xchunked", "chunked, chunked", "gzip, chunked", "chunked, identity", "identity"})
    EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: " + coding + "\r\n\r\nGET /x HTTP/1.1\r\n\r\n"),
              400)
        << coding;
  EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
            400);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: t\r\nHost: u\r\n\r\n"), 400);
  EXPECT_EQ(status(std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15)), 400);
  EXPECT_EQ(status("GET /%zz HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"), 400);
}

TEST(HttpServer, ShedsWhoIsSlowOrSilent) {
  HttpServerOptions o = quick();
  o.head_seconds = o.body_seconds = 0.4, o.write_seconds = 0.5, o.idle_seconds = 1;
  HttpServer server(o, echo);
  Client silent(server.port()), half(server.port()), loris(server.port()), body(server.port());
  half.send("GET / HTTP/1.1\r\n");
  body.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\nabc");
  const auto begun = std::chrono::steady_clock::now();
  std::string got;
  while (std::chrono::steady_clock::now() - begun < std::chrono::seconds(20)) {  // one byte at a time, forever
    if (!loris.send("x")) break;
    try {
      got = loris.receive(0.02);
      break;
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_TRUE(got.starts_with("HTTP/1.1 408"));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  EXPECT_EQ(half.answer().status, 408);
  EXPECT_EQ(body.answer().status, 408);
  EXPECT_TRUE(silent.is_closed(10));
  Client fine(server.port());
  EXPECT_EQ(fine.ask("GET", "/").status, 200);
}

TEST(HttpServer, MakesRoomAmongThoseWhoSayNothing) {
  HttpServerOptions o = quick();
  o.most_connections = 3;
  o.idle_seconds = 60;
  HttpServer server(o, echo);
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 3; ++i) idle.push_back(std::make_unique<Client>(server.port()));
  while (server.connections() < 3) std::this_thread::yield();
  for (int i = 0; i < 5; ++i) {
    Client busy(server.port());
    EXPECT_EQ(busy.ask("GET", "/").status, 200);
  }
  EXPECT_TRUE(idle[0]->is_closed(10));
}

TEST(HttpServer, MakesRoomAmongThoseWhoNeverFinish) {
  HttpServerOptions o = quick();
  o.most_connections = 3;
  o.body_seconds = 60;
  HttpServer server(o, echo);
  std::vector<std::unique_ptr<Client>> half;
  for (int i = 0; i < 3; ++i) {
    half.push_back(std::make_unique<Client>(server.port()));
    begin(*half.back(), "/");
  }
  Client other(server.port());
  EXPECT_EQ(other.ask("GET", "/").status, 200);
  EXPECT_TRUE(half[0]->is_closed(10));
}

// A request that has begun to arrive is not cut off for a new connection while there is an idle one; not even if its
// first bytes have arrived but are not read yet.
TEST(HttpServer, MakesRoomAmongThoseWhoHaveNotJustBegun) {
  for (const bool read_before : {false, true}) {
    HttpServerOptions o = quick();
    o.threads = 1;
    o.most_connections = 3;
    o.head_seconds = o.idle_seconds = 60;
    std::atomic<bool> held = false, go = false;
    HttpServer server(o, [&](const HttpRequest& request, const std::shared_ptr<Responder>& out) {
      if (request.path == "/hold") {  // bytes that arrive meanwhile are not read
        held = true;
        while (!go) std::this_thread::yield();
      }
      echo(request, out);
    });
    Client first(server.port()), silent(server.port());
    for (Client* one : {&first, &silent}) EXPECT_EQ(one->ask("GET", "/").status, 200);
    Client busy(server.port());
    if (read_before) first.send("GET /first HTTP/1.1\r\n"), std::this_thread::sleep_for(std::chrono::milliseconds(100));
    busy.send(Client::request("GET", "/hold"));
    while (!held) std::this_thread::yield();
    Client other(server.port());
    other.send(Client::request("GET", "/other"));
    if (!read_before) first.send("GET /first HTTP/1.1\r\n");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go = true;
    EXPECT_EQ(other.answer().body, "GET /other|");
    first.send("Host: t\r\n\r\n");
    EXPECT_EQ(first.answer().body, "GET /first|") << "it was there before";
    EXPECT_TRUE(silent.is_closed(10));
    EXPECT_EQ(busy.answer().body, "GET /hold|");
  }
}

// If all are sending, the one whose request has been arriving for the longest makes room, whatever the age of the connections.
TEST(HttpServer, MakesRoomAmongThoseWhoHaveBegunLongAgo) {
  HttpServerOptions o = quick();
  o.most_connections = 2;
  o.body_seconds = o.idle_seconds = 60;
  HttpServer server(o, echo);
  Client old(server.port());
  EXPECT_EQ(old.ask("GET", "/").status, 200);
  Client slow(server.port());
  begin(slow, "/slow");
  begin(old, "/old");
  Client other(server.port());
  EXPECT_EQ(other.ask("GET", "/other").status, 200);
  EXPECT_TRUE(slow.is_closed(10));
  old.send("x");
  EXPECT_EQ(old.answer().body, "POST /old|x");
}

TEST(HttpServer, StreamsAndNoticesWhoGoesAway) {
  std::atomic<int> gone = 0;
  std::mutex mutex;
  std::shared_ptr<Responder> held;
  HttpServer server(quick(), [&](const HttpRequest& r, const std::shared_ptr<Responder>& out) {
    out->on_gone([&] { ++gone; });
    if (r.path == "/hold") {
      const std::lock_guard lock(mutex);
      held = out;
      return;
    }
    if (r.path == "/drop") return;
    out->begin({.content_type = "text/event-stream", .body = "a"});
    std::thread([out] {
      for (int i = 0; i < 3; ++i) out->write("piece " + std::to_string(i));
      out->finish();
    }).detach();
  });
  Client client(server.port());
  EXPECT_EQ(client.ask("GET", "/stream").body, "apiece 0piece 1piece 2");
  EXPECT_EQ(client.ask("GET", "/stream").body, "apiece 0piece 1piece 2") << "the connection goes on";
  EXPECT_EQ(client.ask("GET", "/drop").status, 500) << "an answer that nobody gives";
  EXPECT_EQ(gone, 0);
  client.send(Client::request("GET", "/hold"));
  const auto is_held = [&] {
    const std::lock_guard lock(mutex);
    return held != nullptr;
  };
  while (!is_held()) std::this_thread::yield();
  client.close();
  const auto begun = std::chrono::steady_clock::now();
  while (gone == 0 && std::chrono::steady_clock::now() - begun < std::chrono::seconds(10)) std::this_thread::yield();
  EXPECT_EQ(gone, 1);
  std::exchange(held, nullptr)->send({});  // the client is gone
  Client old(server.port());
  old.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.answer().body, "apiece 0piece 1piece 2") << "without chunks, which it does not know";
}

// Several threads may write; what comes after the end of an answer is not part of the next one.
TEST(HttpServer, WhatIsWrittenAfterTheEndHasNoEffect) {
  HttpServer server(quick(), [](const HttpRequest& r, const std::shared_ptr<Responder>& out) {
    if (r.path == "/stream")
      out->begin({.content_type = "text/event-stream", .body = "a"});
    else
      out->send({.body = "a"});
    out->finish();
    for (int i = 0; i < 3; ++i) out->write("late"), out->finish(), out->send({.body = "late"});
  });
  Client client(server.port());
  for (int i = 0; i < 20; ++i)
    for (const char* path : {"/stream", "/whole"}) EXPECT_EQ(client.ask("GET", path).body, "a") << path << i;
}

TEST(HttpServer, ACrowdedOneAnswersAllTheSame) {
  std::atomic<int> looks = 0;
  HttpServerOptions o = quick();
  o.threads = 1;
  o.crowded = [&] { return ++looks % 4 != 0; };
  HttpServer server(o, [](const HttpRequest&, const std::shared_ptr<Responder>& out) {
    out->begin({.content_type = "text/event-stream", .body = "a"});
    std::thread([out] {
      for (int i = 0; i < 3; ++i) out->write("b");
      out->finish();
    }).detach();
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Client client(server.port());
      for (int i = 0; i < 20; ++i) EXPECT_EQ(client.ask("GET", "/").body, "abbb");
    });
  for (std::thread& thread : threads) thread.join();
  // The server checks when it has nothing else to do, perhaps after the last answer.
  const auto ended = std::chrono::steady_clock::now();
  while (looks == 0 && std::chrono::steady_clock::now() - ended < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GT(looks, 0);
}

TEST(HttpServer, ManyWhoDoNotReadStallNobody) {
  std::atomic<int> gone = 0;
  HttpServerOptions o = quick();
  o.most_unsent_bytes = 100'000;
  o.write_seconds = 1;
  std::optional<HttpServer> server;
  server.emplace(o, [&](const HttpRequest& r, const std::shared_ptr<Responder>& out) {
    if (r.path == "/fast") return out->send({.body = "{}"});
    out->on_gone([&] { ++gone; });
    out->begin({.content_type = "text/event-stream", .body = {}});
    std::thread([out] {
      const std::string piece(60'000, 'x');
      for (int i = 0; i < 100; ++i) {
        out->write(piece);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      out->finish();
    }).detach();
  });
  constexpr int slow = 64;  // each with more to read than the system buffers
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < slow; ++i) {
    clients.push_back(std::make_unique<Client>(server->port(), 4096));
    clients.back()->send(Client::request("GET", "/slow"));
  }
  Client fast(server->port());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(fast.ask("GET", "/fast").status, 200);  // throws after the client's timeout
  const auto begun = std::chrono::steady_clock::now();
  while (gone < slow && std::chrono::steady_clock::now() - begun < std::chrono::seconds(60))
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(gone, slow) << "they are given up, whatever is still to be told them";
  const auto ending = std::chrono::steady_clock::now();
  server.reset();  // although handlers still write
  EXPECT_LT(std::chrono::steady_clock::now() - ending, std::chrono::seconds(4));
}

TEST(HttpServer, DrainsWhatWasBegun) {
  std::mutex mutex;
  std::shared_ptr<Responder> held;
  HttpServerOptions o = quick();
  o.idle_seconds = 60;
  HttpServer server(o, [&](const HttpRequest&, const std::shared_ptr<Responder>& out) {
    const std::lock_guard lock(mutex);
    held = out;
  });
  Client idle(server.port()), busy(server.port());
  busy.send(Client::request("GET", "/"));
  const auto is_held = [&] {
    const std::lock_guard lock(mutex);
    return held != nullptr;
  };
  while (!is_held()) std::this_thread::yield();
  server.drain();
  EXPECT_TRUE(idle.is_closed(10));
  EXPECT_THROW(
      {
        Client late(server.port());
        if (late.is_closed(10)) throw std::runtime_error("closed");
      },
      std::exception);
  std::exchange(held, nullptr)->send({.body = "{}"});
  const Answer a = busy.answer();
  EXPECT_EQ(a.status, 200);
  EXPECT_EQ(a.headers.at("connection"), "close");
  EXPECT_TRUE(busy.is_closed(10));
}

// Closing the listening socket must not meet an accept in another thread: the thread sanitizer watches.
TEST(HttpServer, DrainsWhileClientsConnect) {
  for (int round = 0; round < 30; ++round) {
    HttpServer server(quick(), echo);
    std::atomic<int> connected = 0, ended = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 3; ++i)
      clients.emplace_back([&, port = server.port()] {
        try {
          while (true) {
            const Client client(port);
            ++connected;
          }
        } catch (const std::exception&) {  // the server listens no more
          ++ended;
        }
      });
    while (connected < 6 && ended < 3) std::this_thread::yield();
    EXPECT_GE(connected, 6);
    server.drain();
    for (std::thread& t : clients) t.join();
  }
}

// A connection that is accepted while the server ends, and says nothing, does not keep it.
TEST(HttpServer, EndsWhileClientsConnect) {
  const TemporaryDirectory directory;
  HttpServerOptions o = testing::with_certificate(directory.path());
  o.port = 0;
  for (int round = 0; round < 50; ++round) {
    auto server = std::make_unique<HttpServer>(o, echo);
    std::vector<std::unique_ptr<Client>> clients;
    std::atomic<bool> ended = false;
    std::thread connecting([&, port = server->port()] {
      try {
        while (!ended) clients.push_back(std::make_unique<Client>(port));
      } catch (const std::exception&) {  // the server listens no more
      }
    });
    while (server->connections() < 3) std::this_thread::yield();
    const auto ending = std::chrono::steady_clock::now();
    server.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - ending, std::chrono::seconds(4));
    ended = true;
    connecting.join();
  }
}

TEST(HttpServer, RawBytesAndMutatedRequestsAreAnsweredOrClosed) {
  HttpServer server(quick(), echo);
  RandomSequence random(1, 9);
  const std::string good =
      Client::request("POST", "/translate?a=b", R"({"q": "a dog"})", "X-Y: z\r\nExpect: 100-continue\r\n");
  for (int i = 0; i < 300; ++i) {
    std::string bytes = i % 3 == 0 ? "" : good;
    if (bytes.empty())
      for (std::uint64_t n = random.below(300); n > 0; --n) bytes += static_cast<char>(random.below(256));
    for (std::uint64_t n = random.below(6); n > 0 && !bytes.empty(); --n) {
      const auto at = static_cast<std::size_t>(random.below(bytes.size()));
      switch (random.below(3)) {
        case 0:
          bytes[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          bytes.erase(at, random.below(9));
          break;
        default:
          bytes.insert(at, std::string(random.below(5), static_cast<char>(random.below(256))));
      }
    }
    Client client(server.port());
    client.send(bytes);
    if (i % 2) client.close();
  }
  Client fine(server.port());
  EXPECT_EQ(fine.ask("GET", "/fine").status, 200);
}

TEST(HttpServer, SaysWhatIsWrongWithItsOptions) {
  HttpServerOptions o = quick();
  o.address = "nowhere";
  EXPECT_THROW(HttpServer(o, echo), Error);
  o = quick();
  o.certificate_file = "/nowhere.pem";
  EXPECT_THROW(HttpServer(o, echo), Error);
  o.key_file = "/nowhere.pem";
  EXPECT_THROW(HttpServer(o, echo), Error);
  HttpServer first(quick(), echo);
  o = quick();
  o.port = first.port();
  EXPECT_THROW(HttpServer(o, echo), Error);
}

}  // namespace
}  // namespace tril::serve
