import { eq, sql } from 'drizzle-orm';
import type { Database } from '#db/client.ts';
import { rollouts } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { markOf, type StepMark, stepMarkLetters, stepMarks } from '#server/domain/rollout-rules/step-marks.ts';
import { endedStates, type MemberCount, memberCounts, type RolloutState } from '#server/domain/rollout-rules/words.ts';
import { countedAs } from '#server/domain/rollouts/index.ts';
import { type RolloutMapInput, rolloutMapInput } from '../input.ts';
import { idAt, type MapOrder, packCells } from './fleet-map.ts';
import { IdTable } from './id-table.ts';
import { readMapOrder } from './read-fleet-map.ts';
import { type MapReader, shareReading } from './readings.ts';

/** The state of each VM of the fleet map in a rollout. */
export interface RolloutMap {
  rollout: { id: string; name: string };
  /** The revision of the map whose positions these are; null if the fleet has changed, so the map must be read again. */
  revision: string | null;
  /** For each group of the map, one letter of `stepMarkLetters` per VM, packed like the health. */
  groups: string[];
  /** The marks of the members by VM, for a fleet that is shown as named tiles; null for larger fleets. */
  vms: Record<string, StepMark> | null;
}

/** Fleets below this size are shown as named tiles. */
const fewVms = 60;

/** Returns the state of each VM in a rollout, at the positions of a map. Throws 404 `rollout_unknown`. */
export async function getRolloutMap(ctx: Context & MapReader, input: RolloutMapInput): Promise<RolloutMap> {
  allow(ctx.actor, 'viewer');
  const { rollout: id, groupBy, revision } = parse(rolloutMapInput, input);
  const [found] = await ctx.db
    .select({ id: rollouts.id, name: rollouts.name, state: rollouts.state })
    .from(rollouts)
    .where(eq(rollouts.id, id));
  if (found === undefined) throw new DomainError('not_found', 'rollout_unknown');
  const { state, ...rollout } = found;
  const waits: MemberCount = (endedStates as readonly RolloutState[]).includes(state) ? 'unreached' : 'queued';
  const order = await readMapOrder(ctx, groupBy, revision);
  if (order === null) return { rollout, revision: null, groups: [], vms: null };
  const marks = await shareReading(ctx, `rollout ${id} ${waits} ${revision}`, () =>
    readMarks(ctx.db, id, order, markOf(waits)),
  );
  const groups = order.groups.map(({ places }) =>
    packCells(
      Uint8Array.from(places, (place) => marks[place] ?? none),
      stepMarkLetters,
    ),
  );
  return { rollout, revision, groups, vms: marks.length < fewVms ? marksById(order, marks) : null };
}

const none = stepMarks.indexOf('none');

/** Returns the mark of each VM of the fleet, by its position in the order. Members without a step have the mark `waits`. */
async function readMarks(db: Database, id: string, { ids }: MapOrder, waits: number): Promise<Uint8Array> {
  const { rows } = await db.execute<{ members: Buffer | null; steps: Buffer | null }>(sql`
    select
      (select string_agg(uuid_send(v.id), ''::bytea)
         from rollout_members m cross join lateral unnest(m.vm_ids) as v(id) where m.rollout_id = ${id}) as members,
      (select string_agg(uuid_send(s.vm_id) || int2send(${countedAs(sql`s.state`)}::int2), ''::bytea)
         from rollout_steps s where s.rollout_id = ${id}) as steps`);
  const marks = new Uint8Array(ids.length / 16).fill(none);
  const table = new IdTable(ids);
  const mark = (records: Buffer | null, bytes: number, markAt: (view: DataView, at: number) => number) => {
    if (records === null) return;
    const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
    const own = new Uint8Array(16);
    const words = new Uint32Array(own.buffer);
    for (let at = 0; at < records.length; at += bytes) {
      own.set(records.subarray(at, at + 16));
      const place = table.placeOf(words, 0);
      if (place >= 0) marks[place] = markAt(view, at);
    }
  };
  mark(rows[0]?.members ?? null, 16, () => waits);
  mark(rows[0]?.steps ?? null, 18, (view, at) => markOf(memberCounts[view.getInt16(at + 16)] as MemberCount));
  return marks;
}

function marksById(order: MapOrder, marks: Uint8Array): Record<string, StepMark> {
  const all = { ...order, groups: [{ key: null, rest: false, places: Uint32Array.from(marks, (_, place) => place) }] };
  return Object.fromEntries(
    [...marks].flatMap((mark, place) => {
      const id = idAt(all, 0, place);
      return id === null || mark === none ? [] : [[id, stepMarks[mark] ?? 'none']];
    }),
  );
}
