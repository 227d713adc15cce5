import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditEntries, handlerVersions } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { getWireAccess, grantWireAccess, revokeWireAccess } from '#server/domain/stock-agents/index.ts';
import { readActs } from '#server/testing/acts.ts';
import { singleBlob } from '#server/testing/agent-door.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { statementsOf } from '#server/testing/statements.ts';
import {
  givenStockVm,
  openWireDoor,
  readXml,
  StockVm,
  textOf,
  transportHeader,
  type WireDoor,
} from '#server/testing/stock-agent.ts';

const zip = Buffer.from('not really a zip, and nobody looks');

let ctx: Context;
let door: WireDoor;
let vm: StockVm;
let other: StockVm;
let sha256: string;

beforeAll(async () => {
  const services = await testServices({ config: { wire: true, vmRate: 0 } });
  ctx = await testContext({ role: 'operator', services });
  for (const handler of ['Acme.Lab.Probe', 'Acme.Lab.Other']) await givenVersion(ctx.db, { handler });
  const [row] = await ctx.db.select().from(handlerVersions).where(eq(handlerVersions.handler, 'Acme.Lab.Probe'));
  sha256 = row?.sha256 ?? '';
  await ctx.db.update(handlerVersions).set({ size: zip.length }).where(eq(handlerVersions.sha256, sha256));
  door = await openWireDoor({ ...services, blobs: singleBlob(sha256, zip) });
  [vm, other] = [await givenStockVm(ctx, door, 'one'), await givenStockVm(ctx, door, 'two')];
  const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const, settings };
  await setExtension(ctx, { vmId: vm.vmId, name: 'probe', goal });
});
afterAll(() => door.close());

const json = (value: unknown): RequestInit => ({ method: 'PUT', body: JSON.stringify(value) });

describe('a caller without a valid token gets no information', () => {
  test('the same 403 for a wrong, foreign, missing or revoked token, an unknown VM and no VM', async () => {
    const revoked = await givenStockVm(ctx, door, 'revoked');
    await revokeWireAccess(ctx, { vmId: revoked.vmId });
    const rotated = await givenStockVm(ctx, door, 'rotated');
    await rotated.poll();
    await grantWireAccess(ctx, { vmId: rotated.vmId });
    await expect.poll(async () => (await rotated.call('wire', '/machine/?comp=goalstate')).status).toBe(403);
    const answers = await Promise.all([
      new StockVm(door.url, vm.vmId, 'annex_wire_wrong').call('wire', '/?comp=versions'),
      new StockVm(door.url, vm.vmId, other.token).call('wire', '/machine/?comp=goalstate'),
      new StockVm(door.url, vm.vmId, '').call('hgap', '/versions'),
      new StockVm(door.url, crypto.randomUUID(), vm.token).call('hgap', '/status', json({})),
      revoked.call('wire', '/machine/?comp=goalstate'),
      rotated.call('hgap', '/vmSettings'),
      fetch(`${door.url}/wire/${vm.vmId}/machine/?comp=goalstate`),
      fetch(`${door.url}/wire/none/`, { headers: { 'x-guest-token': vm.token } }),
      fetch(`${door.url}/hgap`),
      new StockVm(door.url, vm.vmId, 'x'.repeat(5_000)).call('wire', `/packages/${sha256}.zip`),
    ]);
    const bodies = await Promise.all(
      answers.map(async (answer) => {
        const { requestId, ...problem } = (await answer.json()) as Record<string, unknown>;
        return JSON.stringify({ status: answer.status, type: answer.headers.get('content-type'), problem });
      }),
    );
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('wire_refused');
  });

  test('the response is the same if the wire server is disabled', async () => {
    const closed = await openWireDoor({ ...ctx, config: { ...ctx.config, wire: false } });
    const answer = await new StockVm(closed.url, vm.vmId, vm.token).call('wire', '/machine/?comp=goalstate');
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([403, 'wire_refused']);
    await closed.close();
  });

  test("a forwarder's token is not accepted as an agent's credential", async () => {
    const headers = { authorization: `Bearer ${vm.token}` };
    expect((await fetch(`${door.url}/agent/v1/goal-state`, { headers })).status).toBe(401);
  });
});

test.each<[string, string, 'wire' | 'hgap', string, number]>([
  ['GET', 'versions', 'wire', '/?comp=versions', 200],
  ['GET', 'goal state without the slash', 'wire', '/machine?comp=goalstate', 200],
  ['POST', 'health', 'wire', '/machine?comp=health', 200],
  ['POST', 'role properties', 'wire', '/machine?comp=roleProperties', 202],
  ['POST', 'telemetry', 'wire', '/machine?comp=telemetrydata', 200],
  ['POST', 'health of its host', 'wire', '/HealthService', 200],
  ['POST', 'anything else', 'wire', '/machine?comp=other', 404],
  ['GET', 'what the machine is', 'wire', '/metadata/instance/compute?api-version=2018-02-01', 200],
  ['GET', 'its network', 'wire', '/metadata/instance?api-version=2018-02-01', 404],
  ['GET', 'certificates without one', 'wire', '/machine/CONTAINER/certificates', 400],
  ['GET', 'something of another container', 'wire', '/machine/other/extensions-config', 410],
  ['GET', 'something that is not there', 'wire', '/machine/CONTAINER/other', 404],
  ['DELETE', 'anything', 'wire', '/machine', 405],
  ['GET', 'a handler of another VM', 'wire', '/packages/Acme.Lab.Other/manifest.xml', 404],
  ['GET', 'a package of nobody', 'wire', `/packages/${'0'.repeat(64)}.zip`, 404],
  ['GET', 'versions', 'hgap', '/versions', 200],
  ['GET', 'settings by another way', 'hgap', '/vmSettings', 404],
  ['GET', 'health', 'hgap', '/health', 200],
  ['PUT', 'its own log', 'hgap', '/vmAgentLog', 200],
])('%s %s: %s %s → %d', async (method, _, side, path, status) => {
  const { containerId } = await vm.poll();
  const body = method === 'GET' || method === 'DELETE' ? {} : { body: '<x/>' };
  expect((await vm.call(side, path.replace('CONTAINER', containerId), { method, ...body })).status).toBe(status);
});

test('a package is served on both paths, complete or in part, and no other URL is fetched', async () => {
  await vm.poll();
  const manifest = readXml(await (await vm.call('wire', '/packages/Acme.Lab.Probe/manifest.xml')).text());
  const address = textOf(manifest, 'Uri');
  expect(Buffer.from(await (await vm.at(address)).arrayBuffer())).toEqual(zip);
  const part = await vm.at(address, { headers: { range: 'bytes=4-9' } });
  expect([part.status, await part.text()]).toEqual([206, zip.subarray(4, 10).toString()]);
  const artifact = (location: string) =>
    vm.call('hgap', '/extensionArtifact', { headers: { 'x-ms-artifact-location': location } });
  expect(Buffer.from(await (await artifact(address)).arrayBuffer())).toEqual(zip);
  const ofOthers = ['http://127.0.0.1:1/x', address.replace('168.63.129.16', 'example.com'), '', 'file:///etc/passwd'];
  for (const location of [...ofOthers, address.replace(/[0-9a-f]{64}/, '0'.repeat(64))])
    expect([location, (await artifact(location)).status]).toEqual([location, 404]);
  expect((await other.at(address)).status).toBe(404);
});

test('AZ-C2 the tenant key is wrapped for the certificate in the request, and opens the protected settings', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'annex-transport-'));
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const at = (file: string) => join(folder, file);
  const transport = ['-keyout', 'transport.key', '-out', 'transport.crt', '-days', '2', '-subj', '/CN=LinuxTransport'];
  const ask = async () => {
    openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...transport);
    const uri = textOf(readXml(await (await vm.call('wire', '/machine/?comp=goalstate')).text()), 'Certificates');
    const headers = transportHeader(readFileSync(at('transport.crt'), 'utf8'));
    return readXml(await (await vm.at(uri, { headers })).text());
  };
  await ask();
  const file = await ask();
  writeFileSync(at('wrapped'), Buffer.from(textOf(file, 'Data'), 'base64'));
  openssl(
    'cms',
    '-decrypt',
    '-inform',
    'DER',
    '-in',
    'wrapped',
    '-recip',
    'transport.crt',
    '-inkey',
    'transport.key',
    '-out',
    'pfx',
  );
  writeFileSync(at('pem'), openssl('pkcs12', '-nodes', '-in', 'pfx', '-password', 'pass:'));
  const { settings } = await vm.poll();
  const [{ protectedSettings, protectedSettingsCertThumbprint }] = settings.map(({ json }) => json) as [
    Record<string, string>,
  ];
  writeFileSync(at('protected'), Buffer.from(protectedSettings ?? '', 'base64'));
  const opened = openssl('smime', '-decrypt', '-inform', 'DER', '-in', 'protected', '-recip', 'pem', '-inkey', 'pem');
  expect(JSON.parse(opened.toString())).toEqual({ word: 'hunter2' });
  expect(
    openssl('x509', '-in', 'pem', '-noout', '-fingerprint', '-sha1').toString().trim().replaceAll(':', ''),
  ).toMatch(new RegExp(`${protectedSettingsCertThumbprint}$`));
  const acts = await readActs(ctx.db, eq(auditEntries.vmId, vm.vmId));
  expect(acts.filter(({ action }) => action === 'wire-access.renew-certificate')).toMatchObject([
    { actorKind: 'agent', before: null },
    { actorKind: 'agent', before: { thumbprint: expect.any(String) } },
  ]);
  expect(await getWireAccess(ctx, { vmId: vm.vmId })).toMatchObject({
    stock: { tenantCertificate: { thumbprint: protectedSettingsCertThumbprint }, transportCertificate: {} },
  });
});

test('looks up a goal state that another process delivered', async () => {
  const { containerId, incarnation } = await vm.poll();
  const asked = (number: string) =>
    statementsOf(() => vm.call('wire', `/machine/${containerId}/extensions-config?incarnation=${number}`));
  expect(await asked(incarnation)).toEqual([]);
  expect(await asked('999999')).not.toEqual([]);
});

test.each<['wire' | 'hgap']>([['wire'], ['hgap']])(
  'returns the hold of the requested incarnation, never of an earlier incarnation, at %s',
  async (side) => {
    const { containerId, incarnation } = await vm.poll();
    const ask = (number: string) => {
      const path = `/machine/${containerId}/artifacts-profile?incarnation=${number}`;
      const headers = { 'x-ms-artifact-location': `http://168.63.129.16${path}` };
      return side === 'wire' ? vm.call('wire', path) : vm.call('hgap', '/extensionArtifact', { headers });
    };
    expect(await (await ask(incarnation)).json()).toEqual({ onHold: false });
    expect(await statementsOf(async () => expect((await ask('999999')).status).toBe(424))).not.toEqual([]);
  },
);

test('limits an agent that keeps creating certificates', async () => {
  const { containerId } = await other.poll();
  const ask = async (certificate: string) => {
    const headers = { 'x-ms-guest-agent-public-x509-cert': certificate.repeat(200) };
    return (await other.call('wire', `/machine/${containerId}/certificates`, { headers })).status;
  };
  for (const certificate of 'abcdef') expect(await ask(certificate)).toBe(400);
  expect([await ask('g'), await ask('g')]).toEqual([429, 429]);
});

describe('a status upload', () => {
  const ofUnknown = { requestUri: 'http://168.63.129.16/status/x?sig=y', headers: [], content: '' };

  test.each<[string, () => unknown, number]>([
    ['that is not JSON', () => '{', 400],
    ['of 50,000 brackets', () => '['.repeat(50_000), 400],
    ['without a URL', () => JSON.stringify({ headers: [] }), 400],
    ['to another host', () => JSON.stringify({ ...ofUnknown, requestUri: 'http://example.com/status/x' }), 400],
    ['without the secret in its URL', () => JSON.stringify(ofUnknown), 400],
    ['that is huge', () => JSON.stringify({ ...ofUnknown, content: 'A'.repeat(3_000_000) }), 413],
  ])('%s is rejected', async (_, body, status) => {
    expect((await vm.call('hgap', '/status', { method: 'PUT', body: String(body()) })).status).toBe(status);
    expect((await vm.call('wire', '/machine/?comp=goalstate')).status).toBe(200);
  });

  test('with the address of another VM, or for another container, is rejected', async () => {
    const { statusUri } = await other.poll();
    await vm.poll();
    expect((await vm.upload(statusUri, '{}')).status).toBe(400);
    const headers = { 'x-ms-containerid': crypto.randomUUID() };
    expect((await vm.call('hgap', '/status', { ...json({}), headers })).status).toBe(410);
  });

  test.each<[string, string]>([
    ['no JSON', 'blank'],
    ['no status', '{"version":"1.1"}'],
    ['a list', '[]'],
    ['an empty status', '{"aggregateStatus":null}'],
  ])('whose content is %s is refused', async (_, content) => {
    const { statusUri } = await vm.poll();
    expect((await vm.upload(statusUri, content)).status).toBe(400);
  });

  test('is accepted at its own URL too, even in pages', async () => {
    const { statusUri } = await vm.poll();
    const content = JSON.stringify({ version: '1.1', aggregateStatus: { handlerAggregateStatus: [] } });
    const straight = { method: 'PUT', headers: { 'x-ms-blob-type': 'BlockBlob' }, body: content };
    expect((await vm.at(statusUri, straight)).status).toBe(201);
    const [half, size] = [512, 1_024];
    const begin = {
      method: 'PUT',
      headers: { 'x-ms-blob-type': 'PageBlob', 'x-ms-blob-content-length': String(size) },
    };
    expect((await vm.at(statusUri, begin)).status).toBe(201);
    const page = (start: number, bytes: string) =>
      vm.at(`${statusUri}&comp=page`, {
        method: 'PUT',
        headers: { 'x-ms-range': `bytes=${start}-${start + bytes.length - 1}`, 'x-ms-page-write': 'update' },
        body: bytes,
      });
    const padded = content.padEnd(size, ' ');
    expect((await page(0, padded.slice(0, half))).status).toBe(201);
    expect((await page(half, padded.slice(half))).status).toBe(201);
    expect((await page(0, padded)).status).toBe(400);
    expect((await vm.at(statusUri.replace(/sig=./, 'sig=!'), straight)).status).toBe(400);
  });
});
