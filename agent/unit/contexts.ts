import { type DueHook, type HookGoal, membersDuring, type UnitGoal, type UnitRecord } from '#protocol/index.ts';
import {
  type ContextInput,
  type ContextRelation,
  type ContextServices,
  type HookChanges,
  HookContext,
} from './hook-context.ts';
import { unitError } from './unit-error.ts';

/** The contexts of the hooks that run now, by client id. A client id is the id of a run. */
export class Contexts {
  private readonly open = new Map<string, HookContext>();
  private readonly services: ContextServices;

  constructor(services: ContextServices) {
    this.services = services;
  }

  begin(clientId: string, input: ContextInput, learn?: ContextServices['learn']): void {
    this.open.set(clientId, new HookContext(input, { ...this.services, ...(learn !== undefined && { learn }) }));
  }

  isOpen(clientId: string): boolean {
    return this.open.has(clientId);
  }

  /** Ends a context. Returns what the hook changed, which takes effect only if the hook ended with 0 (EN-10). */
  end(clientId: string): HookChanges {
    const context = this.find(clientId);
    this.open.delete(clientId);
    return context.close();
  }

  /** Returns a client's context. Throws UnknownClient if there is none, or if its hook has ended. */
  find(clientId: string): HookContext {
    const context = this.open.get(clientId);
    if (context === undefined) throw unitError('UnknownClient', 'No hook with this client id is running.');
    return context;
  }

  /** Returns a context for one command outside of hooks, which reads what is current (EN-31). */
  passThrough(input: ContextInput): HookContext {
    return new HookContext(input, this.services);
  }
}

/** Returns what a hook may know and do; `due` is null for a command outside of hooks. */
export function contextInputOf(goal: UnitGoal, record: UnitRecord, due: DueHook | null): ContextInput {
  const { unit, addresses, masked } = goal;
  const relations = relationsOf(goal, record).map(({ id, name, life }): ContextRelation => {
    const isBroken = due?.kind === 'broken' && due.relation?.id === id;
    const members = isBroken ? [] : membersDuring(goal, record, id, due ?? undefined);
    return { id, name, members, isWritable: goal.goal === 'alive' && life === 'alive' };
  });
  return { unit, addresses, masked, relations, relation: due?.relation?.id ?? null };
}

/** Returns the unit's relations, including those that have ended and whose last hooks have not run. */
function relationsOf(goal: HookGoal, record: UnitRecord): { id: number; name: string; life: string }[] {
  const named = new Set(goal.relations.map(({ id }) => String(id)));
  const ended = Object.entries(record.relations).filter(([id, { broken }]) => !named.has(id) && !broken);
  return [...goal.relations, ...ended.map(([id, { name }]) => ({ id: Number(id), name, life: 'dying' }))];
}
