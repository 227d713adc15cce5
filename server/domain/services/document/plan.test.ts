import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { readActs } from '#server/testing/acts.ts';
import { addUnits, getDue, getService } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { applyDocument } from './apply-document.ts';
import { getDocument } from './get-document.ts';
import { planDocument } from './plan-document.ts';
import type { ModelDocument } from './schema.ts';

let stage: ServiceStage;
const website = { provides: { website: { interface: 'http' } } };
const hooks = ['db-relation-changed', 'db-relation-joined'];

beforeAll(async () => {
  stage = await ServiceStage.open();
  for (const version of ['1.0.0.0', '1.1.0.0']) {
    await stage.formula('blog', version, { metadata: { ...website, requires: { db: { interface: 'mysql' } } } });
  }
  await stage.formula('mysql', '1.0.0.0', { metadata: { provides: { db: { interface: 'mysql' } } } });
  await stage.formula('ring', '1.0.0.0', { metadata: { peers: { ring: { interface: 'ring' } } } });
  // The stage registers formulas with the hooks of units only.
  await stage.ctx.db.execute(sql`
    update handler_versions set manifest = jsonb_set(manifest, '{hooks}', manifest -> 'hooks' || ${JSON.stringify(hooks)}::jsonb)`);
});

const blog = { formula: 'Acme.Lab.blog', version: '1.0.0.0' };
const mysql = { formula: 'Acme.Lab.mysql', version: '1.0.0.0' };

/** A model with a blog of two units, one of which has started, and a database that has started. */
async function givenModel(): Promise<{ staged: Staged; document: ModelDocument }> {
  const staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  const { newUnits } = await stage.deploy(staged, 'blog', { ...blog, units: 2, settings: { title: 'Lab', pool: 2 } });
  await stage.start({ unit: 'blog/0', vmId: newUnits[0]?.machine?.vmId ?? '' });
  const { units } = await stage.deploy(staged, 'mysql', mysql);
  await stage.start({ unit: 'mysql/0', vmId: units[0]?.vmId ?? '' });
  return { staged, document: (await getDocument(stage.ctx, { model: staged.model })).document };
}

const edited = (document: ModelDocument, service: string, fields: object): ModelDocument => ({
  ...document,
  services: { ...document.services, [service]: { ...document.services[service], ...fields } as never },
});

describe('JU-40 a plan', () => {
  test('names every act, every new machine and every hook that would run', async () => {
    const { staged, document } = await givenModel();
    const { model } = staged;
    const wanted = edited(document, 'blog', { version: '1.1', units: 3, settings: { title: 'Blog', log: true } });
    const whole = { ...wanted, relations: [['mysql', 'blog']] };
    const plan = await planDocument(stage.ctx, { model, document: whole });
    const { cloudService } = (
      plan.acts.find(({ kind }) => kind === 'addUnits') as { units: { cloudService: string }[] }
    ).units[0] ?? { cloudService: null };
    expect(cloudService).toContain(`juju-${model}-`);
    expect(plan.acts).toEqual([
      {
        ...{ kind: 'settings', service: 'blog', path: '/services/blog/settings', from: 1, to: 2, atOnce: 1 },
        changes: [
          { key: 'log', before: undefined, after: true },
          { key: 'pool', before: 2, after: undefined },
          { key: 'title', before: 'Lab', after: 'Blog' },
        ],
        ...{ protectedSettings: null, units: ['blog/0', 'blog/1'] },
      },
      {
        ...{ kind: 'upgrade', service: 'blog', path: '/services/blog/version', from: '1.0.0.0', to: '1.1.0.0' },
        ...{ units: ['blog/0', 'blog/1'], atOnce: 1 },
      },
      {
        ...{ kind: 'addUnits', service: 'blog', slot: 'production', path: '/services/blog/units' },
        units: [{ unit: 'blog/2', machine: 3, isNewMachine: true, cloudService }],
      },
      { kind: 'relate', path: '/relations/0', endpoints: ['blog:db', 'mysql:db'], interface: 'mysql' },
    ]);
    expect(plan.machines).toEqual([3]);
    const brief = plan.hooks.map(({ unit, hooks: all }) => [
      unit,
      all.map(({ hook, when, remoteUnits }) => [hook, when, remoteUnits.join()].join(' ').trim()),
    ]);
    expect(Object.fromEntries(brief)).toEqual({
      'blog/0': [
        ...['upgrade-formula now', 'config-changed now'],
        ...['db-relation-joined now mysql/0', 'db-relation-changed now mysql/0'],
      ],
      'blog/1': [
        ...['install already', 'config-changed already', 'start already'],
        ...['db-relation-joined started mysql/0', 'db-relation-changed started mysql/0'],
      ],
      'blog/2': [
        ...['install now', 'config-changed now', 'start now'],
        ...['db-relation-joined started mysql/0', 'db-relation-changed started mysql/0'],
      ],
      'mysql/0': [
        ...['db-relation-joined now blog/0', 'db-relation-changed now blog/0'],
        ...['db-relation-joined started blog/1,blog/2', 'db-relation-changed started blog/1,blog/2'],
      ],
    });

    const applied = await applyDocument(stage.ctx, { model, document: whole, plan: plan.planHash }, staged.provider);
    expect(applied.newUnits).toMatchObject([{ unit: 'blog/2', machine: { machine: 3, cloudService } }]);
    const due = async (unit: string) => (await getDue(stage.ctx, { model, unit })).items.map(({ hook }) => hook);
    expect(await due('blog/0')).toEqual(['upgrade-formula', 'config-changed', ...[...hooks].reverse()]);
    expect(await due('mysql/0')).toEqual([...hooks].reverse());
    expect(await planDocument(stage.ctx, { model, document: whole })).toMatchObject({ acts: [], machines: [] });
    const acts = await readActs(stage.ctx.db);
    expect(acts.filter(({ action, targetId }) => action === 'model.apply' && targetId === model)).toMatchObject([
      { details: { acts: 4, prune: false }, after: { acts: [{ kind: 'settings' }, {}, {}, {}] } },
    ]);
  });

  test('is rejected when another person added a unit in the meantime, and nothing changes', async () => {
    const { staged, document } = await givenModel();
    const { model, provider } = staged;
    const wanted = edited(document, 'mysql', { settings: { pool: 4 } });
    const { planHash } = await planDocument(stage.ctx, { model, document: wanted });
    await addUnits(stage.ctx, { model, service: 'blog', count: 1 }, provider);
    const before = (await getDocument(stage.ctx, { model })).document;
    const apply = (plan: string) => applyDocument(stage.ctx, { model, document: wanted, plan }, provider);
    await expect(apply(planHash)).rejects.toMatchObject({ kind: 'precondition_failed', code: 'plan_moved_on' });
    expect((await getDocument(stage.ctx, { model })).document).toEqual(before);
    await apply((await planDocument(stage.ctx, { model, document: wanted })).planHash);
    expect(await getService(stage.ctx, { model, service: 'mysql' })).toMatchObject({ settings: { pool: 4 } });
  });

  test('stays valid while agents run their hooks', async () => {
    const { staged, document } = await givenModel();
    const { model, provider } = staged;
    const wanted = edited(document, 'blog', { settings: {} });
    const { planHash: plan } = await planDocument(stage.ctx, { model, document: wanted });
    const { units } = await getService(stage.ctx, { model, service: 'blog' });
    await stage.start({ unit: 'blog/1', vmId: units[1]?.vmId ?? '' });
    await applyDocument(stage.ctx, { model, document: wanted, plan }, provider);
    expect(await getService(stage.ctx, { model, service: 'blog' })).toMatchObject({ settings: {}, settingsVersion: 2 });
  });

  test('counts the hooks of many peers, and names some of them', async () => {
    const { model } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const { document } = await getDocument(stage.ctx, { model });
    const ring = { formula: 'Acme.Lab.ring', version: '1.0', units: 60 };
    await stage.ctx.db.execute(sql`
      update handler_versions set manifest = jsonb_set(manifest, '{hooks}', '["ring-relation-joined", "start"]')
       where handler = 'Acme.Lab.ring'`);
    const plan = await planDocument(stage.ctx, { model, document: { ...document, services: { ring } } });
    expect(plan.hooks).toHaveLength(60);
    expect(plan.hooks[7]).toMatchObject({
      unit: 'ring/7',
      hooks: [
        { hook: 'start', when: 'now', count: 1 },
        { hook: 'ring-relation-joined', when: 'started', count: 59 },
      ],
    });
    expect(plan.hooks[7]?.hooks[1]?.remoteUnits).toHaveLength(20);
  });

  test('warns of units that fail now', async () => {
    const { staged, document } = await givenModel();
    const { model } = staged;
    const { units } = await getService(stage.ctx, { model, service: 'blog' });
    await stage.run({ unit: 'blog/1', vmId: units[1]?.vmId ?? '' }, 'install', 1);
    const plan = await planDocument(stage.ctx, { model, document: edited(document, 'blog', { version: '1.1' }) });
    expect(plan.warnings).toEqual([{ code: 'unit_failing', unit: 'blog/1', path: '/services/blog' }]);
  });
});
