import { join, resolve } from 'node:path';

/** Paths in the agent's folder. */
export interface AgentLayout {
  root: string;
  /** `agent.json`: portal, VM, thumbprint. */
  identity: string;
  /** The credential for the portal; mode 0600. */
  credential: string;
  /** `ca.pem`: the certificate authorities that were given at enrollment. */
  authorities: string;
  /** Instance id and counter of the `Annex-Agent` header. */
  calls: string;
  /** Folder of `<THUMBPRINT>.crt` and `.prv`; mode 0700. */
  certificates: string;
  /** List of the copies of certificates and keys that the agent has placed where handlers look for them. */
  keyCopies: string;
  /** The last valid goal state, as received. */
  goalState: string;
  /** The agent's local state: the handlers and extensions on this machine. */
  localState: string;
  /** The agent version that was last reported to the portal. */
  described: string;
  /** The trial of a new agent after an update, and the first poll of the running agent. */
  trial: string;
  firstPoll: string;
  /** The lock that a running update holds. */
  updateLock: string;
  /** Folder of the running command: its record, process id, exit code and output pipe. */
  command: string;
  /** Folder of the reports that the portal has not acknowledged. */
  reports: string;
  /** Queue of the command outputs that have not been uploaded. The outputs themselves are in `logs`. */
  uploads: string;
  /** Temporary files: packages while they are downloaded and unpacked, folders to be deleted, and log archives. */
  incoming: string;
  /** The folders `<ProviderNamespace>.<Type>-<Version>`. */
  handlers: string;
  /** Logs of handlers and of the agent, which are kept after an uninstall. */
  logs: string;
  /** Folders of the executions that this machine has received, and the results of earlier executions. */
  executions: string;
  /** Folder with the state that each Service of an execution plan keeps. */
  planStates: string;
  /** Files that execution plans fetched, by their SHA-256. */
  planCache: string;
  /** The last platform report that the portal received. */
  platforms: string;
  /** What the portal last said this machine's units should be. */
  unitState: string;
  /** Folder of what each unit has confirmed and of what has not been reported. */
  unitRecords: string;
  /** Folder of the running hook: its note and its output pipes. */
  hooks: string;
  /** Outcomes of hooks that the portal has not stored. */
  flushes: string;
  /** List of the outputs of hooks that have not been uploaded. */
  hookLogs: string;
  /** Folders of the units on this machine, with their formulas and sockets. */
  units: string;
  lock: string;
}

export function layoutOf(dir: string): AgentLayout {
  const root = resolve(dir);
  return {
    root,
    identity: join(root, 'agent.json'),
    credential: join(root, 'credential'),
    authorities: join(root, 'ca.pem'),
    calls: join(root, 'state', 'calls.json'),
    certificates: join(root, 'certificates'),
    keyCopies: join(root, 'state', 'key-copies.json'),
    goalState: join(root, 'state', 'goal-state.json'),
    localState: join(root, 'state', 'local.json'),
    described: join(root, 'state', 'described.json'),
    trial: join(root, 'state', 'update.json'),
    firstPoll: join(root, 'state', 'first-poll.json'),
    updateLock: join(root, 'state', 'update.pid'),
    command: join(root, 'state', 'command'),
    reports: join(root, 'reports'),
    uploads: join(root, 'uploads'),
    incoming: join(root, 'incoming'),
    handlers: join(root, 'handlers'),
    logs: join(root, 'logs'),
    executions: join(root, 'executions'),
    planStates: join(root, 'plan-state'),
    planCache: join(root, 'plan-cache'),
    platforms: join(root, 'state', 'platforms.json'),
    unitState: join(root, 'state', 'units.json'),
    unitRecords: join(root, 'state', 'units'),
    hooks: join(root, 'state', 'hooks'),
    flushes: join(root, 'state', 'flushes'),
    hookLogs: join(root, 'state', 'hook-logs'),
    units: join(root, 'units'),
    lock: join(root, 'agent.pid'),
  };
}
