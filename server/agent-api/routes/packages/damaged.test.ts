import { createHash } from 'node:crypto';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { publishVersion } from '#server/domain/localization/index.ts';
import { getVersion, receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, openAgentDoor } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { buildZip, packageEntries } from '#server/testing/zip.ts';

// The package is larger than a chunk of the stream, so that bytes are sent before the whole package has been read.
const zip = buildZip([...packageEntries(), { name: 'large', data: 'x'.repeat(300_000), method: 0 }]);
const sha256 = createHash('sha256').update(zip).digest('hex');
const named = { handler: 'Acme.Lab.Stored', version: '1.0.0.0' };

let ctx: Context;
let door: AgentDoor;
let agent: GivenAgent;
let file: string;

const upload = async () =>
  registerPackage(ctx, {
    ...named,
    file: await receiveUpload(
      ctx,
      (async function* () {
        yield zip;
      })(),
    ),
  });
const download = (headers: Record<string, string> = {}) => agent.call(`/packages/${sha256}`, { headers });
const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

beforeAll(async () => {
  ctx = await testContext({ services: await testServices({ config: { vmRate: 0 } }) });
  file = join(ctx.config.dataDir, 'blobs', sha256.slice(0, 2), sha256);
  await createPublisher(ctx, { namespace: 'Acme.Lab', displayName: 'Acme' });
  await upload();
  await publishVersion(ctx, named);
  door = await openAgentDoor(ctx);
  agent = await givenAgent(ctx, door, 'reader');
  await setExtension(ctx, { vmId: agent.vmId, name: 'stored', goal: { ...named, state: 'enabled' } });
  await agent.call('/goal-state');
});
afterAll(() => door.close());

const flip = async () => {
  const bytes = await readFile(file);
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  await writeFile(file, bytes);
};

test.each<[string, () => Promise<void>]>([
  ['lost', () => rm(file)],
  ['cut off', () => truncate(file, 100)],
  ['empty', () => truncate(file, 0)],
])('AZ-P6 a package that is %s is an error on its version until the same bytes are uploaded', async (_, harm) => {
  expect(await bytesOf(await download())).toEqual(zip);
  await harm();
  for (const headers of [{}, { range: 'bytes=5-9' }] as Record<string, string>[]) {
    const answer = await download(headers);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await answer.json()).toMatchObject({ code: 'package_damaged' });
  }
  expect(await getVersion(ctx, named)).toMatchObject({ isDamaged: true, state: 'published' });
  expect(await upload()).toMatchObject({ created: false, state: 'published' });
  expect(await getVersion(ctx, named)).toMatchObject({ isDamaged: false });
  expect(await bytesOf(await download())).toEqual(zip);
});

test('AZ-P6 a damaged package is never delivered completely, and the same upload restores it', async () => {
  await flip();
  await expect(download().then(bytesOf)).rejects.toThrow();
  await expect.poll(async () => (await download()).status).toBe(503);
  expect(await getVersion(ctx, named)).toMatchObject({ isDamaged: true });
  expect(await readdir(join(ctx.config.dataDir, 'blobs', 'damaged'))).toEqual([sha256]);
  await upload();
  expect(await bytesOf(await download())).toEqual(zip);
});

test('AZ-P6 an upload replaces damaged bytes that were not detected', async () => {
  await flip();
  await upload();
  expect(await bytesOf(await download())).toEqual(zip);
});
