import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { selfSigned } from '../testing/tls.ts';
import { openCaller } from './call.ts';
import { type PortalRoute, proxiesOf } from './route.ts';

let folder: string;
let ca: string;
let plain: Server;
let secure: NetServer;
let proxy: Server;
let proxied: string[] = [];
const portOf = (server: NetServer) => (server.address() as AddressInfo).port;
const listen = (server: NetServer) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'annex-route-'));
  const tls = selfSigned(folder);
  ca = tls.file;
  plain = createServer((_, response) => response.end('plain'));
  secure = createSecureServer(tls, (_, response) => response.end('secure'));
  // Resolves every name to this machine, because a proxy may know names that its clients cannot resolve.
  proxy = createServer((request, response) => {
    proxied.push(`${request.method} ${request.url}`);
    response.end('by proxy');
  }).on('connect', (request, socket, head) => {
    proxied.push(`CONNECT ${request.url}`);
    const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [upstream, socket]) end.on('error', () => socket.destroy());
  });
  await Promise.all([plain, secure, proxy].map(listen));
});
beforeEach(() => {
  proxied = [];
});
afterAll(() => {
  for (const server of [plain, proxy]) server.closeAllConnections();
  for (const server of [plain, secure, proxy]) server.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (address: string, route: Partial<PortalRoute> = {}) =>
  (await openCaller({ environment: {}, ...route })({ method: 'GET', url: new URL(address), idleSeconds: 5 })).text;
const proxyUrl = () => `http://127.0.0.1:${portOf(proxy)}`;

test('a portal with a private CA is reached with its certificate and rejected without it', async () => {
  const address = `https://127.0.0.1:${portOf(secure)}/`;
  expect(await ask(address, { ca })).toBe('secure');
  await expect(ask(address)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});

test('a proxy is used for http and https; TLS through it is end to end', async () => {
  expect(await ask('http://portal.test:8080/healthz', { proxy: proxyUrl() })).toBe('by proxy');
  expect(await ask(`https://portal.test:${portOf(secure)}/`, { proxy: proxyUrl(), ca })).toBe('secure');
  expect(proxied).toEqual(['GET http://portal.test:8080/healthz', `CONNECT portal.test:${portOf(secure)}`]);
});

test('this machine and hosts configured as direct are reached without the proxy', async () => {
  const address = `http://127.0.0.1:${portOf(plain)}/`;
  expect(await ask(address, { proxy: proxyUrl() })).toBe('plain');
  expect(await ask(address, { environment: { HTTP_PROXY: proxyUrl(), HTTPS_PROXY: proxyUrl() } })).toBe('plain');
  expect(proxied).toEqual([]);
});

test.each<[string, PortalRoute, Record<string, string | undefined>]>([
  [
    'the option goes before the environment',
    { proxy: 'http://a:1', environment: { HTTPS_PROXY: 'http://b:1' } },
    { HTTPS_PROXY: 'http://a:1', HTTP_PROXY: 'http://a:1' },
  ],
  [
    'the environment has one for each kind',
    { environment: { https_proxy: 'http://b:1', HTTP_PROXY: 'http://c:1', NO_PROXY: 'x.test' } },
    { HTTPS_PROXY: 'http://b:1', HTTP_PROXY: 'http://c:1', NO_PROXY: 'x.test,localhost,127.0.0.1,[::1],::1' },
  ],
  ['none', { environment: {} }, { HTTPS_PROXY: undefined, HTTP_PROXY: undefined }],
])('%s', (_, route, expected) => {
  expect(proxiesOf(route)).toMatchObject(expected);
});

test.each([
  ['that is not there', null],
  ['without a certificate', 'no PEM'],
  ['with a damaged one', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'],
])('a CA file %s is rejected with its name', (_, text) => {
  const file = join(folder, 'given.pem');
  rmSync(file, { force: true });
  if (text !== null) writeFileSync(file, text);
  expect(() => openCaller({ environment: {}, ca: file })).toThrow('--ca');
});
