import { beforeAll, describe, expect, test } from 'vitest';
import { addMachine } from '#server/domain/topology/index.ts';
import type { Staged } from '#server/domain/topology/testing/stage.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { addUnits, destroyModel, listRelations } from '../index.ts';
import { RandomWorld } from '../testing/random-world.ts';
import { ServiceStage } from '../testing/service-stage.ts';
import { applyDocument } from './apply-document.ts';
import { getDocument } from './get-document.ts';
import { planDocument } from './plan-document.ts';
import { formatDocument } from './text.ts';

let stage: ServiceStage;

beforeAll(async () => {
  stage = await ServiceStage.open();
  await RandomWorld.formulas(stage);
});

const documentOf = async (model: string) => (await getDocument(stage.ctx, { model })).document;

/** Destroys a model with everything in it. */
async function destroy({ model, provider }: Staged): Promise<void> {
  await destroyModel(stage.ctx, { model, confirm: model, force: true });
  for (let round = 0; round < 5; round += 1) await stage.stage.mend(provider);
  await expect(getDocument(stage.ctx, { model })).rejects.toMatchObject({ code: 'model_unknown' });
}

/** Declares what random acts leave out: more fields of services and, without availability sets, machines of several units. */
async function furnish(staged: Staged, availabilitySetsEnabled: boolean): Promise<void> {
  const { model, provider } = staged;
  await stage.declare(staged, 'front', {
    ...{ formula: 'Acme.Lab.web', version: '1.1', units: 2, exposed: true, settings: { z: [1, { b: null }], a: 'on' } },
    ...{ timeouts: { install: 900 }, upgrade: { atOnce: 'all' }, configure: { atOnce: 3 } },
  });
  if (availabilitySetsEnabled) return;
  const { machine } = await addMachine(stage.ctx, { model }, provider);
  await addMachine(stage.ctx, { model }, provider);
  for (const service of ['front', 'back']) {
    if (service === 'back')
      await stage.declare(staged, service, { formula: 'Acme.Lab.store', version: '1.0', units: 0 });
    await addUnits(stage.ctx, { model, service, count: 2, to: machine });
  }
}

describe('JU-39', () => {
  test.each(Array.from({ length: runsLong ? 6 : 2 }, (_, seed) => [seed + 1, seed % 2 === 0] as const))(
    'the export of random model %i changes nothing, and builds the same model again',
    async (seed, availabilitySetsEnabled) => {
      const name = `random-${seed}x`;
      const staged = await stage.stage.bootstrapped({ name, availabilitySetsEnabled, controllers: seed % 3 });
      const { model } = staged;
      const world = new RandomWorld(stage, staged, seed);
      for (let step = 0; step < 30; step += 1) await world.step();
      await furnish(staged, availabilitySetsEnabled);
      const document = await documentOf(model);
      const nothing = { acts: [], machines: [], left: { services: [], units: [], relations: [], machines: [] } };
      expect(await planDocument(stage.ctx, { model, document })).toMatchObject(nothing);
      const text = formatDocument(document);
      expect(await planDocument(stage.ctx, { model, document: text, prune: true })).toMatchObject(nothing);
      const { revision } = await getDocument(stage.ctx, { model });
      await applyDocument(stage.ctx, { model, document: text }, staged.provider);
      expect(await getDocument(stage.ctx, { model })).toEqual({ document, revision });
      await destroy(staged);
      await applyDocument(stage.ctx, { model, document: text }, staged.provider);
      expect(await documentOf(model)).toEqual(document);
      await destroy(staged);
    },
  );
});

test('JU-41 without prune, a document that leaves out everything removes nothing, and with prune all of it', async () => {
  const staged = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  const { model, provider } = staged;
  await stage.declare(staged, 'web', { formula: 'Acme.Lab.web', version: '1.0', units: 3, exposed: true });
  await stage.declare(staged, 'store', { formula: 'Acme.Lab.store', version: '1.0' });
  const whole = {
    ...(await documentOf(model)),
    relations: [['web', 'store']] as [string, string][],
  };
  await applyDocument(stage.ctx, { model, document: whole }, provider);
  const related = await documentOf(model);
  expect(related.relations).toEqual([['web:db', 'store:db']]);
  const { services: _, relations: __, ...head } = related;
  const web = { formula: 'Acme.Lab.web', version: '1.0', units: 1 };
  const document = { ...head, services: { web } };
  const plan = await planDocument(stage.ctx, { model, document });
  expect(plan).toMatchObject({
    acts: [],
    left: {
      services: [{ service: 'store', units: ['store/0'], relations: [{ endpoints: ['web:db', 'store:db'] }] }],
      ...{ units: ['web/1', 'web/2'], relations: [], machines: [] },
    },
  });
  await applyDocument(stage.ctx, { model, document, plan: plan.planHash }, provider);
  expect(await documentOf(model)).toEqual(related);

  const pruning = await planDocument(stage.ctx, { model, document, prune: true });
  expect(pruning).toMatchObject({ acts: [{ kind: 'expose', service: 'web', exposed: false }], left: plan.left });
  await applyDocument(stage.ctx, { model, document, prune: true, plan: pruning.planHash }, provider);
  expect(await documentOf(model)).toMatchObject({ services: { web: { units: 1 } }, relations: [] });
  expect(await listRelations(stage.ctx, { model })).toEqual({ items: [] });
});
