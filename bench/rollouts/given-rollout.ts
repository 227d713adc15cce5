import type pg from 'pg';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { defaultRules } from '#server/domain/rollout-rules/strategies.ts';
import {
  checkRollout,
  createRollout,
  type DefinitionInput,
  getRollout,
  type PassServices,
  passRollout,
  planRollout,
  requestPlan,
  setRolloutRules,
  startRollout,
} from '#server/domain/rollouts/index.ts';
import { extensionNames } from '../load/agents.ts';

/** The handler whose extension the rollouts change. It reports nothing under load. */
export const handler = 'Meridian.Platform.Backup';
export const extension = extensionNames.silent;

/** A clock that only the run advances, so that rates and soak times take no real time. */
export class SimulatedClock {
  #at: number;

  constructor(at = Date.now()) {
    this.#at = at;
  }

  get now(): Date {
    return new Date(this.#at);
  }

  advance(seconds: number): Date {
    this.#at += seconds * 1_000;
    return this.now;
  }
}

/** Returns the context of a call by the portal at this time. */
export const contextAt = (services: PassServices, now: Date): Context => ({
  ...services,
  ...{ actor: systemActor, origin: systemOrigin, now, requestId: 'bench' },
});

export type SettingsChange = Omit<DefinitionInput['change'], 'kind' | 'handler'>;

/** Returns a bulk act on all VMs, without soak and with every limit as high as possible. */
export const bulkOf = (change: SettingsChange, select: DefinitionInput['select'] = { all: true }): DefinitionInput => ({
  ...{ kind: 'bulk', name: 'bench', strategy: 'at-once', select },
  change: { kind: 'set', handler, ...change },
  gates: { inFlight: { count: 20_000 }, soakSeconds: 0, errors: null, success: null },
});

let turn = 0;

/** Returns a change that no VM has yet, so that it gives every VM a new sequence number. */
export function newSettings(): SettingsChange {
  turn += 1;
  return { publicSettings: { merge: { retain: Date.now() + turn } } };
}

/** Creates a rollout and requests its plan. Returns its id. */
export async function givenUnplanned(ctx: Context, definition: DefinitionInput): Promise<string> {
  const { id } = await createRollout(ctx, definition);
  await requestPlan(ctx, { id });
  return id;
}

/** Creates, plans and starts a rollout. Returns its id. A worker may plan it meanwhile. */
export async function givenRunning(
  services: PassServices,
  definition: DefinitionInput,
  clock: SimulatedClock = new SimulatedClock(),
): Promise<string> {
  const ctx = (): Context => contextAt(services, clock.now);
  const id = await givenUnplanned(ctx(), definition);
  const until = async (state: string, act: () => Promise<unknown>): Promise<void> => {
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      const { state: found, why } = await getRollout(ctx(), { id });
      if (found === state) return;
      if (found === 'draft') throw new Error(`The rollout was not planned: ${JSON.stringify(why)}`);
      // `busy` if a worker does it at this moment.
      if ((await act()) === 'busy') await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`The rollout did not become ${state}.`);
  };
  await until('planned', () => planRollout(services, id, clock.now));
  const { plan } = await getRollout(ctx(), { id });
  await startRollout(ctx(), { id, plan: plan?.hash ?? '' });
  await until('running', () => checkRollout(services, id, clock.now));
  return id;
}

/** Makes the portal's rates and limits as high as possible. */
export async function liftLimits(services: PassServices, stepsPerSecond = 5_000): Promise<void> {
  await setRolloutRules(contextAt(services, new Date()), {
    ...defaultRules,
    ...{ stepsPerSecond, inFlight: 20_000, freezes: [] },
  });
}

/** Lets a worker look once, a second after the last time. Returns false if nothing was due. */
export const passNext = async (services: PassServices, clock: SimulatedClock): Promise<boolean> =>
  (await passRollout(services, clock.advance(1))) !== null;

/** Lets a worker look until this many steps began. */
export async function beginSteps(
  services: PassServices,
  clock: SimulatedClock,
  id: string,
  count: number,
): Promise<void> {
  for (let begun = 0; begun < count; begun = await countSteps(services.db.$client, id)) {
    if (!(await passNext(services, clock))) throw new Error(`Only ${begun} of ${count} steps began.`);
  }
}

/** Returns how many steps a rollout has, by default in any state. */
export async function countSteps(client: pg.Pool, id: string, state: string | null = null): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*)::int as n from rollout_steps where rollout_id = $1 and ($2::text is null or state = $2)',
    [id, state],
  );
  return rows[0]?.n ?? 0;
}

/** Ends rollouts without their engine, so that the next measurement finds no open step. */
export async function endRollouts(client: pg.Pool): Promise<void> {
  await client.query(`update rollouts set state = 'aborted', due_at = null, ended_at = now() where ended_at is null`);
  await client.query(
    `update rollout_steps set state = 'overtaken', due_at = null
      where state in ('parked', 'recalled', 'inFlight', 'soaking', 'retrying', 'reverting')`,
  );
  await client.query('delete from group_reservations');
  await client.query('update rollout_rules set next_batch_at = null');
}
