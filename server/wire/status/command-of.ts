import type { CommandName } from '#protocol/index.ts';
import type { HandlerStatus } from './read-status.ts';

/** The failed command, by the agent's error code. */
const commandOfCode: Readonly<Record<number, CommandName>> = {
  1007: 'install',
  1008: 'update',
  1009: 'enable',
  1010: 'disable',
};
/** Whether a code is the agent's own. Other codes come from heartbeats or have no meaning. */
const isOfAgent = (code: number): boolean => code >= 1000 && code <= 1011;
const timedOut = 1011;

/** How a handler's last command failed, as far as the agent's code and message show. */
export interface Failure {
  command?: CommandName;
  exitCode?: number;
  timedOut: boolean;
  output: string;
}

/** Returns the failure of a command or of the agent itself; null if there is none, or if only a heartbeat failed. */
export function failureOf(
  { status, code, formattedMessage }: HandlerStatus,
  reportsHeartbeat: boolean,
): Failure | null {
  if (code === undefined || code === null || code === 0) return null;
  const output = formattedMessage?.message ?? '';
  const isHeartbeat = /heart ?beat/i.test(output);
  // A code can remain after a success, and heartbeats have their own codes. Neither means that a command failed.
  if (!isOfAgent(code) && (isReady(status) || isHeartbeat || (reportsHeartbeat && code > 0))) return null;
  const exitCode = Number(/exit code:? *(-?\d{1,9})/i.exec(output)?.[1] ?? Number.NaN);
  const command = commandOfCode[code];
  return {
    ...(command && { command }),
    ...(Number.isSafeInteger(exitCode) && exitCode !== 0 && { exitCode }),
    timedOut: code === timedOut || /^timeout\(\d+\)/im.test(output),
    output,
  };
}

export const isReady = (status: string): boolean => status.toLowerCase() === 'ready';
