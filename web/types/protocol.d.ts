// The wire contract `fourfold.v1` as the page speaks it. Kept by hand beside src/protocol; `npm run check` in
// tests/browser holds every module against it.

export type Side = "first" | "second";
export type Kind = "human" | "bot" | "guest";
export type Result = Side | "draw" | "void";
export type Reason =
  | "four" | "full" | "resign" | "time" | "illegal" | "left" | "aborted" | "stopped" | "bot_failed";
export type Sides<T> = { first: T; second: T };
/** Column and row, both from 1, row 1 at the bottom. */
export type CellNumbers = [number, number];

export interface Time { bank_ms: number | null; increment_ms: number; move_ms: number | null }
export interface Rating { elo: number; pm95: number; provisional: boolean }
export interface Player { id: string; name: string; kind: Kind; rating: Rating | null; version?: string }
export interface Opening { kind: "none" | "balanced" | "given"; moves: string }
export interface Terms {
  time: Time; rated: boolean; variant?: string; opening?: Opening; games?: number; side?: Side | "random" | "opponent";
  load?: boolean;
  private?: boolean;
}

export interface Welcome {
  type: "welcome"; protocol: number; session: string; secret: string; resumed: boolean;
  server: { name: string; version: string }; you: Player;
  limits: {
    frame_bytes: number; messages_per_20s: number; watcher_messages_per_20s: number; games: number;
    illegal_retries: number;
  };
  heartbeat_ms: number; reactions: string[]; durability: string; features: string[];
}
export interface Synced { type: "synced"; games: number; your_turn: string[] }
export interface Ok { type: "ok" }
export interface WireError {
  type: "error"; code: string; message: string; game?: string; field?: string; retry_ms?: number; ply?: number;
  column?: number; retries_left?: number; result?: Result; supported?: number[]; incident?: string; fatal: boolean;
}
export interface Notice { type: "notice"; code: "restarting" | "draining" | "resumed" | "announcement" | "paused" | "tournament"; in_ms: number; text?: string; tournament?: string }
export interface Ping { type: "ping"; n: number }
export interface Pong { type: "pong"; n: number }
export interface Offer extends Terms {
  type: "challenge"; challenge: string; from: Player; to?: Player; expires_ms: number; url?: string; listed?: boolean;
}
/** Why somebody declined; a refusal of the arena has a code of its own. */
export type Decline = "later" | "busy" | "too_fast" | "too_slow" | "rated" | "casual" | "variant" | "no_bots" | "other";
export interface ChallengeEnd {
  type: "challenge_end"; challenge: string; how: "accepted" | "declined" | "canceled" | "expired" | "refused";
  reason?: Decline | string;
}
export interface BotOffer { type: "bot_offer"; bot: Player; time: Time; variant: string }
/** How a series of which the better wins stood before a game of it: two halves of a point for a game won. */
export interface Series { leg: number; of: number; half_points: Sides<number> }
export interface Snapshot {
  type: "game"; game: string; you: Side | null; players: Sides<Player>; rated: boolean; unrated_because?: string;
  time: Time; variant: string; opening: Opening; pair?: { id: string; leg: number; of: number };
  series?: Series;
  moves: string; ply: number; clock: Sides<number>; to_move: Side | null; event_seq: number;
  status: "live" | "over"; result?: Result; reason?: Reason; line?: CellNumbers[];
  watching?: number; frozen_ms?: number; paused?: boolean; given_back_ms?: number; skipped?: number; delay_ms?: number;
}
export interface Turn {
  type: "turn"; game: string; ply: number; moves: string; legal: number[];
  clock: { you: number; opponent: number }; budget_ms: number; network_ms: number; variant: string;
}
export interface Moved {
  type: "moved"; game: string; event_seq: number; ply: number; column: number; by: Side;
  clock: Sides<number>; spent_ms: number; credited_ms: number;
}
export interface RematchOffer { type: "rematch_offer"; game: string; by: Side }
export interface TakebackOffer { type: "takeback_offer"; game: string; by: Side }
export interface TakebackRefused { type: "takeback_refused"; game: string; by: Side }
export interface Reaction { type: "reaction"; game: string; by: Side; emoji: string }
export interface OpponentGone { type: "opponent_gone"; game: string; by: Side; gone: boolean; claim_ms?: number }
export interface RatingChange { before: number; after: number }
export interface GameEnd {
  type: "game_end"; game: string; event_seq: number; result: Result; reason: Reason; by?: Side;
  line?: CellNumbers[]; moves: string; clock: Sides<number>; rating?: Sides<RatingChange>; unrated_because?: string;
}
/** What a watched game is worth after `ply` stones: who wins, null for a draw, and the plies until then. */
export interface Truth { type: "truth"; game: string; ply: number; winner: Side | null; plies: number }
export interface Crowd { type: "crowd"; game: string; watching: number }
export interface LiveGame {
  game: string; players: Sides<Player>; rated: boolean; time: Time; variant: string; moves: string; ply: number;
  watching: number; started_at: string; tournament?: string; series?: Series;
}
export interface SeekEntry { player: Player; time: Time; rated: boolean; variant: string }
export interface LobbyFeed { type: "lobby"; seeks: SeekEntry[]; games: LiveGame[]; live: number; online: number }
export interface TvFeed { type: "tv"; game: LiveGame | null }
export interface LadderFeed {
  type: "ladder"; variant: string; changes: { player: Player; delta: number; games: number }[];
}
export interface ResultFeed {
  type: "result"; players: Sides<Player>; rated: boolean; variant: string; end: Omit<GameEnd, "type">;
}

export type GameMessage =
  | Snapshot | Turn | Moved | RematchOffer | TakebackOffer | TakebackRefused | Reaction | OpponentGone | GameEnd | Crowd;
export type ServerMessage = (
  | Welcome | Synced | Ok | WireError | Notice | Ping | Pong | Offer | ChallengeEnd | BotOffer
  | GameMessage | Truth | LobbyFeed | TvFeed | LadderFeed | ResultFeed
) & { seq?: number; re?: string };

type OnGame = "abort" | "rematch" | "claim" | "sync" | "takeback";

type Feed = "lobby" | "tv" | "ladder" | "results";
export type ClientMessage = (
  | { type: "hello"; protocol: 1; client: { name: string; version: string };
      resume?: { session: string; secret: string; seq: number } }
  | { type: "bye"; drain: boolean }
  | { type: "ping" | "pong"; n: number }
  | { type: "seek"; time: Time; rated: boolean; opponents?: ("human" | "bot")[]; variant?: string }
  | { type: "unseek" }
  | ({ type: "challenge"; to: string; key?: string } & Terms)
  | ({ type: "open_challenge"; listed?: boolean; key?: string } & Terms)
  | { type: "accept"; challenge: string; side?: Side }
  | { type: "cancel"; challenge: string }
  | { type: "decline"; challenge: string; reason?: string }
  | { type: "play_bot"; bot: string; time: Time; side?: Side | "random"; variant?: string; rated?: boolean; opening?: Opening; pace?: "swift" | "human" }
  | { type: "resign"; game: string; fault?: { kind: "time" | "illegal" | "left"; note: string } }
  | { type: "move"; game: string; ply: number; column: number }
  | { type: OnGame; game: string }
  | { type: "takeback_answer"; game: string; yes: boolean }
  | { type: "react"; game: string; emoji: string }
  | { type: "watch" | "unwatch"; game?: string; feed?: Feed }
) & { id?: string };
