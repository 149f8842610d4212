// What `GET /api/v1/games/ID/review` answers, as far as the page uses it. Kept by hand beside src/http/api/review.rs.

import type { Side, Sides } from "./protocol";

export type Mistake = "win_to_loss" | "win_to_draw" | "draw_to_loss" | "slower_win" | "faster_loss";

export interface ReviewedPly {
  ply: number; side: Side; column: number; before: number; after: number; best: number[]; mistake: Mistake | null;
}

export interface Skill { moves: number; decisions: number; accuracy: number | null; blunders: number }

export interface Review { variant: string; from_ply: number; moves: string; turning_point: number | null; plies: ReviewedPly[]; skill: Sides<Skill> }
