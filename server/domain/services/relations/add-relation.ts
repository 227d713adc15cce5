import { and, count, eq, inArray, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { handlerVersions, relationEndpoints, relations, services } from '#db/schema/index.ts';
import { isHandlerManifest } from '#protocol/formula.ts';
import { unitLimits } from '#protocol/unit-state.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { requireVersion } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { lockModel, type ModelRow, requireAlive, updateModel } from '#server/domain/topology/index.ts';
import { hasStagedUnits } from '../staging/slot.ts';
import { countRelations, createRelation, type RelationRow } from './create-relation.ts';
import { type AddRelationInput, addRelationInput } from './input.ts';
import { type EndpointPair, matchEndpoints, pairText, readEndpoint, type ServiceEndpoint } from './match-endpoints.ts';
import { type Relation, showRelation } from './relation-view.ts';

/** Maximum number of relations in a model. */
const maxRelations = 2_000;

/**
 * Relates two services. An omitted endpoint is found if exactly one pair matches. Units that have started enter
 * the relation. Throws 404 `model_unknown` | `service_unknown`, 409 `model_dying` | `service_dying` | `relation_exists`
 * | `relation_dying` | `relation_limit` | `relations_too_many`, 412 `model_changed`, 422 `relation_ambiguous` |
 * `relation_no_match`.
 */
export async function addRelation(ctx: Context, input: AddRelationInput): Promise<Relation> {
  allow(ctx.actor, 'operator');
  const { model: name, endpoints, ifMatch } = parse(addRelationInput, input);
  const row = await ctx.db.transaction(async (tx) => {
    const model = await lockModel(tx, name, ifMatch);
    requireAlive(model);
    return addRelationIn(tx, ctx, model, endpoints);
  });
  return showRelation(ctx, row);
}

/** Relates two services of a locked model, as `addRelation` does. */
export async function addRelationIn(
  tx: Transaction,
  ctx: Context,
  model: ModelRow,
  endpoints: readonly string[],
): Promise<RelationRow> {
  const named = endpoints.map(readEndpoint);
  const found = await lockServices(
    tx,
    model.id,
    named.map(({ service }) => service),
  );
  const [one, other] = named.map(({ service, endpoint }) => ({ ...requireService(found, service), endpoint }));
  if (one === undefined || other === undefined) throw new Error('a relation has two endpoints');
  const pair = requirePair(matchEndpoints(one, other));
  const sides = (['provides', 'requires'] as const).map((side) => {
    const { id } = requireService(found, pair[side].service);
    return { side, serviceId: id, name: pair[side].name };
  });
  await requireStaged(tx, found, pair);
  await requireNew(tx, sides, pairText(pair));
  await requireRoom(tx, model.id, sides, pair);
  const created = await createRelation(tx, ctx, { modelId: model.id, interface: pair.interface, sides });
  await recordAudit(tx, ctx, {
    action: 'relation.add',
    target: { kind: 'model', id: model.name },
    after: { number: created.number, interface: pair.interface, endpoints: pairText(pair).split(' ') },
    details: { endpoints: pairText(pair), number: created.number },
  });
  await updateModel(tx, model);
  return created;
}

type LockedService = Awaited<ReturnType<typeof lockServices>>[number];

/** Locks services in the order of their ids, and reads what their formulas declare. */
async function lockServices(tx: Transaction, modelId: string, names: readonly string[]) {
  const rows = await tx
    .select({
      ...{ id: services.id, service: services.name, life: services.life, manifest: handlerVersions.manifest },
      ...{ handler: services.formula, stagedVersion: services.stagedVersion },
    })
    .from(services)
    .innerJoin(
      handlerVersions,
      and(eq(handlerVersions.handler, services.formula), eq(handlerVersions.version, services.formulaVersion)),
    )
    .where(and(eq(services.modelId, modelId), inArray(services.name, [...names]), isNull(services.removedAt)))
    .orderBy(services.id)
    .for('no key update', { of: services });
  return rows.flatMap(({ manifest, ...row }) => (isHandlerManifest(manifest) ? [] : [{ ...row, formula: manifest }]));
}

function requireService(found: readonly LockedService[], name: string): LockedService {
  const service = found.find((one) => one.service === name);
  if (service === undefined) throw new DomainError('not_found', 'service_unknown', { params: { name } });
  if (service.life !== 'alive') throw new DomainError('conflict', 'service_dying', { params: { name } });
  return service;
}

function requirePair(match: ReturnType<typeof matchEndpoints>): EndpointPair {
  if (match.kind === 'pair') return match.pair;
  if (match.kind === 'ambiguous') {
    const pairs = match.pairs.map(pairText).join(', ');
    throw new DomainError('unprocessable', 'relation_ambiguous', { params: { pairs } });
  }
  throw new DomainError('unprocessable', 'relation_no_match', { params: { offers: match.offers.join(', ') } });
}

/** Rejects a relation whose endpoint the version of units in Staging lacks, because a swap would bring this version. */
async function requireStaged(tx: Transaction, found: readonly LockedService[], pair: EndpointPair): Promise<void> {
  for (const side of ['provides', 'requires'] as const) {
    const { service, name } = pair[side];
    const { id, handler, stagedVersion: version } = requireService(found, service);
    if (version === null || !(await hasStagedUnits(tx, id))) continue;
    const { manifest } = await requireVersion(tx, { handler, version });
    if (!isHandlerManifest(manifest) && manifest[side][name]?.interface === pair.interface) continue;
    throw new DomainError('unprocessable', 'formula_lacks_endpoint', {
      params: { version, endpoint: `${service}:${name}` },
    });
  }
}

interface NewSide {
  side: 'provides' | 'requires';
  serviceId: string;
  name: string;
}

async function requireNew(tx: Transaction, sides: readonly NewSide[], endpoints: string): Promise<void> {
  const [one, other] = sides;
  if (one === undefined || other === undefined) return;
  const at = ({ side, serviceId, name }: NewSide) =>
    and(eq(relationEndpoints.side, side), eq(relationEndpoints.serviceId, serviceId), eq(relationEndpoints.name, name));
  const related = tx.select({ id: relationEndpoints.relationId }).from(relationEndpoints).where(at(other));
  const [same] = await tx
    .select({ life: relations.life })
    .from(relationEndpoints)
    .innerJoin(relations, eq(relations.id, relationEndpoints.relationId))
    .where(and(at(one), isNull(relations.removedAt), inArray(relations.id, related)));
  if (same === undefined) return;
  const code = same.life === 'alive' ? 'relation_exists' : 'relation_dying';
  throw new DomainError('conflict', code, { params: { endpoints } });
}

async function requireRoom(
  tx: Transaction,
  modelId: string,
  sides: readonly NewSide[],
  pair: EndpointPair,
): Promise<void> {
  const [inModel] = await tx
    .select({ all: count() })
    .from(relations)
    .where(and(eq(relations.modelId, modelId), isNull(relations.removedAt)));
  requireBelow(inModel?.all ?? 0, maxRelations);
  for (const { side, serviceId } of sides) {
    const { service, name, limit }: ServiceEndpoint = pair[side];
    requireBelow(await countRelations(tx, serviceId), unitLimits.relationsOfUnit);
    if (limit === null || (await countRelations(tx, serviceId, name)) < limit) continue;
    throw new DomainError('conflict', 'relation_limit', { params: { endpoint: `${service}:${name}`, limit } });
  }
}

function requireBelow(all: number, limit: number): void {
  if (all >= limit) throw new DomainError('conflict', 'relations_too_many', { params: { limit } });
}
