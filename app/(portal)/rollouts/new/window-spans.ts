import type { Occurrence } from '#server/domain/rollout-rules/windows.ts';

/** Returns the different spans of the occurrences in order, each with the first occurrence that has it. */
export function spansOf(
  occurrences: readonly Occurrence[],
  spanOf: (occurrence: Occurrence) => string,
): { span: string; from: Date }[] {
  const spans: { span: string; from: Date }[] = [];
  for (const occurrence of occurrences) {
    if (occurrence.clocks === 'none') continue;
    const span = spanOf(occurrence);
    if (span !== spans.at(-1)?.span) spans.push({ span, from: occurrence.from });
  }
  return spans;
}
