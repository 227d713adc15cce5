import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '#db/client.ts';
import type { EvaluatedUnit } from './read-unit-health.ts';

/** A relation that a unit's formula requires and its service does not have, with the services that offer it. */
export const missingRelation = z.object({
  name: z.string(),
  interface: z.string(),
  offeredBy: z.array(z.string()).describe('Services of the model, with the name of the relation, such as `mysql:db`.'),
});
export type MissingRelation = z.infer<typeof missingRelation>;

/**
 * Reads which services offer the relations that units lack (EN-82), by unit. Runs no statement if no unit lacks one.
 */
export async function readOffers(
  db: Database | Transaction,
  evaluated: readonly EvaluatedUnit[],
): Promise<Map<string, MissingRelation>> {
  const lacking = evaluated.flatMap(({ unit: { id, modelId, manifest }, cause, command: name }) => {
    const wanted = cause === 'relation' && name !== null ? manifest.requires[name] : undefined;
    return wanted === undefined || name === null ? [] : [{ id, modelId, name, interface: wanted.interface }];
  });
  if (lacking.length === 0) return new Map();
  const modelIds = [...new Set(lacking.map(({ modelId }) => modelId))];
  const { rows } = await db.execute<{ modelId: string; interface: string; name: string }>(sql`
    select s.model_id as "modelId", p.value ->> 'interface' as interface, s.name || ':' || p.key as name
      from services s join handler_versions v on v.handler = s.formula and v.version = s.formula_version
      cross join lateral jsonb_each(v.manifest::jsonb -> 'provides') p
     where s.model_id = any(${sql.param(modelIds)}::uuid[]) and s.life = 'alive' and s.removed_at is null
     order by 3`);
  return new Map(
    lacking.map(({ id, modelId, name, interface: wanted }) => {
      const offers = rows.filter((row) => row.modelId === modelId && row.interface === wanted);
      return [id, { name, interface: wanted, offeredBy: offers.map((offer) => offer.name) }];
    }),
  );
}
