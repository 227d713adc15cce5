import { existsSync } from 'node:fs';

/** Where Azure's own agent has its keys, and where many handlers look for them. */
const waagentFolder = '/var/lib/waagent';
const programs = ['/usr/sbin/waagent', '/usr/bin/waagent', '/etc/waagent.conf'];

/**
 * The folder in which handlers find keys beside the agent's own: the one that is set, undefined for `none`. Unset, it is
 * that of Azure's own agent for an agent that runs as root on a machine without that agent.
 */
export function waagentFolderOf(given: string | undefined): string | undefined {
  if (given !== undefined) return given === 'none' ? undefined : given;
  const isFree = !programs.some((program) => existsSync(program));
  return process.getuid?.() === 0 && isFree ? waagentFolder : undefined;
}
