import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { isHandlerManifest } from '#protocol/formula.ts';
import { compareUnits } from '#protocol/unit-names.ts';
import type { SwapUnits } from '#server/domain/topology/index.ts';
import type { MovedParticipant } from '../relations/move-participants.ts';
import type { SwappedUnit } from './swapped-units.ts';

/** How many remote units of a hook are named. */
const maxNamed = 20;

/** A unit that moves into or out of a relation, and a unit that requires it. */
interface Pair extends Record<string, unknown> {
  relationId: string;
  unitId: string;
  unit: string;
  /** The name of the relation in the unit's formula, and the hooks of the formula. */
  name: string;
  hooks: string[];
  remoteId: string;
  remote: string;
  /** Whether the unit has confirmed that the remote unit joined. */
  seen: boolean;
}

/** Lists the hooks that follow a swap: of units with another public address, and on both sides of relations. */
export async function planSwapHooks(
  tx: Transaction,
  own: readonly SwappedUnit[],
  moves: readonly MovedParticipant[],
  production: string | null,
): Promise<SwapUnits['hooks']> {
  const remotes = new Map<string, Map<string, string[]>>();
  const add = (unit: string, hook: string, remote: string[]): void => {
    const hooks = remotes.get(unit) ?? new Map<string, string[]>();
    remotes.set(unit, hooks);
    hooks.set(hook, [...(hooks.get(hook) ?? []), ...remote]);
  };
  for (const unit of own) if (isAddressed(unit, production)) add(unit.name, 'config-changed', []);
  const moveOf = new Map(moves.map(({ relationId, unitId, move }) => [`${relationId} ${unitId}`, move]));
  for (const pair of await readPairs(tx, moves)) {
    const { relationId, unitId, unit, name, hooks, remoteId, remote, seen } = pair;
    const move = moveOf.get(`${relationId} ${unitId}`) ?? moveOf.get(`${relationId} ${remoteId}`);
    if ((move === 'left') !== seen) continue;
    for (const event of move === 'left' ? ['departed'] : ['joined', 'changed']) {
      const hook = `${name}-relation-${event}`;
      if (hooks.includes(hook)) add(unit, hook, [remote]);
    }
  }
  return [...remotes]
    .sort(([a], [b]) => compareUnits(a, b))
    .map(([unit, hooks]) => ({
      unit,
      hooks: [...hooks].map(([hook, all]) => ({
        ...{ hook, count: Math.max(1, all.length), remoteUnits: all.sort(compareUnits).slice(0, maxNamed) },
      })),
    }));
}

/** Whether a swap makes `config-changed` due, because the unit confirmed another public address. */
function isAddressed({ life, record, deployment, publicAddress, manifest }: SwappedUnit, production: string | null) {
  const confirmed = record.configured?.address;
  const address = deployment === production ? publicAddress : null;
  const hasHook = !isHandlerManifest(manifest) && manifest.hooks.includes('config-changed');
  return life === 'alive' && hasHook && confirmed !== undefined && confirmed !== address;
}

/** Reads each unit that moves with each unit that requires it, from both sides. */
async function readPairs(tx: Transaction, moves: readonly MovedParticipant[]): Promise<Pair[]> {
  if (moves.length === 0) return [];
  const column = (key: keyof MovedParticipant) => sql.param(moves.map((one) => one[key]));
  const { rows } = await tx.execute<Pair>(sql`
    with given as (
      select * from unnest(${column('relationId')}::bigint[], ${column('unitId')}::uuid[]) as g (relation_id, unit_id)
    ), pairs as (
      select g.relation_id, g.unit_id as mover, p.unit_id as requirer from given g
        join relation_units p on p.relation_id = g.relation_id and p.side = 'requires' and p.state = 'in'
    ), both_sides as (
      select relation_id, mover as unit_id, requirer as remote_id, 'provides' as side from pairs
      union all select relation_id, requirer, mover, 'requires' from pairs
    )
    select b.relation_id as "relationId", u.id as "unitId", u.name as unit, e.name,
      array(select jsonb_array_elements_text(v.manifest::jsonb -> 'hooks')) as hooks,
      m.id as "remoteId", m.name as remote, exists (
        select from relation_seen s
         where s.relation_id = b.relation_id and s.unit_id = u.id and s.remote_unit_id = m.id) as seen
      from both_sides b join units u on u.id = b.unit_id join units m on m.id = b.remote_id
      join services s on s.id = u.service_id
      join relation_endpoints e on e.relation_id = b.relation_id and e.side = b.side
      join handler_versions v on v.handler = s.formula and v.version = u.formula_version
     order by b.relation_id, s.name, u.number, m.number`);
  return rows;
}
