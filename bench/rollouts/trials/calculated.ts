import { isSignificant, isWorse } from '#server/domain/rollout-rules/compare.ts';

/**
 * Returns the probability that the comparison of one ring halts although either VM of a pair fails first with equal
 * chance, by exact recursion over the discordant pairs.
 */
export function falseAlarmRate(rings: number, discordantPairs: number): number {
  /** Probability of not having halted, by how often the changed VM was first. */
  let open = [1];
  let halted = 0;
  /** How often the changed VM must be first to halt. It does not decrease as pairs are added. */
  let threshold = 1;
  for (let pairs = 1; pairs <= discordantPairs; pairs += 1) {
    while (threshold <= pairs && !isSignificant(threshold, pairs - threshold, rings)) threshold += 1;
    const next = Array.from({ length: pairs + 1 }, (_, first) => ((open[first] ?? 0) + (open[first - 1] ?? 0)) / 2);
    for (let first = threshold; first <= pairs; first += 1) {
      halted += next[first] ?? 0;
      next[first] = 0;
    }
    open = next;
  }
  return halted;
}

export interface SeenOptions {
  rings: number;
  /** The probability that the changed VM of a pair fails, and that the unchanged VM fails. */
  changed: number;
  others: number;
  random(): number;
  /** Number of simulated rings. */
  runs?: number;
  minEffectShare?: number;
  most?: number;
}

/** Returns after how many pairs the comparison of one ring halts, by simulation of the rule alone: median and worst. */
export function pairsUntilSeen(options: SeenOptions): { median: number; worst: number; missed: number } {
  const { runs = 1_000, most = 1_000 } = options;
  const seen = Array.from({ length: runs }, () => pairsOfRun(options, most)).sort((a, b) => a - b);
  const halted = seen.filter((pairs) => pairs <= most);
  return { median: seen[runs >> 1] ?? 0, worst: halted.at(-1) ?? 0, missed: runs - halted.length };
}

function pairsOfRun({ rings, changed, others, random, minEffectShare = 100 }: SeenOptions, most: number): number {
  const counts = { changedFirst: 0, controlFirst: 0, resolved: 0 };
  while (counts.resolved < most) {
    const [hasChanged, hasOther] = [random() < changed, random() < others];
    const isChangedFirst = hasChanged && (!hasOther || random() < 0.5);
    counts.resolved += 1;
    if (isChangedFirst) counts.changedFirst += 1;
    else if (hasOther) counts.controlFirst += 1;
    if (isChangedFirst && isWorse(counts, rings, minEffectShare)) return counts.resolved;
  }
  return most + 1;
}
