import { compareUnits } from './unit-names.ts';
import type { RelationRecord, UnitRecord } from './unit-record.ts';
import type { UnitGoal, UnitRelation } from './unit-state.ts';

/** The part of a unit's goal that determines which hooks run. */
export interface HookGoal {
  readonly goal: UnitGoal['goal'];
  readonly settingsVersion: number;
  readonly formula: Pick<UnitGoal['formula'], 'version' | 'hooks'>;
  readonly relations: readonly HookRelation[];
  readonly addresses?: Pick<UnitGoal['addresses'], 'public'>;
}
type HookRelation = Pick<UnitRelation, 'id' | 'name' | 'life' | 'clock' | 'whole' | 'members'>;

export type HookKind =
  | 'install'
  | 'upgrade-formula'
  | 'config-changed'
  | 'start'
  | 'stop'
  | 'joined'
  | 'changed'
  | 'departed'
  | 'broken';

/** Why a hook is due. */
export type HookReason =
  | 'new-unit'
  | 'other-formula'
  | 'first-settings'
  | 'other-settings'
  | 'other-address'
  | 'not-started'
  | 'reboot'
  | 'joined'
  | 'after-joined'
  | 'changed'
  | 'left'
  | 'relation-going'
  | 'unit-leaving';

/** A hook that is due, with the versions that it confirms when it ends with 0. */
export interface DueHook {
  kind: HookKind;
  /** The name of the file in the formula's folder `hooks`. */
  hook: string;
  because: HookReason;
  /** Whether the formula has the file. A hook without a file counts as done (EN-44). */
  hasFile: boolean;
  formula: string;
  settings: number;
  /** The unit's public address; absent if the goal has none. */
  address?: string | null;
  relation?: { id: number; name: string };
  /** The member that the hook is for; absent in `broken`. */
  remoteUnit?: string;
  /** For `joined` and `changed`: the version of the member's settings that is known now. */
  version?: number;
}

type Draft = Omit<DueHook, 'hook' | 'hasFile' | 'formula' | 'settings' | 'address'>;
type PlacedDraft = Draft & { clock: number };

/**
 * Lists the hooks that are due, in the order in which they run: the difference between what should be and what the unit
 * has confirmed. Pure: the same goal and record always give the same hooks (EN-32).
 */
export function hooksDue(goal: HookGoal, record: UnitRecord): DueHook[] {
  const isLeaving = goal.goal === 'leaving';
  const ofUnit = isLeaving ? stopOf(record) : hooksOfUnit(goal, record);
  const ofRelations = isLeaving && record.started === null ? [] : hooksOfRelations(goal, record);
  const drafts = isLeaving ? [...ofRelations, ...ofUnit] : [...ofUnit, ...ofRelations];
  const formula = isLeaving ? (record.formula ?? goal.formula.version) : goal.formula.version;
  return drafts.map((draft) => {
    const hook = draft.relation === undefined ? draft.kind : `${draft.relation.name}-relation-${draft.kind}`;
    // The unit state does not list the hooks of an earlier version, with which a unit may leave.
    const hasFile = formula !== goal.formula.version || goal.formula.hooks.includes(hook);
    const address = goal.addresses === undefined ? {} : { address: goal.addresses.public };
    return { ...draft, hook, hasFile, formula, settings: goal.settingsVersion, ...address };
  });
}

/** Returns the members of a relation, as a hook that begins now sees them (EN-16); `due` is that hook. */
export function membersDuring(goal: HookGoal, record: UnitRecord, relationId: number, due?: DueHook): string[] {
  const relation = goal.relations.find(({ id }) => id === relationId);
  const isGoing = relation === undefined || relation.life === 'dying' || goal.goal === 'leaving';
  const members = isGoing
    ? Object.keys(record.relations[relationId]?.members ?? {})
    : relation.members.filter(isPresent).map(({ unit }) => unit);
  const departing = due?.relation?.id === relationId && due.kind === 'departed' ? due.remoteUnit : undefined;
  return members.filter((unit) => unit !== departing).sort(compareUnits);
}

function hooksOfUnit({ formula, settingsVersion, addresses }: HookGoal, record: UnitRecord): Draft[] {
  const { boot, configured, started } = record;
  const drafts: Draft[] = [];
  if (record.formula === null) drafts.push({ kind: 'install', because: 'new-unit' });
  else if (record.formula !== formula.version) drafts.push({ kind: 'upgrade-formula', because: 'other-formula' });
  if (configured === null) drafts.push({ kind: 'config-changed', because: 'first-settings' });
  else if (configured.formula !== formula.version) drafts.push({ kind: 'config-changed', because: 'other-formula' });
  else if (configured.settings !== settingsVersion) drafts.push({ kind: 'config-changed', because: 'other-settings' });
  else if (isMoved(configured.address, addresses?.public))
    drafts.push({ kind: 'config-changed', because: 'other-address' });
  else if (configured.boot !== boot) drafts.push({ kind: 'config-changed', because: 'reboot' });
  if (started === null) drafts.push({ kind: 'start', because: 'not-started' });
  else if (started.boot !== boot) drafts.push({ kind: 'start', because: 'reboot' });
  return drafts;
}

/** Whether a unit's public address differs from the one that its hook confirmed. Earlier agents confirm no address. */
const isMoved = (confirmed: string | null | undefined, now: string | null | undefined): boolean =>
  confirmed !== undefined && now !== undefined && confirmed !== now;

/** Returns the last hook of a unit. A unit that was never installed has nothing to stop. */
function stopOf({ formula, stopped }: UnitRecord): Draft[] {
  return formula === null || stopped ? [] : [{ kind: 'stop', because: 'unit-leaving' }];
}

/** Relations that end come first, one after the other; the rest is ordered by the clock of each event. */
function hooksOfRelations(goal: HookGoal, record: UnitRecord): Draft[] {
  const named = new Set(goal.relations.map(({ id }) => id));
  // After a removal by force, the unit state no longer has a relation whose hooks have not run (EN-39).
  const gone = Object.entries(record.relations)
    .map(
      ([id, { name }]): HookRelation => ({ id: Number(id), name, life: 'dying', clock: 0, whole: true, members: [] }),
    )
    .filter(({ id }) => !named.has(id));
  const all = [...goal.relations, ...gone].sort((a, b) => a.id - b.id);
  const isGoing = ({ life }: HookRelation) => life === 'dying' || goal.goal === 'leaving';
  const because = goal.goal === 'leaving' ? 'unit-leaving' : 'relation-going';
  const going = all.filter(isGoing).flatMap((one) => lastHooksOf(one, record.relations[one.id], because));
  const events = all
    .filter((one) => !isGoing(one))
    .flatMap((one) => eventsOf(one, record.relations[one.id]))
    .sort(byClock);
  return [...going, ...events.map(({ clock: _, ...draft }) => draft)];
}

/** Returns `departed` for each member that joined, and then `broken`. */
function lastHooksOf(relation: HookRelation, confirmed: RelationRecord | undefined, because: HookReason): Draft[] {
  if (confirmed?.broken) return [];
  const { id, name } = relation;
  const departed = departuresOf(relation, Object.keys(confirmed?.members ?? {})).map(
    ({ unit }): Draft => ({ kind: 'departed', because, relation: { id, name }, remoteUnit: unit }),
  );
  return [...departed, { kind: 'broken', because, relation: { id, name } }];
}

/** Returns what happened in a relation and is not confirmed, by the clock; the reduction of the queue (EN-36). */
function eventsOf(relation: HookRelation, confirmed: RelationRecord | undefined): PlacedDraft[] {
  const { id, name, members } = relation;
  const present = members.filter(isPresent);
  const about = (unit: string) => ({ relation: { id, name }, remoteUnit: unit });
  const changes = present.flatMap(({ unit, version, clock, since = clock }): PlacedDraft[] => {
    const known = confirmed?.members[unit];
    const rest = { ...about(unit), version, clock: since };
    if (known === version) return [];
    if (known !== undefined) {
      return [{ kind: 'changed', because: known === null ? 'after-joined' : 'changed', ...rest }];
    }
    return [
      { kind: 'joined', because: 'joined', ...rest },
      { kind: 'changed', because: 'after-joined', ...rest },
    ];
  });
  // If the unit state is not whole, a member that it does not list may still take part.
  const names = new Map(members.map((member) => [member.unit, isPresent(member)]));
  const left = Object.keys(confirmed?.members ?? {}).filter((unit) => !(names.get(unit) ?? !relation.whole));
  const departures = departuresOf(relation, left).map(
    ({ unit, clock }): PlacedDraft => ({ kind: 'departed', because: 'left', ...about(unit), clock }),
  );
  return [...changes, ...departures].sort(
    (a, b) => byClock(a, b) || compareUnits(a.remoteUnit ?? '', b.remoteUnit ?? ''),
  );
}

const byClock = (a: { clock: number }, b: { clock: number }): number => a.clock - b.clock;

/** Orders units that depart by the clock at which they left, which is known only if the portal sent it. */
function departuresOf({ members, clock }: HookRelation, units: string[]): { unit: string; clock: number }[] {
  const clocks = new Map(members.filter((member) => !isPresent(member)).map((member) => [member.unit, member.clock]));
  return units
    .map((unit) => ({ unit, clock: clocks.get(unit) ?? clock }))
    .sort((a, b) => byClock(a, b) || compareUnits(a.unit, b.unit));
}

type Member = UnitRelation['members'][number];
type PresentMember = Exclude<Member, { left: true }>;

/** Whether a member takes part in the relation. */
export function isPresent(member: Member): member is PresentMember {
  return member.left !== true;
}
