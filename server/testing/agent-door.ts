import { execFileSync } from 'node:child_process';
import { BlockList } from 'node:net';
import { Readable } from 'node:stream';
import pino from 'pino';
import { createAgentHandler } from '#server/agent-api/handler.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { type Serving, serve } from '#server/process/http.ts';

/** A machine's key pair as a test makes it. */
export function newCertificate(...algorithm: string[]): string {
  return execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      ...(algorithm.length > 0 ? algorithm : ['rsa:2048']),
      '-nodes',
      '-keyout',
      '/dev/null',
    ].concat(['-days', '2', '-subj', '/CN=vm']),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();
}

/** The agents' door on a port of its own, over the test's services. */
export async function openAgentDoor(
  services: Services,
): Promise<{ url: string; serving: Serving; close(): Promise<void> }> {
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

/** A VM whose machine has enrolled. */
export interface GivenAgent {
  vmId: string;
  credential: string;
  authorization: { authorization: string };
  call(path: string, init?: RequestInit): Promise<Response>;
}

/** Makes a VM and enrols a machine for it through the door. */
export async function givenAgent(ctx: Context, door: { url: string }, name: string): Promise<GivenAgent> {
  const { id, enrollmentToken } = await registerVm(ctx, { name });
  const answer = await fetch(`${door.url}/enroll`, {
    method: 'POST',
    body: JSON.stringify({
      enrollmentToken,
      certificate: newCertificate(),
      agent: { name: 'test', version: '1.0' },
    }),
  });
  if (answer.status !== 201) throw new Error(`enrolment answered ${answer.status}: ${await answer.text()}`);
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

/** A blob store of one blob. */
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
  clearTemporary: async () => 0,
});
