import { saveFile } from '#app/_lib/save-file.ts';
import type { ShownRollout, ShownStep } from '../rollout-data.ts';

type Page = { items: readonly ShownStep[]; nextCursor: string | null };

const columns = [
  ...['vm', 'name', 'ring', 'place', 'state', 'cause', 'command', 'exitCode', 'message', 'attempt'],
  ...['before', 'after', 'published', 'decided'],
];

/** Loads all matching steps and offers them as a CSV file. Browser only. */
export async function exportSteps(
  read: (cursor: string | undefined) => Promise<Page>,
  { id, rings }: Pick<ShownRollout, 'id' | 'rings'>,
): Promise<void> {
  const lines = [columns.join(',')];
  let cursor: string | undefined;
  do {
    const page: Page = await read(cursor);
    lines.push(...page.items.map((step) => csvOf(step, rings[step.ring]?.name ?? String(step.ring + 1))));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  saveFile(`rollout-${id}.csv`, `${lines.join('\r\n')}\r\n`, 'text/csv');
}

/** Returns a step as a line of CSV. */
export function csvOf(step: ShownStep, ring: string): string {
  const versions = ({ extensions }: ShownStep['after']) =>
    extensions.map(({ name, version }) => `${name} ${version ?? ''}`.trim()).join('; ');
  const { vmId, name, place, state, cause, failure, attempt, before, after, publishedAt, decidedAt } = step;
  return [
    ...[vmId, name, ring, place + 1, state, cause],
    ...[failure?.command ?? null, failure?.exitCode ?? null, failure?.messageId ?? null, attempt],
    ...[versions(before), versions(after), publishedAt, decidedAt],
  ]
    .map(cellOf)
    .join(',');
}

/** Quotes a value. A quote before `=`, `+`, `-` and `@` keeps spreadsheets from reading a name as a formula. */
function cellOf(value: string | number | null): string {
  const text = String(value ?? '');
  const plain = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
