import { type SQL, sql } from 'drizzle-orm';
import type { Condition, FieldValue, FleetField } from '#server/domain/fleet-field.ts';
import { rankOf, type VmHealth } from '#server/domain/verdicts/index.ts';

/** Defines a field with a typed value. */
export const fleetField = <const N extends string, const V extends FieldValue>(field: FleetField<N, V>) => field;

/** Returns a condition with the same SQL in both forms. */
export const both = (condition: SQL): Condition => ({ set: condition, row: condition });

/** Returns a LIKE pattern that matches texts containing `text` literally. */
export const likePart = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** SQL for the rank of a health value, as `vm_health` stores it. */
export const rank = (health: VmHealth): SQL => sql`${rankOf(health)}::smallint`;

/** SQL for a time that a filter contains. */
export const timeSql = (text: string): SQL => sql`${text}::timestamptz`;

/** SQL condition for a column that has one of these texts. */
export const oneOf = (column: SQL, texts: readonly string[]): SQL =>
  sql`${column} in (${sql.join(
    texts.map((text) => sql`${text}`),
    sql`, `,
  )})`;

/** Values of a field that is a yes-or-no question. Choosing both is the same as no condition. */
export const yesOrNo = ['yes', 'no'] as const;

/** Returns the condition, its opposite, or no condition, depending on the chosen words. */
export function whether(
  words: readonly (typeof yesOrNo)[number][],
  condition: SQL,
  opposite = sql`(not ${condition})`,
): Condition[] {
  if (words.includes('yes') && words.includes('no')) return [];
  return [both(words.includes('yes') ? condition : opposite)];
}
