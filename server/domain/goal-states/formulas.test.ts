import { beforeAll, expect, test } from 'vitest';
import type { Context, Services } from '#server/domain/context.ts';
import { receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { formulaEntries } from '#server/testing/formula.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { buildZip } from '#server/testing/zip.ts';
import { planExtension } from './plan-extension.ts';
import { setExtension } from './set-extension.ts';

let services: Services;
let ctx: Context;
let vmId: string;

beforeAll(async () => {
  services = await testServices();
  ctx = await testContext({ services });
  ({ vmId } = await givenVm(services));
  // Creates the publisher.
  await givenVersion(services.db, { handler: 'Acme.Lab.Probe' });
  const zip = buildZip(formulaEntries());
  const file = await receiveUpload(ctx, once(zip), zip.length);
  await registerPackage(ctx, { handler: 'Acme.Lab.blog', version: '1.0', file });
});

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

const blog = { handler: 'Acme.Lab.blog', version: '1.0', state: 'enabled' as const };

test('a formula cannot be declared as an extension', async () => {
  expect(await outcomeOf(setExtension(ctx, { vmId, name: 'blog', goal: blog }))).toBe(
    'unprocessable version_is_formula; /version version_is_formula',
  );
});

test('a plan says so', async () => {
  const { faults } = await planExtension(ctx, { vmId, name: 'blog', goal: blog });
  expect(faults.map(({ path, code }) => `${path} ${code}`)).toEqual(['/version version_is_formula']);
});
