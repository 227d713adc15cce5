import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '#server/domain/context.ts';
import { requestArchive } from '#server/domain/logs/index.ts';
import { type AgentDoor, type GivenAgent, givenAgent, givenProbe, openTestDoor } from '#server/testing/agent-door.ts';

let ctx: Context;
let door: AgentDoor;
let agent: GivenAgent;
let archive: string;

beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
  agent = await givenAgent(ctx, door, 'odd');
  await givenProbe(ctx, agent.vmId);
  await agent.call('/goal-state');
  archive = (await requestArchive(ctx, { vmId: agent.vmId, handler: 'Acme.Lab.Probe' })).id;
});
afterAll(() => door.close());

const outputs = '/logs/probe?command=enable&sequence=1&attempt=1';
const doors: [string, string][] = [
  ['GET', '/goal-state'],
  ['POST', '/reports'],
  ['GET', `/packages/${'0'.repeat(64)}`],
  ['POST', '/enroll'],
  ['PUT', '/certificate'],
  ['POST', outputs],
  ['GET', '/log-requests'],
  ['PUT', '/log-requests/ARCHIVE/archive'],
];
const odd = [
  '%ff',
  '%00',
  '%zz',
  '%',
  '-1',
  '1e999',
  '99999999999999999999',
  'x'.repeat(5_000),
  '..%2f..',
  '%ED%A0%80',
];
const queries = ['wait', 'command', 'sequence', 'attempt', 'extension', 'unknown'];
const types = [
  'application/json',
  'application/json; charset=utf-16',
  'text/plain',
  'application/gzip',
  ';;',
  'multipart/form-data',
];
const texts = ['', '{', '[]', 'null', '"\\ud800"', '{"a":1e999}', '{"__proto__":{}}', '\u0000', '['.repeat(50_000)];

describe.each(doors)('%s %s', (method, path) => {
  const place = () => path.replace('ARCHIVE', archive);
  const ask = async (asked: string, where: string, init: RequestInit = {}) => {
    const { status } = await agent.call(where, { method, ...init });
    expect([asked, status < 500]).toEqual([asked, true]);
  };

  test('malformed paths and queries cause no 5xx', async () => {
    const body = method === 'GET' ? {} : { body: '{}' };
    for (const value of odd) {
      const [bare = ''] = path.split('?');
      await ask(value, `${bare.slice(0, bare.lastIndexOf('/'))}/${value}`, body);
      for (const name of queries)
        await ask(`${name}=${value}`, `${place()}${path.includes('?') ? '&' : '?'}${name}=${value}`, body);
    }
  });

  test('malformed headers and bodies cause no 5xx', async () => {
    for (const type of types) {
      for (const text of method === 'GET' ? [''] : texts) {
        const headers = { 'content-type': type, 'annex-agent': 'x; 99999999999999999999', range: 'bytes=9-1' };
        const init = { headers, ...(method !== 'GET' && { body: text }) };
        await ask(`${type}: ${text.slice(0, 40)}`, place(), init);
      }
    }
  });
});
