import type { Context } from '#server/domain/context.ts';
import { readActivity } from '#server/domain/views/activity/index.ts';
import { activityFilter } from '#server/domain/views/input.ts';
import { csvLine } from './csv.ts';
import { parseQuery } from './read-request.ts';

const columns = [
  'id',
  'at',
  'actorKind',
  'actorId',
  'actorName',
  'door',
  'address',
  'client',
  'action',
  'targetKind',
  'targetId',
  'targetName',
  'vmId',
  'vmName',
  'requestId',
  'position',
  'hash',
] as const;

const exported = activityFilter.omit({ upTo: true, upToEvent: true });

/**
 * Yields the activity log in chunks of lines, one line per entry. In CSV, the data before and after the action is JSON.
 */
export async function* activityLines(
  ctx: Context,
  query: URLSearchParams,
  form: 'csv' | 'jsonl',
): AsyncGenerator<string, void> {
  const filter = parseQuery(exported, query);
  let head = form === 'csv' ? csvLine([...columns, 'before', 'after']) : '';
  for await (const acts of readActivity(ctx, filter)) {
    const lines = acts.map((act) => {
      if (form === 'jsonl') return `${JSON.stringify(act)}\n`;
      const { before, after } = act;
      const json = (side: unknown) => (side === null ? null : JSON.stringify(side));
      return csvLine([...columns.map((column) => act[column]), json(before), json(after)]);
    });
    yield head + lines.join('');
    head = '';
  }
}
