import { chmodSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { AgentError, sentenceOf } from '../agent-error.ts';
import type { Caller, PortalResponse } from '../portal/call.ts';
import { sha256Of } from './trial.ts';

const description = z.object({
  version: z.string(),
  path: z.string().startsWith('/install/'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().int().positive(),
  minimumNode: z.string().regex(/^\d+\.\d+$/),
  /** Absent in responses of portals of earlier releases. */
  node: z.object({ version: z.string(), system: z.string() }).optional(),
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
 * Downloads the agent to a file and checks its SHA-256. Throws AgentError and leaves no file if the checksum is wrong.
 */
export async function downloadAgent(portal: string, served: ServedAgent, file: string, call: Caller): Promise<void> {
  try {
    await get(portal, served.path, call, { file, from: 0, maxBytes: served.size });
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
  saveTo?: { file: string; from: number; maxBytes: number },
): Promise<PortalResponse> {
  try {
    return await call({ method: 'GET', url: new URL(path, portal), idleSeconds: 60, saveTo });
  } catch (error) {
    throw new AgentError(`The agent could not be fetched from ${portal}: ${sentenceOf(error)}. Nothing was changed.`);
  }
}

function jsonOf({ text }: PortalResponse): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
