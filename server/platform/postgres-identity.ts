import { spawnSync } from 'node:child_process';
import { chown, cp, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { bareEnvironment } from './env.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** The user that runs PostgreSQL. PostgreSQL refuses to run as root, so root needs one of two workarounds. */
export interface PostgresIdentity {
  kind: 'self' | 'namespace' | 'nobody';
  /** Returns how to spawn a binary: the command, its arguments and, to change the user, the ids. */
  wrap(command: string, args: string[]): { command: string; args: string[]; uid?: number; gid?: number };
  /** Makes this user the owner of a file or a folder. */
  own(path: string): Promise<void>;
  binaries: PostgresBinaries;
}

const unprivilegedId = 65534;

/** Arguments for `unshare`. initdb looks up the name of its user id, and 65534 has a name on nearly every system. */
const namespaceArgs = ['--user', `--map-user=${unprivilegedId}`, `--map-group=${unprivilegedId}`, '--'];

const namespacesWork = (): boolean =>
  spawnSync('unshare', [...namespaceArgs, 'true'], { env: bareEnvironment() }).status === 0;

/** Whether the user of this process has a name. In a container, the user may have no name. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

/**
 * Chooses the user that runs PostgreSQL. An ordinary user runs it directly. Root, or a user without a name, runs it in
 * a user namespace as another id, so that the files keep their owner and no folder has to be opened to others. If root
 * cannot create namespaces, an unprivileged user runs a copy of the binaries in `dataDir`. If root finds an existing
 * cluster, the owner of its files decides.
 */
export async function postgresIdentity(dataDir: string, binaries: PostgresBinaries): Promise<PostgresIdentity> {
  const namespaced: PostgresIdentity = {
    kind: 'namespace',
    binaries,
    own: async () => {},
    wrap: (command, args) => ({ command: 'unshare', args: [...namespaceArgs, command, ...args] }),
  };
  if (process.getuid?.() !== 0) {
    if (!hasName() && namespacesWork()) return namespaced;
    return { kind: 'self', binaries, own: async () => {}, wrap: (command, args) => ({ command, args }) };
  }
  const owner = await stat(join(dataDir, 'data')).then(
    (found) => found.uid,
    () => undefined,
  );
  if (owner === 0 || (owner === undefined && namespacesWork())) return namespaced;
  await chown(dataDir, unprivilegedId, unprivilegedId);
  const native = join(dataDir, 'native');
  if (!(await stat(native).catch(() => null))) await cp(binaries.native, native, { recursive: true });
  const copied = { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  const reached = spawnSync(copied.postgres, ['--version'], {
    uid: unprivilegedId,
    gid: unprivilegedId,
    cwd: '/',
    env: bareEnvironment(),
  });
  if (reached.status !== 0) {
    throw new Error(
      `PostgreSQL does not run as root. This system bars user namespaces, and another user cannot access ${dataDir}. ` +
        'Run Annex as an ordinary user, choose a DATA_DIR that other users can access, or set DATABASE_URL.',
    );
  }
  return {
    kind: 'nobody',
    binaries: copied,
    own: (path) => chown(path, unprivilegedId, unprivilegedId),
    wrap: (command, args) => ({ command, args, uid: unprivilegedId, gid: unprivilegedId }),
  };
}
