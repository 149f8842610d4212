// What `GET /api/v1/positions/MOVES` answers. Kept by hand beside src/http/api/positions.rs.

import type { CellNumbers, Side } from "./protocol";

export interface Success { games: number; wins: number; draws: number; losses: number }

export interface ExploredMove { column: number; people: Success; bots: Success }

export interface Position {
  moves: string; variant: string; ply: number; opening_name: { key: string; name: string; ply: number } | null; to_move: Side | null; legal: number[];
  result: Side | "draw" | null; line: CellNumbers[] | null;
  score: number | null; columns: (number | null)[] | null; best: number[] | null; level: number | null; explored: ExploredMove[] | null;
}
