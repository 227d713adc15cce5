import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eq, isNotNull } from 'drizzle-orm';
import { z } from 'zod';
import { vmRoles, vms } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';

/** Maximum number of agents that the fabric runs. Each is a Node process, so there are only enough for trials. */
export const maxSpawnedAgents = 20;

const agentRequest = z.object({ token: z.string(), address: z.string() });

/** What the fabric needs to enroll an agent for a role. */
export type AgentRequest = z.infer<typeof agentRequest>;

/** The folder below which each agent of the fabric has its folder, named by the instance id. */
export const agentsFolder = (dataDir: string): string => join(dataDir, 'fabric');

const requestsFolder = (dataDir: string): string => join(agentsFolder(dataDir), 'requests');
const requestFile = (dataDir: string, instanceId: string): string =>
  join(requestsFolder(dataDir), `${instanceId}.json`);

/**
 * Asks the fabric to start an agent for a new role. The file contains the enrollment token, so only the portal’s user
 * can read it. If there are enough agents, there is no request, and people enroll the machine.
 */
export async function requestAgent(
  dataDir: string,
  { instanceId, ...request }: AgentRequest & { instanceId: string },
): Promise<void> {
  await mkdir(requestsFolder(dataDir), { recursive: true, mode: 0o700 });
  const known = await listAgentFolders(dataDir);
  if (known.length >= maxSpawnedAgents && !known.includes(instanceId)) return;
  await writeFile(requestFile(dataDir, instanceId), JSON.stringify(request), { mode: 0o600 });
}

/** Lists the instance ids of which there is an agent’s folder or a request. */
export async function listAgentFolders(dataDir: string): Promise<string[]> {
  const read = (folder: string) => readdir(folder).catch(() => []);
  const folders = (await read(agentsFolder(dataDir))).filter((name) => name !== 'requests');
  const requests = (await read(requestsFolder(dataDir))).map((name) => name.replace(/\.json$/, ''));
  return [...new Set([...folders, ...requests])].sort();
}

/** Reads the request for an agent; null if there is none. */
export async function readAgentRequest(dataDir: string, instanceId: string): Promise<AgentRequest | null> {
  const text = await readFile(requestFile(dataDir, instanceId), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return agentRequest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** Deletes a request, once the agent is enrolled or the role is gone. */
export const dropAgentRequest = (dataDir: string, instanceId: string): Promise<void> =>
  rm(requestFile(dataDir, instanceId), { force: true });

/**
 * Returns the instance ids of all roles, including those that are being removed: their agents still uninstall
 * extensions.
 */
export async function listRoleInstances(ctx: Context): Promise<Set<string>> {
  allow(ctx.actor, 'operator');
  const rows = await ctx.db
    .select({ id: vms.instanceId })
    .from(vmRoles)
    .innerJoin(vms, eq(vms.id, vmRoles.vmId))
    .where(isNotNull(vms.instanceId));
  return new Set(rows.flatMap(({ id }) => id ?? []));
}
