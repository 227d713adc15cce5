import { beforeAll, expect, test } from 'vitest';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { addUnits, getService, listRelations } from '../index.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { applyDocument } from './apply-document.ts';
import { getDocument } from './get-document.ts';
import { planDocument } from './plan-document.ts';
import type { ModelDocument } from './schema.ts';

let stage: ServiceStage;
let staged: Staged;
const web = { formula: 'Acme.Lab.web', version: '1.0.0.0' };
const store = { formula: 'Acme.Lab.store', version: '1.0.0.0' };

beforeAll(async () => {
  stage = await ServiceStage.open();
  const requires = { db: { interface: 'store' } };
  for (const version of ['1.0.0.0', '2.0.0.0']) await stage.formula('web', version, { metadata: { requires } });
  await stage.formula('store', '1.0.0.0', { metadata: { provides: requires } });
  staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
});

const current = async (): Promise<ModelDocument> => (await getDocument(stage.ctx, { model: staged.model })).document;

/** Plans fields on top of the model as it is, and applies exactly that plan. Returns the kinds of acts. */
async function apply(fields: object, prune = false): Promise<string[]> {
  const { model, provider } = staged;
  const document = { ...(await current()), ...fields };
  const plan = await planDocument(stage.ctx, { model, document, prune });
  const applied = await applyDocument(stage.ctx, { model, document, prune, plan: plan.planHash }, provider);
  expect(applied.acts).toEqual(plan.acts);
  expect(await planDocument(stage.ctx, { model, document, prune })).toMatchObject({ acts: [], machines: [] });
  return plan.acts.map(({ kind }) => kind);
}

test('JU-40 each apply does what its plan says, and the next plan is empty', async () => {
  const both = { web, store };
  const relations = [['web:db', 'store:db']];
  const { model } = staged;
  expect(await apply({ services: both })).toEqual(['deploy', 'deploy', 'addUnits', 'addUnits']);
  expect(await apply({ services: both, relations })).toEqual(['relate']);
  expect(await apply({ services: { ...both, web: { ...web, settings: { title: 'Lab' } } } })).toEqual(['settings']);
  const version = '2.0.0.0';
  expect(await apply({ services: { ...both, web: { ...web, version } } })).toContain('upgrade');
  const limited = { ...web, version, timeouts: { start: 900 }, upgrade: { atOnce: 'all' } };
  expect(await apply({ services: { ...both, web: limited } })).toEqual(['limits']);
  expect(await apply({ services: { ...both, web: { ...web, version, exposed: true } } })).toEqual(['expose']);
  expect(await apply({ services: { ...both, web: { ...web, version, units: 2 } } })).toEqual(['addUnits']);
  expect(await getService(stage.ctx, { model, service: 'web' })).toMatchObject({
    ...{ version, exposed: true, settings: { title: 'Lab' }, units: [{ unit: 'web/0' }, { unit: 'web/1' }] },
  });
  expect((await current()).services.web).toEqual({
    ...{ ...limited, units: 2, exposed: true, settings: { title: 'Lab' } },
  });

  const whole = await current();
  await apply({ services: {}, relations: [] });
  expect(await current()).toEqual(whole);
  await apply({ services: { web: { ...whole.services.web, units: 1, exposed: false } }, relations: [] }, true);
  expect(await current()).toMatchObject({ relations: [], services: { web: { units: 1 } } });
  expect(Object.keys((await current()).services)).toEqual(['web']);
  expect(await listRelations(stage.ctx, { model })).toEqual({ items: [] });
});

test('an apply of a plan that is out of date is 412 and changes nothing, even with prune', async () => {
  const { model, provider } = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  const { document } = await getDocument(stage.ctx, { model });
  const input = { model, document: { ...document, services: { store } }, prune: true };
  const { planHash: plan } = await planDocument(stage.ctx, input);
  await stage.declare({ model, provider, newMachines: [] }, 'web', { ...web, units: 1 });
  await addUnits(stage.ctx, { model, service: 'web', count: 1 }, provider);
  const before = await getDocument(stage.ctx, { model });
  const refused = { kind: 'precondition_failed', code: 'plan_moved_on' };
  await expect(applyDocument(stage.ctx, { ...input, plan }, provider)).rejects.toMatchObject(refused);
  await expect(applyDocument(stage.ctx, { ...input, plan: 'x' }, provider)).rejects.toMatchObject(refused);
  expect(await getDocument(stage.ctx, { model })).toEqual(before);
});

test('a plan writes nothing, and neither it nor an apply is allowed for viewers', async () => {
  const { model } = staged;
  const before = await getDocument(stage.ctx, { model });
  const input = { model, document: { ...before.document, services: { other: store } } };
  await planDocument(stage.ctx, input);
  for (const call of [getDocument, planDocument, applyDocument]) {
    await expect(call(stage.viewer, input)).rejects.toMatchObject({ kind: 'forbidden' });
  }
  expect(await getDocument(stage.ctx, { model })).toEqual(before);
});
