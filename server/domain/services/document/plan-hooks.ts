import { type DueHook, type HookGoal, hooksDue } from '#protocol/hooks.ts';
import { newUnitRecord, type UnitRecord } from '#protocol/unit-record.ts';
import type { Side } from '#server/domain/service-rules/words.ts';
import { readEndpoint } from '../relations/match-endpoints.ts';
import type { Desired, ModelPlan } from './model-plan.ts';
import type { PlannedHook } from './plan-view.ts';
import type { ModelState, RelationState } from './read-state.ts';

/** How many remote units of a hook are named. */
const maxNamed = 20;
/** Ids of relations that do not exist yet begin here. */
const firstNewId = 2 ** 50;

/** A unit’s goal and what it has confirmed, by its name. */
export type WorkOfUnits = ReadonlyMap<string, { goal: HookGoal; record: UnitRecord }>;

interface FutureUnit {
  name: string;
  service: string;
  isNew: boolean;
  isStarted: boolean;
  isLeaving: boolean;
  isStaged: boolean;
}

interface FutureRelation {
  id: number;
  isNew: boolean;
  isEnding: boolean;
  sides: readonly { side: Side; service: string; name: string }[];
}

/** The model after an apply, as far as hooks depend on it. */
interface Future {
  units: readonly FutureUnit[];
  byName: ReadonlyMap<string, FutureUnit>;
  byService: ReadonlyMap<string, readonly FutureUnit[]>;
  relations: readonly FutureRelation[];
  targets: ReadonlyMap<string, { settingsVersion: number; formula: HookGoal['formula'] }>;
}

/**
 * Lists the hooks that would run on each unit after an apply: what is due in the planned state, by the rule that agents
 * use too. Hooks that write settings of a relation cause further hooks, which cannot be known before.
 */
export function planHooks(
  state: ModelState | null,
  desired: Desired,
  plan: ModelPlan,
  work: WorkOfUnits,
): { unit: string; hooks: PlannedHook[] }[] {
  const future = futureOf(state, desired, plan, work);
  return future.units.flatMap((unit) => {
    const known = work.get(unit.name);
    if (known === undefined && !unit.isNew) return [];
    const record = known?.record ?? newUnitRecord();
    const { goal, more } = goalOf(unit, known?.goal, future);
    const before = new Set((known === undefined ? [] : hooksDue(known.goal, record)).map(keyOf));
    const due = hooksDue(goal, record).filter(({ hasFile }) => hasFile);
    const hooks = grouped(
      due,
      (hook) => timeOf(hook, unit, before, future),
      (hook) => {
        const isAdded = hook.kind === 'joined' || hook.kind === 'changed';
        return isAdded ? groupKey(hook.relation?.id, future.byName.get(hook.remoteUnit ?? '')) : '';
      },
      more,
    );
    return hooks.length === 0 ? [] : [{ unit: unit.name, hooks }];
  });
}

const keyOf = ({ hook, relation, remoteUnit }: DueHook): string => `${hook} ${relation?.id ?? ''} ${remoteUnit ?? ''}`;

function futureOf(state: ModelState | null, { prepared, prune }: Desired, plan: ModelPlan, work: WorkOfUnits): Future {
  const { left } = plan;
  const removedServices = new Set(prune ? left.services.map(({ name }) => name) : []);
  const removedUnits = new Set(prune ? left.units.map(({ name }) => name) : []);
  const removedRelations = new Set(prune ? left.relations.map(({ id }) => id) : []);
  const present = (state?.units ?? []).map(
    (unit): FutureUnit => ({
      ...{ name: unit.name, service: unit.service, isNew: false, isStaged: unit.isStaged },
      isStarted: work.get(unit.name)?.record.started != null,
      isLeaving: unit.life === 'dying' || removedUnits.has(unit.name) || removedServices.has(unit.service),
    }),
  );
  const added = plan.units.map(({ unit, service, isStaged }) => {
    return { name: unit, service, isStaged, isNew: true, isStarted: false, isLeaving: false };
  });
  const kept = (state?.relations ?? []).map(
    ({ id, life, endpoints }: RelationState): FutureRelation => ({
      ...{ id, isNew: false, sides: endpoints },
      isEnding:
        life === 'dying' || removedRelations.has(id) || endpoints.some((one) => removedServices.has(one.service)),
    }),
  );
  const units = [...present, ...added];
  return {
    units,
    byName: new Map(units.map((unit) => [unit.name, unit])),
    byService: Map.groupBy(units, ({ service }) => service),
    relations: [...kept, ...newRelations(plan)],
    targets: targetsOf(state, prepared),
  };
}

const targetKey = (service: string, isStaged: boolean): string => (isStaged ? `${service} staged` : service);

/** Returns what units get in each slot. Services that the document leaves out keep theirs. */
function targetsOf(state: ModelState | null, prepared: Desired['prepared']): Future['targets'] {
  const targets = new Map<string, { settingsVersion: number; formula: HookGoal['formula'] }>();
  for (const [name, { row, manifest }] of state?.services ?? []) {
    const formula = { version: row.formulaVersion, hooks: manifest.hooks };
    targets.set(targetKey(name, false), { settingsVersion: row.settingsVersion, formula });
  }
  for (const [name, checked] of prepared) {
    for (const isStaged of [false, true]) {
      const { formula, settings } = (isStaged ? checked.staged : null) ?? checked;
      const { version, manifest } = formula;
      const target = { settingsVersion: settings.version, formula: { version, hooks: manifest.hooks } };
      targets.set(targetKey(name, isStaged), target);
    }
  }
  return targets;
}

/** Returns the relations that an apply creates, with those between the units of a new service. */
function newRelations({ relations, services }: ModelPlan): FutureRelation[] {
  const declared = relations.map(({ endpoints }): FutureRelation['sides'] =>
    endpoints.map((text, index) => {
      const { service, endpoint } = readEndpoint(text);
      return { side: index === 0 ? 'requires' : 'provides', service, name: endpoint ?? '' };
    }),
  );
  const peers = services
    .filter(({ current }) => current === null)
    .flatMap(({ name: service, prepared }) =>
      Object.keys(prepared.formula.manifest.peers).map((name) => [{ side: 'peer' as const, service, name }]),
    );
  return [...declared, ...peers].map((sides, index) => ({
    ...{ id: firstNewId + index, isNew: true, isEnding: false, sides },
  }));
}

/**
 * Returns the goal of a unit after an apply. `more`: how many new members of each relation are not in the goal, because
 * only the first ones are named.
 */
function goalOf(unit: FutureUnit, current: HookGoal | undefined, future: Future) {
  const target = future.targets.get(targetKey(unit.service, unit.isStaged)) ?? current;
  const more = new Map<string, number>();
  if (target === undefined || unit.isLeaving) {
    if (current === undefined) throw new Error(`${unit.name} has no goal`);
    return { goal: { ...current, goal: 'leaving' as const }, more };
  }
  const own = new Map(current?.relations.map((relation) => [relation.id, relation]));
  const relations = future.relations.flatMap((relation): HookGoal['relations'] => {
    const side = relation.sides.find(({ service }) => service === unit.service);
    const known = own.get(relation.id);
    if (side === undefined) return [];
    if (known === undefined && (relation.isEnding || !(relation.isNew || unit.isNew))) return [];
    if (relation.isEnding) return known === undefined ? [] : [{ ...known, life: 'dying' as const }];
    if (unit.isStaged && side.side === 'provides') return known === undefined ? [] : [known];
    const { id } = relation;
    const others = membersOf(relation, side, unit, future).filter((one) => known === undefined || one.isNew);
    const listed = namedOf(others);
    for (const one of others)
      if (!listed.includes(one)) more.set(groupKey(id, one), (more.get(groupKey(id, one)) ?? 0) + 1);
    const members = listed.map(({ name }) => ({ unit: name, version: 1, clock: Number.MAX_SAFE_INTEGER }));
    const { clock = 0, whole = true, members: present = [] } = known ?? {};
    const all = [...present.map(leaving(future)), ...members];
    return [{ ...{ id, name: side.name, clock, whole, life: 'alive' as const }, members: all }];
  });
  const { settingsVersion, formula } = target;
  const addresses = current?.addresses && { addresses: current.addresses };
  return { goal: { goal: 'alive' as const, settingsVersion, formula, ...addresses, relations }, more };
}

/** Returns the units on the other side of a relation that do not leave. */
function membersOf(
  { sides }: FutureRelation,
  own: FutureRelation['sides'][number],
  { name }: FutureUnit,
  { byService }: Future,
): FutureUnit[] {
  const others = own.side === 'peer' ? [own] : sides.filter((side) => side !== own);
  return others
    .flatMap(({ service, side }) =>
      (byService.get(service) ?? []).filter((unit) => side !== 'provides' || !unit.isStaged),
    )
    .filter((unit) => !unit.isLeaving && unit.name !== name);
}

/** Returns the first units that have started, and the first that have not. */
const namedOf = (units: readonly FutureUnit[]): FutureUnit[] =>
  [true, false].flatMap((isStarted) => units.filter((unit) => unit.isStarted === isStarted).slice(0, maxNamed));

const leaving =
  ({ byName }: Future) =>
  (member: HookGoal['relations'][number]['members'][number]) =>
    byName.get(member.unit)?.isLeaving ? { unit: member.unit, left: true as const, clock: member.clock } : member;

/** Returns when a hook is due. Hooks of relations wait until both units have started. */
function timeOf(hook: DueHook, unit: FutureUnit, before: ReadonlySet<string>, { byName }: Future): PlannedHook['when'] {
  if (before.has(keyOf(hook))) return 'already';
  if (hook.relation === undefined || unit.isLeaving) return 'now';
  const remote = byName.get(hook.remoteUnit ?? '');
  return unit.isStarted && (remote === undefined || remote.isStarted || remote.isLeaving) ? 'now' : 'started';
}

const groupKey = (relation: number | undefined, remote: FutureUnit | undefined): string =>
  `${relation} ${remote?.isStarted}`;

/** Joins hooks of one name that are due at the same time. `more`: how many members of a kind are not in `due`. */
function grouped(
  due: readonly DueHook[],
  when: (hook: DueHook) => PlannedHook['when'],
  kindOf: (hook: DueHook) => string,
  more: ReadonlyMap<string, number>,
): PlannedHook[] {
  const groups = Map.groupBy(due, (hook) => `${hook.hook} ${hook.relation?.id ?? ''} ${when(hook)}`);
  return [...groups.values()].flatMap((group): PlannedHook[] => {
    const [first] = group;
    if (first === undefined) return [];
    const time = when(first);
    const kinds = time === 'already' ? [] : [...new Set(group.map(kindOf))];
    const hidden = kinds.reduce((sum, kind) => sum + (more.get(kind) ?? 0), 0);
    const remoteUnits = group.flatMap(({ remoteUnit }) => remoteUnit ?? []).slice(0, maxNamed);
    return [{ hook: first.hook, because: first.because, when: time, count: group.length + hidden, remoteUnits }];
  });
}
