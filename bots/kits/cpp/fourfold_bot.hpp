// Play Connect Four on a Fourfold server: write a function from a turn to a column, and call `fourfold::run`.
//
// One header, C++17 and POSIX sockets, without other libraries. A turn holds the whole position, comes again after a
// reconnect, and may be answered twice without harm; so nothing that is sent is queued here. It speaks `ws://` only: for
// an arena behind TLS use the bridge, or a proxy such as stunnel.
#pragma once

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fourfold {

// ---- JSON, as far as the protocol needs it ----

struct Json {
    enum Kind { Null, Bool, Number, String, Array, Object } kind = Null;
    bool truth = false;
    double number = 0;
    std::string text;
    std::vector<Json> items;
    std::map<std::string, Json> fields;

    const Json& operator[](const std::string& key) const {
        static const Json none;
        auto found = fields.find(key);
        return found == fields.end() ? none : found->second;
    }

    static Json parse(const std::string& source) {
        size_t at = 0;
        return value(source, at, 0);
    }

private:
    static constexpr int DEPTH_MAX = 32;  // the protocol nests no deeper than a few levels

    static void blanks(const std::string& s, size_t& at) {
        while (at < s.size() && std::strchr(" \t\r\n", s[at])) at++;
    }

    static Json value(const std::string& s, size_t& at, int depth) {
        blanks(s, at);
        if (at >= s.size() || depth > DEPTH_MAX) throw std::runtime_error("not JSON");
        Json json;
        if (s[at] == '"') {
            json.kind = String;
            json.text = string(s, at);
        } else if (s[at] == '{' || s[at] == '[') {
            bool is_object = s[at] == '{';
            char close = is_object ? '}' : ']';
            json.kind = is_object ? Object : Array;
            for (at++, blanks(s, at); at < s.size() && s[at] != close; blanks(s, at)) {
                if (s[at] == ',') { at++; blanks(s, at); }
                std::string key;
                if (is_object) {
                    key = string(s, at);
                    blanks(s, at);
                    if (at >= s.size() || s[at++] != ':') throw std::runtime_error("not JSON");
                }
                Json item = value(s, at, depth + 1);
                if (is_object) json.fields[key] = std::move(item); else json.items.push_back(std::move(item));
            }
            if (at >= s.size()) throw std::runtime_error("not JSON");
            at++;
        } else if (!s.compare(at, 4, "true") || !s.compare(at, 5, "false")) {
            json.kind = Bool;
            json.truth = s[at] == 't';
            at += json.truth ? 4 : 5;
        } else if (!s.compare(at, 4, "null")) {
            at += 4;
        } else {
            char* end = nullptr;
            json.kind = Number;
            json.number = std::strtod(s.c_str() + at, &end);
            if (end == s.c_str() + at) throw std::runtime_error("not JSON");
            at = static_cast<size_t>(end - s.c_str());
        }
        return json;
    }

    static std::string string(const std::string& s, size_t& at) {
        std::string text;
        if (at >= s.size() || s[at] != '"') throw std::runtime_error("not JSON");
        for (at++; at < s.size() && s[at] != '"'; at++) {
            if (s[at] != '\\') { text += s[at]; continue; }
            if (++at >= s.size()) break;
            switch (s[at]) {
                case 'n': text += '\n'; break;
                case 't': text += '\t'; break;
                case 'u': text += '?'; at += 4; break;  // only in words for people
                default: text += s[at];
            }
        }
        if (at >= s.size()) throw std::runtime_error("not JSON");
        at++;
        return text;
    }
};

inline std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (char letter : text) {
        if (letter == '"' || letter == '\\') out += '\\';
        out += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
    }
    return out + "\"";
}

// ---- the bot ----

/// The state from which a column is chosen.
struct Turn {
    std::string game;
    int ply = 0;              // stones on the board
    std::string moves;        // one base-36 digit a column, from 1
    std::vector<int> legal;   // the columns that may be played, from 1
    long budget_ms = 0;       // the hard limit for this move
    long network_ms = 0;      // the round trip that it includes
    std::string variant;      // WxH or WxHxK

    /// The legal columns, the most central first.
    std::vector<int> centre_first() const {
        int width = std::atoi(variant.c_str());
        auto columns = legal;
        std::stable_sort(columns.begin(), columns.end(), [width](int a, int b) {
            return std::abs(2 * a - width - 1) < std::abs(2 * b - width - 1);
        });
        return columns;
    }
};

inline std::string environment(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value && *value ? value : otherwise;
}

/// How the bot presents itself. Address and token come from FOURFOLD_URL and FOURFOLD_TOKEN.
struct Settings {
    std::string name, version;  // its page sums games up by version, so raise it when the bot plays differently
    std::string url = environment("FOURFOLD_URL", "ws://127.0.0.1:4444");
    std::string token = environment("FOURFOLD_TOKEN", "");
    bool open = true;           // on the ladder and in the directory; otherwise only its owner can challenge it
    int games = 0;              // stop after so many; 0 for never
    std::string opponent = {};  // asks this player for all of its games, such as "negamax-6"
    bool rated = false;         // whether those count
};

using Choose = std::function<int(const Turn&)>;

namespace detail {

inline std::atomic<int>& interrupts() { static std::atomic<int> count{0}; return count; }
inline int& wake_pipe() { static int end = -1; return end; }
inline void on_interrupt(int) {
    if (++interrupts() > 1) _exit(130);
    char byte = 'i';
    if (write(wake_pipe(), &byte, 1) < 0) _exit(130);
}

/// The server will not have the bot; another attempt cannot help.
struct Refused : std::runtime_error { using std::runtime_error::runtime_error; };
/// The connection is lost; another attempt may help.
struct Lost : std::runtime_error { using std::runtime_error::runtime_error; };

class Socket {
public:
    explicit Socket(const std::string& url) {
        if (url.rfind("ws://", 0)) throw Refused("only ws:// addresses, not " + url + ": see the README for TLS");
        auto rest = url.substr(5);
        auto slash = rest.find('/');
        auto authority = rest.substr(0, slash);
        auto path = slash == std::string::npos || slash + 1 == rest.size() ? "/api/v1/socket" : rest.substr(slash);
        auto colon = authority.rfind(':');
        auto host = authority.substr(0, colon);
        auto port = colon == std::string::npos ? "80" : authority.substr(colon + 1);
        addrinfo hints{}, *found = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found)) throw Lost("no such host: " + host);
        for (auto* one = found; one && fd_ < 0; one = one->ai_next) {
            fd_ = ::socket(one->ai_family, one->ai_socktype, one->ai_protocol);
            if (fd_ >= 0 && ::connect(fd_, one->ai_addr, one->ai_addrlen)) { ::close(fd_); fd_ = -1; }
        }
        freeaddrinfo(found);
        if (fd_ < 0) throw Lost("cannot connect to " + authority);
        try { upgrade(authority, path); } catch (...) { ::close(fd_); throw; }
    }
    ~Socket() { ::close(fd_); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int fd() const { return fd_; }

    void send(const std::string& text, int opcode = 1) {
        std::string frame(1, static_cast<char>(0x80 | opcode));
        if (text.size() < 126) {
            frame += static_cast<char>(0x80 | text.size());
        } else {  // the server takes 4 KiB at most
            frame += static_cast<char>(0x80 | 126);
            frame += static_cast<char>(text.size() >> 8);
            frame += static_cast<char>(text.size() & 255);
        }
        uint32_t mask = random_();
        for (int byte = 0; byte < 4; byte++) frame += static_cast<char>(mask >> (8 * byte));
        for (size_t i = 0; i < text.size(); i++) frame += static_cast<char>(text[i] ^ (mask >> (8 * (i % 4))));
        write_all(frame);
    }

    /// Throws if the server has closed, once all that it said before is heard.
    void check_closed() const {
        if (closing_) closed(*closing_);
    }

    /// Reads what is there; gives whole messages.
    std::vector<std::string> receive() {
        char bytes[16384];
        auto count = ::recv(fd_, bytes, sizeof bytes, 0);
        if (count <= 0) throw Lost("the connection is gone");
        buffer_.append(bytes, static_cast<size_t>(count));
        std::vector<std::string> messages;
        while (auto frame = take()) {
            auto& [opcode, text] = *frame;
            if (opcode == 8) { closing_ = text; break; }
            if (opcode == 9) send(text, 10);
            if (opcode == 1 || opcode == 0) messages.push_back(text);
        }
        return messages;
    }

private:
    int fd_ = -1;
    std::string buffer_;
    std::optional<std::string> closing_;
    std::mt19937 random_{std::random_device{}()};

    void write_all(const std::string& bytes) {
        for (size_t done = 0; done < bytes.size();) {
            auto count = ::send(fd_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
            if (count <= 0) throw Lost("the connection is gone");
            done += static_cast<size_t>(count);
        }
    }

    void upgrade(const std::string& host, const std::string& path) {
        // Any 16 bytes in base64: it only shows that the answer is not out of a cache.
        std::string key;
        for (int i = 0; i < 21; i++) key += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[random_() % 64];
        write_all("GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
                  "Sec-WebSocket-Key: " + key + "A==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: fourfold.v1\r\n\r\n");
        size_t end;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
            pollfd one{fd_, POLLIN, 0};
            char bytes[4096];
            ssize_t count = ::poll(&one, 1, 10'000) > 0 ? ::recv(fd_, bytes, sizeof bytes, 0) : 0;
            if (count <= 0 || buffer_.size() > 65'536) throw Lost("no answer to the upgrade");
            buffer_.append(bytes, static_cast<size_t>(count));
        }
        auto status = buffer_.substr(0, buffer_.find("\r\n"));
        if (status.find(" 101") == std::string::npos) {
            bool lasts = status.find(" 4") != std::string::npos && status.find(" 429") == std::string::npos;
            if (lasts) throw Refused("the server answered " + status);
            throw Lost("the server answered " + status);
        }
        buffer_.erase(0, end + 4);
    }

    std::optional<std::pair<int, std::string>> take() {
        auto at = [this](size_t i) { return static_cast<unsigned char>(buffer_[i]); };
        if (buffer_.size() < 2) return {};
        uint64_t length = at(1) & 127;
        size_t head = 2;
        if (length >= 126) {
            head += length == 126 ? 2 : 8;
            if (buffer_.size() < head) return {};
            length = 0;
            for (size_t i = 2; i < head; i++) length = length << 8 | at(i);
        }
        if (length > 16'000'000) throw Lost("a frame that is too long");
        if (buffer_.size() < head + length) return {};
        std::pair<int, std::string> frame{at(0) & 15, buffer_.substr(head, length)};
        buffer_.erase(0, head + length);
        return frame;
    }

    [[noreturn]] static void closed(const std::string& text) {
        int code = text.size() < 2 ? 1005 : static_cast<unsigned char>(text[0]) << 8 | static_cast<unsigned char>(text[1]);
        auto words = "closed with " + std::to_string(code) + ": " + (text.size() > 2 ? text.substr(2) : "");
        for (int lasting : {4401, 4403, 4406, 4409}) if (code == lasting) throw Refused(words);
        throw Lost(words);
    }
};

class Bot {
public:
    Bot(Choose choose, Settings settings) : choose_(std::move(choose)), settings_(std::move(settings)) {
        if (settings_.token.empty()) throw Refused("no token: export FOURFOLD_TOKEN=c4b_…");
        if (::pipe(wake_)) throw std::runtime_error("no pipe");
        wake_pipe() = wake_[1];
        std::signal(SIGINT, on_interrupt);
        std::signal(SIGTERM, on_interrupt);
    }

    void play() {
        auto wait = RETRY_MIN;
        while (!(draining_ && games_.empty())) {
            try {
                socket_ = std::make_unique<Socket>(settings_.url);
                wait = RETRY_MIN;
                connection();
            } catch (const Lost& lost) {
                socket_.reset();
                if (draining_ && games_.empty()) break;
                std::cerr << lost.what() << std::endl;
            }
            std::this_thread::sleep_for(wait);
            wait = std::min(2 * wait, RETRY_MAX);
        }
    }

private:
    using Clock = std::chrono::steady_clock;
    using Millis = std::chrono::milliseconds;
    static constexpr Millis RETRY_MIN{200}, RETRY_MAX{5000}, ASK_AGAIN{3000};
    static constexpr int SERIES_MAX = 100;  // games that one challenge asks for

    struct Game { std::string side; int ply = -1; std::optional<int> column; };

    Choose choose_;
    Settings settings_;
    std::unique_ptr<Socket> socket_;
    std::map<std::string, Game> games_;
    std::string session_, secret_;
    uint64_t seq_ = 0;
    int started_ = 0, owed_ = 0;
    bool draining_ = false;
    std::optional<Clock::time_point> ask_at_;
    int wake_[2] = {-1, -1};
    std::mutex lock_;
    std::vector<std::pair<Turn, int>> chosen_;

    void connection() {
        say("hello", "\"protocol\":1,\"token\":" + quoted(settings_.token) + ",\"client\":{\"name\":" + quoted(settings_.name) +
            ",\"version\":" + quoted(settings_.version) + "},\"bot\":{\"language\":\"C++\",\"version\":" + quoted(settings_.version) + "},\"open\":" +
            (settings_.open && settings_.opponent.empty() && !draining_ ? "true" : "false") +
            (session_.empty() ? "" : ",\"resume\":{\"session\":" + quoted(session_) + ",\"secret\":" + quoted(secret_) +
             ",\"seq\":" + std::to_string(seq_) + "}"));
        Millis silence{10'000};
        auto heard = Clock::now();
        while (!(draining_ && games_.empty() && started_ > 0)) {
            pollfd both[2] = {{socket_->fd(), POLLIN, 0}, {wake_[0], POLLIN, 0}};
            ::poll(both, 2, 100);
            if (both[1].revents) {
                char bytes[64];
                if (::read(wake_[0], bytes, sizeof bytes) < 0) continue;
            }
            if (interrupts() > 0 && !draining_) drain();
            send_chosen();
            if (ask_at_ && Clock::now() >= *ask_at_) ask();
            if (both[0].revents) {
                heard = Clock::now();
                for (auto& text : socket_->receive()) take(Json::parse(text), silence);
                socket_->check_closed();
            }
            if (Clock::now() - heard > silence) throw Lost("the server has been silent for too long");
        }
        throw Lost("all games are played");
    }

    void say(const std::string& type, const std::string& fields = "") {
        socket_->send("{\"type\":" + quoted(type) + (fields.empty() ? "" : "," + fields) + "}");
    }

    void drain() {
        draining_ = true;
        say("bye", "\"drain\":true");
    }

    /// Unknown types are ignored, as the protocol asks.
    void take(const Json& message, Millis& silence) {
        auto& type = message["type"].text;
        auto& id = message["game"].text;
        if (message["seq"].kind == Json::Number) seq_ = std::max(seq_, static_cast<uint64_t>(message["seq"].number));
        if (type == "welcome") {
            if (!message["resumed"].truth) { games_.clear(); owed_ = 0; }  // those that live are told again
            session_ = message["session"].text;
            secret_ = message["secret"].text;
            seq_ = static_cast<uint64_t>(message["seq"].number);
            silence = Millis(static_cast<long>(message["heartbeat_ms"].number * 2.5));
            if (draining_) drain();
        } else if (type == "ping") {
            say("pong", "\"n\":" + std::to_string(static_cast<uint64_t>(message["n"].number)));
        } else if (type == "synced") {
            ask_at_ = Clock::now() + (started_ == 0 ? Millis(0) : ASK_AGAIN);  // the games of before may go on
        } else if (type == "challenge" && message["re"].kind == Json::Null && !draining_) {
            say(settings_.opponent.empty() ? "accept" : "decline", "\"challenge\":" + quoted(message["challenge"].text));
        } else if (type == "challenge_end" && owed_ > 0 && games_.empty() && message["how"].text != "accepted") {
            auto& reason = message["reason"].text;
            not_taken(reason.empty() ? message["how"].text : reason, reason == "later" || reason == "busy");
        } else if (type == "error" && message["re"].text == "challenge") {
            not_taken(message["message"].text, message["retry_ms"].kind == Json::Number);
        } else if (type == "error") {
            std::cerr << "refused: " << message["message"].text << std::endl;
        } else if (type == "game" && message["you"].kind == Json::String && message["status"].text == "live") {
            start(id, message["you"].text);
        } else if (type == "turn") {
            think(message);
        } else if (type == "game" || type == "game_end") {
            end(id, message);
        }
    }

    void start(const std::string& id, const std::string& side) {
        if (games_.count(id)) return;
        games_[id].side = side;
        owed_ = std::max(0, owed_ - 1);
        // Now and not after its end, or the server might start one game too many.
        if (++started_ == settings_.games) drain();
    }

    void end(const std::string& id, const Json& message) {
        auto found = games_.find(id);
        if (found == games_.end()) return;
        auto& result = message["result"].text;
        bool is_decided = result == "first" || result == "second";
        auto word = !is_decided ? result : result == found->second.side ? "won" : "lost";
        std::cout << id << ": " << word << " (" << message["reason"].text << ")" << std::endl;
        games_.erase(found);
        ask();
    }

    void think(const Json& message) {
        Turn turn;
        turn.game = message["game"].text;
        turn.ply = static_cast<int>(message["ply"].number);
        turn.moves = message["moves"].text;
        for (auto& column : message["legal"].items) turn.legal.push_back(static_cast<int>(column.number));
        turn.budget_ms = static_cast<long>(message["budget_ms"].number);
        turn.network_ms = static_cast<long>(message["network_ms"].number);
        turn.variant = message["variant"].text;
        if (turn.legal.empty()) return;
        start(turn.game, turn.ply % 2 ? "second" : "first");
        auto& game = games_[turn.game];
        if (game.ply == turn.ply) {  // asked again: if still thinking, the answer is on its way
            if (game.column) move(turn, *game.column);
            return;
        }
        game.ply = turn.ply;
        game.column.reset();
        // A thread for each turn, so that thinking holds up neither the connection nor another game.
        std::thread([this, turn] {
            int column = 0;
            try { column = choose_(turn); } catch (const std::exception& error) { std::cerr << error.what() << std::endl; }
            if (std::find(turn.legal.begin(), turn.legal.end(), column) == turn.legal.end()) {
                std::cerr << "no legal column was chosen after " << turn.moves << std::endl;
                column = turn.centre_first()[0];  // a bug costs a move and not the game
            }
            std::lock_guard<std::mutex> guard(lock_);
            chosen_.emplace_back(turn, column);
            char byte = 'c';
            if (::write(wake_[1], &byte, 1) < 0) std::cerr << "the pipe is gone" << std::endl;
        }).detach();
    }

    void send_chosen() {
        std::vector<std::pair<Turn, int>> chosen;
        { std::lock_guard<std::mutex> guard(lock_); chosen.swap(chosen_); }
        for (auto& [turn, column] : chosen) {
            auto found = games_.find(turn.game);
            if (found == games_.end() || found->second.ply != turn.ply) continue;
            found->second.column = column;
            move(turn, column);
        }
    }

    void move(const Turn& turn, int column) {
        say("move", "\"game\":" + quoted(turn.game) + ",\"ply\":" + std::to_string(turn.ply) + ",\"column\":" + std::to_string(column));
    }

    /// Challenges the opponent of the settings, unless games go on, or are still to come.
    void ask() {
        ask_at_.reset();
        if (settings_.opponent.empty() || draining_ || !games_.empty() || owed_ > 0) return;
        int left = std::min(settings_.games ? settings_.games - started_ : SERIES_MAX, SERIES_MAX);
        owed_ = left > 1 ? left - left % 2 : 1;  // the protocol has one game, or pairs
        // Pairs begin from drawn positions: two bots that draw no lots would repeat themselves.
        say("challenge", "\"id\":\"challenge\",\"to\":" + quoted(settings_.opponent) + ",\"games\":" + std::to_string(owed_) +
            ",\"rated\":" + (settings_.rated ? "true" : "false") +
            ",\"time\":{\"bank_ms\":60000,\"increment_ms\":500,\"move_ms\":null}" +
            (owed_ > 1 ? ",\"opening\":{\"kind\":\"balanced\"}" : ""));
    }

    void not_taken(const std::string& why, bool in_time) {
        owed_ = 0;
        if (!in_time) throw Refused(settings_.opponent + " does not play: " + why);
        ask_at_ = Clock::now() + ASK_AGAIN;
    }
};

}  // namespace detail

/// Plays until Ctrl-C, which finishes the games under way, or through the games that the settings name. Returns the exit
/// code: 1 if the server will not have the bot, which is said on standard error.
inline int run(Choose choose, Settings settings) {
    try {
        // Never destroyed: a thread that still thinks when the last game has ended goes on using it until the process ends.
        auto* bot = new detail::Bot(std::move(choose), std::move(settings));
        bot->play();
        return 0;
    } catch (const std::exception& error) {
        std::cerr << "fourfold_bot: " << error.what() << std::endl;
        return 1;
    }
}

}  // namespace fourfold
