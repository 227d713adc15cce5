import { BlockList } from 'node:net';
import { Readable } from 'node:stream';
import pino from 'pino';
import { createAgentHandler } from '#server/agent-api/door.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import type { SetExtensionInput } from '#server/domain/goal-states/input.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/env.ts';
import { type Serving, serve } from '#server/process/http.ts';
import { testContext, testServices } from './context.ts';
import { givenVersion } from './handlers.ts';
import { type KeyPair, newKeyPair } from './key-pair.ts';

export interface AgentDoor {
  url: string;
  serving: Serving;
  close(): Promise<void>;
}

/** Serves the agent API on its own port, with the test's services. */
export async function openAgentDoor(services: Services & { clock?: Clock }): Promise<AgentDoor> {
  const log = pino({ level: 'silent' });
  const handler = createAgentHandler({ ...services, log });
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy: new BlockList(),
    limits: services.config.limits,
    log,
    route: () => ({ core: handler, direct: handler.serve, light: true }),
  });
  return {
    url: `http://127.0.0.1:${serving.port}/agent/v1`,
    serving,
    close: async () => {
      await serving.close(1_000);
      await handler.close();
    },
  };
}

/**
 * Opens an agent API without a rate limit for VMs, and publishes the handler Acme.Lab.Probe. The context's actor is an
 * operator.
 */
export async function openTestDoor(
  config: Partial<Config> = {},
  own: Partial<Services> = {},
): Promise<{ ctx: Context; door: AgentDoor }> {
  const services = { ...(await testServices({ config: { vmRate: 0, ...config } })), ...own };
  const ctx = await testContext({ role: 'operator', services });
  await givenVersion(ctx.db);
  return { ctx, door: await openAgentDoor(services) };
}

/** Declares the extension `probe` on a VM. */
export async function givenProbe(
  ctx: Context,
  vmId: string,
  more: Partial<SetExtensionInput['goal']> = {},
): Promise<void> {
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const, ...more };
  await setExtension(ctx, { vmId, name: 'probe', goal });
}

/** A VM with an enrolled machine. */
export interface GivenAgent {
  vmId: string;
  credential: string;
  authorization: { authorization: string };
  call(path: string, init?: RequestInit): Promise<Response>;
}

/** Creates a VM and enrolls a machine through the API. */
export async function givenAgent(
  ctx: Context,
  door: { url: string },
  name: string,
  { certificate }: KeyPair = newKeyPair(),
): Promise<GivenAgent> {
  const { id, enrollmentToken } = await registerVm(ctx, { name });
  const answer = await fetch(`${door.url}/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken,
      certificate,
      agent: { name: 'test', version: '1.0' },
    }),
  });
  if (answer.status !== 201) throw new Error(`enrollment answered ${answer.status}: ${await answer.text()}`);
  const { credential } = (await answer.json()) as { credential: string };
  const authorization = { authorization: `Bearer ${credential}` };
  return {
    vmId: id,
    credential,
    authorization,
    call: (path, init = {}) =>
      fetch(`${door.url}${path}`, {
        ...init,
        headers: { ...authorization, ...(init.headers as Record<string, string>) },
      }),
  };
}

/** Returns a read-only blob store with a single blob. */
export const singleBlob = (sha256: string, bytes: Buffer): Services['blobs'] => ({
  temporaryPath: () => Promise.reject(new Error('read only')),
  putFile: () => Promise.reject(new Error('read only')),
  open: async (asked, range = { start: 0, end: bytes.length - 1 }) =>
    asked === sha256
      ? { stream: Readable.from([bytes.subarray(range.start, range.end + 1)]), size: bytes.length }
      : null,
  size: async (asked) => (asked === sha256 ? bytes.length : null),
  list: async () => [],
  remove: () => Promise.reject(new Error('read only')),
  keepTemporary: async () => {},
  clearTemporary: async () => 0,
});
