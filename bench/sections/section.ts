import type { Deployment } from '../deployment/deployment.ts';
import type { Agents } from '../load/agents.ts';

/** What a section needs for its measurements. */
export interface Bench {
  deployment: Deployment;
  agents: Agents;
  rounds: number;
  /** Seconds per measurement. */
  seconds: number;
  say(line: string): void;
}

/** One result and its baseline. */
export interface Figure {
  what: string;
  unit: string;
  ours: number;
  /** The baseline; null if there is none. */
  yardstick: { what: string; value: number } | null;
  /** The ratio to the baseline, usually the median of the rounds; null if there is no baseline. */
  ratio: number | null;
  target: Target | null;
  rounds: { ours: number; yardstick: number | null }[];
  /** A note that a reader needs to interpret the result. */
  note?: string;
}

export interface Target {
  kind: 'at least' | 'at most';
  value: number;
  of: 'ratio' | 'value';
}

/** A part of the bench: sets up, measures, cleans up. */
export type Section = (bench: Bench) => Promise<Figure[]>;

export function isMet({ ours, ratio, target }: Figure): boolean | null {
  if (target === null) return null;
  const value = target.of === 'ratio' ? ratio : ours;
  if (value === null) return null;
  return target.kind === 'at least' ? value >= target.value : value <= target.value;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? (sorted[half] ?? 0) : ((sorted[half - 1] ?? 0) + (sorted[half] ?? 0)) / 2;
}

/** Returns the 95% confidence interval of the median, whatever the distribution of the values. */
export function medianInterval(values: readonly number[]): [low: number, high: number] {
  const sorted = [...values].sort((a, b) => a - b);
  const rank = Math.max(0, Math.floor(sorted.length / 2 - 0.98 * Math.sqrt(sorted.length)));
  return [sorted[rank] ?? 0, sorted[sorted.length - 1 - rank] ?? 0];
}

/**
 * Runs both measurements in each round, alternating which goes first, so that other load on the machine affects both
 * alike.
 */
export async function alternate<A, B>(
  rounds: number,
  ours: () => Promise<A>,
  yardstick: () => Promise<B>,
): Promise<{ ours: A; yardstick: B }[]> {
  const measured: { ours: A; yardstick: B }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await ours();
      measured.push({ ours: first, yardstick: await yardstick() });
    } else {
      const first = await yardstick();
      measured.push({ yardstick: first, ours: await ours() });
    }
  }
  return measured;
}

/** Summarizes paired measurements: the median of each side, and the median of their ratios. */
export function figureOf(
  base: Pick<Figure, 'what' | 'unit' | 'target' | 'note'> & { against: string },
  rounds: { ours: number; yardstick: number }[],
): Figure {
  const { against, ...rest } = base;
  return {
    ...rest,
    ours: median(rounds.map(({ ours }) => ours)),
    yardstick: { what: against, value: median(rounds.map(({ yardstick }) => yardstick)) },
    ratio: median(rounds.map(({ ours, yardstick }) => ours / yardstick)),
    rounds,
  };
}
