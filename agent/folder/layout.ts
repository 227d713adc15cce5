import { join, resolve } from 'node:path';

/** Where the agent keeps what: everything is below its one folder. */
export interface Layout {
  root: string;
  /** `agent.json`: portal, VM, thumbprint. */
  identity: string;
  /** The credential for the portal, 0600. */
  credential: string;
  /** Instance id and counter of the `Annex-Agent` header. */
  calls: string;
  /** `<THUMBPRINT>.crt` and `.prv`, 0700. */
  certificates: string;
  /** Which copies of these lie where handlers look for them. */
  keyCopies: string;
  /** The last good goal state, as it was received. */
  goalState: string;
  /** What is on this machine, as far as the agent knows. */
  localState: string;
  /** The command that is running: what it is, its process, how it ended, its output on the way. */
  command: string;
  /** Reports that were not acknowledged yet. */
  reports: string;
  /** Whole outputs of commands that the portal does not have yet. */
  uploads: string;
  /** Packages while they are downloaded and unpacked. */
  incoming: string;
  /** `<ProviderNamespace>.<Type>-<Version>` folders. */
  handlers: string;
  /** Logs of handlers and of the agent; they outlive an uninstall. */
  logs: string;
  lock: string;
}

export function layoutOf(dir: string): Layout {
  const root = resolve(dir);
  return {
    root,
    identity: join(root, 'agent.json'),
    credential: join(root, 'credential'),
    calls: join(root, 'state', 'calls.json'),
    certificates: join(root, 'certificates'),
    keyCopies: join(root, 'state', 'key-copies.json'),
    goalState: join(root, 'state', 'goal-state.json'),
    localState: join(root, 'state', 'local.json'),
    command: join(root, 'state', 'command'),
    reports: join(root, 'reports'),
    uploads: join(root, 'uploads'),
    incoming: join(root, 'incoming'),
    handlers: join(root, 'handlers'),
    logs: join(root, 'logs'),
    lock: join(root, 'agent.pid'),
  };
}
