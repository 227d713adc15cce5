import { and, eq } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { handlerVersions, relationEndpoints, relations, services } from '#db/schema/index.ts';
import { isHandlerManifest } from '#protocol/formula.ts';
import { DomainError } from '#server/domain/error.ts';
import type { RelationRow } from './create-relation.ts';

/** Reads a relation by its number, even one that has ended. Throws 404 `relation_unknown`. */
export async function findRelation(db: Database | Transaction, modelId: string, number: number): Promise<RelationRow> {
  const [row] = await db
    .select()
    .from(relations)
    .where(and(eq(relations.modelId, modelId), eq(relations.number, number)));
  if (row === undefined) throw new DomainError('not_found', 'relation_unknown', { params: { number } });
  return row;
}

/** Returns the keys whose values the formulas of a relation’s services mask. */
export async function maskedKeys(db: Database | Transaction, relationId: number): Promise<string[]> {
  const rows = await db
    .select({ manifest: handlerVersions.manifest })
    .from(relationEndpoints)
    .innerJoin(services, eq(services.id, relationEndpoints.serviceId))
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, services.formula), eq(handlerVersions.version, services.formulaVersion)),
    )
    .where(eq(relationEndpoints.relationId, relationId));
  return rows.flatMap(({ manifest }) => (isHandlerManifest(manifest) ? [] : manifest.masked));
}
