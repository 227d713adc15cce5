import { isPresent } from './hooks.ts';
import type { RelationRecord, UnitRecord } from './unit-record.ts';
import type { RelationMember, UnitGoal, UnitRelation, UnitState } from './unit-state.ts';

/**
 * Combines the unit state that the agent holds with the portal's response, which may list only the members that
 * changed. The records of the units determine what is no longer needed, and which events keep their place.
 */
export function receiveUnits(
  held: UnitState | null,
  received: UnitState,
  recordOf: (unit: string) => UnitRecord,
): UnitState {
  const before = new Map(held?.epoch === received.epoch ? held.units.map((one) => [one.unit, one]) : []);
  const units = received.units.map((one): UnitGoal => {
    const earlier = new Map(before.get(one.unit)?.relations.map((relation) => [relation.id, relation]));
    const { relations } = recordOf(one.unit);
    const merged = one.relations.map((each) => mergeRelation(earlier.get(each.id), each, relations[each.id]));
    return { ...one, relations: merged };
  });
  return { ...received, units };
}

/** Returns the parameter `after`: for each relation, the clock up to which the agent holds it. */
export function afterOf({ units }: UnitState): string {
  const all = units.flatMap(({ relations }) => relations);
  const clocks = new Map(all.map(({ id, clock }) => [id, clock]));
  // A unit that is new on this machine may have received only the latest changes of a relation.
  for (const { id } of all.filter(({ whole }) => !whole)) clocks.delete(id);
  return [...clocks].map(([id, clock]) => `${id}:${clock}`).join(',');
}

/** Returns the record without relations that have ended and that the unit state no longer has. */
export function forgetRelations(goal: UnitGoal, record: UnitRecord): UnitRecord {
  const named = new Set(goal.relations.map(({ id }) => String(id)));
  const kept = Object.entries(record.relations).filter(([id, { broken }]) => !broken || named.has(id));
  return { ...record, relations: Object.fromEntries(kept) };
}

function mergeRelation(
  held: UnitRelation | undefined,
  received: UnitRelation,
  confirmed: RelationRecord | undefined,
): UnitRelation {
  const before = new Map(held?.members.map((member) => [member.unit, member]));
  const members = new Map(received.whole ? [] : before);
  for (const member of received.members) {
    if (isPresent(member)) members.set(member.unit, placed(before.get(member.unit), member, confirmed));
    else members.set(member.unit, member);
  }
  const needed = [...members.values()].filter(
    (member) => isPresent(member) || confirmed?.members[member.unit] !== undefined,
  );
  return { ...received, whole: received.whole || held?.whole === true, members: needed };
}

/** Returns a member with the clock at which its hook became due. If the hook was due before, it keeps its place. */
function placed(
  before: UnitRelation['members'][number] | undefined,
  member: RelationMember,
  confirmed: RelationRecord | undefined,
): RelationMember {
  const since = member.since ?? member.clock;
  if (before === undefined || !isPresent(before)) return { ...member, since };
  const wasDue = confirmed?.members[member.unit] !== before.version;
  return { ...member, since: wasDue ? Math.min(before.since ?? before.clock, since) : since };
}
