import { chmodSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { parseVersion } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { type Caller, type HttpCall, LongerThanAnnounced, type PortalResponse } from '../portal/call.ts';
import { sha256Of } from './trial.ts';

/** Maximum size of an agent in bytes, so that a wrong size in its description cannot fill the disk. */
const maxAgentBytes = 64 * 1024 * 1024;
/** How long a download may take, in milliseconds. */
const downloadMs = 10 * 60_000;

const version = z.string().refine((text) => parseVersion(text) !== null);

const description = z.object({
  version,
  path: z.string().startsWith('/install/'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().int().positive().max(maxAgentBytes),
  minimumNode: version,
  /** Absent in responses from portals of earlier releases. */
  node: z.object({ version, system: z.string().max(50) }).optional(),
});

/** The agent that the portal serves. */
export type ServedAgent = z.infer<typeof description>;

/** Asks the portal which agent it serves. Throws AgentError if the portal does not say. */
export async function describeServedAgent(portal: string, call: Caller): Promise<ServedAgent> {
  const answer = await get(portal, '/install/agent.json', call);
  if (answer.status === 404) {
    throw new AgentError(`${portal} serves no agent. It is older than this agent, so there is nothing to update.`);
  }
  const parsed = description.safeParse(jsonOf(answer));
  if (parsed.success) return parsed.data;
  throw new AgentError(
    `${portal} did not describe the agent that it serves (status ${answer.status}). Check the portal, then try again.`,
  );
}

/**
 * Downloads the agent to a file and checks its SHA-256. Throws AgentError and leaves no file if the download fails, is
 * stopped by the signal, or has a wrong checksum.
 */
export async function downloadAgent(
  portal: string,
  served: ServedAgent,
  file: string,
  { call, signal }: { call: Caller; signal: AbortSignal },
): Promise<void> {
  // An interrupted update may have left an incomplete file.
  rmSync(file, { force: true });
  try {
    const { status } = await get(portal, served.path, call, {
      saveTo: { file, from: 0, maxBytes: served.size },
      signal: AbortSignal.any([signal, AbortSignal.timeout(downloadMs)]),
    });
    if (status !== 200) {
      throw new AgentError(
        `${portal} responded with status ${status} instead of the agent. Nothing was changed. Try again.`,
      );
    }
    if (sha256Of(file) !== served.sha256) {
      throw new AgentError(
        'The checksum of the downloaded agent is wrong: the file was damaged or changed on the way. Nothing was changed. Try again.',
      );
    }
    chmodSync(file, 0o755);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

async function get(
  portal: string,
  path: string,
  call: Caller,
  more: Pick<HttpCall, 'saveTo' | 'signal'> = {},
): Promise<PortalResponse> {
  try {
    return await call({ method: 'GET', url: new URL(path, portal), idleSeconds: 60, ...more });
  } catch (error) {
    throw new AgentError(`The agent could not be fetched from ${portal}: ${reasonOf(error)}. Nothing was changed.`);
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof LongerThanAnnounced ? 'the file is longer than the portal said' : sentenceOf(error);

function jsonOf({ text }: PortalResponse): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
