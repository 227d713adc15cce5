import type { auditEntries } from '#db/schema/index.ts';

/** The values in an entry's sentence, by placeholder. */
export type Facts = Partial<Record<(typeof factNames)[number], string | number>>;

/** The placeholders of sentences that an entry's details fill in. */
export const factNames = [
  'name',
  'handler',
  'version',
  'role',
  'lang',
  'count',
  'from',
  'to',
  'reason',
  'method',
  'ringName',
  'by',
  'person',
  'address',
  'machine',
  'port',
  'service',
  'secrets',
  'tenantKeys',
  'acts',
  'unit',
  'replacement',
  'hook',
  'endpoints',
  'number',
] as const;

/** Returns the values of an entry's sentence. Earlier releases stored some of these values in other fields. */
export function factsOf({ details }: Pick<typeof auditEntries.$inferSelect, 'details'>): Facts {
  const facts: Facts = {};
  const earlier = {
    ...asRecord(details.after),
    ...asRecord(details.to),
    count: details.messages ?? details.sessionsEnded,
    // A halt is recorded with the rings whose gates halted; there are none if the portal itself paused the rollout.
    ringName: Array.isArray(details.rings) ? asRecord(details.rings[0]).ringName : undefined,
  };
  for (const name of factNames) {
    for (const value of [details[name], earlier[name as keyof typeof earlier]]) {
      if (facts[name] !== undefined) break;
      if (typeof value === 'string' || typeof value === 'number') facts[name] = value;
    }
  }
  return facts;
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
