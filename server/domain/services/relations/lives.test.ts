import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRelation, getDue, listRelations, removeRelation, removeService, removeUnit } from '../index.ts';
import { UnitStage } from '../testing/unit-stage.ts';
import { setPeerRelations } from './service-relations.ts';
import { ObedientAgent } from './testing/obedient-agent.ts';

let stage: UnitStage;
let app: string;
let base: string;
const model = 'prod';
beforeAll(async () => {
  stage = await UnitStage.open();
  const ring = { ring: { interface: 'chain', limit: null, optional: false } };
  app = await stage.service('app', {
    metadata: { requires: { db: { interface: 'store' } }, peers: { ring: { interface: 'chain' } } },
  });
  base = await stage.service('base', { metadata: { provides: { db: { interface: 'store' } } } });
  const service = { id: app, modelId: stage.modelId };
  await stage.ctx.db.transaction((tx) => setPeerRelations(tx, stage.ctx, service, { peers: ring }));
});
afterAll(() => stage.close());

/** Returns numbers from 0 to 1 that are the same in every run. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}

const dying = async () =>
  (
    await stage.ctx.db.execute<{ name: string }>(sql`
      select 'unit ' || name as name from units where life = 'dying' and removed_at is null
      union all select 'relation ' || number from relations where life = 'dying' and removed_at is null
      union all select 'service ' || name from services where life = 'dying' and removed_at is null`)
  ).rows.map(({ name }) => name);

/** Lets all agents work until nothing is due. */
async function settle(agents: readonly ObedientAgent[]): Promise<void> {
  for (let rounds = 0; rounds < 200; rounds += 1) {
    let isBusy = false;
    for (const agent of agents) isBusy = (!agent.isGone && (await agent.step())) || isBusy;
    if (!isBusy) return;
  }
  throw new Error('the agents do not come to rest');
}

/** Compares what the portal says is due with what the agent runs. */
async function requireSameDue(agent: ObedientAgent): Promise<void> {
  const found = await agent.look();
  if (found === null) return;
  const { items } = await getDue(stage.ctx, { model, unit: agent.unit.name });
  const shown = items.map(({ hook, remoteUnit, version }) => [hook, remoteUnit, version]);
  const kept = found.due.map(({ hook, remoteUnit = null, version, kind, settings }) => [
    ...[hook, remoteUnit],
    version ?? (kind === 'config-changed' ? settings : null),
  ]);
  expect(shown, agent.unit.name).toEqual(kept);
}

test('EN-32 EN-39 EN-52 whatever is related, removed and killed, agents and portal agree, and nothing stays dying', async () => {
  const random = generator(20_261_129);
  const agents: ObedientAgent[] = [];
  const live = () => agents.filter(({ isGone }) => !isGone);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const related = async () =>
    (await listRelations(stage.ctx, { model })).items.find((one) => one.interface === 'store');
  const toggle = async () => {
    const relation = await related();
    if (relation === undefined) await addRelation(stage.ctx, { model, endpoints: ['app', 'base'] });
    else if (relation.life === 'alive') await removeRelation(stage.ctx, { model, number: relation.number });
  };
  const acts: [weight: number, act: () => Promise<unknown>][] = [
    [60, async () => pick(live())?.step({ n: `${Math.floor(random() * 3)}` })],
    [8, async () => pick(live())?.crash()],
    [8, async () => live().length < 7 && agents.push(new ObedientAgent(await stage.unit(random() < 0.5 ? app : base)))],
    [6, toggle],
    [5, async () => removeUnit(stage.ctx, { model, unit: pick(live())?.unit.name ?? '', force: random() < 0.3 })],
  ];
  const weighted = acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act));
  for (let n = 0; n < 4; n += 1) agents.push(new ObedientAgent(await stage.unit(n % 2 === 0 ? app : base)));
  await toggle();
  await settle(agents);
  for (let n = 0; n < 40; n += 1) {
    // A unit that was removed without its agent is unknown until its agent looks.
    await pick(weighted)?.().catch((error: { code?: string }) => expect(error.code).toBe('unit_unknown'));
    const seen = n % 2 === 0 ? pick(live()) : undefined;
    if (seen !== undefined) await requireSameDue(seen);
  }
  await settle(agents);
  expect(await dying()).toEqual([]);
  for (const agent of live()) await requireSameDue(agent);
  const states = (await listRelations(stage.ctx, { model })).items.map(({ state, behind }) => ({ state, behind }));
  expect(
    states.every(({ state }) => state === 'settled'),
    JSON.stringify(states),
  ).toBe(true);
  if ((await related()) === undefined) await toggle();
  await settle(agents);
  await removeService(stage.ctx, { model, service: 'base' });
  await settle(agents);
  expect(await dying()).toEqual([]);
  await removeService(stage.ctx, { model, service: 'app' });
  await settle(agents);
  expect(await dying()).toEqual([]);
  expect((await listRelations(stage.ctx, { model })).items).toEqual([]);
}, 240_000);
