import { v7 as uuid } from 'uuid';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addRelation, removeRelation, removeUnit } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { beginRun } from './begin-run.ts';
import { endRun } from './end-run.ts';
import { getRun } from './get-run.ts';

let stage: ServiceStage;
let sets: Staged;
beforeAll(async () => {
  stage = await ServiceStage.open();
  sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  await stage.formula('store', '1.0.0.0', { metadata: { provides: { feed: { interface: 'store' } } } });
  for (const version of ['1.0.0.0', '1.1.0.0']) {
    await stage.formula('blog', version, { metadata: { requires: { db: { interface: 'store', limit: 9 } } } });
  }
});

type Named = { unit: string; vmId: string };

/** Deploys a service with one unit, which has started. */
async function started(service: string, formula: string): Promise<Named> {
  const { units } = await stage.deploy(sets, service, { formula: `Acme.Lab.${formula}`, version: '1.0', units: 1 });
  const [unit] = units;
  if (unit === undefined) throw new Error('one unit was declared');
  await stage.start(unit);
  return unit;
}

/** Runs a hook of a relation, and returns its causes, the nearest first. */
async function causesOf({ unit, vmId }: Named, hook: string, about: object = {}, set: Record<string, string> = {}) {
  const run = uuid();
  const name = { vmId, unit, run };
  const begin = { phase: 'begin' as const, attempt: 1, formula: '1.0.0.0', timeoutSeconds: 300, hook, ...about };
  await beginRun(stage.ctx, name, begin);
  const relation = 'relation' in begin ? Number(begin.relation) : 0;
  const changes = Object.keys(set).length === 0 ? {} : { changes: [{ relation, set, remove: [] }] };
  const end = { phase: 'end' as const, exitCode: 0, signal: null, timedOut: false, seconds: 1, output: '' };
  await endRun(stage.ctx, name, { ...end, views: [], reason: null, ...changes });
  const { causes } = await getRun(stage.ctx, { model: sets.model, unit, run });
  return { run, causes };
}

const relate = (one: string, other: string) => addRelation(stage.ctx, { model: sets.model, endpoints: [one, other] });

describe('EN-78 the causes of a run', () => {
  test('of the first hooks are the act that added the unit', async () => {
    const unit = await started('alone', 'store');
    const { causes } = await causesOf(unit, 'start');
    expect(causes).toEqual([{ because: 'repeated' }]);
    const { units } = await stage.deploy(sets, 'fresh', { formula: 'Acme.Lab.store', version: '1.0', units: 1 });
    const [fresh] = units;
    if (fresh === undefined) throw new Error('one unit was declared');
    for (const [hook, because] of [
      ['install', 'new-unit'],
      ['config-changed', 'first-settings'],
      ['start', 'not-started'],
    ] as const) {
      expect((await causesOf(fresh, hook)).causes).toEqual([
        { because, act: { action: 'unit.add', at: expect.any(String), by: stage.ctx.actor.name } },
      ]);
    }
  });

  test('of an upgrade are the act that changed the version', async () => {
    const unit = await started('upgraded', 'blog');
    await stage.declare(sets, 'upgraded', { formula: 'Acme.Lab.blog', version: '1.1' });
    const { causes } = await causesOf(unit, 'upgrade-formula', { formula: '1.1.0.0' });
    expect(causes).toMatchObject([{ because: 'other-formula', act: { action: 'service.update' } }]);
  });

  test('of a change lead through the runs that wrote it to the act that started them', async () => {
    const [store, blog] = [await started('changing', 'store'), await started('reader', 'blog')];
    const { id: relation } = await relate('reader:db', 'changing:feed');
    const joined = await causesOf(
      store,
      'feed-relation-joined',
      { relation, remoteUnit: blog.unit, version: 1 },
      { a: '1' },
    );
    expect(joined.causes).toMatchObject([{ because: 'joined', act: { action: 'relation.add' } }]);
    const about = { relation, remoteUnit: store.unit, version: 2 };
    await causesOf(blog, 'db-relation-joined', about);
    const first = await causesOf(blog, 'db-relation-changed', about, { b: '1' });
    expect(first.causes).toMatchObject([
      { because: 'after-joined', run: { id: joined.run, unit: store.unit, hook: 'feed-relation-joined' } },
      { because: 'joined', act: { action: 'relation.add' } },
    ]);
    await causesOf(store, 'feed-relation-changed', { relation, remoteUnit: blog.unit, version: 2 }, { a: '2' });
    const second = await causesOf(blog, 'db-relation-changed', { ...about, version: 3 });
    expect(second.causes.map(({ because }) => because)).toEqual(['changed', 'after-joined', 'after-joined', 'joined']);
    expect(second.causes.at(-1)?.act).toMatchObject({ by: stage.ctx.actor.name });
  });

  test('of a departure are the removal of the unit or of the relation', async () => {
    const [store, blog] = [await started('parted', 'store'), await started('left', 'blog')];
    const { id: relation, number } = await relate('left:db', 'parted:feed');
    const about = { relation, remoteUnit: store.unit };
    for (const event of ['joined', 'changed']) await causesOf(blog, `db-relation-${event}`, { ...about, version: 1 });
    await removeRelation(stage.ctx, { model: sets.model, number });
    expect((await causesOf(blog, 'db-relation-departed', about)).causes).toMatchObject([
      { because: 'relation-going', act: { action: 'relation.remove' } },
    ]);
    await removeUnit(stage.ctx, { model: sets.model, unit: store.unit });
    expect((await causesOf(store, 'stop')).causes).toMatchObject([
      { because: 'unit-leaving', act: { action: 'unit.remove', by: stage.ctx.actor.name } },
    ]);
  });
});
