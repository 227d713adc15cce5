import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { getModel } from '#server/domain/topology/index.ts';
import { FakeProvider } from '#server/domain/topology/testing/fake-provider.ts';
import { lab } from '#server/domain/topology/testing/stage.ts';
import { testContext } from '#server/testing/context.ts';
import { setService } from '../set-service.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { applyDocument } from './apply-document.ts';
import { getDocument } from './get-document.ts';
import { planDocument } from './plan-document.ts';

let stage: ServiceStage;
const store = { formula: 'Acme.Lab.store', version: '1.0.0.0' };
const provides = { metadata: { provides: { db: { interface: 'store' } } } };
const web = { formula: 'Acme.Lab.web', version: '1.0.0.0' };

beforeAll(async () => {
  stage = await ServiceStage.open();
  await stage.formula('store', '1.0.0.0', provides);
  await stage.formula('web', '1.0.0.0', { metadata: { requires: { db: { interface: 'store', limit: 1 } } } });
});

const unknown = { code: 'model_unknown' };
const head = (model: string) => ({ annex: 1, model, ...lab });
const related = (model: string) => ({
  ...head(model),
  services: { store, web: { ...web, units: 2 } },
  relations: [['web', 'store']],
});

describe('JU-40 an apply', () => {
  test('creates and bootstraps a model that does not exist, with controllers', async () => {
    const model = 'fresh';
    const provider = new FakeProvider();
    const document = { ...related(model), controllers: 2 };
    const plan = await planDocument(stage.ctx, { model, document });
    expect(plan).toMatchObject({ revision: null, machines: [2, 3, 4] });
    expect(plan.acts.map(({ kind }) => kind)).toEqual([
      ...['createModel', 'bootstrap', 'deploy', 'deploy', 'addUnits', 'addUnits', 'relate'],
    ]);
    await expect(getModel(stage.ctx, { model })).rejects.toMatchObject(unknown);
    const applied = await applyDocument(stage.ctx, { model, document, plan: plan.planHash }, provider);
    expect(applied.newMachines.map(({ machine }) => machine)).toEqual([0, 1]);
    expect(applied.newUnits).toMatchObject([
      { unit: 'store/0', machine: { machine: 2 } },
      { unit: 'web/0', machine: { machine: 3 } },
      { unit: 'web/1', machine: { machine: 4 } },
    ]);
    expect((await getDocument(stage.ctx, { model })).document).toMatchObject({
      ...{ controllers: 2, availabilitySetsEnabled: true, relations: [['web:db', 'store:db']] },
    });
  });

  test('stores nothing if the last of its acts fails', async () => {
    const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    await stage.ctx.db.execute(sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no relations today'; end $$`);
    await stage.ctx.db.execute(sql`create trigger refuse before insert on relations execute function refuse()`);
    const before = await getDocument(stage.ctx, { model });
    const [document, calls] = [related(model), provider.calls.length];
    try {
      await expect(applyDocument(stage.ctx, { model, document }, provider)).rejects.toThrow();
      const fresh = { model: 'never', document: related('never') };
      await expect(applyDocument(stage.ctx, fresh, new FakeProvider())).rejects.toThrow();
    } finally {
      await stage.ctx.db.execute(sql`drop trigger refuse on relations`);
    }
    expect(await getDocument(stage.ctx, { model })).toEqual(before);
    expect(provider.calls).toHaveLength(calls);
    for (let round = 0; round < 5; round += 1) await stage.stage.mend(stage.stage.nothing());
    await expect(getModel(stage.ctx, { model: 'never' })).rejects.toMatchObject(unknown);
  });

  test('creates the other machines if the provider fails for one, and the next plan has its unit', async () => {
    const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const document = related(model);
    let roles = 0;
    provider.fate = (step) => {
      if (step === 'role') roles += 1;
      return step === 'role' && roles === 1 ? 'failBefore' : 'succeed';
    };
    const failed = applyDocument(stage.ctx, { model, document }, provider);
    await expect(failed).rejects.toMatchObject({ kind: 'unavailable', code: 'provider_failed' });
    const plan = await planDocument(stage.ctx, { model, document });
    expect(plan.acts).toMatchObject([{ kind: 'addUnits', units: [{ unit: 'web/2' }] }]);
    await applyDocument(stage.ctx, { model, document }, provider);
    expect(await planDocument(stage.ctx, { model, document })).toMatchObject({ acts: [] });
  });

  test('takes other names for cloud services that the provider has already', async () => {
    const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: false });
    let calls = 0;
    provider.fate = (step) => {
      if (step === 'cloudService') calls += 1;
      return step === 'cloudService' && calls === 1 ? 'nameTaken' : 'succeed';
    };
    const { newUnits } = await applyDocument(stage.ctx, { model, document: related(model) }, provider);
    expect(newUnits.map(({ unit }) => unit)).toEqual(['store/1', 'web/0', 'web/1']);
    expect(provider.services.size).toBe(3);
  });

  test('is the same for two people who apply one document at the same time', async () => {
    const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const document = related(model);
    const both = await Promise.allSettled([1, 2].map(() => applyDocument(stage.ctx, { model, document }, provider)));
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect((await getDocument(stage.ctx, { model })).document.services.web?.units).toBe(2);
  });

  test('fails at the bootstrap without leaving a model', async () => {
    const provider = new FakeProvider();
    provider.fate = (step) => (step === 'network' ? 'failBefore' : 'succeed');
    const model = 'unlucky';
    const failed = applyDocument(stage.ctx, { model, document: related(model) }, provider);
    await expect(failed).rejects.toMatchObject({ code: 'provider_failed' });
    for (let round = 0; round < 5; round += 1) await stage.stage.mend(provider);
    await expect(getModel(stage.ctx, { model })).rejects.toMatchObject(unknown);
  });
});

describe('an apply that fails after it created the model', () => {
  /** Returns a document with a version that can be withdrawn. */
  const fleeting = async (model: string, version: string) => {
    const document = related(model);
    return { ...document, services: { ...document.services, store: await stage.formula('store', version, provides) } };
  };
  const withdraw = (version: string) =>
    stage.ctx.db.execute(sql`
      update handler_versions set state = 'withdrawn' where handler = ${store.formula} and version = ${version}`);

  /** Returns a context in which `act` runs between the bootstrap and the rest of the apply. */
  function afterBootstrap(model: string, act: () => Promise<unknown>): Context {
    let isOver = false;
    const db = new Proxy(stage.ctx.db, {
      get(target, key) {
        if (key !== 'transaction') return Reflect.get(target, key, target);
        return async (...given: Parameters<typeof target.transaction>) => {
          const result = await target.transaction(...given);
          const { rows } = await target.execute(sql`
            select from models where name = ${model} and bootstrapped_at is not null and removed_at is null`);
          if (!isOver && rows.length > 0) {
            isOver = true;
            await act();
          }
          return result;
        };
      },
    });
    return { ...stage.ctx, db };
  }

  test('JU-40 leaves no model', async () => {
    const [model, provider] = ['undone', new FakeProvider()];
    const document = await fleeting(model, '2.0.0.0');
    const ctx = afterBootstrap(model, () => withdraw('2.0.0.0'));
    await expect(applyDocument(ctx, { model, document }, provider)).rejects.toMatchObject({
      ...{ code: 'document_invalid', faults: [{ path: '/services/store/version', code: 'version_withdrawn' }] },
    });
    for (let round = 0; round < 5; round += 1) await stage.stage.mend(provider);
    await expect(getModel(stage.ctx, { model })).rejects.toMatchObject(unknown);
  });

  test('keeps the model if another person has used it meanwhile, and says so with the reason', async () => {
    const [model, provider] = ['shared', new FakeProvider()];
    const document = await fleeting(model, '3.0.0.0');
    const colleague = await testContext({ services: stage.ctx, role: 'operator' });
    const ctx = afterBootstrap(model, async () => {
      await setService(colleague, { model, service: 'own', ...web }, provider);
      await withdraw('3.0.0.0');
    });
    await expect(applyDocument(ctx, { model, document }, provider)).rejects.toMatchObject({
      ...{ kind: 'unprocessable', code: 'document_model_kept', params: { model } },
      faults: [{ path: '/services/store/version', code: 'version_withdrawn' }],
    });
    await stage.stage.mend(provider);
    expect(await getModel(stage.ctx, { model })).toMatchObject({ life: 'alive' });
    expect((await getDocument(stage.ctx, { model })).document.services).toMatchObject({ own: { units: 1 } });
  });
});

describe('protected settings', () => {
  const secret = { password: 'violet-4711' };

  test('are never in a document or a plan, and are kept, replaced and removed', async () => {
    const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const withStore = (fields: object) => ({ ...head(model), services: { store: { ...store, ...fields } } });
    const apply = (fields: object, prune = false) =>
      applyDocument(stage.ctx, { model, document: withStore(fields), prune }, provider);
    const plan = async (fields: object) => planDocument(stage.ctx, { model, document: withStore(fields) });
    const first = await apply({ protectedSettings: secret });
    const { document } = await getDocument(stage.ctx, { model });
    expect(document.services.store).toMatchObject({ protectedSettings: 'kept' });
    expect(JSON.stringify([first, document])).not.toContain('violet');
    expect((await plan({ protectedSettings: 'kept' })).acts).toEqual([]);
    expect((await plan({ protectedSettings: secret })).acts).toEqual([]);
    const changed = await plan({ protectedSettings: { password: 'violet-4712' } });
    expect(changed.acts).toMatchObject([{ kind: 'settings', changes: [], protectedSettings: 'set' }]);
    expect(JSON.stringify(changed)).not.toContain('violet');
    await apply({});
    expect((await getDocument(stage.ctx, { model })).document.services.store).toHaveProperty('protectedSettings');
    expect((await plan({ protectedSettings: null })).acts).toMatchObject([{ protectedSettings: 'removed' }]);
    await apply({}, true);
    expect((await getDocument(stage.ctx, { model })).document.services.store).not.toHaveProperty('protectedSettings');
  });

  test('must have values for a service that has none', async () => {
    const { model } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
    const faults = async (protectedSettings: unknown) => {
      const document = { ...head(model), services: { store: { ...store, protectedSettings } } };
      const { faults: found } = await planDocument(stage.ctx, { model, document }).catch((error) => error);
      return found;
    };
    const path = '/services/store/protectedSettings';
    expect(await faults('kept')).toMatchObject([{ path, code: 'document_secret_missing' }]);
    for (const given of [{ from: 'env:X' }, { password: { from: 'env:X' } }]) {
      expect(await faults(given)).toMatchObject([{ path, code: 'document_secret_open' }]);
    }
  });
});

test('viewers get neither documents nor plans', async () => {
  const viewer = await testContext({ services: stage.ctx, role: 'viewer' });
  const input = { model: 'fresh', document: related('fresh') };
  for (const call of [getDocument, planDocument, applyDocument]) {
    await expect(call(viewer, input)).rejects.toMatchObject({ kind: 'forbidden' });
  }
});
