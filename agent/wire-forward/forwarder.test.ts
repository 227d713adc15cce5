import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createServer,
  Agent as HttpAgent,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Journal } from '../journal.ts';
import { Forwarder, type ForwarderOptions } from './forwarder.ts';
import { listenHere, listenInside } from './listen.ts';

const uid = process.getuid?.() ?? 0;
const main = new URL('../main.ts', import.meta.url).pathname;
let gateway: Server;
let gatewayUrl: URL;
let asked: IncomingMessage[];
let serve: (request: IncomingMessage, response: ServerResponse) => unknown;
let logged: string[];
let forwarder: Forwarder;
let ports: number[];
const connections = new HttpAgent({ keepAlive: true });

beforeEach(async () => {
  asked = [];
  logged = [];
  serve = (_, response) => response.end('answer');
  gateway = createServer((message, response) => {
    asked.push(message);
    serve(message, response);
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  gatewayUrl = new URL(`http://127.0.0.1:${(gateway.address() as AddressInfo).port}/`);
});
afterEach(() => {
  forwarder?.close();
  gateway.closeAllConnections();
  gateway.close();
});

async function open(options: Partial<ForwarderOptions> = {}, listening = listenHere): Promise<void> {
  const endpoints = [0, 0].map((port) => ({ host: '127.0.0.1', port }));
  const { servers, tables } = await listening(endpoints);
  ports = servers.map((server) => (server.address() as AddressInfo).port);
  const say = (line: string) => logged.push(line);
  const journal: Journal = { info: say, warn: say, note: say };
  forwarder = new Forwarder({
    gateway: gatewayUrl,
    vm: 'vm-1',
    token: 'token-1',
    rereadToken: () => null,
    connections: () => connections,
    tables,
    allowUids: [uid],
    clients: [],
    journal,
    ...options,
  });
  for (const [index, server] of servers.entries()) forwarder.serve(index === 1 ? 'hgap' : 'wire', server);
}

interface Asked {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  port?: number | undefined;
}

/** Sends a request as the stock agent does: one per connection, with the path unchanged. */
async function ask(path: string, { method = 'GET', headers = {}, body, port = ports[0] }: Asked = {}) {
  const message = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
  message.end(body);
  const [response] = (await once(message, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}

const goalState = '/machine/?comp=goalstate';

test('each service is relayed to its path at the gateway, on behalf of the VM', async () => {
  await open();
  serve = (message, response) =>
    response.writeHead(202, { 'x-ms-version': '1' }).end(`${message.method} ${message.url}`);
  expect(await ask('/?comp=versions')).toMatchObject({ status: 202, text: 'GET /wire/vm-1/?comp=versions' });
  const answered = await ask('/status', { method: 'PUT', body: '{}', port: ports[1] });
  expect(answered).toMatchObject({ text: 'PUT /hgap/vm-1/status', headers: { 'x-ms-version': '1' } });
  expect(asked.map(({ headers }) => headers['x-guest-token'])).toEqual(['token-1', 'token-1']);
  expect(new Set(asked.map(({ headers }) => headers['x-guest-forwarder'])).size).toBe(1);
});

test('headers with which a guest could claim an identity are removed, however they are hidden', async () => {
  await open();
  await ask('/', {
    headers: {
      'X-Guest-Token': ['forged', 'twice'],
      'x-guest-vm': 'other',
      'X-Forwarded-For': '10.0.0.1',
      Forwarded: 'for=10.0.0.1',
      'X-Real-IP': '10.0.0.1',
      Authorization: 'Bearer x',
      Host: '168.63.129.16',
      Connection: 'close, x-guest-token, x-hop',
      'x-hop': '1',
      'x-ms-version': '2012-11-30',
    },
  });
  const { headers } = asked[0]!;
  expect(headers).toEqual({
    'x-guest-forwarder': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-guest-token': 'token-1',
    'x-ms-version': '2012-11-30',
    host: gatewayUrl.host,
    connection: 'keep-alive',
  });
});

test('a body is never read as another request, whatever length the guest states', async () => {
  await open();
  const hidden = 'GET /wire/vm-2/machine/?comp=goalstate HTTP/1.1\r\nhost: x\r\n\r\n';
  serve = async (message, response) => response.end(await text(message));
  const socket = connect(ports[0] ?? 0, '127.0.0.1');
  const head = ['GET /?comp=versions HTTP/1.1', 'host: x', 'connection: close, content-length'];
  socket.write([...head, `content-length: ${hidden.length}`, '', hidden].join('\r\n'));
  expect(await text(socket)).toContain(hidden);
  expect(asked.map(({ url }) => url)).toEqual(['/wire/vm-1/?comp=versions']);
});

test.each([
  ['GET', '/../other/machine/'],
  ['GET', '/a/%2e%2E/b'],
  ['GET', '/a/.%2e'],
  ['GET', '/..%2fother'],
  ['GET', '/a\\..\\b'],
  ['GET', 'http://elsewhere/'],
  ['DELETE', '/'],
])('%s %s does not reach the gateway', async (method, path) => {
  await open();
  expect((await ask(path, { method })).status).toBe(method === 'GET' ? 400 : 405);
  expect(asked).toEqual([]);
});

test('dots that are not path segments, and any query, are relayed unchanged', async () => {
  await open();
  await ask('/blob/a..b/.hidden?u=../x%2fy');
  expect(asked[0]?.url).toBe('/wire/vm-1/blob/a..b/.hidden?u=../x%2fy');
});

test('a user without access is rejected before anything is read, and logged once', async () => {
  await open({ allowUids: [uid + 1] });
  for (const _ of [1, 2])
    expect(await ask('/')).toMatchObject({ status: 403, text: 'This is for the VM agent only.\n' });
  expect(asked).toEqual([]);
  expect(logged).toEqual([`User ${uid} was rejected: it may not act for the VM.`]);
});

// Only root can connect as another user. The previous test does the reverse: it denies access to the user that runs
// the tests.
if (uid === 0) {
  const asUnprivileged = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

  test('root has access, other users do not, even from IPv6 or with the connection closed early', async () => {
    await open();
    expect((await ask('/')).status).toBe(200);
    const program = `
      const net = require('node:net');
      const say = (host) => new Promise((done) => {
        const socket = net.connect({ host, port: ${ports[0]} }, () => socket.write('GET / HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'));
        let heard = '';
        socket.on('data', (chunk) => { heard += chunk; });
        socket.on('close', () => done(heard.split('\\r\\n')[0]));
        socket.on('error', () => {});
      });
      const leave = () => new Promise((done) => {
        const socket = net.connect(${ports[0]}, '127.0.0.1', () => {
          socket.write('PUT /status HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n', () => socket.destroy());
        });
        socket.on('close', done);
      });
      (async () => { await leave(); console.log(await say('127.0.0.1'), await say('::ffff:127.0.0.1')); })();`;
    const [command = '', ...args] = [...asUnprivileged, process.execPath, '-e', program];
    const { stdout } = await promisify(execFile)(command, args);
    expect(stdout.trim()).toBe('HTTP/1.1 403 Forbidden HTTP/1.1 403 Forbidden');
    expect(asked.map(({ method }) => method)).toEqual(['GET']);
  });

  test('inside a guest’s network namespace, users are those of the guest, and the gateway is unreachable', async () => {
    const guest = spawn('unshare', ['--net', 'sh', '-c', 'ip link set lo up && echo up && exec cat']);
    try {
      await once(guest.stdout, 'data');
      const namespace = `/proc/${guest.pid}/ns/net`;
      await open({}, (endpoints) => listenInside(namespace, endpoints, [process.execPath, main]));
      const inside = async (line: string[], port = ports[0]) => {
        const program = `fetch('http://127.0.0.1:${port}/').then((r) => console.log(r.status), () => console.log('none'))`;
        const args = [`--net=${namespace}`, ...line, process.execPath, '-e', program];
        return (await promisify(execFile)('nsenter', args)).stdout.trim();
      };
      expect(await inside([])).toBe('200');
      expect(await inside(asUnprivileged)).toBe('403');
      expect(await inside([], Number(gatewayUrl.port))).toBe('none');
    } finally {
      guest.kill('SIGKILL');
    }
  });
}

test('while the gateway is down, the agent keeps its goal state and other requests fail quickly', async () => {
  await open();
  serve = (_, response) => response.writeHead(200, { 'content-type': 'text/xml' }).end('<GoalState/>');
  await ask(goalState);
  const { port } = gateway.address() as AddressInfo;
  gateway.closeAllConnections();
  gateway.close();
  expect(await ask(goalState)).toMatchObject({
    status: 200,
    text: '<GoalState/>',
    headers: { 'content-type': 'text/xml' },
  });
  expect((await ask('/status', { method: 'PUT', body: '{}', port: ports[1] })).status).toBe(424);
  gateway = createServer((_, response) => response.end('back'));
  gateway.listen(port, '127.0.0.1');
  await once(gateway, 'listening');
  expect((await ask(goalState)).text).toBe('back');
  expect(logged).toEqual([
    expect.stringMatching(/^The gateway cannot be used: .*\. The agent keeps its goal state\.$/),
    expect.stringMatching(/^The gateway is available again after \d+ s\.$/),
  ]);
});

test.each([403, 429, 500, 502, 503, 504])(
  'status %i, which would stop the agent for half a minute, is replaced',
  async (status) => {
    await open();
    serve = (_, response) => response.writeHead(status, { 'retry-after': '30' }).end();
    expect((await ask(goalState)).status).toBe(424);
    expect((await ask('/status', { method: 'PUT', body: '{}', port: ports[1] })).status).toBe(424);
  },
);

test.each([304, 400, 404, 410, 413])('status %i is relayed, because the agent can handle it', async (status) => {
  await open();
  serve = (_, response) => response.writeHead(status).end();
  expect((await ask('/vmSettings', { port: ports[1] })).status).toBe(status);
});

test('the forwarder gives up on a silent gateway before the agent does', async () => {
  await open({ limits: { silenceMilliseconds: 50 } });
  serve = () => {};
  expect((await ask('/')).status).toBe(424);
  expect(logged[0]).toContain('there was no response');
});

test('a truncated response is not relayed as complete', async () => {
  await open();
  serve = (_, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half');
    setImmediate(() => response.destroy());
  };
  await expect(ask('/')).rejects.toThrow('aborted');
});

test('after a token is rejected, its file is read again, and a new token is used', async () => {
  let token = 'token-1';
  await open({ rereadToken: () => token, limits: { tokenMilliseconds: 0 } });
  serve = ({ headers }, response) => response.writeHead(headers['x-guest-token'] === 'token-2' ? 200 : 403).end();
  expect((await ask('/')).status).toBe(424);
  token = 'token-2';
  expect((await ask('/')).status).toBe(424);
  expect((await ask('/')).status).toBe(200);
  expect(logged.join(' ')).not.toMatch(/token-\d/);
});

test('bodies are streamed both ways, and one that is too long is rejected, even if its length was not stated', async () => {
  await open({ limits: { bodyBytes: 1_000_000 } });
  const big = Buffer.alloc(8_000_000, 'z');
  serve = async (message, response) => {
    if (message.method === 'GET') return response.end(big);
    const body = await buffer(message).catch(() => null);
    response.end(String(body?.length));
  };
  expect((await ask('/package')).text.length).toBe(big.length);
  expect((await ask('/log', { method: 'PUT', body: big.subarray(0, 1_000_000) })).text).toBe('1000000');
  const chunked = { 'transfer-encoding': 'chunked' };
  for (const headers of [{}, chunked]) {
    expect((await ask('/log', { method: 'PUT', body: big.subarray(0, 1_000_001), headers })).status).toBe(413);
  }
});

test('a client that is slow to send is disconnected and frees its connection', async () => {
  await open({ limits: { headersMilliseconds: 100 } });
  const socket = connect(ports[0] ?? 0, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\n');
  expect((await ask('/')).status).toBe(200);
  expect(await text(socket)).toContain('408');
});

test('more connections than an agent opens are rejected', async () => {
  await open({ limits: { connections: 2 } });
  const idle = [1, 2].map(() => connect(ports[0] ?? 0, '127.0.0.1'));
  await Promise.all(idle.map((socket) => once(socket, 'connect')));
  await expect(ask('/')).rejects.toThrow();
  for (const socket of idle) socket.destroy();
  await vi.waitFor(async () => expect((await ask('/')).status).toBe(200));
});
