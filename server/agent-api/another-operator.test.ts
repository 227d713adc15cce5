import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createToken } from '#server/auth/tokens/index.ts';
import { testBootstrap, testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { type KeyPair, newKeyPair } from '#server/testing/key-pair.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import {
  elementsOf,
  openWireDoor,
  readXml,
  StockVm,
  textOf,
  transportHeader,
  type WireDoor,
} from '#server/testing/stock-agent.ts';

type Person = 'ada' | 'eve';

let rest: RestDoor;
let door: WireDoor;
const tokens = new Map<Person, string>();
let count = 0;

beforeAll(async () => {
  rest = await openRestDoor({ config: { wire: true, vmRate: 0 } });
  await givenVersion(rest.services.db);
  door = await openWireDoor(rest.services);
  const ctx = await testContext({ services: rest.services, actor: testBootstrap });
  for (const name of ['ada', 'eve'] as const)
    tokens.set(name, (await createToken(ctx, { name, role: 'operator' })).value);
});
afterAll(async () => {
  await rest.close();
  await door.close();
});

async function api<T>(person: Person, method: string, path: string, body?: unknown): Promise<T> {
  const reply = await rest.call(method, path, { token: tokens.get(person) ?? '', ...(body !== undefined && { body }) });
  if (reply.status >= 300) throw new Error(`${reply.status}: ${reply.text}`);
  return reply.body as T;
}

const newToken = async (person: Person, id: string): Promise<string> =>
  (await api<{ enrollmentToken: string }>(person, 'POST', `/vms/${id}/enrollment-token`)).enrollmentToken;

interface Machine {
  pair: KeyPair;
  authorization: string;
}

async function enroll(enrollmentToken: string): Promise<Machine> {
  const pair = newKeyPair();
  const body = { enrollmentToken, certificate: pair.certificate, agent: { name: 'test', version: '1' } };
  const answer = await fetch(`${door.url}/agent/v1/enroll`, { method: 'POST', body: JSON.stringify(body) });
  const { credential } = (await answer.json()) as { credential: string };
  return { pair, authorization: `Bearer ${credential}` };
}

function open(sealed: string, key: string): string {
  const input = Buffer.from(sealed, 'base64');
  return execFileSync('openssl', ['cms', '-decrypt', '-inform', 'DER', '-inkey', key], { input }).toString();
}

/** Returns the protected settings that a machine can decrypt from its goal state; null if there are none. */
async function readBy({ pair, authorization }: Machine): Promise<string | null> {
  const answer = await fetch(`${door.url}/agent/v1/goal-state`, { headers: { authorization } });
  const { extensions } = (await answer.json()) as { extensions: { settings: { protectedSettings?: string } }[] };
  const sealed = extensions[0]?.settings.protectedSettings;
  return sealed === undefined ? null : open(sealed, pair.key);
}

/**
 * Returns the protected settings that the holder of a stock agent's token can decrypt after fetching the tenant key.
 */
async function readByStock(stock: StockVm): Promise<string | null> {
  const { settings } = await stock.poll();
  const sealed = (settings[0]?.json as { protectedSettings?: string } | undefined)?.protectedSettings;
  if (sealed === undefined) return null;
  const transport = newKeyPair('RSA 2048');
  const goalState = readXml(await (await stock.call('wire', '/machine/?comp=goalstate')).text());
  const answer = await stock.at(textOf(goalState, 'Certificates'), { headers: transportHeader(transport.certificate) });
  const data = elementsOf(readXml(await answer.text()), 'Data')[0]?.text ?? '';
  const decrypt = ['cms', '-decrypt', '-inform', 'DER', '-inkey', transport.key];
  const [bag, key] = [`${transport.key}.p12`, `${transport.key}.tenant`];
  writeFileSync(bag, execFileSync('openssl', decrypt, { input: Buffer.from(data, 'base64') }));
  execFileSync('openssl', ['pkcs12', '-in', bag, '-nodes', '-nocerts', '-passin', 'pass:', '-out', key]);
  return open(sealed, key);
}

/** Creates a VM with protected settings that Ada entered. */
async function givenVm(): Promise<{ id: string; enrollmentToken: string }> {
  count += 1;
  const vm = await api<{ id: string; enrollmentToken: string }>('ada', 'POST', '/vms', { name: `vm-${count}` });
  const settings = { publicSettings: {}, protectedSettings: { word: 'hunter2' } };
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled', settings };
  await api('ada', 'PUT', `/vms/${vm.id}/extensions/probe`, goal);
  return vm;
}

const secret = '{"word":"hunter2"}';
const release = (id: string) => rest.call('POST', `/vms/${id}/release-secrets`, { body: {} });

test.each<[string, (vm: { id: string; enrollmentToken: string }) => Promise<unknown>]>([
  ['that is enrolled', ({ enrollmentToken }) => enroll(enrollmentToken)],
  ['that is not enrolled yet', async () => {}],
  [
    'whose machine was replaced before',
    async ({ id, enrollmentToken }) => {
      await enroll(enrollmentToken);
      await enroll(await newToken('ada', id));
    },
  ],
  [
    'that is being decommissioned',
    async ({ id, enrollmentToken }) => {
      expect(await readBy(await enroll(enrollmentToken))).toBe(secret);
      await api('eve', 'DELETE', `/vms/${id}?decommission=true`);
    },
  ],
])(
  'a key that another operator enrolls for a VM %s reads nothing until an admin releases it',
  async (_what, before) => {
    const vm = await givenVm();
    await before(vm);
    const machine = await enroll(await newToken('eve', vm.id));
    expect(await readBy(machine)).toBeNull();
    expect((await release(vm.id)).status).toBe(200);
    await expect.poll(() => readBy(machine)).toBe(secret);
  },
);

test.each([
  ['without an agent', false],
  ['with a stock agent', true],
])(
  'wire access that another operator creates for a VM %s decrypts nothing until an admin releases the settings',
  async (_, isStock) => {
    const { id } = await givenVm();
    if (isStock) await api('ada', 'POST', `/vms/${id}/wire-access`);
    const { token } = await api<{ token: string }>('eve', 'POST', `/vms/${id}/wire-access`);
    const stock = new StockVm(door.url, id, token);
    expect(await readByStock(stock)).toBeNull();
    expect((await release(id)).status).toBe(200);
    await expect.poll(() => readByStock(stock), { timeout: 10_000 }).toBe(secret);
  },
);
