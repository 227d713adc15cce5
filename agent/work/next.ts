/** A kind of work that the lane does. */
export type WorkKind = 'extension' | 'execution' | 'hook';

/** Work that the lane could do now. */
export interface Candidate {
  kind: WorkKind;
  /** The turn of the change that requested this work; null for a hook caused by another machine. */
  turn: number | null;
  /** For a hook without a turn: the logical clock of its relation, which orders such hooks. */
  clock?: number;
  /** Whether the work was begun on this machine and has not ended, such as a command that outlived the agent. */
  isBegun: boolean;
}

/** How long the lane has been busy with one kind of work, in milliseconds. */
export interface LaneBusy {
  kind: WorkKind;
  ms: number;
}

/** After this time with one kind of work, a candidate of another kind goes next. */
const longestKindMs = 3_600_000;

/**
 * Returns what the lane does next, by priority: work that was begun on this machine; after an hour with one kind, work
 * of another kind; the lowest turn; hooks without a turn, by the clock of their relation. Equal candidates keep their
 * order. Null if there are no candidates.
 */
export function nextWork<C extends Candidate>(candidates: readonly C[], busy: LaneBusy | null): C | null {
  const others = candidates.filter(({ kind }) => busy !== null && busy.ms >= longestKindMs && kind !== busy.kind);
  const begun = candidates.filter(({ isBegun }) => isBegun);
  const eligible = begun.length > 0 ? begun : others.length > 0 ? others : candidates;
  return eligible.toSorted(byTurn)[0] ?? null;
}

function byTurn(a: Candidate, b: Candidate): number {
  if (a.turn !== null && b.turn !== null) return a.turn - b.turn;
  if (a.turn === null && b.turn === null) return (a.clock ?? 0) - (b.clock ?? 0);
  return a.turn === null ? 1 : -1;
}
