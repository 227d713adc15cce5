import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { translateError } from '#server/i18n/index.ts';
import { openBlobStore } from '#server/platform/blob-store.ts';
import { givenAgent, givenProbe, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { buildZip, packageEntries } from '#server/testing/zip.ts';
import { receiveArchive, receiveOutput, requestArchive } from './index.ts';

let ctx: Context;
let vmId: string;
let folder: string;
let hasOwnDisk = false;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'annex-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'annex-full', folder], { stdio: 'ignore' });
    hasOwnDisk = true;
  } catch {
    // Without permission to mount, the store below writes to /dev/full instead.
  }
  const store = openBlobStore(join(folder, 'blobs'));
  const blobs = hasOwnDisk ? store : { ...store, putFile: () => writeFile('/dev/full', 'x') };
  ctx = await testContext({ services: { ...(await testServices()), blobs } });
  await givenVersion(ctx.db);
  await createPublisher(ctx, { namespace: 'Acme.Full', displayName: 'Acme' });
  const door = await openAgentDoor(ctx);
  const agent = await givenAgent(ctx, door, 'full');
  await givenProbe(ctx, agent.vmId);
  await door.close();
  vmId = agent.vmId;
});
afterAll(() => {
  if (hasOwnDisk) execFileSync('umount', ['--lazy', folder]);
});

/** More bytes than the disk can hold. They are random, so that they do not compress. */
const bytes = randomBytes(1_500_000);
async function* sent(whole: Buffer) {
  for (let at = 0; at < whole.length; at += 60_000) yield whole.subarray(at, at + 60_000);
}

test.each<[string, () => Promise<unknown>]>([
  [
    'a package',
    async () => {
      const file = await receiveUpload(ctx, sent(buildZip([...packageEntries(), { name: 'x', data: bytes }])));
      return registerPackage(ctx, { handler: 'Acme.Full.Probe', version: '1.0', file });
    },
  ],
  [
    'the output of a command',
    () =>
      receiveOutput(
        ctx,
        { vmId, extension: 'probe', command: 'enable', sequence: 1, attempt: 1, range: null },
        sent(bytes),
      ),
  ],
  [
    'an archive of logs',
    async () => {
      const { id } = await requestArchive(ctx, { vmId, handler: 'Acme.Lab.Probe' });
      return receiveArchive(ctx, vmId, id, { form: 'tar.gz', bytes: sent(bytes), declared: bytes.length });
    },
  ],
])('a full disk while %s arrives: 507, and no part of it stays', async (_, store) => {
  const error = await store().then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(translateError(error, 'en', 'r')).toMatchObject({ status: 507, code: 'storage_full' });
  const names = await readdir(join(folder, 'blobs'), { recursive: true, withFileTypes: true });
  expect(names.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual([]);
});
