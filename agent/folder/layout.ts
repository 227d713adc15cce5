import { join, resolve } from 'node:path';

/** The paths of everything below the agent's folder. */
export interface AgentLayout {
  root: string;
  /** `agent.json`: portal, VM, thumbprint. */
  identity: string;
  /** The credential for the portal, 0600. */
  credential: string;
  /** Instance id and counter of the `Annex-Agent` header. */
  calls: string;
  /** `<THUMBPRINT>.crt` and `.prv`, 0700. */
  certificates: string;
  /** Which copies of these are in folders where handlers look for them. */
  keyCopies: string;
  /** The last valid goal state, as received. */
  goalState: string;
  /** The state of this machine. */
  localState: string;
  /** The running command: its record, process, exit code, and the pipe for its output. */
  command: string;
  /** Reports that are not acknowledged. */
  reports: string;
  /** Complete outputs of commands that are still to be uploaded. */
  uploads: string;
  /** Packages during download and unpacking. */
  incoming: string;
  /** `<ProviderNamespace>.<Type>-<Version>` folders. */
  handlers: string;
  /** Logs of handlers and of the agent; they outlive an uninstall. */
  logs: string;
  lock: string;
}

export function layoutOf(dir: string): AgentLayout {
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
