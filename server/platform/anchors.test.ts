import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAnchorTargets, sendAnchor } from './anchors.ts';

const message = { at: '2026-01-02T03:04:05.000Z', position: 7, hash: 'ab'.repeat(32) };

const only = (text: string) => {
  const [target, ...more] = readAnchorTargets(text);
  if (target === undefined || more.length > 0) throw new Error('one target was expected');
  return target;
};

test.each([
  ['file:/var/log/annex anchors.jsonl', { kind: 'file', path: '/var/log/annex anchors.jsonl' }],
  ['file:///var/anchors.jsonl', { kind: 'file', path: '/var/anchors.jsonl' }],
  ['syslog://logs.example', { kind: 'syslog', host: 'logs.example', port: 514 }],
  ['syslog:logs.example:1514', { kind: 'syslog', host: 'logs.example', port: 1514 }],
  ['syslog://[::1]:514', { kind: 'syslog', host: '::1', port: 514 }],
  ['https://logs.example/anchors?token=x', { kind: 'https', url: 'https://logs.example/anchors?token=x' }],
])('%s is a target', (text, target) => {
  expect(only(text)).toEqual(target);
});

test.each([
  '',
  'file:relative',
  'file://host/path',
  'http://logs.example/',
  'https://a:b@logs.example/',
  'ftp://x',
  'syslog:',
])('%j is not a target', (text) => {
  expect(() => readAnchorTargets(text)).toThrow('must be file:/path');
});

test('a file gets a line for each anchor', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'annex-anchors-')), 'deep', 'anchors.jsonl');
  await sendAnchor(only(`file:${path}`), message);
  await sendAnchor(only(`file:${path}`), { ...message, position: 8 });
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([message, { ...message, position: 8 }]);
});

test('syslog gets an RFC 5424 message', async () => {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const heard = once(socket, 'message') as Promise<[Buffer]>;
  await sendAnchor(only(`syslog://127.0.0.1:${socket.address().port}`), message);
  expect(String((await heard)[0])).toMatch(
    /^<109>1 2026-01-02T03:04:05\.000Z \S+ annex \d+ activity-anchor - 7:(ab){32}$/,
  );
  socket.close();
});

test('an HTTPS URL gets a POST, and must accept it', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    bodies.push(`${request.method} ${request.headers['content-type']} ${body}`);
    response.statusCode = request.url === '/full' ? 507 : 204;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await sendAnchor(only(`${address}/anchors`), message);
  expect(bodies).toEqual([`POST application/json ${JSON.stringify(message)}`]);
  await expect(sendAnchor(only(`${address}/full`), message)).rejects.toThrow('507');
  server.close();
});
