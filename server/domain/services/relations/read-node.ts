import { sql } from 'drizzle-orm';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import type { SealedSettings } from '#server/domain/service-rules/stored.ts';
import { openSettings } from './sealed-node.ts';

/** A node as an agent reads it: the JSON text of each value, by key. */
export interface NodeContent {
  version: number;
  settings: Record<string, string>;
}

/** `unit` of the VM reads the node of `other`, which may be itself. */
export interface ReadNodeInput {
  vmId: string;
  unit: string;
  relationId: number;
  other: string;
}

interface NodeRow extends Record<string, unknown> {
  otherId: string | null;
  version: number | null;
  settings: SealedSettings | null;
}

/**
 * Reads a node for an agent (EN-4). A unit reads the nodes of all units that take part in a relation with it, and of
 * those that left, as they were last. Throws 404 `unit_unknown` if the unit is not on this VM, and 404 `node_unknown`
 * if one of the two does not take part, so that a unit learns nothing about relations of others.
 */
export async function readNode(ctx: Pick<Context, 'db' | 'keys'>, input: ReadNodeInput): Promise<NodeContent> {
  const { vmId, unit, relationId, other } = input;
  const { rows } = await ctx.db.execute<NodeRow>(sql`
    select m.unit_id as "otherId", m.version, m.settings
      from units u
      left join relation_units p on p.relation_id = ${relationId} and p.unit_id = u.id and p.state <> 'broken'
      left join units o on o.model_id = u.model_id and o.name = ${other} and p.unit_id is not null
      left join relation_units m on m.relation_id = p.relation_id and m.unit_id = o.id
     where u.vm_id = ${vmId} and u.name = ${unit} and u.removed_at is null`);
  const [row] = rows;
  if (row === undefined) throw new DomainError('not_found', 'unit_unknown');
  const { otherId, version, settings } = row;
  if (otherId === null || version === null || settings === null) throw new DomainError('not_found', 'node_unknown');
  return { version, settings: openSettings(ctx.keys, { relationId, unitId: otherId }, settings) };
}
