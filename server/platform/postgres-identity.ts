import { spawnSync } from 'node:child_process';
import { chown, cp, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { PostgresBinaries } from './postgres-binaries.ts';

/** As whom PostgreSQL runs; it refuses user id 0, so root needs one of two detours. */
export interface PostgresIdentity {
  kind: 'self' | 'namespace' | 'nobody';
  /** What to spawn for a binary: command, arguments and, for `nobody`, the ids. */
  wrap(command: string, args: string[]): { command: string; args: string[]; uid?: number; gid?: number };
  /** Gives a file or folder to the identity. */
  own(path: string): Promise<void>;
  binaries: PostgresBinaries;
}

const nobody = 65534;

const namespaceArgs = ['--user', '--map-user=1000', '--map-group=1000', '--'];

const namespacesWork = (): boolean => spawnSync('unshare', [...namespaceArgs, 'true']).status === 0;

/**
 * Chooses once per cluster, because the owner of the files differs: who made the cluster goes on with it.
 * Not root: as oneself. Root: in a user namespace that maps root to 1000, so that files stay root's own and no folder
 * needs to be opened to anyone; where namespaces are barred, as `nobody` with a copy of the binaries in the cluster's folder.
 */
export async function postgresIdentity(dataDir: string, binaries: PostgresBinaries): Promise<PostgresIdentity> {
  if (process.getuid?.() !== 0) {
    return { kind: 'self', binaries, own: async () => {}, wrap: (command, args) => ({ command, args }) };
  }
  const owner = await stat(join(dataDir, 'data')).then(
    (found) => found.uid,
    () => undefined,
  );
  if (owner === 0 || (owner === undefined && namespacesWork())) {
    return {
      kind: 'namespace',
      binaries,
      own: async () => {},
      wrap: (command, args) => ({ command: 'unshare', args: [...namespaceArgs, command, ...args] }),
    };
  }
  const native = join(dataDir, 'native');
  if (!(await stat(native).catch(() => null))) await cp(binaries.native, native, { recursive: true });
  const copied = { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
  const reached = spawnSync(copied.postgres, ['--version'], { uid: nobody, gid: nobody, cwd: '/' });
  if (reached.status !== 0) {
    throw new Error(
      `PostgreSQL does not run as root. This system bars user namespaces, and another user cannot reach ${dataDir}. ` +
        'Run Annex as an ordinary user, choose a DATA_DIR that others may enter, or set DATABASE_URL.',
    );
  }
  return {
    kind: 'nobody',
    binaries: copied,
    own: (path) => chown(path, nobody, nobody),
    wrap: (command, args) => ({ command, args, uid: nobody, gid: nobody }),
  };
}
