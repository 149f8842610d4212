// Package fourfold plays Connect Four on a Fourfold server: write a function from a Turn to a column, and call Run.
//
// It needs the standard library alone. A turn holds the whole position, comes again after a reconnect, and may be
// answered twice without harm; so nothing that is sent is queued here.
package fourfold

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"sort"
	"strings"
	"syscall"
	"time"
)

const (
	retryMin  = 200 * time.Millisecond
	retryMax  = 5 * time.Second
	askAgain  = 3 * time.Second // until a busy opponent is asked again
	lookEvery = 2 * time.Second // at a duel
	stands    = 3 * time.Minute // without a game of it: the server has given it up by then
	seriesMax = 100             // games that one challenge asks for
	frameMax  = 16 << 20        // bytes of the longest frame that is believed
	challenge = "challenge"     // the id of our own
)

// Turn is the state from which a column is chosen.
type Turn struct {
	Game      string `json:"game"`
	Ply       int    `json:"ply"`        // stones on the board
	Moves     string `json:"moves"`      // one base-36 digit a column, from 1
	Legal     []int  `json:"legal"`      // the columns that may be played, from 1
	BudgetMs  int    `json:"budget_ms"`  // the hard limit for this move
	NetworkMs int    `json:"network_ms"` // the round trip that it includes
	Variant   string `json:"variant"`    // WxH or WxHxK
}

// CentreFirst gives the legal columns, the most central first.
func (turn Turn) CentreFirst() []int {
	width := 7
	_, _ = fmt.Sscanf(turn.Variant, "%d", &width)
	distance := func(column int) int {
		if d := 2*column - width - 1; d > 0 {
			return d
		} else {
			return -d
		}
	}
	columns := append([]int(nil), turn.Legal...)
	sort.SliceStable(columns, func(a, b int) bool { return distance(columns[a]) < distance(columns[b]) })
	return columns
}

// Settings say how the bot presents itself. An empty URL or Token is FOURFOLD_URL, or port 4444 of this machine, and
// FOURFOLD_TOKEN.
type Settings struct {
	Name, Version string // its page sums games up by version, so raise it when the bot plays differently
	URL, Token    string
	Private       bool   // off the ladder and out of the directory: only its owner can challenge it
	Games         int    // stop after so many; 0 for never
	Opponent      string // asks this player for all of its games, such as "negamax-6"
	Rated         bool   // whether those count
	Duel          *Duel  // has the server play this, prints who is stronger, and ends
}

// Duel is pairs of games against one opponent, for a fixed number or until a test decides.
type Duel struct {
	Opponent string    `json:"opponent"`       // a bot of the house, or another one of the same owner that is connected
	Pairs    int       `json:"pairs"`          // at most, if there is a test
	Test     *DuelTest `json:"test,omitempty"` // ends it as soon as one of two differences is accepted
}

// DuelTest is whether the bot is Elo1 points stronger rather than Elo0.
type DuelTest struct {
	Elo0 int `json:"elo0"`
	Elo1 int `json:"elo1"`
}

// Refused is returned when the server will not have the bot, or its opponent does not play.
type Refused struct{ Why string }

func (refused Refused) Error() string { return refused.Why }

// Run plays until Ctrl-C, which finishes the games under way, or through the games that the settings name. Each turn is
// thought about in a goroutine of its own, so what games share needs a lock.
func Run(choose func(Turn) int, settings Settings) error {
	if settings.URL == "" {
		if settings.URL = os.Getenv("FOURFOLD_URL"); settings.URL == "" {
			settings.URL = "ws://127.0.0.1:4444"
		}
	}
	if settings.Token == "" {
		if settings.Token = os.Getenv("FOURFOLD_TOKEN"); settings.Token == "" {
			return Refused{"no token: export FOURFOLD_TOKEN=c4b_…"}
		}
	}
	b := &bot{choose: choose, settings: settings, games: map[string]*game{}, chosen: make(chan answer, 64), duelEnd: make(chan error, 1)}
	b.interrupts = make(chan os.Signal, 2)
	signal.Notify(b.interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(b.interrupts)
	for wait := retryMin; !(b.draining && len(b.games) == 0); {
		began, err := time.Now(), b.connection()
		var refused Refused
		if errors.As(err, &refused) {
			return err
		}
		if b.draining && len(b.games) == 0 {
			break
		}
		fmt.Fprintln(os.Stderr, "connection lost:", err)
		if time.Since(began) > retryMax {
			wait = retryMin
		}
		time.Sleep(wait)
		if wait *= 2; wait > retryMax {
			wait = retryMax
		}
	}
	return nil
}

type game struct {
	side   string
	ply    int // that was asked for last; -1 before
	column int // our answer to it; 0 while it is thought about
}

type answer struct {
	turn   Turn
	column int
}

type message struct {
	Type, Session, Secret, Challenge, How, Reason, Message, Status, Result string
	Seq, N                                                                 uint64
	Resumed                                                                bool
	HeartbeatMs                                                            int64   `json:"heartbeat_ms"`
	RetryMs                                                                *uint64 `json:"retry_ms"`
	Re                                                                     *string
	You                                                                    json.RawMessage // of a game its side, of a welcome the player
	Game                                                                   string
}

type bot struct {
	choose          func(Turn) int
	settings        Settings
	socket          net.Conn
	games           map[string]*game
	session, secret string
	seq             uint64
	started, owed   int // owed: games of our challenge that have not begun, while it stands
	draining        bool
	askAt           <-chan time.Time
	chosen          chan answer
	interrupts      chan os.Signal
	dueling         bool
	duelEnd         chan error // nil after its last game
}

type object map[string]interface{}

// connection is one connection from its beginning to its end.
func (b *bot) connection() error {
	socket, reader, err := dial(b.settings.URL, b.settings.Token)
	if err != nil {
		return err
	}
	defer socket.Close()
	b.socket = socket
	frames, ended, done := make(chan []byte), make(chan error, 1), make(chan struct{})
	defer close(done)
	go func() { ended <- read(reader, socket, frames, done) }()
	hello := object{"protocol": 1, "client": object{"name": b.settings.Name, "version": b.settings.Version},
		"bot": object{"version": b.settings.Version, "language": "Go"}, "open": !b.settings.Private && !b.hasOpponent() && !b.draining}
	if b.session != "" {
		hello["resume"] = object{"session": b.session, "secret": b.secret, "seq": b.seq}
	}
	if err := b.say("hello", hello); err != nil {
		return err
	}
	silence := 10 * time.Second
	for {
		err = nil
		select {
		case frame := <-frames:
			err = b.take(frame, &silence)
		case err := <-ended:
			return err
		case answer := <-b.chosen:
			if known := b.games[answer.turn.Game]; known != nil && known.ply == answer.turn.Ply {
				known.column = answer.column
				err = b.move(answer.turn.Game, known)
			}
		case <-b.askAt:
			err = b.ask()
		case err = <-b.duelEnd:
			if err == nil {
				err = b.drain()
			}
		case <-b.interrupts:
			if b.draining {
				os.Exit(130)
			}
			err = b.drain()
		case <-time.After(silence):
			err = errors.New("the server has been silent for too long")
		}
		if err != nil {
			return err
		}
	}
}

func (b *bot) say(kind string, fields object) error {
	fields["type"] = kind
	text, err := json.Marshal(fields)
	if err != nil {
		return err
	}
	return write(b.socket, 1, text)
}

func (b *bot) drain() error {
	b.draining = true
	return b.say("bye", object{"drain": true})
}

// take does what a message leads to. Unknown types are ignored, as the protocol asks.
func (b *bot) take(frame []byte, silence *time.Duration) error {
	var m message
	if err := json.Unmarshal(frame, &m); err != nil {
		return err
	}
	if m.Seq > b.seq {
		b.seq = m.Seq
	}
	switch m.Type {
	case "welcome":
		if !m.Resumed {
			b.games, b.owed = map[string]*game{}, 0 // those that live are told again
		}
		b.session, b.secret, b.seq = m.Session, m.Secret, m.Seq
		*silence = time.Duration(m.HeartbeatMs) * time.Millisecond * 5 / 2
		if b.draining {
			return b.drain()
		}
	case "ping":
		return b.say("pong", object{"n": m.N})
	case "synced":
		if b.settings.Duel != nil && !b.dueling {
			b.dueling = true
			go func() { b.duelEnd <- playDuel(b.settings) }()
		}
		if b.started == 0 {
			return b.ask()
		}
		b.askAt = time.After(askAgain) // the games of before may go on by themselves
	case "challenge":
		if m.Re == nil && !b.draining {
			kind := "accept"
			if b.hasOpponent() {
				kind = "decline"
			}
			return b.say(kind, object{"challenge": m.Challenge})
		}
	case "challenge_end":
		if b.owed > 0 && len(b.games) == 0 && m.How != "accepted" {
			why := m.Reason
			if why == "" {
				why = m.How
			}
			return b.notTaken(why, why == "later" || why == "busy")
		}
	case "error":
		if m.Re != nil && *m.Re == challenge {
			return b.notTaken(m.Message, m.RetryMs != nil)
		}
		fmt.Fprintln(os.Stderr, "refused:", m.Message)
	case "game":
		side := strings.Trim(string(m.You), `"`)
		if side != "first" && side != "second" {
			return nil // watched, not played
		}
		if m.Status != "live" {
			return b.end(m)
		}
		return b.start(m.Game, side)
	case "turn":
		var turn Turn
		if err := json.Unmarshal(frame, &turn); err != nil || len(turn.Legal) == 0 {
			return err
		}
		return b.think(turn)
	case "game_end":
		return b.end(m)
	}
	return nil
}

func (b *bot) start(id, side string) error {
	if b.games[id] != nil {
		return nil
	}
	b.games[id] = &game{side: side, ply: -1}
	b.started++
	if b.owed > 0 {
		b.owed--
	}
	if b.started == b.settings.Games { // now and not after its end, or the server might start one game too many
		return b.drain()
	}
	return nil
}

func (b *bot) end(m message) error {
	known := b.games[m.Game]
	if known == nil {
		return nil
	}
	delete(b.games, m.Game)
	word := m.Result
	if word == known.side {
		word = "won"
	} else if word == "first" || word == "second" {
		word = "lost"
	}
	fmt.Printf("%s: %s (%s)\n", m.Game, word, m.Reason)
	return b.ask()
}

// think begins to think, unless that is under way; a turn that comes again gets its answer again.
func (b *bot) think(turn Turn) error {
	if err := b.start(turn.Game, [2]string{"first", "second"}[turn.Ply%2]); err != nil {
		return err
	}
	known := b.games[turn.Game]
	if known.ply == turn.Ply {
		if known.column == 0 {
			return nil
		}
		return b.move(turn.Game, known)
	}
	known.ply, known.column = turn.Ply, 0
	go func() { b.chosen <- answer{turn, b.legal(turn)} }()
	return nil
}

// legal gives the column that was chosen, or the most central one: a bug costs a move and not the game.
func (b *bot) legal(turn Turn) (column int) {
	defer func() {
		if failure := recover(); failure != nil {
			fmt.Fprintln(os.Stderr, "choose failed:", failure)
			column = turn.CentreFirst()[0]
		}
	}()
	column = b.choose(turn)
	for _, legal := range turn.Legal {
		if legal == column {
			return column
		}
	}
	fmt.Fprintf(os.Stderr, "column %d is not legal after %q\n", column, turn.Moves)
	return turn.CentreFirst()[0]
}

func (b *bot) move(id string, known *game) error {
	return b.say("move", object{"game": id, "ply": known.ply, "column": known.column})
}

// ask challenges the opponent of the settings, unless games go on, or are still to come.
func (b *bot) ask() error {
	b.askAt = nil
	if b.settings.Opponent == "" || b.draining || len(b.games) > 0 || b.owed > 0 {
		return nil
	}
	left := seriesMax
	if games := b.settings.Games; games > 0 && games-b.started < left {
		left = games - b.started
	}
	terms := object{"id": challenge, "to": b.settings.Opponent, "rated": b.settings.Rated,
		"time": object{"bank_ms": 60000, "increment_ms": 500, "move_ms": nil}}
	if b.owed = 1; left > 1 { // the protocol has one game, or pairs
		b.owed = left - left%2
		terms["opening"] = object{"kind": "balanced"} // two bots that draw no lots would repeat themselves
	}
	terms["games"] = b.owed
	return b.say("challenge", terms)
}

// hasOpponent says whether it plays whom it asks, and nobody else.
func (b *bot) hasOpponent() bool { return b.settings.Opponent != "" || b.settings.Duel != nil }

// playDuel has the server play a duel, and waits for its end. The turns of its games come like all others.
func playDuel(settings Settings) error {
	body, err := json.Marshal(settings.Duel)
	if err != nil {
		return err
	}
	var begun struct{ ID, URL string }
	if err := fetch(settings, "POST", "bots/@me/duels", body, &begun); err != nil {
		return err
	}
	if site, err := url.Parse(settings.URL); err == nil && strings.HasPrefix(begun.URL, "/") {
		begun.URL = strings.Replace(site.Scheme, "ws", "http", 1) + "://" + site.Host + begun.URL
	}
	fmt.Printf("duel against %s: %s\n", settings.Duel.Opponent, begun.URL)
	var duel struct {
		Running, Over              bool
		Games, Wins, Draws, Losses int
		Verdict                    string
	}
	for moved := time.Now(); !duel.Over; {
		time.Sleep(lookEvery)
		games := duel.Games
		if err := fetch(settings, "GET", "duels/"+begun.ID, nil, &duel); err != nil {
			return err
		}
		if duel.Running || duel.Games != games {
			moved = time.Now()
		} else if time.Since(moved) > stands {
			return Refused{"the duel does not go on: " + begun.URL}
		}
	}
	fmt.Printf("%s, +%d =%d -%d: %s\n", duel.Verdict, duel.Wins, duel.Draws, duel.Losses, begun.URL)
	return nil
}

// fetch asks the HTTP interface, again as long as the server is away or only wants to be asked later.
func fetch(settings Settings, method, path string, body []byte, found interface{}) error {
	where, err := url.Parse(settings.URL)
	if err != nil {
		return Refused{settings.URL + " is not an address such as wss://arena.example.org"}
	}
	where.Scheme, where.Path = strings.Replace(where.Scheme, "ws", "http", 1), "/api/v1/"+path
	client := http.Client{Timeout: 10 * time.Second}
	for {
		request, err := http.NewRequest(method, where.String(), bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+settings.Token)
		request.Header.Set("Content-Type", "application/json")
		wait := lookEvery
		if answer, err := client.Do(request); err == nil {
			text, err := io.ReadAll(io.LimitReader(answer.Body, frameMax))
			answer.Body.Close()
			if err == nil && answer.StatusCode < 300 && json.Unmarshal(text, found) == nil {
				return nil
			}
			var said struct {
				Message string
				RetryMs int64 `json:"retry_ms"`
			}
			_ = json.Unmarshal(text, &said) // what is no refusal of the server's says nothing
			isAway := answer.StatusCode == 429 || answer.StatusCode >= 502 || err != nil
			if said.RetryMs == 0 && !isAway {
				return Refused{"no duel: " + answer.Status + ": " + said.Message}
			}
			if told := time.Duration(said.RetryMs) * time.Millisecond; told > wait {
				wait = told
			}
		}
		time.Sleep(wait)
	}
}

func (b *bot) notTaken(why string, inTime bool) error {
	b.owed = 0
	if !inTime {
		return Refused{b.settings.Opponent + " does not play: " + why}
	}
	b.askAt = time.After(askAgain)
	return nil
}

// dial connects and asks for the upgrade to a WebSocket.
func dial(address, token string) (net.Conn, *bufio.Reader, error) {
	where, err := url.Parse(strings.Replace(address, "http", "ws", 1))
	if err != nil || (where.Scheme != "ws" && where.Scheme != "wss") {
		return nil, nil, Refused{address + " is not an address such as wss://arena.example.org"}
	}
	if where.Path == "" || where.Path == "/" {
		where.Path = "/api/v1/socket"
	}
	port, dialer := where.Port(), net.Dialer{Timeout: 10 * time.Second}
	var socket net.Conn
	if where.Scheme == "wss" {
		if port == "" {
			port = "443"
		}
		socket, err = tls.DialWithDialer(&dialer, "tcp", net.JoinHostPort(where.Hostname(), port), nil)
	} else {
		if port == "" {
			port = "80"
		}
		socket, err = dialer.Dial("tcp", net.JoinHostPort(where.Hostname(), port))
	}
	if err != nil {
		return nil, nil, err
	}
	key := make([]byte, 16)
	_, _ = rand.Read(key)
	request, _ := http.NewRequest("GET", "http://"+where.Host+where.Path, nil)
	for name, value := range map[string]string{"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": base64.StdEncoding.EncodeToString(key), "Sec-WebSocket-Protocol": "fourfold.v1",
		"Authorization": "Bearer " + token} {
		request.Header.Set(name, value)
	}
	_ = socket.SetDeadline(time.Now().Add(10 * time.Second))
	reader := bufio.NewReader(socket)
	var response *http.Response
	if err = request.Write(socket); err == nil {
		response, err = http.ReadResponse(reader, request)
	}
	if err == nil && response.StatusCode != http.StatusSwitchingProtocols {
		err = errors.New("the server answered " + response.Status)
		if response.StatusCode/100 == 4 && response.StatusCode != http.StatusTooManyRequests {
			err = Refused{err.Error()}
		}
	}
	if err != nil {
		socket.Close()
		return nil, nil, err
	}
	return socket, reader, socket.SetDeadline(time.Time{})
}

// write sends a frame, masked as a client's must be.
func write(socket net.Conn, opcode byte, data []byte) error {
	head := []byte{0x80 | opcode, 0x80 | byte(len(data))}
	if len(data) > 125 { // the server takes 4 KiB at most
		head = []byte{0x80 | opcode, 0x80 | 126, byte(len(data) >> 8), byte(len(data))}
	}
	mask := make([]byte, 4)
	_, _ = rand.Read(mask)
	frame := append(head, mask...)
	for i, b := range data {
		frame = append(frame, b^mask[i%4])
	}
	_, err := socket.Write(frame)
	return err
}

// read hands over whole text messages until the connection ends, and answers the WebSocket's own pings.
func read(reader *bufio.Reader, socket net.Conn, frames chan<- []byte, done <-chan struct{}) error {
	for {
		head := make([]byte, 2)
		if _, err := io.ReadFull(reader, head); err != nil {
			return err
		}
		length := uint64(head[1] & 127)
		if length >= 126 {
			extended := make([]byte, map[uint64]int{126: 2, 127: 8}[length])
			if _, err := io.ReadFull(reader, extended); err != nil {
				return err
			}
			length = binary.BigEndian.Uint64(append(make([]byte, 8-len(extended)), extended...))
		}
		if length > frameMax {
			return errors.New("a frame that is too long")
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(reader, data); err != nil {
			return err
		}
		switch head[0] & 15 {
		case 8:
			return closed(data)
		case 9:
			if err := write(socket, 10, data); err != nil {
				return err
			}
		case 0, 1:
			select {
			case frames <- data:
			case <-done:
				return nil
			}
		}
	}
}

// closed says why: after some codes another attempt cannot help.
func closed(data []byte) error {
	if len(data) < 2 {
		return errors.New("closed")
	}
	code := binary.BigEndian.Uint16(data)
	words := fmt.Sprintf("closed with %d: %s", code, data[2:])
	switch code {
	case 4401, 4403, 4406, 4409:
		return Refused{words}
	}
	return errors.New(words)
}
