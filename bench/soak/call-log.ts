import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareVersions } from '#protocol/index.ts';

/** One call of a handler, as logged by the handler. */
export interface HandlerCall {
  handler: string;
  version: string;
  command: string;
  sequenceNumber: number;
  /** Start of the call, in nanoseconds since 1970. */
  begun: bigint;
  /** End of the call; null if it was killed. */
  ended: bigint | null;
}

const folderName = /^(.+)-(\d+(?:\.\d+)*)$/;

/** Returns the calls of all handlers on a machine, ordered by their start. `logs` is the agent's log folder. */
export function readCalls(logs: string): HandlerCall[] {
  const folders = existsSync(logs) ? readdirSync(logs) : [];
  return folders
    .flatMap((name) => {
      const [, handler = '', version = ''] = folderName.exec(name) ?? [];
      const file = join(logs, name, 'calls.log');
      return existsSync(file) ? callsIn(readFileSync(file, 'utf8'), handler, version) : [];
    })
    .sort((a, b) => (a.begun < b.begun ? -1 : 1));
}

function callsIn(text: string, handler: string, version: string): HandlerCall[] {
  const calls: HandlerCall[] = [];
  for (const line of text.split('\n').filter(Boolean)) {
    const [time = '', command = '', sequence = '', what = ''] = line.split(' ');
    const open = calls.findLast((call) => call.command === command && call.ended === null);
    if (what === 'end' && open !== undefined) open.ended = BigInt(time);
    else calls.push({ handler, version, command, sequenceNumber: Number(sequence), begun: BigInt(time), ended: null });
  }
  return calls;
}

/** The installed versions of each handler, and whether each version is enabled (`runs`) or not (`rests`). */
export type VersionStates = Map<string, Map<string, 'runs' | 'rests'>>;

/**
 * Checks calls against the handler contract: for example, calls must not overlap, a version must be installed before it
 * is enabled, and a running version must be disabled before it is updated or uninstalled. Returns one sentence per
 * violation, and the final state of each version.
 */
export function judgeCalls(calls: readonly HandlerCall[]): { faults: string[]; versionStates: VersionStates } {
  const faults: string[] = [];
  const versionStates: VersionStates = new Map();
  let latest: HandlerCall | null = null;
  for (const call of calls) {
    if (latest?.ended != null && latest.ended > call.begun)
      faults.push(`${nameOf(call)} began before ${nameOf(latest)} ended`);
    latest = call;
    const versions = versionStates.get(call.handler) ?? new Map();
    versionStates.set(call.handler, versions);
    const fault = faultOf(call, versions);
    if (fault !== null) faults.push(`${nameOf(call)}: ${fault}`);
    // A killed call does not change the state, because the agent repeats it.
    if (call.ended !== null) follow(call, versions);
  }
  return { faults, versionStates };
}

function faultOf({ command, version }: HandlerCall, versions: ReadonlyMap<string, string>): string | null {
  const others = [...versions.keys()].filter((each) => each !== version);
  switch (command) {
    case 'install':
      return versions.size === 0 ? null : `${[...versions.keys()].join(', ')} is installed`;
    case 'update':
      if (versions.has(version)) return 'it is installed';
      if (others.length !== 1) return `${others.length} other versions are installed`;
      if (compareVersions(version, others[0] ?? '') <= 0) return `${others[0]} is not older`;
      return versions.get(others[0] ?? '') === 'runs' ? `${others[0]} runs` : null;
    case 'enable':
      if (!versions.has(version)) return 'it is not installed';
      return others.length === 0 ? null : `${others.join(', ')} is installed too`;
    case 'disable':
      return versions.has(version) ? null : 'it is not installed';
    default:
      if (!versions.has(version)) return 'it is not installed';
      return versions.get(version) === 'runs' ? 'it runs' : null;
  }
}

function follow({ command, version }: HandlerCall, versions: Map<string, 'runs' | 'rests'>): void {
  if (command === 'uninstall') versions.delete(version);
  else versions.set(version, command === 'enable' ? 'runs' : 'rests');
}

function nameOf({ handler, version, command, sequenceNumber }: HandlerCall): string {
  return `${command} ${sequenceNumber} of ${handler} ${version}`;
}
