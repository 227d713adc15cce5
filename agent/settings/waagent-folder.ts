import { existsSync } from 'node:fs';

/** Folder in which the stock agent keeps keys, and in which many handlers look for them. */
const waagentFolder = '/var/lib/waagent';
const programs = ['/usr/sbin/waagent', '/usr/bin/waagent', '/etc/waagent.conf'];

/**
 * Returns the additional folder in which handlers find keys: the configured folder, or undefined for `none`. The
 * default is the stock agent's folder if this agent runs as root on a machine without the stock agent, otherwise
 * undefined.
 */
export function waagentFolderOf(given: string | undefined): string | undefined {
  if (given !== undefined) return given === 'none' ? undefined : given;
  const isFree = !programs.some((program) => existsSync(program));
  return process.getuid?.() === 0 && isFree ? waagentFolder : undefined;
}
