import { sql } from 'drizzle-orm';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import type { MemberCount, StepState } from '#server/domain/rollout-rules/words.ts';
import type { CellsView } from './answers.ts';
import { type ListCellsInput, listCellsInput } from './input.ts';
import { readRollout, ringsOf } from './rows.ts';
import { shownState } from './shown-state.ts';

type Cell = CellsView['cells'][number];

interface CellCount extends Record<string, unknown> {
  ring: number;
  cell: number;
  state: StepState;
  n: number;
  vm_id: string | null;
  name: string | null;
  cause: string | null;
}

/**
 * Returns the members of a rollout in order, as cells with their states. If there are more members than cells, several
 * members of one ring share a cell. Throws 404 `rollout_unknown`.
 */
export async function getCells(ctx: Context, input: ListCellsInput): Promise<CellsView> {
  allow(ctx.actor, 'viewer');
  const { id, cells: most } = parse(listCellsInput, input);
  await readRollout(ctx.db, id);
  const rings = await ringsOf(ctx.db, id);
  const perCell = perCellOf(
    rings.map(({ size }) => size),
    most,
  );
  const { rows } = await ctx.db.execute<CellCount>(perCell === 1 ? single(id) : grouped(id, perCell));
  const counted = Map.groupBy(rows, ({ ring, cell }) => `${ring}/${cell}`);
  const cells = rings.flatMap(({ ring, size }) =>
    Array.from({ length: Math.ceil(size / perCell) }, (_, cell) =>
      cellOf(
        { ring, place: cell * perCell, size: Math.min(perCell, size - cell * perCell) },
        counted.get(`${ring}/${cell}`),
      ),
    ),
  );
  return { perCell, cells };
}

/** Returns the smallest number of members in a cell with which rings of these sizes have at most `most` cells. */
function perCellOf(sizes: readonly number[], most: number): number {
  const members = sizes.reduce((sum, size) => sum + size, 0);
  const cellsOf = (perCell: number) => sizes.reduce((sum, size) => sum + Math.ceil(size / perCell), 0);
  let perCell = Math.max(1, Math.ceil(members / most));
  while (cellsOf(perCell) > most) perCell += 1;
  return perCell;
}

const single = (id: string) => sql`
  select s.ring, s.place as cell, s.state, 1 as n, s.vm_id, v.name, s.cause
  from rollout_steps s join vms v on v.id = s.vm_id where s.rollout_id = ${id}`;

const grouped = (id: string, perCell: number) => sql`
  select s.ring, s.place / ${perCell}::int as cell, s.state, count(*)::int as n,
    null as vm_id, null as name, null as cause
  from rollout_steps s where s.rollout_id = ${id} group by 1, 2, 3`;

function cellOf(at: Pick<Cell, 'ring' | 'place' | 'size'>, steps: readonly CellCount[] = []): Cell {
  const counts: Partial<Record<MemberCount, number>> = {};
  for (const { state, n } of steps) counts[shownState(state)] = (counts[shownState(state)] ?? 0) + n;
  const queued = at.size - steps.reduce((sum, { n }) => sum + n, 0);
  if (queued > 0) counts.queued = (counts.queued ?? 0) + queued;
  const [first] = steps;
  const vm = first?.vm_id ? { vmId: first.vm_id, name: first.name ?? first.vm_id, cause: first.cause } : null;
  return { ...at, counts, vm };
}
