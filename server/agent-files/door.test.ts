import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type InstallGateway, openInstallGateway } from '#server/testing/install-gateway.ts';
import { longTest } from '#server/testing/long.ts';

let gateway: InstallGateway;
beforeAll(async () => {
  gateway = await openInstallGateway();
});
afterAll(() => gateway.close());

const get = (path: string, init?: RequestInit) => fetch(`${gateway.url}${path}`, init);
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(new Uint8Array(await (await get(path)).arrayBuffer()))
    .digest('hex');

interface Description {
  version: string;
  path: string;
  sha256: string;
  size: number;
  node: { system: string; path: string; sha256: string; size: number };
}

longTest('the agent and Node have the checksums of the description, the installer and the .sha256 files', async () => {
  const { node, ...agent } = (await (await get('/install/agent.json')).json()) as Description;
  expect(node.system).toBe(`${process.platform}-${process.arch}`);
  const installer = await (await get('/install')).text();
  for (const file of [agent, node]) {
    expect(await sha256(file.path)).toBe(file.sha256);
    expect(installer).toContain(`'${file.sha256}'`);
    const name = file.path.replace('/install/', '');
    expect(await (await get(`${file.path}.sha256`)).text()).toBe(`${file.sha256}  ${name}\n`);
    const head = await get(file.path, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(file.size)]);
  }
});

longTest('the unit runs the agent from the folders of the installer', async () => {
  const unit = await (await get('/install/annex-agent.service')).text();
  expect(unit).toContain(
    '"/opt/annex-agent/node" "/opt/annex-agent/annex-agent.mjs" "run" "--dir" "/var/lib/annex-agent"',
  );
});

test('the installer is served as text, with every placeholder filled in', async () => {
  const answer = await get('/install');
  expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const text = await answer.text();
  expect(text).toContain(`gateway='${gateway.url}'`);
  expect(text).not.toMatch(/@[A-Z_0-9]+@/);
});

test('other paths return 404, and other methods 405', async () => {
  expect((await get('/install/node-24.0.0-linux-s390x')).status).toBe(404);
  expect((await get('/install/../package.json')).status).not.toBe(200);
  expect((await get('/install', { method: 'POST' })).status).toBe(405);
});

test('more than 16 simultaneous downloads of Node from one address get 503 and a time to wait', async () => {
  const { node } = (await (await get('/install/agent.json')).json()) as Description;
  const stop = new AbortController();
  const open = await Promise.all(Array.from({ length: 16 }, () => get(node.path, { signal: stop.signal })));
  expect(open.map(({ status }) => status)).toEqual(Array(16).fill(200));
  const busy = await get(node.path);
  expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '10']);
  expect(await busy.json()).toMatchObject({ code: 'downloads_busy' });
  stop.abort();
  await expect.poll(async () => (await get(node.path, { method: 'GET' })).status).toBe(200);
});

longTest('clients that do not read the file they requested are disconnected, and others can download it', async () => {
  const impatient = await openInstallGateway({ periodMs: 500 });
  const { port } = new URL(impatient.url);
  const { node } = (await (await fetch(`${impatient.url}/install/agent.json`)).json()) as Description;
  const stalled = Array.from({ length: 16 }, () => connect(Number(port), '127.0.0.1').pause());
  try {
    for (const socket of stalled) {
      socket.on('error', () => undefined);
      socket.write(`GET ${node.path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    }
    const head = async () => {
      const answer = await fetch(`${impatient.url}${node.path}`);
      await answer.body?.cancel();
      return answer.status;
    };
    await expect.poll(head, { timeout: 30_000, interval: 5 }).toBe(503);
    await expect.poll(head, { timeout: 30_000 }).toBe(200);
  } finally {
    for (const socket of stalled) socket.destroy();
    await impatient.close();
  }
});
