import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '#db/client.ts';
import { isSecretKey } from '#protocol/secret-keys.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { fitList, leftOutOf } from '#server/domain/list-bytes.ts';
import { parse } from '#server/domain/parse.ts';
import { readModel } from '#server/domain/topology/index.ts';
import type { RelationRow } from './create-relation.ts';
import { findRelation, maskedKeys } from './find-relation.ts';
import { type RelationSettingsInput, type RevealNodeInput, relationSettingsInput, revealNodeInput } from './input.ts';
import type { RelationNodes, RelationSettings, RevealedNode } from './node-shapes.ts';
import { clockAt, nodesAt, type PastNode } from './nodes-at.ts';
import { openValue, valueBytes } from './sealed-node.ts';

/**
 * Lists the keys of all units’ settings, with sizes, versions and writers, now or at a clock or time. Throws 404
 * `model_unknown` | `relation_unknown` | `relation_clock_unknown` | `relation_history_gone`.
 */
export async function listNodes(ctx: Context, input: RelationSettingsInput): Promise<RelationNodes> {
  allow(ctx.actor, 'viewer');
  const { clock, nodes, masked } = await loadNodes(ctx, ctx.db, parse(relationSettingsInput, input));
  const shown = nodes.map((node) => ({ ...showNode(node), keys: [...node.values].map((one) => showKey(one, masked)) }));
  const { kept, leftOut: more } = fitList(shown);
  return { clock, nodes: kept, ...leftOutOf({ nodes: more }) };
}

/**
 * Reads all units’ settings, now or at a clock or time, for operators. Masked values are hidden. Throws as `listNodes`.
 */
export async function getRelationSettings(ctx: Context, input: RelationSettingsInput): Promise<RelationSettings> {
  allow(ctx.actor, 'operator');
  const { relation, clock, nodes, masked } = await loadNodes(ctx, ctx.db, parse(relationSettingsInput, input));
  const shown = nodes.map((node) => showSettings(ctx, relation, node, masked, false));
  const { kept, leftOut: more } = fitList(shown);
  return { clock, nodes: kept, ...leftOutOf({ nodes: more }) };
}

/**
 * Reads one unit’s settings with the masked values, which the activity log records (EN-65). Throws as `listNodes`, and
 * 404 `node_unknown`.
 */
export async function revealNode(ctx: Context, input: RevealNodeInput): Promise<RevealedNode> {
  allow(ctx.actor, 'operator');
  const { unit, ...of } = parse(revealNodeInput, input);
  return ctx.db.transaction(async (tx) => {
    const { relation, clock, nodes, masked } = await loadNodes(ctx, tx, of);
    const node = nodes.find((one) => one.unit === unit);
    if (node === undefined) throw new DomainError('not_found', 'node_unknown');
    const secret = [...node.values.keys()].filter((one) => isSecretKey(one, masked));
    await recordAudit(tx, ctx, {
      action: 'node.reveal',
      target: { kind: 'model', id: of.model },
      vmId: node.vmId,
      details: { unit, number: of.number, version: node.version, keys: secret.slice(0, 50) },
    });
    return { clock, ...showSettings(ctx, relation, node, masked, true) };
  });
}

type ShownNode = PastNode & { confirmedBy: number };

const dayMs = 24 * 60 * 60_000;

async function loadNodes(
  { now, config }: Pick<Context, 'now' | 'config'>,
  db: Database | Transaction,
  { model: name, number, at }: { model: string; number: number; at?: string | undefined },
) {
  const model = await readModel(db, name);
  const relation = await findRelation(db, model.id, number);
  const keptSince = new Date(now.getTime() - config.keptDays.relations * dayMs);
  const clock = await clockAt(db, relation, at, keptSince);
  const nodes = await nodesAt(db, relation, clock);
  const confirmed = await countConfirmed(db, relation, nodes);
  const masked = await maskedKeys(db, relation.id);
  const shown = nodes.map((node): ShownNode => ({ ...node, confirmedBy: confirmed.get(node.unitId) ?? 0 }));
  return { relation, clock, nodes: shown, masked };
}

async function countConfirmed(
  db: Database | Transaction,
  { id }: RelationRow,
  nodes: readonly PastNode[],
): Promise<Map<string, number>> {
  const { rows } = await db.execute<{ unitId: string; confirmed: number }>(sql`
    select n.unit_id as "unitId", count(*)::int as confirmed
      from unnest(${sql.param(nodes.map(({ unitId }) => unitId))}::uuid[],
        ${sql.param(nodes.map(({ version }) => version))}::int[]) as n (unit_id, version)
      join relation_seen s on s.relation_id = ${id} and s.remote_unit_id = n.unit_id and s.version >= n.version
     group by n.unit_id`);
  return new Map(rows.map(({ unitId, confirmed }) => [unitId, confirmed]));
}

function showNode({ unit, side, version, values, written, confirmedBy }: ShownNode) {
  const bytes = [...values.values()].reduce((sum, sealed) => sum + valueBytes(sealed), 0);
  return { unit, side, version, bytes, written, confirmedBy };
}

const showKey = ([name, sealed]: [string, string], masked: readonly string[]) => ({
  key: name,
  bytes: valueBytes(sealed),
  masked: isSecretKey(name, masked),
});

function showSettings(
  { keys }: Pick<Context, 'keys'>,
  { id: relationId }: RelationRow,
  node: ShownNode,
  masked: readonly string[],
  isRevealed: boolean,
) {
  const opened = [...node.values].map(([name, sealed]) => {
    const shown = showKey([name, sealed], masked);
    const isOpen = isRevealed || !shown.masked;
    return { ...shown, value: isOpen ? openValue(keys, { relationId, unitId: node.unitId }, name, sealed) : null };
  });
  return { ...showNode(node), settings: opened };
}
