import { and, count as countRows, eq, isNull, type SQL } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions, relationEndpoints, relations, services, units } from '#db/schema/index.ts';
import { type AnyManifest, isHandlerManifest } from '#protocol/formula.ts';
import { relationSides } from '#protocol/formula-words.ts';
import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { readModel } from '#server/domain/topology/index.ts';
import { type ServiceStatesInput, serviceStatesInput } from '../input.ts';
import { readServiceUnits } from './read-service-units.ts';
import type { FormulaEndpoint, ModelService } from './service-state.ts';

/**
 * Lists the services of a model, or one of them, with their units, what fails on them and what they can be related by.
 * Runs the same number of statements for any number of units. Throws 404 `model_unknown` | `service_unknown`.
 */
export async function listServiceStates(ctx: Context, input: ServiceStatesInput): Promise<{ items: ModelService[] }> {
  allow(ctx.actor, 'viewer');
  const { model: name, service, ...reader } = parse(serviceStatesInput, input);
  const { id: modelId } = await readModel(ctx.db, name);
  const ofService = service === undefined ? undefined : eq(services.name, service);
  const where = and(eq(services.modelId, modelId), isNull(services.removedAt), ofService);
  return ctx.db.transaction(
    async (tx) => {
      const rows = await readServices(tx, where);
      const [only] = service === undefined ? [] : rows;
      if (service !== undefined && only === undefined) {
        throw new DomainError('not_found', 'service_unknown', { params: { name: service } });
      }
      const ofUnits = only === undefined ? eq(units.modelId, modelId) : eq(units.serviceId, only.row.id);
      const unitsOf = await readServiceUnits(tx, ofUnits, ctx.now, negotiate(reader));
      const relationsOf = await countRelations(tx, modelId);
      return {
        items: rows.map(({ row, manifest }) => ({
          ...{ name: row.name, life: row.life, formula: row.formula, version: row.formulaVersion },
          ...{ exposed: row.exposed, settingsVersion: row.settingsVersion, atOnce: row.atOnceUpgrade },
          units: unitsOf.get(row.id) ?? [],
          endpoints: endpointsOf(manifest, (endpoint) => relationsOf.get(`${row.id}/${endpoint}`) ?? 0),
        })),
      };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
}

/** Returns the endpoints of a formula. `relationsOf` returns how many relations an endpoint has. */
const endpointsOf = (manifest: AnyManifest, relationsOf: (name: string) => number): FormulaEndpoint[] =>
  isHandlerManifest(manifest)
    ? []
    : relationSides.flatMap((side) =>
        Object.entries(manifest[side]).map(([name, facts]) => ({ side, name, ...facts, relations: relationsOf(name) })),
      );

const readServices = (tx: Transaction, where: SQL | undefined) =>
  tx
    .select({ row: services, manifest: handlerVersions.manifest })
    .from(services)
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, services.formula), eq(handlerVersions.version, services.formulaVersion)),
    )
    .where(where)
    .orderBy(services.name);

/** Counts the relations of each endpoint, including those that end, because these still count toward the limit. */
async function countRelations(tx: Transaction, modelId: string): Promise<Map<string, number>> {
  const rows = await tx
    .select({ serviceId: relationEndpoints.serviceId, name: relationEndpoints.name, all: countRows() })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(and(eq(relations.modelId, modelId), isNull(relations.removedAt)))
    .groupBy(relationEndpoints.serviceId, relationEndpoints.name);
  return new Map(rows.map(({ serviceId, name, all }) => [`${serviceId}/${name}`, all]));
}
