import { v7 as uuid } from 'uuid';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addRelation, beginRun, endRun, setService } from '#server/domain/services/index.ts';
import { ServiceStage } from '#server/domain/services/testing/service-stage.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { routes } from './routes/index.ts';

const ofService = 'hunter2-of-a-service';
const ofRelation = 'hunter2-of-a-relation';

let door: RestDoor;
let paths: { operation: string; path: string }[];

/** A service with protected settings, related to another one that set a masked value. */
beforeAll(async () => {
  door = await openRestDoor();
  const stage = await ServiceStage.open(door.services);
  const sets = await stage.stage.bootstrapped({ availabilitySetsEnabled: true });
  const endpoint = { db: { interface: 'mysql' } };
  const app = await stage.formula('app', '1.0.0.0', { metadata: { requires: endpoint } });
  const store = await stage.formula('store', '1.0.0.0', { metadata: { provides: endpoint, masked: ['salt'] } });
  const front = await stage.deploy(sets, 'front', app);
  const back = await stage.deploy(sets, 'back', store);
  const [unit] = back.units;
  if (unit === undefined) throw new Error('a unit was added');
  for (const one of [...front.units, ...back.units]) await stage.start(one);
  const { id: relation, number } = await addRelation(stage.ctx, { model: sets.model, endpoints: ['front', 'back'] });
  const protectedSettings = { password: ofService };
  await setService(stage.ctx, { model: sets.model, service: 'front', ...app, protectedSettings }, sets.provider);
  const run = { vmId: unit.vmId, unit: unit.unit, run: uuid() };
  const begin = { phase: 'begin' as const, hook: 'config-changed', attempt: 1, formula: '1.0.0.0', timeoutSeconds: 9 };
  await beginRun(stage.ctx, run, begin);
  const set = { salt: JSON.stringify(ofRelation), password: JSON.stringify(ofRelation) };
  await endRun(stage.ctx, run, {
    ...{ phase: 'end', exitCode: 0, signal: null, timedOut: false, seconds: 1, output: 'salted', reason: null },
    ...{ views: [{ settings: 1 }], changes: [{ relation, set, remove: [] }] },
  });
  const values = { model: sets.model, unit: '0', run: run.run };
  paths = routes
    .filter(
      ({ method, path }) =>
        method === 'GET' && /^\/(activity$|models$|models\/\{model\}($|\/(services|units|relations)\b))/.test(path),
    )
    .map(({ operationId: operation, path: template }) => {
      const more = template.includes('/relations/')
        ? { service: 'back', number }
        : { service: template.includes('/runs') ? 'back' : 'front', number: 0 };
      const given: Readonly<Record<string, string | number>> = { ...values, ...more };
      return { operation, path: template.replace(/\{(\w+)\}/g, (_, name: string) => `${given[name]}`) };
    });
});
afterAll(() => door.close());

/** The forms in which a secret could be in an answer. */
const formsOf = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    // The first and the last characters also depend on the bytes beside the secret.
    return text.slice(4, -4);
  });
  return [secret, bytes.toString('hex'), ...shifted];
};
const forms = [...formsOf(ofService), ...formsOf(ofRelation)];

test('the forms find a secret wherever it is in Base64', () => {
  for (const before of ['', 'a', 'ab', 'abc']) {
    const text = Buffer.from(`${before}${ofService}!`).toString('base64');
    expect(
      forms.some((form) => text.includes(form)),
      before,
    ).toBe(true);
  }
});

test('EN-64 EN-65 no answer about services, units and relations has a protected setting or a masked value', async () => {
  expect(paths.map(({ operation }) => operation)).toEqual(
    expect.arrayContaining([
      ...['listServices', 'getService', 'getUnit', 'getHookRun', 'listHookRuns', 'readHookRunOutput', 'listDueHooks'],
      ...['listRelations', 'getRelation', 'listRelationNodes', 'getRelationSettings', 'listNodeReaders'],
      ...['listRelationEvents'],
    ]),
  );
  for (const as of ['viewer', 'operator', 'admin'] as const) {
    for (const { operation, path } of paths) {
      const { status, text, headers } = await door.call('GET', path, { as });
      expect([operation, as, status]).toEqual([operation, as, as === 'viewer' && status === 403 ? 403 : 200]);
      const answer = `${text}\n${JSON.stringify([...headers])}`;
      expect(
        forms.filter((form) => answer.includes(form)),
        `${as} ${path}`,
      ).toEqual([]);
    }
  }
  const names = await door.call('GET', paths.find(({ operation }) => operation === 'getRelationSettings')?.path ?? '');
  expect(names.text, 'the masked keys are there').toContain('salt');
});
