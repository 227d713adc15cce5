import { afterAll, beforeAll, expect, test } from 'vitest';
import { confirmHook } from '#protocol/confirm-hook.ts';
import { type DueHook, hooksDue } from '#protocol/hooks.ts';
import { afterOf, forgetRelations, receiveUnits } from '#protocol/receive-units.ts';
import { newUnitRecord, type UnitRecord } from '#protocol/unit-record.ts';
import { causeOfRun } from '#protocol/unit-runs.ts';
import type { UnitState } from '#protocol/unit-state.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { addRelation } from '../relations/index.ts';
import { type StagedUnit, UnitStage } from '../testing/unit-stage.ts';
import { getDue } from './get-due.ts';
import { readRecords } from './read-records.ts';

let stage: UnitStage;
beforeAll(async () => {
  stage = await UnitStage.open();
});
afterAll(() => stage.close());

/** What an agent does for one unit: it looks, and runs the first hook that is due. */
class SmallAgent {
  readonly unit: StagedUnit;
  private held: UnitState | null = null;
  record: UnitRecord = newUnitRecord();
  private value = 0;

  constructor(unit: StagedUnit) {
    this.unit = unit;
  }

  private get goal() {
    return this.held?.units.find(({ unit }) => unit === this.unit.name);
  }

  due(): DueHook[] {
    return this.goal === undefined ? [] : hooksDue(this.goal, this.record);
  }

  async look(): Promise<void> {
    const query = this.held === null ? '' : `?epoch=${this.held.epoch}&after=${afterOf(this.held)}`;
    const { state } = await this.unit.look(query);
    this.held = receiveUnits(this.held, state, () => this.record);
    if (this.goal !== undefined) this.record = forgetRelations(this.goal, this.record);
  }

  /** Runs the next hook. Hooks of relations set a new value, if asked to. */
  async step(sets: boolean): Promise<void> {
    const [due] = this.due();
    if (due === undefined) return;
    const { hook, relation, kind, formula } = due;
    const about = causeOfRun(due);
    if (due.hasFile) {
      const changes =
        sets && relation && kind !== 'broken' && kind !== 'departed'
          ? { changes: [{ relation: relation.id, set: { n: String(++this.value) }, remove: [] }] }
          : {};
      await this.unit.run(hook, changes, { ...about, formula });
    } else {
      await this.unit.call('/skipped', { skipped: [{ ...about, formula }] }, 'POST');
    }
    this.record = confirmHook(this.record, due);
  }
}

const shown = ({ hook, because, remoteUnit, relation, hasFile }: DueHook) => ({
  ...{ hook, because, remoteUnit: remoteUnit ?? null, relation: relation?.id ?? null, hasFile },
});

/** Returns what the portal knows that a unit confirmed, without relations of which it confirmed nothing. */
async function recordOf(unit: StagedUnit): Promise<UnitRecord | undefined> {
  const row = await unit.row();
  const record = (await readRecords(stage.ctx.db, [row])).get(unit.id);
  const relations = Object.entries(record?.relations ?? {}).filter(
    ([, { members }]) => Object.keys(members).length > 0,
  );
  return record && { ...record, relations: Object.fromEntries(relations) };
}

test.each(runsLong ? [1, 2] : [1])(
  'EN-32 the portal lists the hooks that are due as the agent runs them, in history %i',
  async (seed) => {
    let state = seed * 7_919;
    const random = (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
    const hooks = ['install', 'config-changed', 'start', 'feed-relation-joined', 'feed-relation-changed', 'stop'];
    const store = `store-${'abc'[seed - 1]}`;
    const blog = `blog-${'abc'[seed - 1]}`;
    const provider = await stage.service(store, { hooks, metadata: { provides: { feed: { interface: 'store' } } } });
    const consumer = await stage.service(blog, {
      hooks: hooks.map((hook) => hook.replace('feed', 'db')),
      metadata: { requires: { db: { interface: 'store' } } },
    });
    const agents = await Promise.all(
      [provider, provider, consumer, consumer].map(async (service) => new SmallAgent(await stage.unit(service))),
    );
    const compare = async () => {
      for (const agent of agents) {
        await agent.look();
        const { items } = await getDue(stage.ctx, { model: 'prod', unit: agent.unit.name });
        expect(items.map(({ waitsFor: _, version: __, ...item }) => item)).toEqual(agent.due().map(shown));
        expect(await recordOf(agent.unit)).toEqual(agent.record);
      }
    };
    for (let turn = 0; turn < 24; turn += 1) {
      if (turn === 6) await addRelation(stage.ctx, { model: 'prod', endpoints: [blog, store] });
      const agent = agents[random(agents.length)];
      await agent?.step(random(3) === 0);
      await compare();
    }
    for (let turn = 0; agents.some((agent) => agent.due().length > 0) && turn < 100; turn += 1) {
      for (const agent of agents) await agent.step(false);
      for (const agent of agents) await agent.look();
    }
    await compare();
    expect(agents.map((agent) => agent.due())).toEqual([[], [], [], []]);
  },
);
